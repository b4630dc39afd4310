"""The page of `real_beliefs`."""
from __future__ import annotations
def page(store): return ""

"""Write `docs/results/NAME.md` for each experiment that has a record in `experiments/results`.

    python tools/result_pages.py

A test compares the pages with the records.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
RECORDS = ROOT / "experiments" / "results"
PAGES = ROOT / "docs" / "results"


def main() -> None:
    """Write all pages."""
    PAGES.mkdir(exist_ok=True)
    for name, text in pages().items():
        (PAGES / f"{name}.md").write_text(text, "utf-8")


def pages() -> dict[str, str]:
    """The pages by the names of their experiments."""
    if str(ROOT) not in sys.path:
        sys.path.append(str(ROOT))
    from experiments import MODULES, experiment
    from experiments._store import Store

    found = {}
    for name in MODULES:
        record = RECORDS / f"{name}.json"
        if record.exists():
            made_by = f"<!-- Written by tools/result_pages.py from {record.relative_to(ROOT)}. -->"
            title, body = experiment(name).page(Store(record, name)).split("\n", 1)
            found[name] = f"{title}\n\n{made_by}\n{body}"
    return found


if __name__ == "__main__":
    main()

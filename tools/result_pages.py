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
PICTURES = ROOT / "docs" / "images"


def main() -> None:
    """Write all pages."""
    PAGES.mkdir(exist_ok=True)
    for path, text in written().items():
        path.write_text(text, "utf-8")


def written() -> dict[Path, str]:
    """All files and what they say."""
    if str(ROOT) not in sys.path:
        sys.path.append(str(ROOT))
    from experiments import MODULES, experiment
    from experiments._store import Store

    found: dict[Path, str] = {}
    for name in MODULES:
        record = RECORDS / f"{name}.json"
        if record.exists():
            made_by = f"<!-- Written by tools/result_pages.py from {record.relative_to(ROOT)}. -->"
            store = Store(record, name)
            title, body = experiment(name).page(store).split("\n", 1)
            found[PAGES / f"{name}.md"] = f"{title}\n\n{made_by}\n{body}"
            for file, drawn in experiment(name).pictures(store).items():
                found[PICTURES / file] = drawn
    return found


if __name__ == "__main__":
    main()

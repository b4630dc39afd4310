"""The page: what was found, in the order of its sections, through one template."""

from __future__ import annotations

import hashlib
import math
from base64 import b64encode
from datetime import UTC, datetime
from functools import cache
from importlib import resources
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tacit.report._advocates import advocates_of
from tacit.report._charts import diagram, histogram
from tacit.report._findings import findings, told_by_beliefs
from tacit.report._sources import sources_of
from tacit.report._training import curves, members
from tacit.report._truth import points_of, truth_of
from tacit.report._words import believed, decimals, moment, share

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tacit.report._advocates import Side
    from tacit.report._data import Looks, Shown
    from tacit.report._run import Run
    from tacit.report._tally import Instance, Tally

__all__ = ["page"]

_N_CLASSES: Final = 40
"""Classes that have a row of their own."""
_N_BARS: Final = 3
"""Classes of an instance that are shown."""
_SEEN: Final = 0.01
"""What a class must be given to be shown first."""
_KINDS: Final = {
    "candidates": "candidate labels",
    "excluded": "excluded labels",
    "labels": "labels, some of them missing",
    "pairs": "comparisons of pairs",
}
"""Kinds of beliefs in other words than those of a file."""


class _Class(NamedTuple):
    """A row of the table of classes: `tables` holds the mean of p, r and q, as far as they are."""

    name: str
    n_labels: int
    tables: dict[str, float]
    mass: tuple[float, ...]


class _Bar(NamedTuple):
    name: str
    tables: dict[str, float]


class _Row(NamedTuple):
    """A row of a list of instances."""

    instance: Instance
    shown: Shown | None
    believed: str
    predicted: str
    bars: tuple[_Bar, ...]
    sides: tuple[Side, ...] = ()


def page(run: Run, tally: Tally, looks: Looks) -> str:
    """The whole page, as HTML.

    Args:
        run: The run.
        tally: What its table says.
        looks: What the instances look like.
    """
    script = _file("page.js")
    return str(
        _template().render(
            version=version("tacit-learn"),
            written=moment(datetime.now(UTC).isoformat()),
            style=_file("page.css"),
            script=script,
            script_hash=b64encode(hashlib.sha256(script.encode()).digest()).decode(),
            run=run,
            name=run.path.resolve().name,
            kind=_KINDS.get(run.results["kind"], run.results["kind"]),
            results=run.results,
            ended=moment(run.described.get("ended")),
            tally=tally,
            agreement=tally.agreement,
            log_c=math.log(len(run.classes)),
            sure=float(tally.confidence["r"][-1]) / max(tally.n_rows, 1),
            largest=max(float(table.max()) for table in tally.balance.values()),
            provenance=_provenance(run),
            told=told_by_beliefs(tally),
            findings=findings(run, tally),
            members=members(run.members, run.results["ended"]),
            curves=curves(run.members),
            classes=_classes(run, tally),
            certainty=_certainty(tally),
            reliability=_reliability(tally),
            truth=truth_of(tally, run.classes),
            sources=sources_of(run),
            conflicts=_argued(_rows(tally.conflicts, run.classes, looks), run),
            uncertain=_rows(tally.uncertain, run.classes, looks),
            looks=looks,
        )
    )


def _template() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("tacit.report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "decimals": decimals,
        "share": share,
        "moment": moment,
        "count": lambda number: f"{number:,}",
        "plain": _plain,
        "width": lambda part: f"{100 * min(part, 1):.1f}".removesuffix(".0"),
    }
    return environment.get_template("page.html.jinja")


@cache
def _file(name: str) -> str:
    return resources.files("tacit.report").joinpath(name).read_text("utf-8")


def _provenance(run: Run) -> dict[str, dict[str, Any]]:
    """What the run was made from, with what and where: tables of facts by their titles."""
    described, recipe, results = run.described, run.recipe, run.results
    facts = {
        "run": run.path,
        "features": recipe.get("data"),
        "beliefs": recipe.get("beliefs"),
        "kind of beliefs": results["kind"],
        "seed": recipe.get("seed"),
        "started": moment(described.get("started")),
        "ended": moment(described.get("ended")),
        "seconds": results["seconds"],
    }
    found = {"": facts, "Configuration": recipe}
    for title in ("versions", "machine"):
        if isinstance(described.get(title), dict):
            found[title.capitalize()] = described[title]
    return found


def _plain(value: Any) -> str:
    """A setting as somebody would write it.

    Example:
        >>> _plain(None), _plain(True), _plain(["cat", "dog"]), _plain(0.1)
        ('–', 'yes', 'cat, dog', '0.1')
    """
    if value is None or isinstance(value, bool):
        return {None: "–", True: "yes", False: "no"}[value]
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _classes(run: Run, tally: Tally) -> list[_Class]:
    """Classes in their own order; where there are many, the commonest, and the others as one."""
    places = list(range(len(run.classes)))
    common = places
    if len(places) > _N_CLASSES:
        order = tally.balance["r"].argsort(descending=True, stable=True).tolist()
        common = sorted(order[: _N_CLASSES - 1])
    found = [_class(run, tally, run.classes[place], [place]) for place in common]
    others = sorted({*places} - {*common})
    if others:
        found.append(_class(run, tally, f"{len(others):,} other classes", others))
    return found


def _class(run: Run, tally: Tally, name: str, places: Sequence[int]) -> _Class:
    return _Class(
        name=name,
        n_labels=int(tally.counts[places].sum()),
        tables={kind: float(table[places].sum()) for kind, table in tally.balance.items()},
        mass=tuple(
            sum(math.exp(stratum[place]) for place in places) for stratum in run.log_mass or ()
        ),
    )


def _certainty(tally: Tally) -> Any:
    """The histogram of how sure the labels are."""
    counts = tally.confidence["r"].tolist()
    before = tally.confidence["p"].tolist() if "p" in tally.confidence else None
    title = f"Largest posterior of each row: {counts[-1]:,} of {tally.n_rows:,} are above 0.95"
    return histogram(title, counts, before)


def _reliability(tally: Tally) -> Any:
    if tally.agreement is None:
        return None
    points = points_of(tally.agreement.reliability)
    title = f"Reliability of q against the beliefs, in {len(points)} bins that have rows"
    return {"svg": diagram(title, points, tally.agreement.most), "points": points}


def _rows(found: Iterable[Instance], classes: Sequence[str], looks: Looks) -> list[_Row]:
    return [
        _Row(
            instance=each,
            shown=looks.shown.get(each.row),
            believed="" if each.p is None else believed(each.p, classes),
            predicted=classes[int(each.q.argmax())],
            bars=_bars(each, classes),
        )
        for each in found
    ]


def _argued(rows: list[_Row], run: Run) -> list[_Row]:
    """The same rows with the sources that spoke for what."""
    sides = advocates_of(run.path)
    return [row._replace(sides=sides.get(row.instance.row, ())) for row in rows]


def _bars(each: Instance, classes: Sequence[str]) -> tuple[_Bar, ...]:
    """The classes that matter to an instance, the likeliest first."""
    tables = {"p": each.p, "r": each.r, "q": each.q}
    there = {kind: table for kind, table in tables.items() if table is not None}
    chosen = sorted(_telling(each), key=lambda place: -float(each.r[place]))
    return tuple(
        _Bar(classes[place], {kind: float(table[place]) for kind, table in there.items()})
        for place in chosen
    )


def _telling(each: Instance) -> list[int]:
    """The classes found and predicted, the one most predicted against the belief, likely ones."""
    first = [each.r, each.q]
    weights = each.r + each.q
    if each.p is not None:
        first.append(each.q * (1 - each.p / each.p.max()))
        weights = weights + each.p
    n_likeliest = min(len(each.r), _N_BARS + len(first))
    likeliest = weights.argsort(descending=True, stable=True)[:n_likeliest].tolist()
    places = [int(table.argmax()) for table in first if float(table.max()) >= _SEEN]
    return [*dict.fromkeys([*places, *likeliest])][:_N_BARS]

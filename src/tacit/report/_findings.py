"""What is to be said about a run in plain words, each with what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tacit.report._words import decimals, joined, share

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import Tensor

    from tacit.report._run import Run
    from tacit.report._tally import Tally

__all__ = ["Finding", "findings", "told_by_beliefs"]

_OPEN = 0.8
"""Part of their entropy that labels keep in a run that settled nothing: of wines whose beliefs were
shuffled more than that, of the same wines with their own beliefs less than 0.3."""
_FAINT = 0.05
"""Part of what beliefs tell below which evidence counts as none."""
_LEAST = 0.005
"""Nats of what beliefs tell below which that part is all noise."""
_AGAINST = 0.2
"""Share of rows whose prediction goes against their belief from which on it is said."""
_NAMED = 5
"""Classes that are named."""


class Finding(NamedTuple):
    """Something to be said.

    Attributes:
        kind: "warning" or "note".
        text: A sentence or two.
    """

    kind: str
    text: str


def findings(run: Run, tally: Tally) -> list[Finding]:
    """What is to be said about a run, warnings first.

    Args:
        run: The run.
        tally: What its table says.
    """
    warnings = [
        *run.results["alarms"],
        *_endings(run),
        *_learning(run, tally),
        *_classes(run, tally),
    ]
    notes = [*_rows(run, tally), *run.results["notes"]]
    return [
        *(Finding("warning", _sentence(text)) for text in warnings),
        *(Finding("note", _sentence(text)) for text in notes),
    ]


def told_by_beliefs(tally: Tally) -> float | None:
    """What beliefs tell of labels, in nats: the entropy of their mean less their mean entropy.

    Features that settled every label would have as much held-out evidence where beliefs are right
    as often as they say; more where they are right more often, as votes that all count the same.
    """
    return None if tally.agreement is None else tally.agreement.told


def _endings(run: Run) -> Iterator[str]:
    collapsed = [str(n) for n, how in enumerate(run.results["ended"], 1) if how == "collapsed"]
    if collapsed:
        one = len(collapsed) == 1
        yield (
            f"Member{'' if one else 's'} {joined(collapsed)} collapsed and "
            f"{'was' if one else 'were'} stopped: warm up longer (--warm-up 5), lower the "
            "learning rate, or restart members that collapse (--on-collapse restart)."
        )


def _learning(run: Run, tally: Tally) -> Iterator[str]:
    """Whether labels were settled at all, and whether features foresee beliefs."""
    results = run.results
    before, after = results["entropy_before"], results["entropy_after"]
    if before > _LEAST and after > _OPEN * before:
        yield (
            f"The labels stayed about as open as they were: {decimals(before)} nats before, "
            f"{decimals(after)} after. Check that beliefs are joined to their own rows (ids), and "
            "that the features tell the classes apart."
        )
    evidence, told = results["held_out_evidence"], told_by_beliefs(tally)
    if evidence is None:
        yield (
            "Nothing was held out, so nothing tells how good the predictor is: keep out a tenth "
            "(--held-out 0.1) where there are rows to spare."
        )
    elif told is not None and told > _LEAST and evidence < _FAINT * told:
        yield (
            f"The held-out evidence is near 0 ({decimals(evidence)} nats of {decimals(told)} that "
            "the beliefs tell): the features hardly foresee the beliefs of rows that were not "
            "learned from. Check that they are joined to their own rows, try another predictor, or "
            "train for longer."
        )
    if tally.agreement is not None and tally.agreement.against > _AGAINST:
        yield (
            f"In {share(tally.agreement.against)} of the rows the prediction goes against the "
            "belief. Either the features do not tell these classes apart, or the beliefs are wrong "
            "more often than they admit: look at the conflicts below, and use probabilities above "
            "0 where beliefs are guesses."
        )


def _classes(run: Run, tally: Tally) -> Iterator[str]:
    """Classes that beliefs mention and labels do not."""
    if "p" not in tally.balance:
        return
    expected = tally.balance["p"] * tally.n_rows
    lost = _names(run, (tally.counts == 0) & (expected >= 1))
    if lost:
        yield (
            f"No row got the label {lost}, of which the beliefs speak: such a class may have "
            "vanished from the prediction. Warm up longer, or try another objective or class mass."
        )


def _names(run: Run, chosen: Tensor) -> str:
    places = chosen.nonzero().flatten().tolist()
    names = [run.classes[place] for place in places[:_NAMED]]
    if len(places) > _NAMED:
        names.append(f"{len(places) - _NAMED} more")
    return joined(names, "or") if names else ""


def _rows(run: Run, tally: Tally) -> Iterator[str]:
    silent = tally.n_rows - run.results["n_informed"]
    is_said = any(str(note).startswith("Nothing is known of") for note in run.results["notes"])
    if silent > 0 and not is_said:
        yield (
            f"Of {silent:,} of {tally.n_rows:,} rows the beliefs say nothing: their labels come "
            "from the features alone."
        )
    if tally.n_unlabelled:
        yield (
            f"{tally.n_unlabelled:,} rows have no label: belief and evidence exclude each other "
            "there. Give every class that is possible a probability above 0."
        )
    if "p" not in tally.balance:
        yield (
            "The table holds no belief p, as an older tacit wrote it: what compares p with r and q "
            "is left out. Resolve again to see it."
        )
    if run.log_mass is None:
        yield "The model is gone from the run's folder, and the class mass S with it."


def _sentence(text: str) -> str:
    """Text as a sentence: alarms come without a capital and without a full stop."""
    plain = text.strip()
    return plain[:1].upper() + plain[1:] + ("" if plain.endswith((".", "!", "?")) else ".")

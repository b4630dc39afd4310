"""The page of `real_beliefs`: tables in Markdown, from its record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from experiments._page import at_best_step, bold, by_step, mean, percent, provenance, spread, table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from experiments._store import Store

__all__ = ["CRITERIA", "OURS", "Verdict", "page", "picked", "verdicts"]

OURS: Final = ("RQ", "QR", "FreeEnergy", "EM", "soft cross-entropy")
SAME_BELIEF: Final = (*OURS, "union NLL")
"""The rows that learn from the same belief, whose criteria can be compared."""
CRITERIA: Final = ("held-out evidence", "covering rate", "approximated accuracy")
SETS: Final = {
    "youtube": "comments, 10 labelling functions",
    "sms": "messages, 73 labelling functions, F1",
    "lost": "faces, names in captions",
    "msrcv2": "regions of images, captions",
    "cifar10n": "images, three people each",
}


class Verdict(NamedTuple):
    """Ours beside the best of the others, on one set.

    Attributes:
        ours: Which of our rows held-out evidence picked.
        score: Its mean.
        rival: The best of the others.
        best: Its mean.
        deviation: The larger of the two deviations over the draws.
    """

    ours: str
    score: float
    rival: str
    best: float
    deviation: float


def verdicts(store: Store) -> dict[str, Verdict]:
    """Ours beside the best of the others, for each set on which both are measured."""
    found = {}
    for name in _sets(store):
        there = _methods(store, name)
        rivals = [method for method in there if method not in OURS]
        if not rivals or len(rivals) == len(there):
            continue
        ours = picked(store, name, "held-out evidence", OURS)
        rival = max(rivals, key=lambda m: mean(_values(store, name, m, "test")))
        draws = _values(store, name, ours, "test"), _values(store, name, rival, "test")
        found[name] = Verdict(ours, mean(draws[0]), rival, mean(draws[1]), max(map(spread, draws)))
    return found


def picked(store: Store, name: str, criterion: str, among: Sequence[str]) -> str:
    """The row of a set whose mean criterion is highest, among those that are measured."""
    there = [method for method in among if method in _methods(store, name)]
    return max(there, key=lambda method: mean(_values(store, name, method, criterion)))


def page(store: Store) -> str:
    """All tables."""
    return "\n".join(
        (
            _HEAD,
            _scores(store),
            _AFTER_SCORES,
            _beside(store),
            _CRITERIA_HEAD,
            _by_criterion(store),
            _EVIDENCE_HEAD,
            _shown(store, "held-out evidence", SAME_BELIEF, _plain),
            _COLLECTION_HEAD,
            _shown(store, "r", OURS, percent, also={"the belief's likeliest": "belief"}),
            *_people(store),
            _STEPS_HEAD,
            _by_step(store),
            _FOOT,
            provenance(store),
        )
    )


def _scores(store: Store) -> str:
    """Test scores of all rows; the pick among ours and the best of the others are in bold."""
    stand = verdicts(store)
    rows = []
    for method in _methods(store):
        cells = []
        for name in _sets(store):
            shown = percent(_values(store, name, method, "test"))
            marked = name in stand and method in (stand[name].ours, stand[name].rival)
            cells.append(bold(shown) if marked else shown)
        rows.append([f"tacit, {method}" if method in OURS else method, *cells])
    return table(["", *_sets(store)], rows)


def _beside(store: Store) -> str:
    rows = [
        [
            f"{name} ({SETS[name]})",
            f"{v.ours} {100 * v.score:.1f}",
            f"{v.rival} {100 * v.best:.1f}",
            f"{100 * (v.score - v.best):+.1f}",
            f"{100 * v.deviation:.1f}",
        ]
        for name, v in verdicts(store).items()
    ]
    return table(["", "ours, picked without labels", "best other", "ahead", "deviation"], rows)


def _by_criterion(store: Store) -> str:
    """What each criterion picks, and what that costs against the best of the same rows."""
    rows = []
    for criterion in CRITERIA:
        cells, lost = [], []
        for name in _sets(store):
            there = [m for m in _methods(store, name) if m in SAME_BELIEF]
            if not there:
                cells.append("–")
                continue
            scores = {m: mean(_values(store, name, m, "test")) for m in there}
            choice = picked(store, name, criterion, there)
            lost.append(max(scores.values()) - scores[choice])
            cells.append(f"{choice}, {100 * lost[-1]:.1f}")
        rows.append([criterion, *cells, f"{100 * mean(lost):.1f}" if lost else "–"])
    return table(["", *_sets(store), "mean loss"], rows)


def _shown(
    store: Store,
    what: str,
    methods: Iterable[str],
    write: object,
    also: dict[str, str] | None = None,
) -> str:
    assert callable(write)
    rows = [
        [method, *(write(_values(store, name, method, what)) for name in _sets(store))]
        for method in methods
    ]
    for title, figure in (also or {}).items():
        rows.append(
            [title, *(write(_values(store, name, OURS[0], figure)) for name in _sets(store))]
        )
    return table(["", *_sets(store)], rows)


def _plain(values: Sequence[float]) -> str:
    return f"{mean(values):.3f}" if values else "–"


def _people(store: Store) -> tuple[str, ...]:
    """How well predictions on CIFAR-10 tell what some fifty people say."""
    name = "cifar10n"
    if name not in _sets(store):
        return ()
    rows = [
        [
            method,
            _plain(_values(store, name, method, "cross-entropy of people")),
            _plain(_values(store, name, method, "calibration error")),
        ]
        for method in _methods(store, name)
    ]
    return (_PEOPLE_HEAD, table(["", "cross-entropy", "calibration error"], rows))


def _by_step(store: Store) -> str:
    """Test scores under each step, of which the tables above show one."""
    names = [name for name in _sets(store) if len(by_step(store, set=name, method=OURS[0])) > 1]
    rows = []
    for method in _methods(store):
        cells = []
        for name in names:
            draws = by_step(store, set=name, method=method).values()
            cells.append(" / ".join(percent([f["test"] for f in each]) for each in draws) or "–")
        rows.append([method, *cells])
    return table(["", *names], rows)


def _values(store: Store, name: str, method: str, what: str) -> list[float]:
    """The draws of a figure, at the step of the best held-out evidence."""
    best = at_best_step(store, set=name, method=method)
    return [figures[what] for figures in best if what in figures]


def _methods(store: Store, name: str | None = None) -> list[str]:
    """The methods that are measured, on a set or on any: ours first."""
    there = dict.fromkeys(
        str(cell["method"]) for cell, _ in store.matching(**({} if name is None else {"set": name}))
    )
    return [*(m for m in OURS if m in there), *(m for m in there if m not in OURS)]


def _sets(store: Store) -> list[str]:
    there = store.settings("set")
    return [name for name in SETS if name in there]


_HEAD: Final = """\
# Five real collections

What programs, people or captions say of things, and what can be learned from it. Test scores of
the prediction q in percent (the share of right labels; F1 of spam on sms), mean and deviation
over five draws. All rows have the same predictor (a linear map on words and pairs of words; a
perceptron; a small convolutional network), the same instances, as many epochs, and are taken in
the state of best held-out evidence. The first five rows are tacit's, from the belief that votes
become by default (`combined`) or from the candidates; the one in bold was picked by held-out
evidence on the training data, before the test was looked at. Of the others the best is in bold.
"""
_AFTER_SCORES: Final = """\
Beside the best of the others:
"""
_CRITERIA_HEAD: Final = """\
## Choosing without labels

Which of the rows that share a belief (tacit's and union NLL) has the highest held-out evidence,
covering rate or approximated accuracy, all on held-out training instances, and how many points of
the test score are lost against the best of them:
"""
_EVIDENCE_HEAD: Final = """\
Held-out evidence, in nats per instance:
"""
_COLLECTION_HEAD: Final = """\
## The labels of the collection itself

Scores of the posterior r on the instances that were learned from, all of them, beside what the
belief says by itself:
"""
_PEOPLE_HEAD: Final = """\
## What many people say

Some fifty people named each test image of cifar10n. Mean cross-entropy of q to their shares, and
the expected calibration error of q where a label is as right as the share of people who say it:
"""
_STEPS_HEAD: Final = """\
## Under both steps

Test scores at a step of 0.002 / 0.01; the tables above show the one with the higher held-out
evidence, which is not always the better one for somebody else's label model.
"""
_FOOT: Final = """\
## How it was measured

Adam, a tenth held out; of the steps 0.002 and 0.01 (cifar10n: 0.002 alone) each row has the one
with the higher held-out evidence. Linear maps on TF-IDF of words and pairs of words (youtube,
sms): 100 epochs, batches of 128. Perceptrons (lost, msrcv2; a fifth of the rows, drawn anew each
time, is the test): 100 epochs, batches of 128. The pooled CNN (cifar10n): 30 epochs, batches of
256 in bfloat16, images shifted by up to two pixels and mirrored. The step decays to zero by a
cosine. No row learns from instances that nobody votes on, as is usual with labelling functions.
PRODEN's candidates are the classes that anybody votes for. The label models of crowd-kit and
snorkel have their own defaults.

That functions which abstain are combined by majority, and that instances without votes are left
out, was settled on the validation parts of youtube and sms (by then the test parts of both had
been seen in earlier sketches). On cifar10n PRODEN took its logarithms in bfloat16, which it no
longer does; it has not been measured again. Measure it again with `tacit reproduce real-beliefs
--data DIR`.
"""

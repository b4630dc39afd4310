"""What is done with files: resolve, predict, check; and what each comes to."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence

    from tacit.fitting import Progress
    from tacit.sources import Taxonomy
    from tacit.table._accuracies import Accuracies
    from tacit.table._asked import How, Pool
    from tacit.table._cooccurrence import Cooccurrence
    from tacit.table._recipe import Recipe
    from tacit.table._sources import ToldGroup, ToldSource
    from tacit.table._transition import Transition

__all__ = [
    "Applied",
    "Check",
    "Learned",
    "Summary",
    "check",
    "learn_belief",
    "predict",
    "resolve",
]


@dataclass(frozen=True, kw_only=True)
class Summary:
    """What a run came to.

    Attributes:
        out: The run's folder.
        n_instances: Number of instances.
        n_informed: Of how many the beliefs say anything.
        kind: What kind of beliefs they are.
        classes: Names of the classes.
        held_out_evidence: In nats per instance; None where nothing was held out.
        entropy_before: Mean entropy of the beliefs' marginals, in nats.
        entropy_after: Mean entropy of the posterior.
        balance: Share of each class among the resolved labels.
        epochs: Epochs that each member trained for.
        ended: Why each member ended.
        notes: What is odd without being wrong.
        alarms: What was wrong with the states that were kept.
        seconds: How long it took.
        sources: What each source of votes does, where there are votes.
    """

    out: str
    n_instances: int
    n_informed: int
    kind: str
    classes: tuple[str, ...]
    held_out_evidence: float | None
    entropy_before: float
    entropy_after: float
    balance: tuple[float, ...]
    epochs: tuple[int, ...]
    ended: tuple[str, ...]
    notes: tuple[str, ...]
    alarms: tuple[str, ...]
    seconds: float
    sources: tuple[ToldSource, ...] = ()

    @classmethod
    def of(cls, plain: dict[str, Any]) -> Self:
        """Inverse of `as_dict`, lists allowed for tuples.

        Raises:
            ValueError: If a value is of another kind, or has another name.
        """
        values: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in plain.items()
        }
        kinds = {each.name: _KINDS[str(each.type).split("[")[0]] for each in fields(cls)}
        if not values.keys() <= kinds.keys() or len(values) < len(kinds) - 1:
            raise ValueError("other names")
        if not all(isinstance(value, kinds[name]) for name, value in values.items()):
            raise ValueError("other kinds")
        balance = values["balance"]
        numbers = all(isinstance(share, float | int) for share in balance)
        if not numbers or len(balance) != len(values["classes"]):
            raise ValueError("no share for each class")
        return cls(**values)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)


_KINDS: Final[dict[str, Any]] = {
    "str": str,
    "int": int,
    "float": float | int,
    "float | None": float | int | None,
    "tuple": tuple,
}
"""What the values of a summary may be, by their annotations."""


@dataclass(frozen=True, kw_only=True)
class Applied:
    """What a model said of new data.

    Attributes:
        out: The file that was written.
        n_instances: Number of instances.
        notes: What is odd without being wrong.
    """

    out: str
    n_instances: int
    notes: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class Learned:
    """What belief was learned from auxiliary inputs.

    Attributes:
        out: The file that was written.
        n_instances: Number of instances that it is about.
        n_labels: From how many labels it was learned.
        classes: Names of the classes.
        notes: What is odd without being wrong.
    """

    out: str
    n_instances: int
    n_labels: int
    classes: tuple[str, ...]
    notes: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class Check:
    """What beliefs are worth.

    Attributes:
        source: The file.
        kind: How it was read.
        classes: Names of the classes.
        n_instances: Number of rows.
        bits: Mean information of a belief about its label.
        most_bits: What a certain label would tell.
        n_certain: Rows whose label is known.
        n_open: Rows of which nothing is known.
        balance: Share of each class, as the beliefs have it.
        findings: What should be looked at, a sentence each, with what to do.
        notes: What is odd without being wrong.
        sources: What each source of votes does, where there are votes.
        groups: Sources that no instance connects with those of another group; one group is good.
    """

    source: str
    kind: str
    classes: tuple[str, ...]
    n_instances: int
    bits: float
    most_bits: float
    n_certain: int
    n_open: int
    balance: tuple[float, ...]
    findings: tuple[str, ...]
    notes: tuple[str, ...]
    sources: tuple[ToldSource, ...] = ()
    groups: tuple[ToldGroup, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)


def resolve(
    recipe: Recipe,
    out: str | os.PathLike[str],
    *,
    resume: bool = False,
    watch: Callable[[Progress], None] | None = None,
    tell: Callable[[str], None] | None = None,
) -> Summary | None:
    """Find the labels of a collection in files, and a predictor for new data.

    Writes a folder: `resolved.parquet` (see `write_resolved`), `model/` (see
    `BeliefClassifier.load`), `metrics.jsonl` with a record for each epoch, and `run.json` with all
    settings, versions, and what came out. Under torchrun the processes share the work, and the
    first writes.

    Args:
        recipe: Which files, and how to learn.
        out: The folder; new, unless a run of the same recipe is resumed.
        resume: Whether to go on with the run in the folder, where there is one. A run that was
            killed ends as it would have ended; one that had come to its end is left as it is.
        watch: Told of the progress after each step.
        tell: Told what was read, a sentence at a time.

    Returns:
        What the run came to; None on all processes but the first.

    Raises:
        InvalidInputError: If a file or a setting cannot be used.
        RunError: If the folder holds something else, or cannot be written to.
    """
    from tacit.table._resolve import run

    return run(recipe, Path(out), resume=resume, watch=watch, tell=tell)


def predict(
    model: str | os.PathLike[str],
    data: str,
    out: str | os.PathLike[str],
    *,
    beliefs: str | Sequence[str] | None = None,
    id_column: str | None = None,
    tempering: float | None = None,
    device: str = "auto",
    votes: How | Accuracies | None = None,
    taxonomy: Taxonomy | None = None,
    cooccurrence: Cooccurrence | None = None,
    question: str | None = None,
    transition: Transition | None = None,
    trusted: str | os.PathLike[str] | None = None,
    pool: Pool | None = None,
    weights: Sequence[float] | None = None,
    abstaining: float | None = None,
) -> Applied:
    """Predict the labels of new data in a file; where there are beliefs about them, resolve them.

    Votes on new data are weighed by what the run has learned of their sources, which are known by
    name; nothing is estimated from the new votes, so that no row depends on the others. Votes of
    sources that the run does not know are left out, and noted. Where it has learned of none, all
    votes count the same.

    Args:
        model: The folder of a run, or of a model.
        data: File or folder of features, see `read_features`.
        out: The Parquet file to write; it must be new.
        beliefs: File of beliefs, see `read_beliefs`; several are fused, see `read_fused`.
        id_column: The column of ids, in both.
        tempering: β of the posterior; that of the model unless given.
        device: Where to compute.
        votes: "majority", to let all votes count the same whatever was learned, or how often their
            sources are right, see `read_accuracies`.
        taxonomy: As for `read_beliefs`, like `cooccurrence` and `question`.
        cooccurrence: How observed classes come with the classes.
        question: The question of an export whose answers are read.
        transition: How labels come from true ones, as for `read_beliefs`.
        trusted: File of a few true labels, from which the transition is counted.
        pool: Of several files, how they are fused, "product" (the default) or "linear".
        weights: The weight of each file, in their order; 1 unless given.
        abstaining: Share of each file's belief that is spread over all classes; 0 unless given.

    Raises:
        InvalidInputError: If a file cannot be used, or does not fit the model.
        ModelError: If the model cannot be read.
    """
    from tacit.table._apply import run

    return run(
        Path(model),
        data,
        Path(out),
        beliefs=beliefs,
        id_column=id_column,
        tempering=tempering,
        device=device,
        votes=votes,
        taxonomy=taxonomy,
        cooccurrence=cooccurrence,
        question=question,
        transition=transition,
        trusted=trusted,
        pool=pool,
        weights=weights,
        abstaining=abstaining,
    )


def learn_belief(
    auxiliary: str,
    labels: str,
    out: str | os.PathLike[str],
    *,
    new: str | None = None,
    id_column: str | None = None,
    columns: Sequence[str] | None = None,
    classes: Sequence[str] | int | None = None,
    folds: int = 5,
    seed: int = 0,
) -> Learned:
    r"""Learn a belief from auxiliary inputs in a file, where labels are known.

    Writes a column of probabilities for each class, with the ids of the inputs, for
    `read_beliefs`. Inputs that have labels are predicted out of fold, by networks that did not see
    them (`tacit.sources.learned_out_of_fold`), all others by one that saw all labels
    (`tacit.sources.learned_belief`).

    Args:
        auxiliary: File of inputs, see `read_features`: maps, coarse classes, metadata; not the
            features that a predictor is to see.
        labels: File of labels of some or all of them, as for `read_truth`.
        out: The Parquet file to write; it must be new.
        new: File of other inputs, which the belief is then about; with the same columns.
        id_column: The column of ids, in all.
        columns: The columns that are inputs; all but the ids unless given.
        classes: Names of the classes, in order, or how many there are; unless given all that have
            a label.
        folds: Parts of the labelled inputs that are left out in turn.
        seed: Seed of everything that is random.

    Raises:
        InvalidInputError: If a file cannot be used, or there are too few labels.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> from tacit.table import read_beliefs
        >>> with TemporaryDirectory() as folder:
        ...     inputs, few, out = (Path(folder, n) for n in ("a.csv", "l.csv", "b.parquet"))
        ...     _ = inputs.write_text("id,x\n" + "".join(f"{n},{n % 2}\n" for n in range(80)))
        ...     said = "".join(f"{n},{'ab'[n % 2]}\n" for n in range(40))
        ...     _ = few.write_text("id,label\n" + said)
        ...     learned = learn_belief(str(inputs), str(few), out)
        ...     beliefs = read_beliefs(out, ids=range(80), n_rows=80)
        >>> learned.n_labels, beliefs.classes
        (40, ('a', 'b'))
        >>> beliefs.belief.marginals().argmax(1)[-4:].tolist()
        [0, 1, 0, 1]
    """
    from tacit.table._learn import run

    return run(
        auxiliary,
        labels,
        Path(out),
        new=new,
        id_column=id_column,
        columns=columns,
        classes=classes,
        folds=folds,
        seed=seed,
    )


def check(
    beliefs: str | Sequence[str],
    *,
    data: str | None = None,
    id_column: str | None = None,
    columns: Sequence[str] | None = None,
    classes: Sequence[str] | int | None = None,
    votes: How | Accuracies | None = None,
    taxonomy: Taxonomy | None = None,
    cooccurrence: Cooccurrence | None = None,
    question: str | None = None,
    transition: Transition | None = None,
    trusted: str | os.PathLike[str] | None = None,
    pool: Pool | None = None,
    weights: Sequence[float] | None = None,
    abstaining: float | None = None,
) -> Check:
    r"""Say what a file of beliefs is worth, before anything is learned from it.

    Args:
        beliefs: The file, see `read_beliefs`; several are fused, see `read_fused`.
        data: The features, to see whether the ids join; otherwise the file's own rows count.
        id_column: The column of ids, in both.
        columns: The columns of the features that are read.
        classes: Names of the classes, in order, or how many there are.
        votes: As for `read_beliefs`, like `taxonomy`, `cooccurrence` and `question`.
        taxonomy: The tree that labels are names of.
        cooccurrence: How observed classes come with the classes.
        question: The question of an export whose answers are read.
        transition: How labels come from true ones, as for `read_beliefs`.
        trusted: File of a few true labels, from which the transition is counted.
        pool: Of several files, how they are fused, "product" (the default) or "linear".
        weights: The weight of each file, in their order; 1 unless given.
        abstaining: Share of each file's belief that is spread over all classes; 0 unless given.

    Raises:
        InvalidInputError: If a file cannot be used.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder, "beliefs.csv")
        ...     _ = path.write_text("id,candidates\na,cat|dog\nb,owl\nc,cat\n")
        ...     found = check(str(path), classes=["cat", "dog", "owl", "yak"])
        >>> found.kind, found.n_instances, found.n_certain, round(found.bits, 3)
        ('candidates', 3, 2, 1.667)
        >>> found.findings
        ('No row allows yak: look for a misspelling, or leave the class out of --classes.',)
    """
    from tacit.table._check import run

    return run(
        beliefs,
        data=data,
        id_column=id_column,
        columns=columns,
        classes=classes,
        votes=votes,
        taxonomy=taxonomy,
        cooccurrence=cooccurrence,
        question=question,
        transition=transition,
        trusted=trusted,
        pool=pool,
        weights=weights,
        abstaining=abstaining,
    )

"""What exports of labelling tools have in common: answers to questions, by whom."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from tacit.table._errors import did_you_mean, listed, reading, refused, shown
from tacit.table._votes import Ballots, believed_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.table._asked import Asked
    from tacit.table._beliefs import Beliefs
    from tacit.table._join import Join
    from tacit.table._records import Records

__all__ = ["Answer", "believed_answers", "chosen", "dicts_in", "names_in", "refused_at"]


class Answer(NamedTuple):
    """An answer that somebody gave; of several labels each is a part of a vote.

    Attributes:
        row: The record.
        question: The question.
        source: Who gave it.
        labels: What was said.
        weight: How much of a vote it is, all labels together.
        piece: In which part of the record it stands.
    """

    row: int
    question: str
    source: str
    labels: Sequence[str]
    weight: float = 1.0
    piece: int = 0


def chosen(answers: Sequence[Answer], asked: Asked, records: Records) -> list[Answer]:
    """The answers to the question that was asked for, or to the only one there is."""
    questions = sorted({answer.question for answer in answers})
    own = asked.question
    if own is None and len(questions) > 1:
        raise refused(
            records.path,
            f"holds answers to {len(questions)} questions, {listed(questions)}",
            "pass the one that is meant as `question`",
        )
    if not questions or (own is not None and own not in questions):
        near = did_you_mean(own, questions) if own else ""
        what = f"holds no answers to {shown(own)}{near}" if own else "holds no answers"
        fix = f"choose from {listed(questions)}" if questions else "export records with answers"
        raise refused(records.path, what, fix)
    return [answer for answer in answers if answer.question == (own or questions[0])]


def believed_answers(
    answers: Sequence[Answer], records: Records, join: Join, asked: Asked, notes: Sequence[str]
) -> Beliefs:
    """The belief that answers to one question amount to.

    Args:
        answers: The answers, record by record.
        records: Whose answers they are.
        join: Which record speaks of which of the features.
        asked: What the caller says.
        notes: What is odd about them.
    """
    votes = [
        (answer.row, answer.source, label, answer.weight / len(answer.labels))
        for answer in answers
        for label in answer.labels
        if answer.weight
    ]
    several = sum(len(answer.labels) > 1 for answer in answers)
    if several:
        notes = (*notes, f"{several} answers name several labels, each a part of the vote.")
    row, source, label, weight = zip(*votes, strict=True) if votes else ((), (), (), ())
    with reading(records.path, "JSON"):
        ballots = Ballots(
            np.array(row, dtype=np.int64),
            pa.array(source, pa.large_string()),
            pa.array(label, pa.large_string()),
            np.array(weight, dtype=np.float64),
        )
    sources = sorted({answer.source for answer in answers})
    return believed_names(ballots, sources, asked.classes, join, asked.votes, records.path, notes)


def names_in(records: Records, row: int, value: Any, column: str) -> list[str]:
    """The labels that a value names: one, or several, text or whole numbers; None names none."""
    values = value if isinstance(value, list) else [] if value is None else [value]
    for each in values:
        if isinstance(each, bool) or not isinstance(each, str | int) or each == "":
            raise refused_at(records, row, f"holds {shown(each)}", "name a label", column)
    return [str(each) for each in values]


def dicts_in(records: Records, row: int, value: Any, column: str) -> list[dict[str, Any]]:
    """The objects in a list, which may be missing."""
    values = [] if value is None else value
    if not isinstance(values, list) or not all(isinstance(each, dict) for each in values):
        what = f"holds {shown(value)}, and not a list of objects"
        raise refused_at(records, row, what, "export the records anew", column)
    return values


def refused_at(records: Records, row: int, what: str, fix: str, column: str) -> Exception:
    """Build the exception for a record that cannot be used."""
    return refused(records.path, what, fix, row=row, ids=records.ids, column=column)

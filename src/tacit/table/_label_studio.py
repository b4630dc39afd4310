"""Votes in Label Studio's JSON export: the choices of several annotators for each task."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.table._errors import listed, refused
from tacit.table._exports import (
    Answer,
    believed_answers,
    chosen,
    dicts_in,
    names_in,
    refused_at,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tacit.table._asked import Asked
    from tacit.table._beliefs import Beliefs
    from tacit.table._join import Join
    from tacit.table._records import Records

__all__ = ["votes_of_label_studio"]

_NOBODY = "unknown"
"""Whom an annotation is from where the export leaves people out."""


def votes_of_label_studio(records: Records, join: Join, asked: Asked) -> Beliefs:
    """The choices in the `annotations` of tasks, by who completed them.

    Annotations that were cancelled are passed over, and so are predictions.
    """
    answers = [answer for row in range(len(records.rows)) for answer in _answers(records, row)]
    if not answers:
        raise _nothing(records)
    own = chosen(answers, asked, records)
    _check_once(own, records)
    return believed_answers(own, records, join, asked, _notes(records, own))


def _annotations(records: Records, row: int) -> list[dict[str, Any]]:
    found = dicts_in(records, row, records.rows[row].get("annotations"), "annotations")
    return [each for each in found if not each.get("was_cancelled")]


def _answers(records: Records, row: int) -> Iterator[Answer]:
    for piece, annotation in enumerate(_annotations(records, row)):
        for result in dicts_in(records, row, annotation.get("result"), "result"):
            if result.get("type") != "choices":
                continue
            value = result.get("value")
            choices = value.get("choices") if isinstance(value, dict) else None
            labels = names_in(records, row, choices, "choices")
            if labels:
                who = _who(annotation.get("completed_by"))
                yield Answer(row, str(result.get("from_name")), who, labels, piece=piece)


def _who(completed_by: Any) -> str:
    """Who completed an annotation: a number, or an object that has it."""
    if isinstance(completed_by, dict):
        completed_by = completed_by.get("id", completed_by.get("email"))
    return _NOBODY if completed_by is None else str(completed_by)


def _check_once(answers: list[Answer], records: Records) -> None:
    """Refuse choices about regions, of which an annotation has many."""
    seen = set()
    for answer in answers:
        place = (answer.row, answer.piece)
        if place in seen:
            raise refused_at(
                records,
                answer.row,
                f"answers {answer.question} more than once in an annotation",
                "export choices about whole tasks, not about regions of them",
                "annotations",
            )
        seen.add(place)


def _notes(records: Records, answers: list[Answer]) -> list[str]:
    rows = range(len(records.rows))
    cancelled = sum(
        len(records.rows[row].get("annotations") or ()) - len(_annotations(records, row))
        for row in rows
    )
    predicted = sum(bool(record.get("predictions")) for record in records.rows)
    unknown = sum(answer.source == _NOBODY for answer in answers)
    trusted = sum(
        bool(each.get("ground_truth")) for row in rows for each in _annotations(records, row)
    )
    others = _other_kinds(records)
    told = {
        f"Of annotations only choices were read, not {listed(sorted(others))}.": len(others),
        f"{cancelled} annotations were cancelled, and are passed over.": cancelled,
        f"The predictions of {predicted} tasks were not read.": predicted,
        f"{unknown} annotations name nobody, and count as those of one annotator.": unknown,
        f"{trusted} annotations are marked as ground truth, and count like others.": trusted,
    }
    return [note for note, holds in told.items() if holds]


def _other_kinds(records: Records) -> set[str]:
    """The kinds of results beside choices."""
    kinds = {
        str(result.get("type"))
        for row in range(len(records.rows))
        for each in _annotations(records, row)
        for result in dicts_in(records, row, each.get("result"), "result")
    }
    return kinds - {"choices"}


def _nothing(records: Records) -> Exception:
    kinds = _other_kinds(records)
    return refused(
        records.path,
        f"holds no choices, only {listed(sorted(kinds)) or 'tasks without annotations'}",
        "export a project whose tasks are classified by choices",
    )

"""Votes in records that argilla exports: responses of people, suggestions of models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tacit.table._errors import shown
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

__all__ = ["votes_of_argilla"]

_NOBODY: Final = "unknown"
"""Whom a response is from where the export leaves people out."""
_UNFINISHED: Final = ("draft", "discarded", "pending")
"""Responses that nobody has submitted."""


def votes_of_argilla(records: Records, join: Join, asked: Asked) -> Beliefs:
    """The responses and the suggestions of records, by question.

    A response is a vote of its user. A suggestion is one of its agent, of the weight of its score.
    """
    answers: list[Answer] = []
    n_suggested = n_unfinished = 0
    for row in range(len(records.rows)):
        given = list(_responses(records, row, asked.question))
        answers += [answer for answer, is_finished in given if is_finished]
        n_unfinished += sum(not is_finished for _, is_finished in given)
        suggested = list(_suggestions(records, row, asked.question))
        n_suggested += len(suggested)
        answers += suggested
    own = chosen(answers, asked, records)
    n_nameless = sum(answer.source == _NOBODY for answer in own)
    notes = {
        "Suggestions count as votes of their agents, of the weight of their scores.": n_suggested,
        f"{n_unfinished} responses were not submitted, and are passed over.": n_unfinished,
        f"{n_nameless} responses name nobody, and count as those of one user.": n_nameless,
    }
    told = [note for note, holds in notes.items() if holds]
    return believed_answers(own, records, join, asked, told)


def _responses(records: Records, row: int, question: str | None) -> Iterator[tuple[Answer, bool]]:
    """Each response, and whether it was submitted."""
    for name, value in _by_question(records, row, "responses", question):
        for response in dicts_in(records, row, value, "responses"):
            labels = names_in(records, row, response.get("value"), "responses")
            user = response.get("user_id")
            who = _NOBODY if user is None else str(user)
            if labels:
                yield Answer(row, name, who, labels), response.get("status") not in _UNFINISHED


def _suggestions(records: Records, row: int, question: str | None) -> Iterator[Answer]:
    for name, value in _by_question(records, row, "suggestions", question):
        for suggestion in dicts_in(records, row, [value], "suggestions"):
            labels = names_in(records, row, suggestion.get("value"), "suggestions")
            agent = suggestion.get("agent")
            who = "suggestion" if agent is None else str(agent)
            scores = _scores(records, row, suggestion.get("score"), len(labels))
            for label, score in zip(labels, scores, strict=True):
                yield Answer(row, name, who, [label], score / len(labels))


def _by_question(
    records: Records, row: int, key: str, question: str | None
) -> list[tuple[str, Any]]:
    """What a record has for each question, or for the one that was asked for."""
    found = records.rows[row].get(key)
    if found is not None and not isinstance(found, dict):
        raise refused_at(
            records,
            row,
            f"holds {shown(found)}, and not answers by question",
            "export by the records' to_json of argilla 2",
            key,
        )
    named = {} if found is None else found
    return [
        (name, value)
        for name, value in named.items()
        if value is not None and question in (None, name)
    ]


def _scores(records: Records, row: int, score: Any, n_labels: int) -> list[float]:
    """The weight of each label: its score, the score of all, or one."""
    scores = score if isinstance(score, list) else [1.0 if score is None else score] * n_labels
    good = len(scores) == n_labels and all(
        isinstance(each, int | float) and not isinstance(each, bool) and 0 <= each <= 1
        for each in scores
    )
    if not good:
        what = f"holds the score {shown(score)}"
        raise refused_at(records, row, what, "write one from 0 to 1 for each label", "suggestions")
    return [float(each) for each in scores]

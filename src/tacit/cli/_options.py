"""Options that several commands have: how files of beliefs are read."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

__all__ = [
    "Abstaining",
    "Accuracies",
    "Classes",
    "Columns",
    "CooccurrenceFile",
    "IdColumn",
    "Pool",
    "Question",
    "TaxonomyFile",
    "TransitionFile",
    "TrustedFile",
    "VotesAs",
    "Weights",
]

_FILES = "Files"

IdColumn: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help='Column of ids [default: "id", if there is one].',
        rich_help_panel=_FILES,
    ),
]
Columns: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="Columns that are features: a,b,c [default: all].",
        rich_help_panel=_FILES,
    ),
]
Classes: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="Names of the classes, in order: cat,dog; or how many there are.",
        rich_help_panel=_FILES,
    ),
]
VotesAs: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="How votes become a belief: dawid_skene or majority.", rich_help_panel=_FILES
    ),
]
Accuracies: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="File of how often each source of votes is right: .csv or .json.",
        rich_help_panel=_FILES,
    ),
]
TaxonomyFile: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="File of a tree of labels: .yaml, .json or .csv.",
        rich_help_panel=_FILES,
    ),
]
CooccurrenceFile: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="File of a table: how observed classes come with the classes.", rich_help_panel=_FILES
    ),
]
Question: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="Of an export, the question whose answers are read.",
        rich_help_panel=_FILES,
    ),
]
TransitionFile: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="File of a table: which labels are written, with errors, where which are true.",
        rich_help_panel=_FILES,
    ),
]
TrustedFile: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="File of a few true labels, to count the transition from.", rich_help_panel=_FILES
    ),
]
Pool: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="How several files of beliefs become one: product or linear.", rich_help_panel=_FILES
    ),
]
Weights: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="The weight of each file of beliefs: 1,0.5 [default: 1 each].", rich_help_panel=_FILES
    ),
]
Abstaining: TypeAlias = Annotated[
    float | None,
    typer.Option(
        help="Share of each file's belief that is spread over all classes.", rich_help_panel=_FILES
    ),
]

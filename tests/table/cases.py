"""Tables and beliefs to be written in every format, and what they say, found by slow loops."""

import csv
import gzip
import io
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st

TABLES = (".parquet", ".csv", ".tsv", ".csv.gz")

IDS = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=6
)
"""Ids of any characters, among them commas, quotation marks and line breaks."""


def save(path, columns):
    """Write columns, a list or an array each, as what the suffix says; an array as `.npy`."""
    if path.suffix == ".npy":
        np.save(path, columns)
    elif path.suffix == ".npz":
        np.savez(path, **{name: np.asarray(values) for name, values in columns.items()})
    elif path.suffix in (".parquet", ".pq"):
        pq.write_table(pa.table(columns), path, row_group_size=3)
    else:
        text = io.StringIO(newline="")
        lines = csv.writer(text, delimiter="\t" if ".tsv" in path.suffixes else ",")
        lines.writerow(columns)
        lines.writerows(zip(*(map(as_text, values) for values in columns.values()), strict=True))
        written = text.getvalue().encode()
        path.write_bytes(gzip.compress(written) if path.suffix == ".gz" else written)
    return path


def as_text(value):
    """A cell of a CSV file."""
    if value is None:
        return ""
    if isinstance(value, list):
        return "|".join(value)
    return repr(value.item()) if isinstance(value, np.generic) else value


class Stated(NamedTuple):
    """What somebody knows of a collection.

    Attributes:
        ids: What its instances are called.
        classes: The names of the classes.
        rows: The instances that the file has, in its order.
        sets: The classes that each of these may have, by their numbers, never none.
    """

    ids: list[str]
    classes: list[str]
    rows: list[int]
    sets: list[set[int]]

    def mask(self):
        """Which classes each instance may have, `(instances, class)`."""
        known = dict(zip(self.rows, self.sets, strict=True))
        everything = set(range(len(self.classes)))
        return np.array(
            [
                [label in known.get(row, everything) for label in range(len(self.classes))]
                for row in range(len(self.ids))
            ]
        )

    def columns(self, kind):
        """The same as columns of a table."""
        named = [[self.classes[label] for label in sorted(each)] for each in self.sets]
        others = [[name for name in self.classes if name not in each] for each in named]
        ids = {"id": [self.ids[row] for row in self.rows]}
        if kind == "probabilities":
            return ids | {
                name: np.array([float(name in each) for each in named]) for name in self.classes
            }
        return (
            ids
            | {
                "candidates": {"candidates": named},
                "excluded": {"excluded": others},
                "labels": {"label": [each[0] if len(each) == 1 else None for each in named]},
            }[kind]
        )

    def keys(self, kind):
        """The same as keys of an `.npz` file."""
        mask = self.mask()[self.rows]
        keys = {"ids": [self.ids[row] for row in self.rows], "classes": self.classes}
        if kind == "labels":
            label = [self.classes[min(each)] if len(each) == 1 else "" for each in self.sets]
            return keys | {"label": label}
        tables = {"probabilities": ("beliefs", mask + 0.0), "candidates": ("candidates", mask)}
        name, table = tables.get(kind, ("excluded", ~mask))
        return keys | {name: table}


@st.composite
def stated(draw, kind=None):
    """Something known of some of the instances, in any order."""
    ids = draw(st.lists(IDS, min_size=1, max_size=8, unique=True))
    # A class may be called as it likes, but in a table of probabilities `id` is the ids.
    names = st.text("abcdefghij", min_size=1, max_size=3).filter(lambda name: name != "id")
    classes = draw(st.lists(names, min_size=2, max_size=11, unique=True))
    order = draw(st.permutations(range(len(ids))))
    rows = order[: draw(st.integers(1, len(ids)))]
    size = {"min_size": 1, "max_size": 1 if kind == "labels" else None}
    one = st.sets(st.integers(0, len(classes) - 1), **size)
    return Stated(ids, classes, rows, [draw(one) for _ in rows])

"""Votes to be written in every format, and their counts, found by slow loops."""

import gzip
import json
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

from tests.table.cases import IDS, save

NAMES = st.text("abcdefghij", min_size=1, max_size=3)


class Cast(NamedTuple):
    """Who said what of which instance.

    Attributes:
        ids: What the instances are called.
        workers: What the sources are called.
        classes: The names of the classes.
        said: The answer of each source about each instance by its number, -1 for none.
    """

    ids: list[str]
    workers: list[str]
    classes: list[str]
    said: np.ndarray

    def counts(self):
        """Votes for each class, `(instances, class)`."""
        return [
            [int((row == label).sum()) for label in range(len(self.classes))] for row in self.said
        ]

    def votes(self):
        """Each vote as an instance, a source and a class, by their names."""
        return [
            (self.ids[row], self.workers[source], self.classes[self.said[row, source]])
            for row, source in zip(*np.nonzero(self.said >= 0), strict=True)
        ]

    def columns(self, item="task"):
        """A row for each vote."""
        names = (item, "worker", "label")
        return dict(zip(names, map(list, zip(*self.votes(), strict=True)), strict=True))

    def matrix(self, prefix="vote_"):
        """A column for each source, of numbers."""
        own = {prefix + name: self.said[:, place] for place, name in enumerate(self.workers)}
        return {"id": self.ids} | own

    def named_matrix(self):
        """A column for each source, of names."""
        names = [*self.classes, None]
        return {"id": self.ids} | {
            f"lf_{name}": [names[label] for label in self.said[:, place]]
            for place, name in enumerate(self.workers)
        }

    def wrench(self):
        """Records of WRENCH, with a truth that is nothing of the kind."""
        return [
            {"id": name, "label": 0, "weak_labels": row.tolist(), "text": "x"}
            for name, row in zip(self.ids, self.said, strict=True)
        ]

    def label_studio(self):
        """Tasks of Label Studio, with a cancelled annotation each."""
        cancelled = {"was_cancelled": True, "completed_by": 7, "result": [choice(self.classes[0])]}
        return [
            {
                "id": row,
                "data": {"key": name},
                "annotations": [cancelled]
                + [
                    {"completed_by": {"id": worker}, "result": [choice(self.classes[label])]}
                    for worker, label in zip(self.workers, said, strict=True)
                    if label >= 0
                ],
            }
            for row, (name, said) in enumerate(zip(self.ids, self.said, strict=True))
        ]

    def argilla(self):
        """Records of argilla."""
        return [
            {
                "id": name,
                "fields": {"text": "x"},
                "suggestions": {},
                "responses": {
                    "topic": [
                        {"value": self.classes[label], "user_id": worker}
                        for worker, label in zip(self.workers, said, strict=True)
                        if label >= 0
                    ]
                },
            }
            for name, said in zip(self.ids, self.said, strict=True)
        ]


def choice(label, question="topic"):
    """A choice as Label Studio states it."""
    value = {"choices": label if isinstance(label, list) else [label]}
    return {"type": "choices", "from_name": question, "to_name": "text", "value": value}


@st.composite
def cast(draw, enough=False):
    """Votes of some sources, at least one vote each way of writing needs."""
    ids = draw(st.lists(IDS, min_size=2, max_size=7, unique=True))
    workers = draw(st.lists(NAMES, min_size=4 if enough else 1, max_size=5, unique=True))
    classes = draw(st.lists(NAMES, min_size=2, max_size=4, unique=True))
    one = st.integers(0 if enough else -1, len(classes) - 1)
    cells = draw(st.lists(one, min_size=len(ids) * len(workers), max_size=len(ids) * len(workers)))
    said = np.array(cells).reshape(len(ids), len(workers))
    said[0, 0] = max(said[0, 0], 0)
    return Cast(ids, workers, classes, said)


def save_json(path, content):
    """Write records as what the suffix says."""
    if ".jsonl" in path.name:
        text = "\n".join(json.dumps(each) for each in content) + "\n"
    else:
        text = json.dumps(content)
    written = text.encode()
    path.write_bytes(gzip.compress(written) if path.suffix == ".gz" else written)
    return path


def written(folder, known):
    """Votes in every format: the paths of crowds', and those of matrices'."""
    crowd = [
        save(folder / f"rows{suffix}", known.columns())
        for suffix in (".parquet", ".csv", ".tsv", ".csv.gz", ".npz")
    ]
    crowd.append(save_json(folder / "argilla.json", known.argilla()))
    crowd.append(save_json(folder / "argilla.jsonl.gz", known.argilla()))
    matrices = [
        save(folder / f"{name}{suffix}", columns)
        for name, columns in (("numbers", known.matrix()), ("names", known.named_matrix()))
        for suffix in (".parquet", ".csv")
    ]
    keys = {"votes": known.said, "ids": known.ids, "sources": known.workers}
    matrices.append(save(folder / "matrix.npz", keys))
    shares = (known.said[:, :, None] == np.arange(len(known.classes))) * 0.5
    matrices.append(save(folder / "soft.npz", {"votes": shares, "ids": known.ids}))
    records = known.wrench()
    by_id = {each["id"]: {k: v for k, v in each.items() if k != "id"} for each in records}
    matrices.append(save_json(folder / "wrench.json", by_id))
    matrices += [save_json(folder / f"wrench{each}", records) for each in (".jsonl", ".jsonl.gz")]
    return crowd, matrices

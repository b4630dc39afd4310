"""Folders of runs, made by hand, and pages, read back."""

import json
import re
from html.parser import HTMLParser
from typing import NamedTuple

import numpy as np
import torch

from tacit.beliefs import Categorical
from tacit.diagnostics import Alarm, Vitals, mean_entropy
from tacit.fitting import Record
from tacit.report import write_report
from tacit.table import write_resolved

CLASSES = ("cat", "dog", "owl")
VOID = {"meta", "img", "input", "br", "link", "hr", "col"}


class Tables(NamedTuple):
    """Belief, posterior and prediction of a collection, `(rows, class)`."""

    p: torch.Tensor
    r: torch.Tensor
    q: torch.Tensor


def tables(n_rows=12, n_classes=3, seed=0):
    """Probabilities at random; r ∝ p q as if all classes were of one size."""
    generator = torch.Generator().manual_seed(seed)
    p, q = (
        (2 * torch.randn(n_rows, n_classes, generator=generator, dtype=torch.float64)).softmax(1)
        for _ in range(2)
    )
    return Tables(p, (p * q) / (p * q).sum(1, keepdim=True), q)


def record(epoch, member=0, **changed):
    """An epoch in which nothing is wrong, but for what is changed."""
    signs = Vitals(1.0, 0.5, changed.pop("information", 0.5), 0.0, changed.pop("drift", 0.01), ())
    usual = {
        "run": member,
        "epoch": epoch,
        "loss": 1 / epoch,
        "warming_up": False,
        "learning_rate": 0.01,
        "held_out_evidence": 0.1 * epoch,
        "best": True,
        "vitals": signs,
    }
    return Record(**(usual | changed))


def alarm(kind="constant", message="the prediction hardly depends on the features; warm up longer"):
    return Alarm(kind, kind != "drift", message)


def results(of, classes=CLASSES, **changed):
    """What a run came to that has come to these tables."""
    n_rows = len(of.r)
    return {
        "out": "runs/first",
        "n_instances": n_rows,
        "n_informed": n_rows,
        "kind": "probabilities",
        "classes": [*classes],
        "held_out_evidence": 0.4321,
        "entropy_before": mean_entropy(of.p),
        "entropy_after": mean_entropy(of.r),
        "balance": [1 / len(classes)] * len(classes),
        "epochs": [3],
        "ended": ["all epochs"],
        "notes": [],
        "alarms": [],
        "seconds": 7.5,
    } | changed


def described(of, classes=CLASSES, recipe=(), **changed):
    """What `run.json` says of such a run."""
    return {
        "what": "a run of tacit",
        "format": 1,
        "command": "resolve",
        "recipe": {"data": "x.csv", "beliefs": "p.csv", "seed": 3, **dict(recipe)},
        "status": "complete",
        "started": "2025-03-01T14:05:09+00:00",
        "versions": {"python": "3.11.0", "torch": "2.9.9"},
        "machine": {"system": "Linux-of-a-kind", "gpu": None},
        "ended": "2025-03-01T14:05:17+00:00",
        "results": results(of, classes, **changed),
    }


def make_run(
    folder,
    of=None,
    *,
    classes=CLASSES,
    records=None,
    ids=None,
    belief=True,
    told=None,
    recipe=(),
    **changed,
):
    """Write the folder of a run; `changed` are results that are other than usual."""
    of = tables(n_classes=len(classes)) if of is None else of
    folder.mkdir(parents=True, exist_ok=True)
    said = described(of, classes, recipe, **changed)
    (folder / "run.json").write_text(json.dumps(said))
    lines = [record(epoch) for epoch in (1, 2, 3)] if records is None else records
    metrics = "".join(json.dumps(each.as_dict()) + "\n" for each in lines)
    (folder / "metrics.jsonl").write_text(metrics)
    write_resolved(
        folder / "resolved.parquet",
        ids=ids,
        classes=classes,
        posterior=of.r,
        prediction=of.q,
        belief=Categorical(of.p) if belief else None,
        told=told,
    )
    (folder / "model").mkdir(exist_ok=True)
    mass = np.log(of.q.mean(0).numpy()).tolist()
    (folder / "model" / "model.json").write_text(json.dumps({"log_class_mass": mass}))
    return folder


class Page(HTMLParser):
    """A page, read back: its tags, and the cells of its tables.

    Attributes:
        text: The whole file.
        tags: Each tag with its attributes, in order.
        rows: By the id of a table, for each row of its body, cells by their labels.
        values: The same for the values by which the cells are sorted.
        words: All text that is seen.
    """

    def __init__(self, text):
        super().__init__()
        self.text, self.tags, self.rows, self.values = text, [], {}, {}
        self._open, self._table, self._label, self._depth, words = [], None, None, 0, []
        self._words = words
        self.feed(text)
        assert self._open == [], "tags that are not closed"
        self.words = re.sub(r"\s+", " ", " ".join(words))

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.tags.append((tag, found))
        if tag not in VOID:
            self._open.append(tag)
        self._depth += tag == "table"
        if tag == "table" and self._depth == 1:
            self._table = found.get("id", "")
            self.rows[self._table], self.values[self._table] = [], []
        if self._depth == 1 and tag == "tr" and "tbody" in self._open:
            self.rows[self._table].append({})
            self.values[self._table].append({})
        if self._depth == 1 and tag in ("td", "th") and self.rows.get(self._table):
            self._label = found.get("data-label")
            self.rows[self._table][-1].setdefault(self._label, "")
            if "data-value" in found:
                self.values[self._table][-1][self._label] = float(found["data-value"])

    def handle_endtag(self, tag):
        if tag in ("path", "rect", "circle") and self._open[-1] != tag:
            return
        assert self._open.pop() == tag
        self._depth -= tag == "table"

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_data(self, data):
        if not {"style", "script"} & {*self._open}:
            self._words.append(data)
            if self._depth and self.rows.get(self._table) and {"td", "th"} & {*self._open}:
                row = self.rows[self._table][-1]
                row[self._label] = f"{row.get(self._label, '')} {data.strip()}".strip()

    def column(self, table, label):
        return [row[label] for row in self.rows[table]]

    def sections(self):
        return [found["id"] for tag, found in self.tags if tag == "section"]


def page_of(run, **options):
    """Report a run, and read the page."""
    return Page(write_report(run, **options).read_text("utf-8"))

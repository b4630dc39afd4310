"""What stands on the page is what stands in the files, and nothing is loaded."""

import base64
import hashlib
import re

import numpy as np
import pytest
import torch

from tacit.diagnostics import surprise
from tacit.objectives import union_nll
from tests.report.cases import CLASSES, Tables, alarm, make_run, page_of, record, tables

NASTY = ("<script>alert(1)</script>", "\"quoted\" & 'single'", "</td></table>{{ 7 * 7 }}")
OF = tables(n_rows=40)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    return page_of(make_run(tmp_path_factory.mktemp("runs") / "first", OF))


def test_sections_are_in_order(page):
    assert page.sections() == [
        *("summary", "classes", "certainty", "training"),
        *("conflicts", "uncertain", "calibration", "provenance"),
    ]
    ids = {found["id"] for _, found in page.tags if "id" in found}
    links = [found["href"] for tag, found in page.tags if tag == "a"]
    assert {link.removeprefix("#") for link in links} <= ids


def test_page_loads_nothing(page):
    for tag, found in page.tags:
        assert tag not in ("link", "iframe", "object", "embed", "base", "form")
        assert found.get("href", "#").startswith("#")
        assert found.get("src", "data:").startswith("data:")
    assert not re.search(r"https?://|url\(|@import|fetch\(|XMLHttp", page.text)


def test_policy_lets_only_our_own_script_run(page):
    (policy,) = (found["content"] for _, found in page.tags if "http-equiv" in found)
    (script,) = re.findall(r"<script>(.*?)</script>", page.text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'; img-src data:;")
    assert not any(name.startswith("on") for _, found in page.tags for name in found)


def test_headline_figures_are_those_of_the_run(page):
    before, after = (float(torch.special.entr(table).sum(1).mean()) for table in (OF.p, OF.r))
    for text in (f"{before:.3f} → {after:.3f}", "0.432", "40 instances", "2025-03-01 14:05 UTC"):
        assert text in page.words
    sure = 100 * float((OF.r.amax(1) >= 0.95).double().mean())
    assert f"Labels that are sure {sure:.1f} %" in page.words
    against = 100 * float((OF.q.argmax(1) != OF.p.argmax(1)).double().mean())
    assert f"Against the belief {against:.1f} %" in page.words


def test_classes_show_the_balance_of_p_r_and_q(page):
    assert page.column("class-list", "class") == [*CLASSES]
    for kind, table in (("p", OF.p), ("r", OF.r), ("q", OF.q), ("S", OF.q)):
        shown = [row[kind] for row in page.values["class-list"]]
        assert np.allclose(shown, table.mean(0), atol=1e-6)
    labels = [row["labels"] for row in page.values["class-list"]]
    assert labels == torch.bincount(OF.r.argmax(1), minlength=3).tolist()


def test_conflicts_are_ranked_by_contradiction(page):
    contradiction = union_nll(log_prediction=OF.q.log(), belief=OF.p)
    order = contradiction.argsort(descending=True).tolist()
    listed = [int(name) for name in page.column("conflict-list", "id")]
    assert listed == [row for row in order if contradiction[row] > 0.01]
    shown = page.values["conflict-list"]
    assert np.allclose([each["contradiction"] for each in shown], contradiction[listed], atol=1e-5)
    moved = surprise(OF.r, OF.p)[listed]
    assert np.allclose([each["KL(r‖p)"] for each in shown], moved, atol=1e-5)
    assert page.column("conflict-list", "believed") == [
        CLASSES[label] for label in OF.p.argmax(1)[listed]
    ]
    assert page.column("conflict-list", "found") == [
        CLASSES[label] for label in OF.r.argmax(1)[listed]
    ]


def test_least_certain_are_ranked_by_entropy(page):
    entropy = torch.special.entr(OF.r).sum(1)
    listed = [int(name) for name in page.column("uncertain-list", "id")]
    assert listed == entropy.argsort(descending=True).tolist()
    shown = [each["entropy"] for each in page.values["uncertain-list"]]
    assert np.allclose(shown, entropy[listed], atol=1e-5)


def test_every_list_can_be_sorted_and_searched(page):
    tables_ = [found for tag, found in page.tags if tag == "table" and "id" in found]
    sortable = {found["id"] for found in tables_ if "sortable" in found["class"]}
    assert sortable == {"class-list", "conflict-list", "uncertain-list"}
    searched = {found["data-for"] for tag, found in page.tags if tag == "input"}
    assert searched == {"conflict-list", "uncertain-list"}
    # As a table is made of blocks on a phone, its roles are said.
    roles = {found.get("role") for tag, found in page.tags if tag == "tr"}
    assert {"row", None} == roles
    assert all(found["role"] == "table" for found in tables_)


def test_sets_are_ranked_by_what_is_predicted_outside(tmp_path):
    inside, outside = [0.9, 0.08, 0.02], [0.05, 0.05, 0.9]
    q = torch.tensor([inside, outside, inside, inside], dtype=torch.float64)
    p = torch.tensor([[1, 1, 0], [1, 1, 0], [1, 0, 1], [1, 1, 1]], dtype=torch.float64)
    p /= p.sum(1, keepdim=True)
    r = p * q / (p * q).sum(1, keepdim=True)
    page = page_of(make_run(tmp_path / "run", Tables(p, r, q)))
    assert page.column("conflict-list", "id") == ["1", "2", "0"]
    assert page.column("conflict-list", "believed") == ["cat or dog", "cat or owl", "cat or dog"]
    assert page.column("conflict-list", "predicted")[0] == "owl"


def test_names_are_text_and_never_markup(tmp_path):
    of = tables(n_rows=6)
    notes, ids = ["<img src=x>"], [f"<b>{row}</b>" for row in range(6)]
    sources = [{"name": "<i>who</i>", "finding": "<u>odd</u>"}]
    told = {"notes": notes, "alarms": ["<em>a</em>"], "sources": sources, "kind": "<s>k</s>"}
    records = [record(1, alarms=(alarm(message="<q>b</q>"),))]
    recipe = {"data": "<a href=x>"}
    told |= {"classes": NASTY, "ids": ids, "records": records, "recipe": recipe}
    page = page_of(make_run(tmp_path / "r&d <x>", of, **told))
    assert page.column("class-list", "class") == [*NASTY]
    assert {*page.column("uncertain-list", "id")} == {*ids}
    assert not {"u", "em", "s", "q", "img"} & {tag for tag, _ in page.tags}
    assert sum(tag == "script" for tag, _ in page.tags) == 1
    for text in ("<img src=x>", "<em>a</em>", "<i>who</i>", "<u>odd</u>", "<a href=x>", "r&d <x>"):
        assert text in page.words


def test_sources_are_shown_where_the_run_tells_of_them(page, tmp_path):
    told = [
        {"name": "b", "coverage": 0.4, "conflict": 0.125, "accuracy": 0.93, "finding": None},
        {"name": "a", "coverage": 0.02, "conflict": None, "finding": "never right"},
    ]
    run = page_of(make_run(tmp_path / "run", sources=told))
    assert "sources" in run.sections()
    assert "sources" not in page.sections()
    assert run.column("source-list", "source") == ["b", "a"]
    assert run.column("source-list", "accuracy") == ["93.0 %", "–"]
    assert run.column("source-list", "finding") == ["–", "never right"]
    assert run.values["source-list"][0] == {"coverage": 0.4, "conflict": 0.125, "accuracy": 0.93}
    assert "learned" not in run.rows["source-list"][0]


def test_what_sources_have_learned_is_shown_beside_what_was_stated(tmp_path):
    told = [{"name": "b", "accuracy": 0.93, "learned": 0.61}, {"name": "a", "learned": None}]
    run = page_of(make_run(tmp_path / "run", sources=told))
    assert run.column("source-list", "accuracy") == ["93.0 %", "–"]
    assert run.column("source-list", "learned") == ["61.0 %", "–"]
    assert "after the belief has learned along" in run.words


def test_table_without_beliefs_is_reported_and_said(tmp_path):
    page = page_of(make_run(tmp_path / "run", OF, belief=False))
    assert "conflicts" not in page.sections()
    assert "calibration" not in page.sections()
    assert [*page.values["class-list"][0]] == ["r", "q", "S", "labels"]
    assert "The table holds no belief p" in page.words


def test_run_whose_model_is_gone_is_reported_without_its_mass(tmp_path):
    run = make_run(tmp_path / "run")
    (run / "model" / "model.json").unlink()
    page = page_of(run)
    assert [*page.values["class-list"][0]] == ["p", "r", "q", "labels"]
    assert "The model is gone" in page.words


def test_rows_without_a_label_are_counted(tmp_path):
    of = tables(n_rows=9)
    of.r[[2, 5]] = 0.0
    page = page_of(make_run(tmp_path / "run", of))
    assert "2 rows have no label" in page.words
    assert sum(each["labels"] for each in page.values["class-list"]) == 7


def test_many_classes_are_summed_up(tmp_path):
    names = [f"c{number}" for number in range(60)]
    page = page_of(make_run(tmp_path / "run", tables(30, 60), classes=names))
    shown = page.column("class-list", "class")
    assert len(shown) == 40
    assert shown[-1] == "21 other classes"
    for kind in "prqS":
        total = sum(each[kind] for each in page.values["class-list"])
        assert total == pytest.approx(1, abs=1e-4)


def test_long_lists_are_cut(tmp_path):
    page = page_of(make_run(tmp_path / "run", tables(450, 3)))
    assert len(page.rows["uncertain-list"]) == 200
    assert len(page.rows["conflict-list"]) == 200
    assert "Show all 200" in page.words


def test_diagram_says_what_the_beliefs_allow(page, tmp_path):
    assert f"best class {OF.p.amax(1).mean():.2f}" in page.words
    assert "too vague" in page.words
    sharp = OF._replace(p=torch.eye(3, dtype=torch.float64)[OF.q.argmax(1)])
    told = page_of(make_run(tmp_path / "run", sharp._replace(r=sharp.p)))
    assert "too vague" not in told.words
    assert "best class 1.00" in told.words


def test_settings_versions_and_machine_are_told(tmp_path):
    page = page_of(make_run(tmp_path / "run", recipe={"epochs": 77, "scale": True}))
    for text in ("epochs 77", "scale yes", "torch 2.9.9", "system Linux-of-a-kind", "gpu –"):
        assert text in page.words
    titles = [page.text.count(f"<summary>{name}<") for name in ("Configuration", "Versions")]
    assert titles == [1, 1]

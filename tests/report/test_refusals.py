"""What cannot be reported, or written to, is refused in a sentence."""

import json
from contextlib import suppress

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.errors import InvalidInputError, TacitError
from tacit.report import write_report
from tacit.runs import RunError
from tests.report.cases import make_run, tables


@pytest.fixture
def run(tmp_path):
    return make_run(tmp_path / "run")


def change(run, **changed):
    path = run / "run.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changed))


def changed_results(run, **changed):
    results = json.loads((run / "run.json").read_text())["results"]
    change(run, results=results | changed)


def test_report_lies_in_the_run_unless_told(run, tmp_path):
    assert write_report(run) == run / "report.html"
    assert write_report(str(run), tmp_path / "other.htm") == tmp_path / "other.htm"
    assert sorted(each.name for each in run.iterdir()) == sorted(
        ["metrics.jsonl", "model", "report.html", "resolved.parquet", "run.json"]
    )


def test_two_reports_of_a_run_differ_in_their_time_only(run, tmp_path):
    first, second = (write_report(run, tmp_path / f"{n}.html").read_text() for n in "ab")
    assert first.partition("Written 2")[0] == second.partition("Written 2")[0]


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda run: (run / "run.json").unlink(), "is no run: it holds no run.json; name the"),
        (lambda run: (run / "run.json").write_text("{"), r"'.*run.json' is damaged \("),
        (lambda run: (run / "run.json").write_text("[1]"), "a run.json that is not of tacit"),
        (lambda run: change(run, status="running"), "not come to its end; .*resolve --resume"),
        (lambda run: change(run, command="map"), "holds a run of tacit map, and reports are of"),
        (lambda run: change(run, results={}), "was changed after it was written"),
        (lambda run: change(run, recipe=None), "was changed after it was written"),
        (lambda run: changed_results(run, classes=[1, 2, 3]), "was changed after it was written"),
        (lambda run: changed_results(run, notes=[{}]), "was changed after it was written"),
        (lambda run: changed_results(run, ended=[None]), "was changed after it was written"),
        (lambda run: changed_results(run, n_instances=11), "is not the table of this run"),
        (lambda run: changed_results(run, classes=["a", "b", "c"]), "is not the table of this run"),
        (lambda run: changed_results(run, sources=[{"who": 1}]), "that are no list of sources"),
        (lambda run: changed_results(run, sources="who"), "that are no list of sources"),
        (lambda run: (run / "metrics.jsonl").unlink(), "'.*metrics.jsonl' is gone; resolve"),
        (lambda run: (run / "metrics.jsonl").write_text(""), "is damaged: it holds no record"),
        (lambda run: (run / "metrics.jsonl").write_text("{}\n"), "is damaged in line 1, which is"),
        (lambda run: (run / "metrics.jsonl").write_bytes(b"\xff"), "it is no UTF-8 text"),
        (lambda run: (run / "resolved.parquet").unlink(), "'.*resolved.parquet' is gone"),
        (lambda run: (run / "resolved.parquet").write_bytes(b"PAR1"), r"parquet' is damaged \("),
        (lambda run: (run / "model" / "model.json").write_text("{}"), "it tells no class mass"),
        (
            lambda run: (run / "model" / "model.json").write_text(
                json.dumps({"log_class_mass": [1e30, -1, -1]})
            ),
            "it tells no class mass",
        ),
    ],
)
def test_run_that_is_damaged_or_unfinished_is_refused(run, spoil, sentence):
    spoil(run)
    with pytest.raises(RunError, match=sentence) as refusal:
        write_report(run)
    assert str(refusal.value).count("\n") == 0
    assert str(refusal.value).endswith(".")
    assert not (run / "report.html").exists()


def test_table_that_is_cut_off_is_refused(run):
    whole = (run / "resolved.parquet").read_bytes()
    (run / "resolved.parquet").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(RunError, match="is damaged"):
        write_report(run)


def test_label_that_is_no_class_is_refused(run):
    table = pq.read_table(run / "resolved.parquet")
    place = table.column_names.index("label")
    labels = [["yak"] * len(table)]
    pq.write_table(table.set_column(place, "label", labels), run / "resolved.parquet")
    with pytest.raises(RunError, match="is not the table of this run"):
        write_report(run)


@pytest.mark.parametrize("odd", [float("nan"), -0.5, 7.0])
def test_probabilities_that_are_none_are_refused(run, odd):
    table = pq.read_table(run / "resolved.parquet")
    place = table.column_names.index("q_dog")
    values = [*table["q_dog"].to_pylist()[:-1], odd]
    pq.write_table(table.set_column(place, "q_dog", [values]), run / "resolved.parquet")
    with pytest.raises(RunError, match="is not the table of this run"):
        write_report(run)


@given(data=st.data())
@settings(max_examples=60)
def test_bytes_that_were_changed_are_refused_or_do_not_matter(tmp_path_factory, data):
    run = make_run(tmp_path_factory.mktemp("changed") / "run")
    names = ("run.json", "metrics.jsonl", "resolved.parquet", "model/model.json")
    path = run / data.draw(st.sampled_from(names))
    content = bytearray(path.read_bytes())
    for place in data.draw(st.lists(st.integers(0, len(content) - 1), min_size=1, max_size=9)):
        content[place] = data.draw(st.integers(0, 255))
    path.write_bytes(content)
    with suppress(RunError):
        write_report(run)


@pytest.mark.parametrize("name", ["gone", "file"])
def test_what_is_no_folder_is_refused(tmp_path, name):
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match=f"'.*{name}' is (not there|a file); name the folder"):
        write_report(tmp_path / name)


def test_file_that_is_no_report_is_kept_unless_asked(run, tmp_path):
    out = tmp_path / "page.html"
    out.write_text("<html>mine</html>")
    with pytest.raises(InvalidInputError, match=r"is a file that is no report; .*--overwrite"):
        write_report(run, out)
    assert out.read_text() == "<html>mine</html>"
    assert 'content="tacit report' in write_report(run, out, overwrite=True).read_text()
    make_run(run, tables(n_rows=7))
    assert "7 instances" in write_report(run, out).read_text()


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("page.pdf", "`out` must end in .html"),
        ("page", "`out` must end in .html"),
        ("folder.html", "is a folder; name another one"),
        ("gone/page.html", "its folder is not there"),
    ],
)
def test_name_that_cannot_be_written_is_refused(run, tmp_path, name, sentence):
    (tmp_path / "folder.html").mkdir()
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(TacitError, match=sentence):
        write_report(run, tmp_path / name)
    assert sorted(tmp_path.rglob("*")) == before

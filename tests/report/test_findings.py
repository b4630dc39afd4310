"""What is said in plain words, and when."""

import pytest
import torch

from tests.report.cases import Tables, make_run, page_of, tables

OF = tables(n_rows=40)
SURE = torch.eye(3, dtype=torch.float64)[torch.arange(40) % 3].mul(0.98) + 0.02 / 3
FINE = Tables(SURE / 2 + 1 / 6, SURE, SURE)


def told(tmp_path, of=FINE, **changed):
    page = page_of(make_run(tmp_path / "run", of, **{"held_out_evidence": 0.3} | changed))
    return page.words


def test_good_run_has_no_alarm(tmp_path):
    words = told(tmp_path)
    assert "No alarm." in words
    assert "Warning." not in words


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"alarms": ["class 2 has vanished; warm up"]}, "Class 2 has vanished; warm up."),
        ({"ended": ["collapsed"]}, "Member 1 collapsed and was stopped"),
        ({"ended": ["collapsed"] * 2}, "Members 1 and 2 collapsed and were stopped"),
        ({"held_out_evidence": None}, "Nothing was held out"),
        ({"held_out_evidence": 0.001}, "The held-out evidence is near 0 (0.001 nats of"),
        ({"entropy_before": 1.0, "entropy_after": 0.9}, "stayed about as open as they were"),
        ({"of": FINE._replace(q=SURE.roll(1, 1))}, "the prediction goes against the belief"),
        ({"of": FINE._replace(r=SURE[:1].expand(40, 3))}, "No row got the label dog or owl"),
    ],
)
def test_what_is_wrong_is_said_with_what_to_do(tmp_path, changed, sentence):
    words = told(tmp_path, **changed)
    assert f"Warning. {sentence}" in words or f"{sentence}" in words
    assert "No alarm." not in words


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"n_informed": 31}, "Note. Of 9 of 40 rows the beliefs say nothing"),
        ({"notes": ["the feature n is constant"]}, "Note. The feature n is constant."),
    ],
)
def test_what_is_odd_is_a_note(tmp_path, changed, sentence):
    words = told(tmp_path, **changed)
    assert sentence in words
    assert "No alarm." in words


def test_rows_of_which_nothing_is_known_are_noted_once(tmp_path):
    note = "Nothing is known of 9 of 40 rows."
    words = told(tmp_path, n_informed=31, notes=[note])
    assert note in words
    assert "the beliefs say nothing" not in words

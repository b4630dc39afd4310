"""How often sources are right, said on the command line."""

import json

import pytest

from tacit.sources import Votes, with_accuracies
from tests.cli.cases import CLASSES, QUICK, case, description, refused, table, tacit
from tests.table.cases import save

SHARES = {"ann": 0.9, "ben": 0.6, "cem": 0.4}


@pytest.fixture
def crowd(files):
    """Votes one by one, and what they amount to by the shares."""
    truth = case().truth
    said = {"ann": truth, "ben": (truth + 1) % 3, "cem": truth}
    rows = [(f"r{row}", who, said[who][row]) for row in range(60) for who in said]
    columns = dict(zip(("task", "worker", "label"), zip(*rows, strict=True), strict=True))
    save(files / "crowd.csv", columns | {"label": [CLASSES[each] for each in columns["label"]]})
    shares = dict(reversed(SHARES.items()))
    save(files / "people.csv", {"source": [*shares], "accuracy": [*shares.values()]})
    (files / "people.json").write_text(json.dumps(shares))
    matrix = [[int(votes[row]) for votes in said.values()] for row in range(60)]
    votes = Votes.from_matrix(matrix, n_classes=3, all_asked=False)
    return with_accuracies(votes, [*SHARES.values()])


@pytest.mark.parametrize("name", ["people.csv", "people.json"])
def test_accuracies_are_joined_by_the_names_of_sources(files, crowd, name):
    arguments = ("check", files / "crowd.csv", "--accuracies", files / name, "--json")
    found = json.loads(tacit(*arguments).stdout)
    assert found["balance"] == pytest.approx(crowd.marginals().mean(0).tolist(), abs=1e-6)
    stated = {each["name"]: each["accuracy"] for each in found["sources"]}
    assert stated == pytest.approx(SHARES)
    assert any("by the accuracies that were given" in note for note in found["notes"])


def test_run_learns_from_stated_accuracies_and_hands_them_on(files, crowd):
    beliefs = ("--beliefs", files / "crowd.csv", "--accuracies", files / "people.csv")
    run = files / "run"
    tacit("resolve", files / "x.parquet", *beliefs, *QUICK, "--out", run)
    assert description(run)["recipe"]["accuracies"] == str(files / "people.csv")
    found = table(run / "resolved.parquet")
    for place, name in enumerate(CLASSES):
        expected = crowd.marginals()[:, place].tolist()
        assert found[f"p_{name}"] == pytest.approx(expected, abs=1e-6)
    arguments = ("predict", run, files / "x.parquet")
    tacit(*arguments, *beliefs, "--out", files / "said.parquet")
    tacit(*arguments, *beliefs[:2], "--out", files / "kept.parquet")
    said, kept = (table(files / f"{name}.parquet")["r_cat"] for name in ("said", "kept"))
    assert said == pytest.approx(kept, abs=1e-6)


@pytest.mark.usefixtures("crowd")
def test_accuracies_of_all_files_stand_in_one(files):
    save(files / "more.csv", {"id": case().ids, "lf_a": case().truth, "lf_b": case().truth})
    both = ("check", files / "crowd.csv", files / "more.csv", "--classes", ",".join(CLASSES))
    shares = SHARES | {"lf_a": 0.8, "lf_b": 0.7}
    (files / "people.json").write_text(json.dumps(shares))
    options = ("--accuracies", files / "people.json")
    found = json.loads(tacit(*both, *options, "--json").stdout)
    stated = {each["name"]: each["accuracy"] for each in found["sources"]}
    assert stated["crowd: ann"] == pytest.approx(0.9)
    assert stated["more: lf_b"] == pytest.approx(0.7)
    (files / "people.json").write_text(json.dumps(shares | {"lf_c": 0.7}))
    assert "has an accuracy of lf_c" in refused(*both, *options)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{"ann": 0.9, "ben": 0.6}', "has no accuracy of cem"),
        ('{"ann": 0.9, "ben": 0.6, "cem": 0.5, "dan": 1}', "has an accuracy of dan"),
        ('{"ann": 0.9, "ben": 60, "cem": 0.5}', "gives ben the accuracy 60"),
        ('{"ann": 0.9, "ben": "high", "cem": 0.5}', "gives ben the accuracy high"),
        ('{"ann": 0.9, "ann": 0.6}', "comes twice"),
        ("[0.9, 0.6, 0.5]", "holds no accuracies by name"),
    ],
)
@pytest.mark.usefixtures("crowd")
def test_what_is_no_accuracy_of_each_source_is_refused(files, text, sentence):
    (files / "people.json").write_text(text)
    check = ("check", files / "crowd.csv", "--accuracies", files / "people.json")
    assert sentence in refused(*check)


@pytest.mark.usefixtures("crowd")
def test_accuracies_beside_another_way_are_refused(files):
    options = ("--accuracies", files / "people.csv")
    check = ("check", files / "crowd.csv", *options)
    assert "`votes` must be left out" in refused(*check, "--votes", "majority")
    arguments = ("predict", files / "run", files / "x.parquet", *options)
    assert "`accuracies` must be left out" in refused(*arguments, "--out", files / "o.parquet")
    notes = json.loads(tacit("check", files / "excluded.csv", *options, "--json").stdout)["notes"]
    assert "`accuracies` was given and does nothing, as the file holds excluded." in notes

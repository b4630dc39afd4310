import json

import pytest
import torch
from hypothesis import given, settings

from tacit.errors import InvalidInputError
from tacit.sources import majority
from tacit.table import check, read_beliefs, read_features
from tests.table.ballots import cast, choice, save_json

IDS = ["u", "v", "w"]


def read(path, **options):
    return read_beliefs(path, **({"ids": IDS, "n_rows": 3} | options))


def refusal(path, **options):
    with pytest.raises(InvalidInputError) as caught:
        read(path, **options)
    return str(caught.value)


def counts(path, **options):
    return read(path, **options).votes.counts().tolist()


def tasks(*annotations, **more):
    """A task for each list of annotations."""
    return [
        {"id": name, "data": {}, "annotations": each} | more
        for name, each in zip(IDS, annotations, strict=False)
    ]


def by(who, *labels, question="topic", **more):
    """An annotation of Label Studio."""
    return {"completed_by": who, "result": [choice(each, question) for each in labels]} | more


@given(known=cast())
@settings(max_examples=20)
def test_choices_are_votes_of_their_annotators(folder, known):
    path = save_json(folder / "tasks.json", known.label_studio())
    options = {"n_rows": len(known.ids), "classes": known.classes, "votes": "majority"}
    for own in ({"ids": known.ids, "id_column": "key"}, {"ids": list(range(len(known.ids)))}):
        beliefs = read_beliefs(path, **options, **own)
        assert beliefs.votes.counts().tolist() == known.counts()
        assert torch.equal(beliefs.belief.marginals(), majority(beliefs.votes).marginals())
        assert set(beliefs.sources) <= set(known.workers)
        assert f"{len(known.ids)} annotations were cancelled, and are passed over." in beliefs.notes


def test_answers_to_the_question_that_is_asked_for_are_read(tmp_path):
    both = {"completed_by": 1, "result": [choice("cat"), choice("big", "size")]}
    path = save_json(
        tmp_path / "tasks.json", tasks([both], [by(2, "dog")], [by(1, "small", question="size")])
    )
    assert "holds answers to 2 questions, size, topic; pass the one" in refusal(path)
    assert read(path, question="topic").classes == ("cat", "dog")
    assert counts(path, question="size") == [[1, 0], [0, 0], [0, 1]]
    assert "holds no answers to qsize (did you mean `size`?); choose from size, topic" in refusal(
        path, question="qsize"
    )


def test_people_may_be_numbers_objects_or_left_out(tmp_path):
    people = [by(1, "cat"), by({"id": 1, "email": "a@b.c"}, "cat"), by({"email": "a@b.c"}, "dog")]
    unknown = {"result": [choice("dog")], "ground_truth": True}
    path = save_json(
        tmp_path / "tasks.json", tasks(people, [unknown], predictions=[{"result": []}])
    )
    beliefs = read(path)
    assert beliefs.sources == ("1", "a@b.c", "unknown")
    assert beliefs.votes.counts().tolist() == [[2, 1], [0, 1], [0, 0]]
    assert "The predictions of 2 tasks were not read." in beliefs.notes
    assert any("name nobody" in note for note in beliefs.notes)
    assert "1 annotations are marked as ground truth, and count like others." in beliefs.notes


def test_several_choices_share_a_vote(tmp_path):
    path = save_json(tmp_path / "tasks.json", tasks([by(1, ["cat", "dog"])], [by(1, "dog")]))
    beliefs = read(path)
    assert beliefs.votes.counts().tolist() == [[0.5, 0.5], [0, 1], [0, 0]]
    assert "1 answers name several labels, each a part of the vote." in beliefs.notes


def test_a_single_task_is_an_export_too(tmp_path):
    path = save_json(tmp_path / "task.json", tasks([by(1, "cat"), by(2, "dog")])[0])
    assert counts(path) == [[1, 1], [0, 0], [0, 0]]


def argilla(responses=None, suggestions=None, row=0):
    record = {"id": IDS[row], "fields": {}, "metadata": {"key": row}}
    return record | {"responses": responses or {}, "suggestions": suggestions or {}}


def test_suggestions_are_votes_of_the_weight_of_their_scores(tmp_path):
    people = {"topic": [{"value": "cat", "user_id": "x"}, {"value": None, "user_id": "y"}]}
    records = [
        argilla(people, {"topic": {"value": "dog", "score": 0.25, "agent": "model"}}),
        argilla(None, {"topic": {"value": "dog", "score": None, "agent": None}}, row=1),
        argilla(None, {"topic": {"value": ["cat", "dog"], "score": [0.5, 1.0]}}, row=2),
    ]
    path = save_json(tmp_path / "records.json", records)
    beliefs = read(path)
    assert beliefs.votes.counts().tolist() == [[1, 0.25], [0, 1], [0.25, 0.5]]
    assert beliefs.sources == ("model", "suggestion", "x")
    assert beliefs.notes[0].startswith("Suggestions count as votes of their agents")
    assert counts(path, ids=[2, 1, 0], id_column="key") == beliefs.votes.counts().flip(0).tolist()


def test_unfinished_responses_are_passed_over(tmp_path):
    said = [
        {"value": "cat", "user_id": "x", "status": "submitted"},
        {"value": "dog", "user_id": "y", "status": "draft"},
        {"value": "dog", "user_id": "z", "status": "discarded"},
    ]
    path = save_json(tmp_path / "r.jsonl", [argilla({"topic": said})])
    assert counts(path, classes=["cat", "dog"]) == [[1, 0], [0, 0], [0, 0]]


def test_truth_of_a_benchmark_is_never_read(tmp_path):
    records = [{"id": name, "weak_labels": [0, 1, -1]} for name in IDS]
    plain = read(save_json(tmp_path / "plain.jsonl", records))
    truths = [{**each, "label": truth} for each, truth in zip(records, (1, 7, "x"), strict=True)]
    told = read(save_json(tmp_path / "told.jsonl", truths))
    assert torch.equal(plain.belief.marginals(), told.belief.marginals())
    assert told.notes == (
        "The labels under `label` were not read, as they are the truth.",
        *plain.notes,
    )


def test_records_without_ids_are_joined_by_position(tmp_path):
    records = [{"weak_labels": [row % 2, 1]} for row in range(3)]
    path = save_json(tmp_path / "r.jsonl", records)
    assert counts(path) == [[1, 1], [0, 2], [1, 1]]
    assert read(path).notes[0] == "Rows were joined by position, as the file has no ids."
    assert check(str(path)).n_instances == 3


WRENCH = {"id": "u", "label": 1, "weak_labels": [0, 1]}
BAD = {
    "no list": (5, "holds a value and no records; write a list of records"),
    "no records": ([], "holds no records; write at least one"),
    "no record": ([WRENCH, 7], "row 1 (counted from 0): holds no record but a value"),
    "no kind": ([{"id": 1, "weak_label": []}], "by the keys id, weak_label (did you mean `weak_l"),
    "another kind": (
        [WRENCH, {"id": 2, "annotations": []}],
        "row 1 (counted from 0): has no `weak",
    ),
    "id twice": ([WRENCH, WRENCH], "row 1 (id u), column `id`: is the second with this id"),
    "id missing": ([WRENCH, WRENCH | {"id": None}], "row 1 (counted from 0), column `id`: has no"),
    "odd id": ([WRENCH | {"id": [1]}], "column `id`: has an id that is neither number nor text"),
    "odd id in turn": ([WRENCH | {"id": True}], "has an id that is neither number nor text"),
    "surrogate": ([WRENCH | {"id": "\ud800"}], "cannot be read as JSON ("),
    "votes missing": (
        [WRENCH | {"weak_labels": None}],
        "row 0 (id u), column `weak_labels`: holds N",
    ),
    "no votes": ([WRENCH | {"weak_labels": []}], "holds [], and not a list of votes"),
    "fraction": (
        [WRENCH | {"weak_labels": [0.5, 1]}],
        "holds the vote 0.5; write one whole number",
    ),
    "truth value": ([WRENCH | {"weak_labels": [True, 1]}], "holds the vote True"),
    "huge": ([WRENCH | {"weak_labels": [10**30, 1]}], "holds the vote 1000000"),
    "other length": (
        [WRENCH, WRENCH | {"id": "v", "weak_labels": [0]}],
        "row 1 (id v), column `weak_labels`: holds 1 votes, and the first row has 2",
    ),
    "below -1": ([WRENCH | {"weak_labels": [0, -2]}], "column `1`: holds -2, which is no vote"),
    "beyond": ([WRENCH | {"weak_labels": [0, 2]}], "votes for class 2, and there are 2"),
    "none joins": ([WRENCH | {"id": "x"}], "has no id that the features have: x here, u, v, w"),
    "no annotations": (tasks([]), "holds no choices, only tasks without annotations; export a"),
    "other annotations": (
        tasks([{"result": [{"type": "rectanglelabels", "value": {}}]}]),
        "holds no choices, only rectanglelabels",
    ),
    "annotations of another type": (
        tasks([[7]]),
        "row 0 (id u), column `annotations`: holds [[7]]",
    ),
    "result of another type": (tasks([{"result": 7}]), "column `result`: holds 7, and not a list"),
    "choice of another type": (tasks([by(1, [0.5])]), "column `choices`: holds 0.5; name a label"),
    "choices about regions": (tasks([by(1, "cat", "dog")]), "answers topic more than once in an"),
    "unknown choice": (tasks([by(1, "cow")]), "row 0 (id u), column `label`: names the class cow"),
    "no responses": ([argilla()], "holds no answers; export records with answers"),
    "responses in a list": (
        [argilla([7])],
        "row 0 (id u), column `responses`: holds [7], and not a",
    ),
    "response of another type": ([argilla({"topic": [7]})], "holds [7], and not a list of objects"),
    "spans": (
        [argilla({"topic": [{"value": [{"start": 1}]}]})],
        "holds {'start': 1}; name a label",
    ),
    "score": (
        [argilla(None, {"topic": {"value": "cat", "score": 1.5}})],
        "row 0 (id u), column `suggestions`: holds the score 1.5; write one from 0 to 1",
    ),
    "scores": ([argilla(None, {"topic": {"value": ["cat"], "score": [1, 1]}})], "the score [1, 1]"),
}


@pytest.mark.parametrize(("content", "sentence"), BAD.values(), ids=BAD)
def test_malformed_export_is_refused(tmp_path, content, sentence):
    path = save_json(tmp_path / "bad.json", content)
    said = refusal(path, classes=["cat", "dog"])
    assert said.startswith(f"`{path}`")
    assert sentence in said


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{"id": "u"', "cannot be read as JSON lines (line 1: Expecting ',' delimiter"),
        (json.dumps(WRENCH) + "\n\n{", "line 3: Expecting property name"),
        ('{"id": 1, "id": 2}', "line 1: the key 'id' comes twice in one object"),
        (" \n", "holds no records"),
        ("[" * 100_000, "cannot be read as JSON lines ("),
    ],
)
def test_malformed_line_is_named(tmp_path, text, sentence):
    path = tmp_path / "bad.jsonl"
    path.write_text(text)
    assert sentence in refusal(path)


def test_records_are_no_features(tmp_path):
    path = save_json(tmp_path / "r.json", [WRENCH])
    with pytest.raises(InvalidInputError, match="holds records, and features are tables"):
        read_features(path)


def test_what_is_passed_over_in_an_export_is_noted(tmp_path):
    square = {"type": "rectanglelabels", "from_name": "box", "value": {"rectanglelabels": ["cat"]}}
    boxed = {"completed_by": 1, "result": [square]}
    path = save_json(tmp_path / "tasks.json", tasks([by(1, "cat")], [by(1, "dog")], [boxed]))
    assert "Of annotations only choices were read, not rectanglelabels." in read(path).notes
    responses = [
        {"value": "cat", "user_id": None},
        {"value": "dog"},
        {"value": "dog", "user_id": "ann", "status": "draft"},
    ]
    records = [{"id": name, "responses": {"topic": responses}} for name in IDS]
    beliefs = read(save_json(tmp_path / "records.json", records))
    assert beliefs.sources == ("unknown",)
    assert "6 responses name nobody, and count as those of one user." in beliefs.notes
    assert "3 responses were not submitted, and are passed over." in beliefs.notes

"""Settings from files and options: what wins, what is refused, and that a run can be repeated."""

import json
from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from tacit.cli._config import assigned, from_file, merged
from tacit.errors import InvalidInputError, TacitError
from tacit.fitting import Execution
from tacit.table import Recipe
from tacit.table._recipe import FREE, names_of
from tests.cli.cases import content, description, refused, resolve, tacit


def config(folder, text, name="run.toml"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("run.toml", 'epochs = 3\nn-members = 2\nclasses = ["owl", "cat", "dog"]\n'),
        ("run.yaml", "epochs: 3\nn_members: 2\nclasses: [owl, cat, dog]\n"),
        ("run.yml", "epochs: 3\nn-members: 2\nclasses: owl,cat, dog\n"),
        ("run.json", '{"epochs": 3, "n_members": 2, "classes": ["owl", "cat", "dog"]}'),
    ],
)
def test_files_of_all_formats_say_the_same(files, name, text):
    data = (files / "x.parquet", "--beliefs", files / "excluded.csv")
    tacit("resolve", *data, "--config", config(files, text, name), "--out", files / "run")
    recipe = description(files / "run")["recipe"]
    assert (recipe["epochs"], recipe["n_members"]) == (3, 2)
    assert recipe["classes"] == ["owl", "cat", "dog"]


def test_options_win_over_set_and_set_over_the_file(files):
    path = config(files, "epochs = 9\nwarm-up = 1\nseed = 4\nweight_decay = 0.1\n")
    settings = ("--set", "warm_up=0", "--set", "seed=5", "--seed", 6)
    resolve(files, "--config", path, *settings, "--out", files / "run")
    recipe = description(files / "run")["recipe"]
    found = {name: recipe[name] for name in ("epochs", "warm_up", "seed", "weight_decay")}
    assert found == {"epochs": 2, "warm_up": 0, "seed": 6, "weight_decay": 0.1}


def test_all_of_a_run_can_stand_in_the_file(files):
    text = f'data = "{files}/x.parquet"\nbeliefs = "{files}/excluded.csv"\nepochs = 1\n'
    path = config(files, text + f'out = "{files}/run"\nautocast = false\n')
    tacit("resolve", "--config", path)
    assert description(files / "run")["status"] == "complete"


def test_run_is_repeated_from_its_own_description(files):
    resolve(files, "--seed", 2, "--set", "hold=no", "--out", files / "run")
    tacit("resolve", "--config", files / "run" / "run.json", "--out", files / "again")
    assert description(files / "again")["recipe"] == description(files / "run")["recipe"]
    assert content(files / "again") == content(files / "run")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("epoch = 3", "it holds `epoch`; did you mean `epochs`."),
        ("[learning]\nepochs = 3", "has a table `learning` in it; write lines such as"),
        ("random_state = 3", "the seed is called `seed`"),
        ("members = 3", "the number of networks is called `n_members`"),
        ("execution = 3", "name its settings themselves"),
        ("posterior = 3", "it holds `posterior`; known are abstaining"),
        ("epochs = 'many'", "`epochs` must be a whole number"),
        ("epochs = 0", "`epochs` must be at least 1"),
        ("epochs = 2020-01-01", "`epochs` must be a whole number"),
        ("seed = 'a'", "`seed` must be a whole number, but it is 'a'"),
        ("seed = true", "`seed` must be a whole number, but it is True"),
        ("seed = -1", "`seed` must be at least 0 and below 2^63, but it is -1"),
        ("n_members = 0", "`n_members` must be a whole number of at least 1"),
        ("tempering = nan", "`tempering` must be finite"),
        ("predictor = 3", "`predictor` must be a name, but it is 3"),
        ("predictor = 'liner'", "perhaps 'linear' is meant"),
        ("objective = 'RQ'", "perhaps 'rq' is meant"),
        ("mass = 'tracks'", "perhaps 'tracked' is meant"),
        ("on_collapse = 'halt'", "`on_collapse` must be one of 'warn', 'stop'"),
        ("scale = 'no'", "`scale` must be true or false"),
        ("device = 'gpu'", "`device` must be one that torch knows"),
        ("device = 'cuda:77'", "`device` must be there, but 'cuda:77' is not"),
        ("device = 'meta'", "`device` must be a CPU or a CUDA GPU"),
        ("hold = 'maybe'", "`hold` must be one of 'auto'"),
        ("checkpoint_every = -1", "`checkpoint_every` must be at least 0"),
        ("id_column = 4", "`id_column` must be a text"),
        ("columns = [1]", "`columns` must be a list of names"),
        ("classes = [1.5]", "`classes` must be a list of names"),
        ("classes = 1", "`classes` must name at least 2 classes"),
        ("data = 2020-01-01", "`data` must be a text"),
        ("out = 3", "`--out` must be given, but it is 3"),
        ("epochs = ", "cannot be read as TOML (Invalid value (at"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_anything_is_read(tmp_path, text, sentence):
    # The data are not there: that they are not missed shows that nobody looked.
    files = {"data": "x.npy", "beliefs": "p.npy", "out": f"{tmp_path}/run"}
    lines = [f'{name} = "{value}"\n' for name, value in files.items() if not text.startswith(name)]
    said = refused("resolve", "--config", config(tmp_path, "".join(lines) + text))
    assert sentence in said
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("run.yaml", "- epochs\n", "must hold one flat table of settings, but"),
        ("run.yaml", "a: {b: 1}", "has a table `a` in it"),
        ("run.yaml", "a: [1", "cannot be read as YAML"),
        ("run.json", "{", "cannot be read as JSON"),
        ("run.ini", "epochs=3", "must end in .toml, .yaml, .yml or .json"),
        ("run.yaml", "!!python/object:os.system {}", "cannot be read as YAML"),
    ],
)
def test_file_that_holds_no_settings_is_refused(tmp_path, name, text, sentence):
    with pytest.raises(InvalidInputError) as refusal:
        from_file(config(tmp_path, text, name))
    assert sentence in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_file_that_cannot_be_read_is_refused(tmp_path):
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    (tmp_path / "a.toml").mkdir()
    names = {"none.toml": "No such file", "bytes.toml": "no UTF-8", "a.toml": "Is a directory"}
    for name, sentence in names.items():
        with pytest.raises(InvalidInputError, match=sentence):
            from_file(tmp_path / name)


def test_empty_files_hold_no_settings(tmp_path):
    for name in ("a.toml", "a.yaml"):
        assert from_file(config(tmp_path, "", name)) == {}
    assert from_file(None) == {}


def test_nothing_is_no_setting():
    assert merged({"a": 1, "b": 2}, {"a": None, "b": 3}) == {"a": 1, "b": 3}


@pytest.mark.parametrize("pair", ["epochs", "=3", " = 3"])
def test_set_wants_a_name_and_a_value(pair):
    with pytest.raises(InvalidInputError, match="`--set` must be name=value"):
        assigned([pair])


def test_classes_may_be_counted():
    assert names_of(" 12 ") == names_of(12) == 12
    assert names_of("1,2") == names_of([1, 2]) == ("1", "2")


def test_every_setting_of_the_execution_is_one_of_the_recipe():
    assert set(FREE) == {each.name for each in fields(Execution)}
    recipe = Recipe.of({"data": "x.npy", "beliefs": "p.npy"})
    assert set(FREE) <= recipe.resolved().keys()
    assert recipe.resolved()["checkpoint_every"] == Execution().checkpoint_every


KNOWN = [*Recipe.of({"data": "x.npy", "beliefs": "p.npy"}).resolved(), "out", "epoch", "recipe"]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
    | st.sampled_from(["auto", "rq", "em", "cpu", "cuda", "meta", "linear", "stop", "plateau"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=4,
)  # fmt: skip


def refusal_of(job):
    """The sentence by which something is refused; nothing where it is not."""
    try:
        job()
    except TacitError as error:
        return str(error)
    return ""


@given(found=st.dictionaries(st.sampled_from(KNOWN) | st.text(max_size=9), VALUES, max_size=6))
@hypothesis_settings(max_examples=100)
def test_any_configuration_is_accepted_or_refused_with_a_sentence(found):
    wanted = {"data": "x.npy", "beliefs": "p.npy"} | found
    sentence = refusal_of(lambda: Recipe.of(wanted).model())
    assert "\n" not in sentence
    assert sentence.endswith(".") == bool(sentence)
    if not sentence:
        resolved = Recipe.of(wanted).resolved()
        assert json.loads(json.dumps(resolved)).keys() == resolved.keys()


@given(text=st.text('epochs=tru123.-:[]{}"\n #', max_size=60))
@hypothesis_settings(max_examples=200)
def test_any_text_is_a_configuration_or_refused(tmp_path_factory, text):
    for name in ("a.toml", "a.yaml", "a.json"):
        path = config(tmp_path_factory.getbasetemp(), text, name)
        sentence = refusal_of(lambda at=path: from_file(at))
        assert "\n" not in sentence
        assert sentence.endswith(".") == bool(sentence)


@given(text=st.text(max_size=20))
def test_any_text_can_be_set(text):
    assert [*assigned([f"epochs={text}"])] == ["epochs"]

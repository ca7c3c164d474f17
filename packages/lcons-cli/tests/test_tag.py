"""`lcons tag`: text and columns in, labels out, whatever the text holds."""

import itertools
import json
import re
import sys

import pytest
from asking import LCONS, ask
from click.testing import CliRunner
from texts import GARBAGE, LONG, make_pos_tags, run_and_list_modules

from lcons_cli.main import main
from lcons_core import iob2, learn_constraints
from lcons_decode import Hard, Soft
from lcons_tasks.apps._tagger import ConstrainedTagger
from lcons_tasks.data import Sentence
from lcons_tasks.models._linear_crf import LinearSettings, train_linear

COLUMNS = "the DT B-NP\ndog NN I-NP\nbarked VBD B-VP\n. . O\n\na DT B-NP\ncat NN I-NP\nsaw VBD B-VP\n"
TEXT = "The dog barked. The small bird saw a cat."


def made_up():
    for noun, verb, other in itertools.product(("dog", "cat", "bird"), ("saw", "barked"), ("cat", "birds")):
        words = ("the", noun, verb, "a", "small", other, ".")
        labels = ("B-NP", "I-NP", "B-VP", "B-NP", "I-NP", "I-NP", "O")
        yield Sentence(words, labels, {"pos": ("DT", "NN", "VBD", "DT", "JJ", "NN", ".")})


SENTENCES = list(made_up())


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Taggers by what they read: `word` and `pos`."""
    folder = tmp_path_factory.mktemp("taggers")
    model = train_linear(SENTENCES, LinearSettings(iterations=5))
    scheme = Hard(iob2(model.labels), "iob2")
    pos = learn_constraints([s.instance for s in SENTENCES], "pos", n=2, hidden=3)
    ConstrainedTagger(model, (scheme,)).save(folder / "word")
    ConstrainedTagger(model, (scheme, Soft(pos, 8.0, "pos"))).save(folder / "pos")
    return folder


@pytest.fixture(autouse=True)
def cache(tmp_path_factory, monkeypatch):
    """One cache for all tests, in which a POS tagger is trained once, on the made-up sentences."""
    folder = tmp_path_factory.getbasetemp() / "lcons-tag-cache"
    return make_pos_tags(monkeypatch, folder, [(s.words, s.columns["pos"]) for s in SENTENCES])


@pytest.fixture
def run(folders):
    def tag(*arguments, given=TEXT, model="word"):
        model = folders / model
        return CliRunner().invoke(main, ["tag", "--model", str(model), *map(str, arguments)], input=given)

    return tag


def test_columns_come_out_as_columns_with_or_without_labels_in(run):
    expected = "the DT B-NP\ndog NN I-NP\nbarked VBD B-VP\n. . O\n\na DT B-NP\ncat NN I-NP\nsaw VBD B-VP\n\n"
    unlabelled = "".join(line.rpartition(" ")[0] + "\n" for line in COLUMNS.split("\n"))
    for given, columns in (
        (COLUMNS, "word,pos"),
        (unlabelled, "word,pos"),
        (COLUMNS, "1,2"),
        (COLUMNS, "pos=2,word=-3"),
    ):
        result = run("--columns", columns, given=given, model="pos")
        assert (result.exit_code, result.stdout) == (0, expected)


def test_pos_tags_are_made_where_the_tagger_needs_them_and_only_there(run, cache):
    assert "POS" not in run().stderr
    result = run("--format", "conll", model="pos")
    assert result.stdout.startswith("The DT B-NP\ndog NN I-NP\nbarked VBD B-VP\n")
    assert (
        "lcons: POS tags by the spaCy tagger trained on 12 sentences of made-up sentences\n" in result.stderr
    )
    assert [path.name[:4] for path in (cache / "pos").iterdir()] == ["pos-"]
    words = run("--columns", "word", given=COLUMNS, model="pos")
    assert words.stdout.startswith("the DT B-NP\ndog NN I-NP\n")
    assert "training" not in words.stderr
    assert "POS" not in run("--columns", "word,pos", given=COLUMNS, model="pos").stderr
    assert "POS" not in run(given="", model="pos").stderr


@pytest.mark.parametrize(
    ("form", "model"), [("conll", "word"), ("json", "word"), ("brackets", "word"), ("json", "pos")]
)
def test_no_text_is_lost_whatever_it_holds(form, model, run):
    given = b"".join(GARBAGE) + LONG + b"no newline at the end"
    result = run("--format", form, given=given, model=model)
    assert result.exit_code == 0, result.exception
    text = given.decode("utf-8-sig", "surrogateescape")
    kept = result.stdout_bytes.decode("utf-8", "surrogateescape")
    if form == "json":
        found = [json.loads(line) for line in result.stdout_bytes.splitlines()]
        assert "".join("".join(one["words"]) for one in found) == "".join(text.split())
        for one in found:
            assert [text[a:b] for a, b in one["offsets"]] == one["words"]
            for chunk in one["chunks"]:
                shown = text[slice(*chunk["offsets"])], chunk["text"]
                assert len({"".join(part.split()) for part in shown}) == 1
    elif form == "conll":
        assert "".join(line.split(" ")[0] for line in kept.split("\n")) == "".join(text.split())
    else:
        bare = re.sub(r"\[(NP|VP) ", "", kept).replace("]", "")
        assert "".join(bare.split()) == "".join(text.split())


@pytest.mark.parametrize("given", ["", "\n\n \r\n", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("columns", [(), ("--columns", "word")])
def test_nothing_in_gives_nothing_out(given, columns, run):
    result = run(*columns, given=given)
    assert (result.exit_code, result.stdout) == (0, "")
    assert "sentences: 0 (0 words)" in result.stderr


# In a process of its own.

TAG = [*LCONS, "-q", "tag"]


@pytest.mark.skipif(sys.platform == "win32", reason="pipes cannot be asked there")
def test_each_sentence_is_answered_before_the_next_comes(folders):
    command = [*TAG, "--model", folders / "word", "--columns", "word", "--json"]
    answers = list(ask(command, ["The\ndog\nbarked\n\n", "a\ncat\n\n"]))
    assert [json.loads(answer)["words"] for answer in answers] == [["The", "dog", "barked"], ["a", "cat"]]


def test_together_the_labels_of_a_word_depend_on_the_rest_of_the_input(run):
    text = "zork\n\n" + "the dog zork a small cat.\n\n" * 30
    alone, together = (run(*options, given=text).stdout.splitlines() for options in ([], ["--together"]))
    assert len(alone) == len(together) == 31
    assert alone[0] == "[NP zork]"
    assert together[0] == "[VP zork]"
    assert alone[1:] == together[1:]


@pytest.mark.parametrize(("columns", "slow"), [("--columns=word", {"spacy"}), ("--json", {"spacy.cli"})])
def test_a_tagger_that_reads_words_imports_no_library_that_is_slow_to_load(columns, slow, folders):
    _, modules = run_and_list_modules("tag", columns, "--model", folders / "word", given="the\ndog\n")
    assert {"torch", "mip", *slow} & modules == set()


@pytest.fixture
def made_up_tags():
    """A folder, too, gets its POS tagger from the made-up sentences."""
    from lcons_tasks.data.text._pos import loaded_pos_tagger

    loaded_pos_tagger.cache_clear()
    yield
    loaded_pos_tagger.cache_clear()


@pytest.mark.usefixtures("made_up_tags")
@pytest.mark.parametrize("model", ["word", "pos"])
def test_the_texts_of_a_folder_are_tagged_as_a_file_is(model, run, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in/0.jsonl").write_text(f'{{"text": "{TEXT}"}}\n{{"text": " ", "id": 7}}\n')
    result = run(tmp_path / "in", "-o", tmp_path / "out", "--jobs", 1, model=model)
    assert result.exit_code == 0, result.stderr
    first, second = map(json.loads, (tmp_path / "out/0.jsonl").read_text().splitlines())
    lines = [json.loads(line) for line in run("--json", model=model).stdout.splitlines()]
    assert first["sentences"] == [{key: line[key] for key in ("words", "labels")} for line in lines]
    assert second == {"text": " ", "id": 7, "sentences": []}


@pytest.mark.parametrize("columns", [(), ("--columns", "word")])
def test_processes_write_what_one_process_writes(columns, run, tmp_path):
    path = tmp_path / "text"
    path.write_text(
        "The\ndog barked.\nA small bird saw it\n\n".replace(" ", "\n" if columns else " ") * 5_000
    )
    whole, shared = (run(*columns, "--json", *jobs, path) for jobs in ((), ("--jobs", 2)))
    assert whole.stdout.count("\n") >= 5_000
    assert shared.stdout == whole.stdout
    assert shared.stderr == whole.stderr


def test_a_line_with_other_columns_is_named_by_its_number_in_the_file(run, tmp_path):
    path = tmp_path / "columns"
    path.write_text("dog NN\n\n" * 20_000 + "cat\n")
    for jobs in ((), ("--jobs", 2)):
        assert f"{path}:40001" in run("--columns", "word,pos", *jobs, path).stderr

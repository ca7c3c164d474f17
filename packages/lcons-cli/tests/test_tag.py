"""`lcons tag`: text and columns in, labels out, whatever the text holds."""

import itertools
import json
import re
import subprocess
import sys

import pytest
from asking import LCONS, ask, leave
from click.testing import CliRunner

import lcons_cli.tag as command
from lcons_cli.main import main
from lcons_core import iob2, learn_constraints
from lcons_decode import Decoding, Hard, Soft, Status, forbidden_ngrams
from lcons_tasks.apps._tagger import ConstrainedTagger
from lcons_tasks.data import Sentence
from lcons_tasks.models._linear_crf import LinearSettings, train_linear

COLUMNS = "the DT B-NP\ndog NN I-NP\nbarked VBD B-VP\n. . O\n\na DT B-NP\ncat NN I-NP\nsaw VBD B-VP\n"
TEXT = "The dog barked. The small bird saw a cat."
GARBAGE = (
    b"\xef\xbb\xbfThe dog\r\n\r\n\r\n   \t\n",
    "😀👨\u200d👩\u200d👧 שלום עולם \u202eabc مرحبا. 中文。\n".encode(),
    b"\x00\x01\x07 bell\x1b[31m red\x1b[0m \x7f\x0b\x0c \xc2\x85 nul\x00nul\n",
    b"caf\xe9 \xff\xfe \xed\xa0\x80 latin\n",
    b"x" * 10_000 + b"\n" + b"(" * 2_000 + b"\n" + b"a " * 5_000,
    b"no newline at the end",
)


def made_up():
    for noun, verb, other in itertools.product(("dog", "cat", "bird"), ("saw", "barked"), ("cat", "birds")):
        words = ("the", noun, verb, "a", "small", other, ".")
        labels = ("B-NP", "I-NP", "B-VP", "B-NP", "I-NP", "I-NP", "O")
        yield Sentence(words, labels, {"pos": ("DT", "NN", "VBD", "DT", "JJ", "NN", ".")})


SENTENCES = list(made_up())


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Taggers by what they read: `word`, `pos`, and `case`, which nothing can make of raw text."""
    folder = tmp_path_factory.mktemp("taggers")
    model = train_linear(SENTENCES, LinearSettings(iterations=5))
    scheme = Hard(iob2(model.labels), "iob2")
    pos = learn_constraints([s.instance for s in SENTENCES], "pos", n=2, hidden=3)
    ConstrainedTagger(model, (scheme,)).save(folder / "word")
    ConstrainedTagger(model, (scheme, Soft(pos, 8.0, "pos"))).save(folder / "pos")
    nothing = forbidden_ngrams(model.labels, itertools.product(model.labels, repeat=2))
    ConstrainedTagger(model, (Hard(nothing, "nothing"),)).save(folder / "nothing")
    cased = [Sentence(s.words, s.labels, {"case": s.words}) for s in SENTENCES]
    ConstrainedTagger(train_linear(cased, LinearSettings(iterations=2, columns=("case",)))).save(
        folder / "case"
    )
    return folder


@pytest.fixture(autouse=True)
def cache(tmp_path_factory, monkeypatch):
    """One cache for all tests, in which a POS tagger is trained once, on the made-up sentences."""
    folder = tmp_path_factory.getbasetemp() / "lcons-tag-cache"
    monkeypatch.setenv("LCONS_CACHE_DIR", str(folder))
    monkeypatch.delenv("LCONS_DATA_DIR", raising=False)
    tagged = [(s.words, s.columns["pos"]) for s in SENTENCES]
    monkeypatch.setattr(command, "_tagged_corpus", lambda: ("made-up sentences", tagged))
    monkeypatch.setattr("lcons_tasks.data.text._pos.PIPELINE", "no_such_pipeline")
    return folder


@pytest.fixture
def run(folders):
    def tag(*arguments, given=TEXT, model="word"):
        model = folders / model
        return CliRunner().invoke(main, ["tag", "--model", str(model), *map(str, arguments)], input=given)

    return tag


def test_raw_text_comes_out_in_brackets(run):
    result = run()
    assert result.exit_code == 0
    assert result.stdout == "[NP The dog] [VP barked] .\n[NP The small bird] [VP saw] [NP a cat] .\n"
    assert result.stderr == "lcons: sentences: 2 (11 words), changed by the constraints: 0, relaxed: 0\n"


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


def test_a_file_is_read_like_stdin(run, tmp_path):
    path = tmp_path / "text.txt"
    path.write_bytes(b"\xef\xbb\xbf" + TEXT.encode())
    assert run(path).stdout == run("-").stdout == run().stdout


def test_columns_that_are_read_as_text_are_warned_of(run, tmp_path):
    path = tmp_path / "test.txt"
    path.write_text(COLUMNS)
    warning = "warning: test.txt is read as raw text; if it has columns, add --columns word\n"
    assert run(path, "-q").stderr == warning
    assert run(path, "-q", "--columns", "word").stderr == ""


def test_json_has_an_object_a_sentence(run):
    first, second = map(json.loads, run("--format", "json").stdout.splitlines())
    assert first == {
        "words": ["The", "dog", "barked", "."],
        "pos": None,
        "labels": ["B-NP", "I-NP", "B-VP", "O"],
        "chunks": [
            {"type": "NP", "start": 0, "end": 2, "text": "The dog"},
            {"type": "VP", "start": 2, "end": 3, "text": "barked"},
        ],
        "status": "optimal",
    }
    assert len(second["words"]) == 7
    (line, _) = run(
        "--columns", "word,pos", "--format", "json", given=COLUMNS, model="pos"
    ).stdout.splitlines()
    assert json.loads(line)["pos"] == ["DT", "NN", "VBD", "."]


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


def test_without_constraints_the_model_decodes_alone(run):
    given = "small small barked the"
    constrained, alone = (
        run("--format", "conll", *more, given=given) for more in ((), ("--no-constraints",))
    )
    assert constrained.stdout != alone.stdout
    assert "changed by the constraints: 1, relaxed: 0" in constrained.stderr
    assert alone.stderr == "lcons: sentences: 1 (4 words)\n"
    # The constraints' columns are not needed then.
    assert run("--format", "conll", "--no-constraints", given=given, model="pos").stdout == alone.stdout


def test_sentences_that_cannot_satisfy_the_constraints_are_counted(run):
    result = run("--format", "json", given="Dog\n\nThe dog\n\nthe small cat", model="nothing")
    assert [json.loads(line)["status"] for line in result.stdout.splitlines()] == [
        "optimal",
        "relaxed",
        "relaxed",
    ]
    assert "relaxed: 2\n" in result.stderr


def test_sentences_that_ran_out_of_budget_are_counted():
    summary = command._Summary(constrained=True)
    summary.count(1, Decoding(("O",), 0.0, Status.OUT_OF_BUDGET, {"changed": 0}))
    assert str(summary).endswith("relaxed: 0, out of budget: 1")


def test_quiet_says_nothing(run):
    assert run("-q", model="pos").stderr == ""


@pytest.mark.parametrize("form", ["conll", "json", "brackets"])
@pytest.mark.parametrize("model", ["word", "pos"])
def test_no_text_is_lost_whatever_it_holds(form, model, run):
    given = b"".join(GARBAGE)
    result = run("--format", form, given=given, model=model)
    assert result.exit_code == 0, result.exception
    text = given.decode("utf-8-sig", "surrogateescape")
    kept = result.stdout_bytes.decode("utf-8", "surrogateescape")
    if form == "json":
        found = "".join("".join(json.loads(line)["words"]) for line in result.stdout_bytes.splitlines())
        assert found == "".join(text.split())
    elif form == "conll":
        assert "".join(line.split(" ")[0] for line in kept.split("\n")) == "".join(text.split())
    else:
        bare = re.sub(r"\[(NP|VP) ", "", kept).replace("]", "")
        assert "".join(bare.split()) == "".join(text.split())
    assert "not UTF-8, kept as they are: 1" in result.stderr


def test_columns_of_garbage_keep_every_word(run):
    words = [
        w
        for w in b"".join(GARBAGE).removeprefix(b"\xef\xbb\xbf").replace(b"\r", b" ").split(b" ")
        if w.strip()
    ]
    words = [word.replace(b"\n", b"").replace(b"\t", b"") for word in words]
    result = run("--columns", "word", given=b"\xef\xbb\xbf" + b"\r\n".join(words))
    assert result.exit_code == 0, result.exception
    assert [line.rpartition(b" ")[0] for line in result.stdout_bytes.split(b"\n") if line] == words


@pytest.mark.parametrize("given", ["", "\n\n \r\n", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("columns", [(), ("--columns", "word")])
def test_nothing_in_gives_nothing_out(given, columns, run):
    result = run(*columns, given=given)
    assert (result.exit_code, result.stdout) == (0, "")
    assert "sentences: 0 (0 words)" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "given", "model", "message"),
    [
        ((), TEXT, "none", "found no such folder; make one with `lcons fit`"),
        (("no-such-file",), TEXT, "word", "cannot read 'no-such-file': No such file or directory"),
        (("a\0b",), TEXT, "word", "cannot read 'a\\x00b'"),
        (("--columns", "pos"), COLUMNS, "word", "expected columns such as `word,pos`"),
        (("--columns", "word=0"), COLUMNS, "word", "unknown column 0"),
        (
            ("--columns", "word,pos=7"),
            COLUMNS,
            "word",
            "standard input:1: expected at least 7 columns, found 3",
        ),
        (("--columns", "word"), "a b\nc\n", "word", "standard input:2: expected 2 columns"),
        ((), TEXT, "case", "the tagger reads column 'case', but the input is raw text"),
        (("--columns", "word,pos"), COLUMNS, "case", "reads column 'case', but the input is word,pos"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments, given, model, message, run):
    result = run(*arguments, given=given, model=model)
    assert result.exit_code == 2
    assert result.stderr.startswith("lcons: error: ")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_other_context_columns_are_read_by_name(run):
    result = run("--columns", "word,_,case=1", given=COLUMNS, model="case")
    assert result.exit_code == 0
    assert result.stdout.startswith("the the B-NP\n")


def test_the_best_tagged_corpus_at_hand_is_found(monkeypatch, tmp_path):
    monkeypatch.undo()
    monkeypatch.setenv("LCONS_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("LCONS_DATA_DIR", raising=False)
    name, bundled = command._tagged_corpus()  # type: ignore[attr-defined]
    assert name == "the bundled mini corpus"
    assert len(bundled) > 300
    (tmp_path / "conll2000").mkdir()
    for part in ("train", "test"):
        (tmp_path / "conll2000" / f"{part}.txt").write_text(COLUMNS.replace("dog", part))
    monkeypatch.setenv("LCONS_DATA_DIR", str(tmp_path))
    name, (first, _) = command._tagged_corpus()  # type: ignore[attr-defined]
    assert (name, first) == ("CoNLL-2000", (("the", "train", "barked", "."), ("DT", "NN", "VBD", ".")))


def test_help_has_an_example():
    text = CliRunner().invoke(main, ["tag", "--help"]).stdout
    assert '  Example:\n    echo "The dog barked at us." | lcons tag\n' in text


# In a process of its own.

TAG = [*LCONS, "tag"]


@pytest.mark.skipif(sys.platform == "win32", reason="pipes cannot be asked there")
def test_each_sentence_is_answered_before_the_next_comes(folders):
    command = [*TAG, "-q", "--model", folders / "word", "--columns", "word", "--json"]
    answers = list(ask(command, ["The\ndog\nbarked\n\n", "a\ncat\n\n"]))
    assert [json.loads(answer)["words"] for answer in answers] == [["The", "dog", "barked"], ["a", "cat"]]


def test_the_command_reads_stdin_and_writes_stdout(folders):
    done = subprocess.run([*TAG, "--model", folders / "word"], input=TEXT.encode(), capture_output=True)
    assert (done.returncode, done.stdout.count(b"\n")) == (0, 2)
    assert done.stdout.startswith(b"[NP The dog] [VP barked] .\n")


@pytest.mark.skipif(sys.platform == "win32", reason="a POSIX shell closes it")
def test_a_closed_stdin_is_one_line(folders):
    command = ["sh", "-c", '"$@" <&-', "sh", *TAG, "-q", "--model", folders / "word"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "lcons: error: cannot read standard input: it is closed; name a file, or send one to stdin.\n"
    )


@pytest.mark.skipif(sys.platform == "win32", reason="pipes break otherwise there")
def test_a_reader_that_goes_away_is_no_error(folders, tmp_path):
    (tmp_path / "long.txt").write_text("The\ndog\nbarked\n\n" * 5_000)
    command = [*TAG, "--model", folders / "word", "--columns", "word", tmp_path / "long.txt"]
    assert leave(command) == b"The B-NP\n"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/dev/full is Linux's")
def test_a_full_disk_is_one_line(folders):
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        command = [*TAG, "--model", folders / "word", "--columns", "word"]
        done = subprocess.run(command, input=b"The\ndog\n", stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 2
    assert done.stderr.count(b"\n") == 1
    assert b"No space left on device" in done.stderr


def test_importing_the_command_line_imports_click_and_nothing_heavy():
    code = "import sys, lcons_cli.main; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.split()
    assert not {"lcons_core", "lcons_decode", "lcons_tasks", "numpy", "spacy", "rich", "torch"} & set(loaded)
    assert "lcons_cli.tag" in loaded


def test_together_the_labels_of_a_word_depend_on_the_rest_of_the_input(run):
    text = "zork\n\n" + "the dog zork a small cat.\n\n" * 30
    alone, together = (run(*options, given=text).stdout.splitlines() for options in ([], ["--together"]))
    assert len(alone) == len(together) == 31
    assert alone[0] == "[NP zork]"
    assert together[0] == "[VP zork]"
    assert alone[1:] == together[1:]


def test_together_reads_columns_and_accepts_empty_input(run):
    done = run("--together", "--columns", "word,pos", given=COLUMNS, model="pos")
    assert done.exit_code == 0
    assert done.stdout.startswith("the DT B-NP\ndog NN I-NP\n")
    assert run("--together", given="").stdout == ""


def test_a_tagger_that_reads_words_imports_no_library_that_is_slow_to_load(folders):
    code = (
        "import atexit, sys; from lcons_cli.main import main; "
        "atexit.register(lambda: print(*sys.modules, file=sys.stderr)); "
        f"main(['tag', '--columns', 'word', '--model', {str(folders / 'word')!r}])"
    )
    done = subprocess.run([sys.executable, "-c", code], input="the\ndog\n", capture_output=True, text=True)
    assert done.stdout.startswith("the B-NP\ndog I-NP")
    assert {"spacy", "thinc", "torch", "mip"} & set(done.stderr.split()) == set()


@pytest.fixture
def made_up_tags(monkeypatch):
    """A folder, too, gets its POS tagger from the made-up sentences."""
    from lcons_tasks.data.text._pos import loaded_pos_tagger

    monkeypatch.setattr("lcons_tasks.data.text._pos.tagged_corpus", command._tagged_corpus)  # type: ignore[attr-defined]
    loaded_pos_tagger.cache_clear()
    yield
    loaded_pos_tagger.cache_clear()


def tagged_rows(run, folder, rows, **options):
    """The rows of a file in a folder, tagged."""
    (folder / "in").mkdir(parents=True)
    (folder / "in/0.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    result = run(folder / "in", "-o", folder / "out", "--jobs", 1, **options)
    assert result.exit_code == 0, result.stderr
    assert result.stderr.endswith(f"lcons: files: 1 done, into {folder / 'out'}\n")
    return [json.loads(line) for line in (folder / "out/0.jsonl").read_text().splitlines()]


@pytest.mark.usefixtures("made_up_tags")
@pytest.mark.parametrize("model", ["word", "pos"])
def test_the_texts_of_a_folder_are_tagged_as_a_file_is(model, run, tmp_path):
    first, second = tagged_rows(run, tmp_path, [{"text": TEXT}, {"text": " ", "id": 7}], model=model)
    lines = [json.loads(line) for line in run("--json", model=model).stdout.splitlines()]
    assert first["sentences"] == [{key: line[key] for key in ("words", "labels")} for line in lines]
    assert second == {"text": " ", "id": 7, "sentences": []}


def test_words_that_bring_pos_tags_need_no_pos_tagger(run, tmp_path, monkeypatch):
    def refused(*args, **options):
        raise AssertionError("a POS tagger was asked for")

    monkeypatch.setattr("lcons_tasks.apps._batch_tagger.loaded_pos_tagger", refused)
    rows = [{"words": ["the", "dog", "barked", "."], "pos": ["DT", "NN", "VBD", "."], "id": 3}]
    (row,) = tagged_rows(run, tmp_path, rows, model="pos")
    assert row["labels"] == ["B-NP", "I-NP", "B-VP", "O"]
    assert (row["id"], row["status"]) == (3, "optimal")


def test_rows_without_what_the_tagger_reads_are_refused(run, tmp_path):
    texts = tmp_path / "texts"
    texts.mkdir()
    (texts / "0.jsonl").write_text('{"words": ["the"]}\n')
    refused = run(texts, "-o", tmp_path / "out", "--jobs", 1, model="case")
    assert (refused.exit_code, refused.stderr.count("\n")) == (2, 1)
    assert "the tagger reads column 'case'" in refused.stderr
    (texts / "0.jsonl").write_text('{"title": "x"}\n')
    assert (
        "expected a column 'words' or 'text', found title"
        in run(texts, "-o", tmp_path / "out", "--jobs", 1).stderr
    )

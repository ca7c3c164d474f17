"""`lcons parse`: plain references in, fields out, whatever the lines hold."""

import itertools
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter

import pytest
from asking import LCONS, ask, leave
from click.testing import CliRunner

import lcons_cli.parse as command
from lcons_cli.main import main
from lcons_core import learn_constraints
from lcons_decode import Hard, Status, forbidden_ngrams
from lcons_tasks.apps import references as parser
from lcons_tasks.apps._tagger import ConstrainedTagger
from lcons_tasks.data import Sentence, read_references
from lcons_tasks.data.text._tokens import reference_tokens
from lcons_tasks.models._linear_crf import LinearSettings, train_linear

AUTHORS = ("A. Brook.", "B. Hill and C. Dale.", "Fenn, D.")
TITLES = ("A study of small rivers.", "On the shape of clouds.")
JOURNALS = ("Journal of Weather,", "Water Letters,")
NUMBERS = (("12(3):", "45-67,", "1991."), ("4:", "101-110,", "May 1987."))
FIRST = "B. Brook and A. Hill. On the study of clouds. Water Letters, 7(2):11-19, 1993."
SECOND = "Fenn, D. A study of small clouds. Journal of Weather, 9:1-4, May 1990."
TEXT = f"{FIRST}\n{SECOND}\n"
TAGGED = (
    "<author> B. Brook and A. Hill. </author> <title> On the study of clouds. </title>"
    " <journal> Water Letters, </journal> <volume> 7(2): </volume> <pages> 11-19, </pages>"
    " <date> 1993. </date>\n"
    "<author> Fenn, D. </author> <title> A study of small clouds. </title>"
    " <journal> Journal of Weather, </journal> <volume> 9: </volume> <pages> 1-4, </pages>"
    " <date> May 1990. </date>\n"
)
GARBAGE = (
    b"\xef\xbb\xbfA. Brook. Small rivers. 1991.\r\n\r\n\n   \t\n",
    "😀👨\u200d👩\u200d👧 שלום עולם \u202eabc مرحبا. 中文。\n".encode(),
    b"\x00\x01\x07 bell\x1b[31m red\x1b[0m \x7f\x0b\x0c \xc2\x85 nul\x00nul\n",
    b"caf\xe9 \xff\xfe \xed\xa0\x80 latin\n",
    "a\u2028b\u2029c\x85d\x0ce\rf\x1cg\n".encode(),
    b".,;:()[]{}<>\\&%$#_~^\n" + b"<author> x </author> {\\'e}\n",
    b"x" * 10_000 + b"\n" + b"(" * 10_000 + b"\n" + b"a " * 5_000 + b"\n",
    b"no newline at the end\r",
)
FORMATS = ("tagged", "json")


def made_up():
    for author, title, journal, numbers in itertools.product(AUTHORS, TITLES, JOURNALS, NUMBERS):
        words, labels = [], []
        fields = ("author", "title", "journal", "volume", "pages", "date")
        for field, text in zip(fields, (author, title, journal, *numbers), strict=True):
            found = [token.text for token in reference_tokens(text)]
            words += found
            labels += [field] * len(found)
        pos = tuple("NN" if word[0].isalnum() else "." for word in words)
        yield Sentence(tuple(words), tuple(labels), {"pos": pos})


SENTENCES = list(made_up())


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Taggers by what they read: `word`, `pos`, and `case`, which nothing can make of a reference."""
    folder = tmp_path_factory.mktemp("parsers")
    instances = [s.instance for s in SENTENCES]
    model = train_linear(SENTENCES, LinearSettings(iterations=8))
    punctuation = Hard(learn_constraints(instances, feature="punctuation", n=2, hidden=4), "punctuation")
    pos = Hard(learn_constraints(instances, feature="pos", n=2, hidden=3), "pos")
    counts = Hard(learn_constraints(instances, feature="counts", hidden=3), "counts")
    nothing = forbidden_ngrams(model.labels, itertools.product(model.labels, repeat=2))
    ConstrainedTagger(model, (punctuation,)).save(folder / "word")
    ConstrainedTagger(model, (punctuation, pos)).save(folder / "pos")
    ConstrainedTagger(model, (punctuation, counts), "beam", 4).save(folder / "counts")
    ConstrainedTagger(model, (Hard(nothing, "nothing"),)).save(folder / "nothing")
    cased = [Sentence(s.words, s.labels, {"case": s.words}) for s in SENTENCES]
    case = train_linear(cased, LinearSettings(iterations=2, columns=("case",)))
    ConstrainedTagger(case).save(folder / "case")
    return folder


@pytest.fixture(autouse=True)
def cache(tmp_path_factory, monkeypatch):
    """One cache for all tests, in which a POS tagger is trained once, on the made-up references."""
    folder = tmp_path_factory.getbasetemp() / "lcons-parse-cache"
    monkeypatch.setenv("LCONS_CACHE_DIR", str(folder))
    monkeypatch.delenv("LCONS_DATA_DIR", raising=False)
    tagged = [(s.words, s.columns["pos"]) for s in SENTENCES]
    monkeypatch.setattr(command, "tagged_corpus", lambda: ("made-up references", tagged))
    monkeypatch.setattr("lcons_tasks.data.text._pos.PIPELINE", "no_such_pipeline")
    return folder


@pytest.fixture
def run(folders):
    def parse(*arguments, given=TEXT, model="word"):
        model = folders / model
        return CliRunner().invoke(main, ["parse", "--model", str(model), *map(str, arguments)], input=given)

    return parse


def test_references_come_out_tagged_and_can_be_read_back(run, tmp_path):
    result = run()
    assert (result.exit_code, result.stdout) == (0, TAGGED)
    assert result.stderr == "lcons: references: 2 (12 fields), changed by the constraints: 0, relaxed: 0\n"
    (tmp_path / "tagged.txt").write_text(result.stdout)
    assert [reference.text for reference in read_references(tmp_path / "tagged.txt")] == [
        FIRST.replace("7(2):11", "7(2): 11"),
        SECOND.replace("9:1", "9: 1"),
    ]


def test_json_has_exact_offsets(run):
    first, second = map(json.loads, run("--format", "json").stdout.splitlines())
    assert first["text"] == FIRST
    assert first["fields"][3:5] == [
        {"field": "volume", "text": "7(2):", "start": 61, "end": 66},
        {"field": "pages", "text": "11-19,", "start": 66, "end": 72},
    ]
    for line in (first, second):
        for field in line["fields"]:
            assert line["text"][field["start"] : field["end"]] == field["text"]


def test_a_file_is_read_like_stdin(run, tmp_path):
    path = tmp_path / "references.txt"
    path.write_bytes(b"\xef\xbb\xbf" + TEXT.replace("\n", "\r\n").encode())
    assert run(path).stdout == run("-").stdout == run().stdout


def test_blank_lines_are_counted_and_keep_lines_aligned(run):
    given = f"\n{FIRST}\n \t\n\r\n{SECOND}\n"
    results = {form: run("--format", form, given=given) for form in FORMATS}
    first, second = TAGGED.splitlines()
    assert results["tagged"].stdout.split("\n") == ["", first, "", "", second, ""]
    lines = [json.loads(line) for line in results["json"].stdout.splitlines()]
    assert [line["text"] for line in lines] == ["", FIRST, " \t", "", SECOND]
    assert [len(line["fields"]) for line in lines] == [0, 6, 0, 0, 6]
    for result in results.values():
        assert "references: 2 (12 fields)" in result.stderr
        assert result.stderr.endswith(", blank lines: 3\n")


@pytest.mark.parametrize("jobs", [(), ("--jobs", "1"), ("--jobs", "2")])
def test_nothing_in_gives_nothing_out(jobs, run):
    for given in ("", b"\xef\xbb\xbf"):
        result = run(*jobs, given=given)
        assert (result.exit_code, result.stdout) == (0, "")
        assert result.stderr.endswith("references: 0 (0 fields), changed by the constraints: 0, relaxed: 0\n")


@pytest.mark.parametrize("model", ["word", "pos", "counts"])
def test_no_text_is_lost_whatever_it_holds(model, run):
    given = b"".join(GARBAGE)
    result = run("--format", "json", given=given, model=model)
    assert result.exit_code == 0, result.exception
    lines = [json.loads(line) for line in result.stdout_bytes.split(b"\n")[:-1]]
    text = given.decode("utf-8-sig", "surrogateescape")
    assert [line["text"] for line in lines] == [line.removesuffix("\r") for line in text.split("\n")[:-1]] + [
        "no newline at the end\r"
    ]
    for line in lines:
        for field in line["fields"]:
            assert line["text"][field["start"] : field["end"]] == field["text"]
        kept = "".join(field["text"] for field in line["fields"])
        assert "".join(kept.split()) == "".join(line["text"].split())
    # No reader, however it splits lines, sees more of them.
    assert len(result.stdout.splitlines()) == len(lines)
    assert "blank lines: 3, not UTF-8, bytes escaped: 1" in result.stderr


@pytest.mark.parametrize("end", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\r"])
def test_only_newlines_end_lines(end, run):
    given = TEXT.replace("clouds. ", f"clouds.{end}")
    assert run("--format", "tagged", given=given).stdout == TAGGED
    assert len(run("--json", given=given).stdout.splitlines()) == 2


def test_a_constraint_that_refuses_a_long_line_does_not_stop_the_rest(run):
    given = f"{FIRST}\n{'small rivers ' * 500}\n{SECOND}\n"
    result = run("--format", "tagged", given=given, model="counts")
    assert result.exit_code == 0
    assert [result.stdout.split("\n")[i] for i in (0, 2)] == TAGGED.splitlines()
    assert "relaxed: 1" in result.stderr


def test_long_lines_stay_fast(run):
    given = "".join(f"{text}\n" for text in ("x" * 10_000, "(" * 10_000, "a " * 5_000, (FIRST + " ") * 128))
    start = time.process_time()
    for form in FORMATS:
        assert run("--format", form, given=given).exit_code == 0
    assert time.process_time() - start < 20


def test_pos_tags_are_made_where_the_tagger_needs_them_and_only_there(run, cache):
    assert "POS" not in run().stderr
    result = run("--format", "tagged", model="pos")
    assert result.stdout == TAGGED
    name = "spaCy tagger trained on 24 sentences of made-up references"
    assert f"lcons: POS tags by the {name}\n" in result.stderr
    assert [path.name[:4] for path in (cache / "pos").iterdir()] == ["pos-"]
    assert "training" not in run(model="pos").stderr
    assert "POS" not in run(given="", model="pos").stderr
    assert "POS" not in run("--no-constraints", model="pos").stderr


def test_without_constraints_the_model_decodes_alone(run):
    given = "rivers 1991 12 ( small . of , May\n"
    constrained, alone = (
        run("--format", "tagged", *more, given=given) for more in ((), ("--no-constraints",))
    )
    assert constrained.stdout != alone.stdout
    assert "changed by the constraints: 1, relaxed: 0" in constrained.stderr
    assert re.fullmatch(r"lcons: references: 1 \(\d fields\)\n", alone.stderr)


def test_references_that_cannot_satisfy_the_constraints_are_counted(run):
    assert "relaxed: 2\n" in run(given=f"{TEXT}Brook\n", model="nothing").stderr


def test_quiet_says_nothing(run):
    assert run("-q", model="pos").stderr == ""


@pytest.mark.parametrize(
    ("arguments", "model", "message"),
    [
        ((), "none", "found no such folder; make one with `lcons run citation`"),
        (("no-such-file",), "word", "cannot read 'no-such-file': No such file or directory"),
        (("a\0b",), "word", "cannot read 'a\\x00b'"),
        ((".",), "word", "cannot read '.': Is a directory"),
        (("--format", "xml"), "word", "unknown format 'xml'; it is one of "),
        ((), "case", "the tagger reads column 'case', but references have only words"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments, model, message, run):
    result = run(*arguments, model=model)
    assert result.exit_code == 2
    assert result.stderr.startswith("lcons: error: ")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""


def test_help_has_an_example():
    text = CliRunner().invoke(main, ["parse", "--help"]).stdout
    assert "  Example:\n    lcons parse references.txt --json > references.jsonl\n" in text


# On several cores.


@pytest.mark.parametrize("form", FORMATS)
def test_several_processes_write_the_same_in_the_same_order(form, run, monkeypatch):
    monkeypatch.setattr(parser, "CHUNK_ITEMS", 3)
    lines = [FIRST.replace("1993", str(1900 + i)) for i in range(20)]
    given = "\n".join([*lines, "", FIRST, FIRST]).encode() + b"\n" + b"".join(GARBAGE[1:5])
    one, two = (run("--format", form, "--jobs", jobs, given=given) for jobs in (1, 2))
    assert (two.exit_code, two.stdout_bytes, two.stderr) == (0, one.stdout_bytes, one.stderr)


# In a process of its own.


def test_references_that_ran_out_of_budget_are_counted():
    counts = Counter({"references": 2, str(Status.OUT_OF_BUDGET): 1})
    assert command._summary(counts, "tagged", True).endswith("relaxed: 0, out of budget: 1")


PARSE = [*LCONS, "parse"]


@pytest.mark.skipif(sys.platform == "win32", reason="pipes cannot be asked there")
def test_each_reference_is_answered_before_the_next_comes(folders):
    command = [*PARSE, "-q", "--model", folders / "word", "--format", "tagged"]
    assert "".join(ask(command, TEXT.splitlines(keepends=True))) == TAGGED


@pytest.mark.skipif(sys.platform == "win32", reason="pipes break otherwise there")
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_reader_that_goes_away_is_no_error(jobs, folders, tmp_path):
    (tmp_path / "long.txt").write_text(TEXT * 2_000)
    options = ["--format", "tagged", "--jobs", jobs]
    first = leave([*PARSE, "--model", folders / "word", *options, tmp_path / "long.txt"])
    assert first.startswith(b"<author> B. Brook")


@pytest.mark.skipif(sys.platform == "win32", reason="a POSIX shell closes it")
def test_a_closed_stdin_is_one_line(folders):
    command = ["sh", "-c", '"$@" <&-', "sh", *PARSE, "-q", "--model", folders / "word"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "lcons: error: cannot read standard input: it is closed; name a file, or send one to stdin.\n"
    )


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/dev/full is Linux's")
def test_a_full_disk_is_one_line(folders):
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        done = subprocess.run(
            [*PARSE, "--model", folders / "word"], input=TEXT.encode(), stdout=full, stderr=subprocess.PIPE
        )
    assert done.returncode == 2
    assert done.stderr.count(b"\n") == 1
    assert b"No space left on device" in done.stderr


@pytest.fixture
def busy(folders, tmp_path):
    """A command that has begun to write what two processes do, in a session of its own."""
    (tmp_path / "long.txt").write_text(TEXT * 2_000)
    process = subprocess.Popen(
        [*PARSE, "--model", folders / "word", "--jobs", "2", "--format", "tagged", tmp_path / "long.txt"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    process.stdout.readline()
    yield process
    process.kill()
    process.communicate(timeout=60)


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as file:  # noqa: PTH123
        return [int(child) for child in file.read().split()]


def running(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:  # noqa: PTH123
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc is Linux's")
@pytest.mark.parametrize("how", ["SIGTERM", "SIGINT"])
def test_no_process_stays_when_the_first_is_ended(how, busy):
    others = children(busy.pid)
    assert others
    if how == "SIGINT":
        os.killpg(busy.pid, signal.SIGINT)  # as a terminal does
        assert b"lcons: interrupted\n" in busy.communicate(timeout=60)[1]
        assert busy.returncode == 130
    else:
        os.kill(busy.pid, getattr(signal, how))
    busy.wait(60)
    deadline = time.monotonic() + 60
    while alive := [pid for pid in others if running(pid)]:
        assert time.monotonic() < deadline, alive
        time.sleep(0.05)

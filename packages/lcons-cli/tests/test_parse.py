"""`lcons parse`: plain references in, fields out, whatever the lines hold."""

import itertools
import json

import pytest
from click.testing import CliRunner

from lcons_cli.main import main
from lcons_core import learn_constraints
from lcons_decode import Hard
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
    """Taggers by what they read: `word` and `pos`."""
    folder = tmp_path_factory.mktemp("parsers")
    instances = [s.instance for s in SENTENCES]
    model = train_linear(SENTENCES, LinearSettings(iterations=8))
    punctuation = Hard(learn_constraints(instances, feature="punctuation", n=2, hidden=4), "punctuation")
    pos = Hard(learn_constraints(instances, feature="pos", n=2, hidden=3), "pos")
    ConstrainedTagger(model, (punctuation,)).save(folder / "word")
    ConstrainedTagger(model, (punctuation, pos)).save(folder / "pos")
    return folder


@pytest.fixture(autouse=True)
def cache(tmp_path_factory, monkeypatch):
    """One cache for all tests, in which a POS tagger is trained once, on the made-up references."""
    folder = tmp_path_factory.getbasetemp() / "lcons-parse-cache"
    monkeypatch.setenv("LCONS_CACHE_DIR", str(folder))
    monkeypatch.delenv("LCONS_DATA_DIR", raising=False)
    tagged = [(s.words, s.columns["pos"]) for s in SENTENCES]
    monkeypatch.setattr("lcons_tasks.data.text._pos.tagged_corpus", lambda: ("made-up references", tagged))
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
    assert result.stderr.startswith("lcons: references: 2 (12 fields), changed by the constraints: ")
    (tmp_path / "tagged.txt").write_text(result.stdout)
    assert [reference.text for reference in read_references(tmp_path / "tagged.txt")] == [
        FIRST.replace("7(2):11", "7(2): 11"),
        SECOND.replace("9:1", "9: 1"),
    ]


@pytest.mark.parametrize("model", ["word", "pos"])
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

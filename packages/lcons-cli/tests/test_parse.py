"""`lcons parse`: plain references in, fields out, whatever the lines hold."""

import itertools
import json

import pytest
from click.testing import CliRunner
from texts import GARBAGE, LONG, make_pos_tags

from lcons_cli.main import main
from lcons_core import learn_constraints
from lcons_decode import Hard
from lcons_tasks.apps._tagger import ConstrainedTagger
from lcons_tasks.data import Sentence
from lcons_tasks.data.text._tokens import reference_tokens
from lcons_tasks.models._linear_crf import LinearSettings, train_linear

AUTHORS = ("A. Brook.", "B. Hill and C. Dale.", "Fenn, D.")
TITLES = ("A study of small rivers.", "On the shape of clouds.")
JOURNALS = ("Journal of Weather,", "Water Letters,")
NUMBERS = (("12(3):", "45-67,", "1991."), ("4:", "101-110,", "May 1987."))
PUNCTUATION = b".,;:()[]{}<>\\&%$#_~^\n<author> x </author> {\\'e}\n"


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
    make_pos_tags(monkeypatch, folder, [(s.words, s.columns["pos"]) for s in SENTENCES])


@pytest.mark.parametrize("model", ["word", "pos"])
def test_no_text_is_lost_whatever_it_holds(model, folders):
    breaks = "a\u2028b\u2029c\x85d\x0ce\rf\x1cg\n".encode()
    given = b"".join(GARBAGE) + breaks + PUNCTUATION + LONG + b"no newline at the end\r"
    words = ["parse", "--model", str(folders / model), "--format", "json"]
    result = CliRunner().invoke(main, words, input=given)
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

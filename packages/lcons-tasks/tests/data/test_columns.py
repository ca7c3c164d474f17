"""CoNLL columns are read strictly and read back as they were written."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcons_core import InvalidInput
from lcons_tasks.data import Columns, MalformedCorpus, Sentence, read_columns, write_columns
from lcons_tasks.data._columns import CONLL2000

DATA = os.environ.get("LCONS_DATA_DIR")
TAGS = st.text(st.characters(codec="utf-8", exclude_characters=" \t\r\n\ufeff"), min_size=1, max_size=4)
LOOSE = st.text(st.characters(codec="utf-8", exclude_characters="\t\r\n\ufeff"), min_size=1, max_size=4)
TABBED = Columns(("word", "pos", "chunk"), "word", "chunk", ("pos",), separator="\t")


def sentences(cells):
    row = st.tuples(cells, cells, cells)
    rows = st.lists(row, min_size=1, max_size=5).map(lambda rows: tuple(zip(*rows, strict=True)))
    return st.lists(rows.map(lambda c: Sentence(c[0], c[1], {"pos": c[2]})), max_size=4)


def read(tmp_path, content, columns=CONLL2000):
    path = tmp_path / "corpus.txt"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return list(read_columns(path, columns))


@pytest.fixture(scope="module")
def shared_file(tmp_path_factory):
    return tmp_path_factory.mktemp("columns") / "corpus.txt"


@given(sentences(TAGS))
def test_what_is_written_reads_back(shared_file, corpus):
    write_columns(shared_file, corpus)
    assert list(read_columns(shared_file)) == corpus


@given(sentences(LOOSE.map(lambda cell: cell.strip(" ") or "x")))
def test_tab_separated_cells_may_hold_spaces(shared_file, corpus):
    write_columns(shared_file, corpus, TABBED)
    assert list(read_columns(shared_file, TABBED)) == corpus


DOG = Sentence(("the", "dog"), ("B-NP", "I-NP"), {"pos": ("DT", "NN")})
BARKS = Sentence(("barks",), ("B-VP",), {"pos": ("VBZ",)})


@pytest.mark.parametrize(
    "content",
    [
        "the DT B-NP\ndog NN I-NP\n\nbarks VBZ B-VP\n\n",
        "\ufeffthe DT B-NP\ndog NN I-NP\n\nbarks VBZ B-VP\n",
        "the DT B-NP\r\ndog NN I-NP\r\n\r\nbarks VBZ B-VP\r\n",
        "the DT B-NP  \ndog\tNN\tI-NP\t\n \t\n\n\n  barks   VBZ B-VP",
        "\n\nthe DT B-NP\ndog NN I-NP\n\nbarks VBZ B-VP",
    ],
)
def test_line_ends_blanks_and_a_byte_order_mark_do_not_matter(tmp_path, content):
    assert read(tmp_path, content) == [DOG, BARKS]


def test_only_spaces_and_tabs_separate(tmp_path):
    (sentence,) = read(tmp_path, "10\u00a0000 CD B-NP\nx\u2028y\x85 NN I-NP\n")
    assert sentence.words == ("10\u00a0000", "x\u2028y\x85")


def test_columns_are_found_by_number_from_either_end(tmp_path):
    columns = Columns(words=2, labels=-1, context={"pos": -2})
    (sentence,) = read(tmp_path, "1 the DT B-NP\n2 dog NN I-NP\n", columns)
    assert sentence == DOG


def test_docstart_lines_of_conll_2003_are_skipped_when_asked(tmp_path):
    content = "-DOCSTART- -X- O O\n\nEU NNP I-NP I-ORG\n\n-DOCSTART- -X- O O\n\n"
    assert [s.words for s in read(tmp_path, content, Columns(skip_docstart=True))] == [("EU",)]
    assert len(read(tmp_path, content, Columns())) == 3


@pytest.mark.parametrize(
    ("content", "line", "columns"),
    [
        ("the DT B-NP\ndog NN\n", 2, CONLL2000),
        ("the DT B-NP\n\ndog NN B-NP x\n", 3, CONLL2000),
        (b"the DT B-NP\nd\xff NN B-NP\n", 2, CONLL2000),
        ("a B\nb B c\n", 2, Columns()),
    ],
)
def test_a_malformed_line_is_named_with_file_and_line(tmp_path, content, line, columns):
    with pytest.raises(MalformedCorpus) as error:
        read(tmp_path, content, columns)
    assert str(error.value).startswith(f"{tmp_path / 'corpus.txt'}:{line}: ")


@pytest.mark.parametrize(
    "settings",
    [
        {"words": 0},
        {"words": "word"},
        {"names": ("a", "a")},
        {"names": ("a", "b"), "labels": "c"},
        {"names": ("a", "b"), "labels": 3},
        {"separator": ","},
        {"context": {"word": 1}},
    ],
)
def test_columns_that_cannot_be_are_refused_when_made(settings):
    with pytest.raises(InvalidInput):
        Columns(**settings)


@pytest.mark.parametrize("cell", ["", "a b", "a\tb", "a\nb", "a\r", "\ufeff", "\ud800"])
def test_a_cell_that_would_not_read_back_is_refused_and_the_file_stays(tmp_path, cell):
    path = tmp_path / "corpus.txt"
    write_columns(path, [DOG])
    before = path.read_bytes()
    with pytest.raises(InvalidInput):
        write_columns(path, [DOG, Sentence((cell,), ("O",), {"pos": ("X",)})])
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(not DATA, reason="LCONS_DATA_DIR is not set")
@pytest.mark.parametrize(
    ("name", "counts"), [("train.txt", (8936, 211727, 22)), ("test.txt", (2012, 47377, 19))]
)
def test_conll_2000_has_its_published_size(name, counts):
    corpus = list(read_columns(Path(DATA) / "conll2000" / name))
    labels = {label for sentence in corpus for label in sentence.labels}
    assert (len(corpus), sum(map(len, corpus)), len(labels)) == counts

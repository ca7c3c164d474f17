"""Readers of entities and relations, references and vectors: what they give and what they refuse."""

import os
from collections import Counter
from pathlib import Path

import pytest

from lcons_tasks.data import MalformedCorpus, read_anystyle, read_references, read_roth_yih
from lcons_tasks.data._lines import read_vectors
from lcons_tasks.data._references import CORA_FIELDS
from lcons_tasks.data._roth_yih import Relation, RelationSentence

DATA = os.environ.get("LCONS_DATA_DIR")
needs_data = pytest.mark.skipif(not DATA, reason="LCONS_DATA_DIR is not set")


def row(sentence, entity, number, pos, word):
    return "\t".join([str(sentence), entity, str(number), "O", pos, word, "O", "O", "O"]) + "\n"


LIVES = (
    row(7, "Peop", 0, "NNP/NNP", "Ada/Byron")
    + row(7, "O", 1, "VBD", "lived/in")
    + row(7, "Loc", 2, "NN", "/")
)
SHORT = row(8, "O", 0, "UH", "Yes")

READERS = {
    "corp": lambda path: list(read_roth_yih(path)),
    "references": lambda path: list(read_references(path)),
    "cora": lambda path: list(read_references(path, CORA_FIELDS)),
    "anystyle": lambda path: list(read_anystyle(path)),
    "vectors": lambda path: list(read_vectors(path)),
}


def read(tmp_path, reader, content):
    path = tmp_path / "corpus"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return READERS[reader](path)


def xml(body):
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<dataset>\n{body}\n</dataset>\n'


@pytest.mark.parametrize(
    "content",
    [
        f"{LIVES}\n0\t2\tLive_In\n\n{SHORT}\n\n",
        f"\ufeff{LIVES}\n0\t2\tLive_In\n\n{SHORT}",
        f"\n{LIVES}\n0\t2\tLive_In \n\n\n\n{SHORT}\n".replace("\n", "\r\n"),
    ],
)
def test_a_corp_file_gives_rows_entities_and_relations(tmp_path, content):
    first, second = read(tmp_path, "corp", content)
    assert first == RelationSentence(
        "7",
        ("Ada/Byron", "lived/in", "/"),
        ("NNP/NNP", "VBD", "NN"),
        ("Peop", "O", "Loc"),
        (Relation(0, 2, "Live_In"),),
    )
    assert first.phrases == (("Ada", "Byron"), ("lived", "in"), ("/",))
    assert (second.words, second.relations) == (("Yes",), ())


@pytest.mark.parametrize(
    ("reader", "content", "line"),
    [
        ("corp", "7\tO\t0\n", 1),
        ("corp", LIVES + row(7, "O", 9, "X", "x"), 4),
        ("corp", row(1, "O", 0, "X", "x") + row(2, "O", 1, "X", "x"), 2),
        ("corp", f"{LIVES}\n0\t3\tKill\n", 5),
        ("corp", f"{LIVES}\n0 2 Kill\n", 5),
        ("corp", f"{LIVES}\n2\t2\tKill\n", 5),
        ("corp", f"{SHORT}\n{SHORT}", 3),
        ("references", "<author> A </author>\n<title> B\n", 2),
        ("references", "<title> B </author>\n", 1),
        ("references", "\n</title>\n", 2),
        ("references", "<title> B <note> c </note> </title>\n", 1),
        ("references", "<title> </title>\n", 1),
        ("references", b"a\n<title>\xff</title>\n", 2),
        ("cora", "<html> x </html>\n", 1),
        ("anystyle", xml("<sequence><title>B</author></sequence>"), 3),
        ("anystyle", xml("<sequence><title>B<b>c</b></title></sequence>"), 1),
        ("anystyle", xml("\n<reference/>"), 1),
        ("anystyle", xml("<sequence>\n</sequence>"), 1),
        ("anystyle", xml("<sequence><title/></sequence>"), 1),
        ("anystyle", xml("lost"), 1),
        ("anystyle", "", 1),
        ("anystyle", b"<dataset>\n\xff</dataset>", 2),
        ("vectors", "the 1 2\ndog 1\n", 2),
        ("vectors", "the 1 x\n", 1),
        ("vectors", "the\n", 1),
    ],
)
def test_a_malformed_line_is_named_with_file_and_line(tmp_path, reader, content, line):
    with pytest.raises(MalformedCorpus) as error:
        read(tmp_path, reader, content)
    assert str(error.value).startswith(f"{tmp_path / 'corpus'}:{line}: ")


def test_a_tagged_line_gives_fields_and_the_text_outside(tmp_path):
    content = (
        "<NEWREFERENCE>12 [1]  <author> A. B, </author> and\t<title> if a < b  then c </title> 1990.\n\n"
    )
    content += "<date> x </date>"
    first, second = read(tmp_path, "references", content)
    assert first.segments == (
        (None, "[1]"),
        ("author", "A. B,"),
        (None, "and"),
        ("title", "if a < b then c"),
        (None, "1990."),
    )
    assert first.text == "[1] A. B, and if a < b then c 1990."
    assert second.segments == (("date", "x"),)


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_anystyle_gives_the_same_segments(tmp_path, mark):
    body = "<sequence>\n[1] <author>A &amp; B,</author> and\n <title>C\n  d</title></sequence>"
    (reference,) = read(tmp_path, "anystyle", mark + xml(body))
    assert reference.segments == ((None, "[1]"), ("author", "A & B,"), (None, "and"), ("title", "C d"))


def test_a_document_type_is_refused_before_entities_expand(tmp_path):
    laughs = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 12))
    bomb = f'<!DOCTYPE dataset [<!ENTITY l0 "ha">{laughs}]>\n<dataset>&l11;</dataset>'
    with pytest.raises(MalformedCorpus):
        read(tmp_path, "anystyle", bomb)


def test_vectors_come_with_their_words(tmp_path):
    ((first, vector), (second, _)) = read(tmp_path, "vectors", "the 0.5 -1\n\u00a0x\x85 1 2\n")
    assert (first, second) == ("the", "\u00a0x\x85")
    assert vector.tolist() == [0.5, -1.0]


@needs_data
def test_the_entity_relation_corpus_has_its_published_size():
    corpus = list(read_roth_yih(Path(DATA) / "conll04" / "conll04.corp"))
    related = [sentence for sentence in corpus if sentence.relations]
    assert (len(corpus), len(related)) == (5516, 1441)
    entities = Counter(label for sentence in related for label in sentence.entities if label != "O")
    assert entities == {"Loc": 1968, "Peop": 1691, "Org": 984, "Other": 706}
    relations = Counter(relation.type for sentence in related for relation in sentence.relations)
    assert relations == {"Live_In": 521, "OrgBased_In": 452, "Located_In": 406, "Work_For": 401, "Kill": 268}


@needs_data
@pytest.mark.parametrize(
    ("reader", "file", "size", "outside"),
    [("cora", "cora.txt", 500, 5), ("anystyle", "anystyle-core.xml", 1514, 0)],
)
def test_corpora_of_references_have_their_size_and_some_text_outside_fields(reader, file, size, outside):
    corpus = READERS[reader](Path(DATA) / "citations" / file)
    without = sum(any(field is None for field, _ in reference.segments) for reference in corpus)
    assert (len(corpus), without) == (size, outside)

"""Formats of labelled data are told or refused, and read as other tools write them."""

import json

import pytest

from lcons_core import LconsError
from lcons_core._instance import Instance
from lcons_tasks.own_data import read_data, read_words, tell_format

CONLL = "Ann NNP B\nLee NNP I\nsings VBZ O\n\nOh UH O\nAnn NNP B\n\n"


def written(folder, name, text):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize(
    ("name", "text", "form"),
    [
        ("a.txt", CONLL, "conll"),
        ("a.txt", "# id = 1\n" + CONLL, "conll"),
        ("a", '{"labels": ["A"]}\n', "jsonl"),
        ("a.txt", "x,y,valid\n1,0,1\n", "csv"),
        ("a.iob2", "", "conll"),
        ("a.JSONL", "", "jsonl"),
    ],
)
def test_a_format_is_told_by_name_or_content(tmp_path, name, text, form):
    assert tell_format(written(tmp_path, name, text)) == form


@pytest.mark.parametrize(
    "text", ["Some words.\nAnd some more of them.\n", "a b\nc d\n", b"\x00\x01", "1,2\n3,4\n", "[1, 2]\n"]
)
def test_what_could_be_anything_is_refused(tmp_path, text):
    with pytest.raises(LconsError):
        tell_format(written(tmp_path, "a.txt", text))


CONLLU = """\
# sent_id = 1
# text = Vámonos del mar
1-2\tVámonos\t_\t_\t_\t_\t_\t_\t_\t_
1\tVamos\tir\tVERB\t_\tMood=Imp\t0\troot\t_\t_
2\tnos\tnosotros\tPRON\t_\t_\t1\tobj\t_\t_
3-4\tdel\t_\t_\t_\t_\t_\t_\t_\t_
3\tde\tde\tADP\t_\t_\t5\tcase\t_\t_
4\tel\tel\tDET\t_\t_\t5\tdet\t_\t_
4.1\tgran\tgran\tADJ\t_\t_\t_\t_\t_\t_
5\tmar\tmar\tNOUN\t_\t_\t1\tobl\t_\tSpaceAfter=No
"""
WORDS = ("Vamos", "nos", "de", "el", "mar")
TOKEN = "1\t#one\t_\tNOUN\t_\t_\t_\t_\t_\t_\n"
# (file, text, options, columns and labels of each sentence).
COLUMNS = {
    "word, tag and label": ("a.txt", CONLL, {}, [
        ({"word": ("Ann", "Lee", "sings"), "pos": ("NNP", "NNP", "VBZ")}, ("B", "I", "O")),
        ({"word": ("Oh", "Ann"), "pos": ("UH", "NNP")}, ("O", "B"))]),
    "stated": ("a.txt", CONLL, {"columns": "word,label,chunk"}, [
        ({"word": ("Ann", "Lee", "sings"), "chunk": ("B", "I", "O")}, ("NNP", "NNP", "VBZ")),
        ({"word": ("Oh", "Ann"), "chunk": ("O", "B")}, ("UH", "NNP"))]),
    "docstart": ("b.txt", "Ann B\n\n-DOCSTART- O\n\nOh O\n", {}, [
        ({"word": ("Ann",)}, ("B",)), ({"word": ("Oh",)}, ("O",))]),
    "a hash as a word": ("a.conll", "#one B\ntwo O\n\n# O\n", {}, [
        ({"word": ("#one", "two")}, ("B", "O")), ({"word": ("#",)}, ("O",))]),
    "a hash alone": ("a.conll", "# B\n", {}, [({"word": ("#",)}, ("B",))]),
    "a wide comment": ("a.conll", "# id 5 en\n#one B\ntwo O\n", {}, [
        ({"word": ("#one", "two")}, ("B", "O"))]),
    "a comment like a token": ("a.conll", "# comment\nAnn B\n# O\n\n# id\nOh O\n\n# #\n", {}, [
        ({"word": ("Ann", "#")}, ("B", "O")), ({"word": ("Oh",)}, ("O",)), ({"word": ("#",)}, ("#",))]),
    "a comment of conllu": ("a.conllu", "#" + "\t_" * 9 + "\n#one\n" + TOKEN, {}, [
        ({"word": ("#one",)}, ("NOUN",))]),
    "conllu": ("es.conllu", CONLLU + "\n", {}, [({"word": WORDS}, ("VERB", "PRON", "ADP", "DET", "NOUN"))]),
    "columns of conllu": ("es.conllu", CONLLU + "\n", {"columns": "word=2,label=8"}, [
        ({"word": WORDS}, ("root", "obj", "case", "det", "obl"))]),
    "tabs": ("a.csv", "New York\tB\nsings\tO\n", {"tabs": True}, [
        ({"word": ("New York", "sings")}, ("B", "O"))]),
    "json": ("a.jsonl", '{"i": 7, "tags": ["B"], "words": ["Ann"], "pos": ["N"]}\n{"labels": ["O"]}\n', {}, [
        ({"word": ("Ann",), "pos": ("N",)}, ("B",)), ({}, ("O",))]),
    "tuples": ("b.jsonl", '{"tuples": [["Person", "Kill"]]}\n', {}, [({}, (("Person", "Kill"),))]),
    "members by other names": ("a.jsonl", '{"text": ["Ann"], "gold": ["B"], "other": [1, 2]}\n',
        {"columns": "word=text,label=gold"}, [({"word": ("Ann",)}, ("B",))]),
    "usual names": ("a.jsonl", '{"tokens": ["Ann"], "ner_tags": ["B"], "id": 3}', {}, [
        ({"word": ("Ann",)}, ("B",))]),
    "usual names, too": ("b.json", '{"words": ["Ann"], "tokens": ["a"], "labels": ["B"], "tags": ["N"]}',
        {}, [({"word": ("Ann",), "tokens": ("a",), "tags": ("N",)}, ("B",))]),
    "a table of tokens": ("a.csv", "Doc,Token,Gold\n1,a,B\n1,b,O\n2,c,O\n",
        {"columns": "sentence=Doc,word=Token,label=Gold"}, [
        ({"word": ("a", "b")}, ("B", "O")), ({"word": ("c",)}, ("O",))]),
}  # fmt: skip


@pytest.mark.parametrize("name", COLUMNS)
def test_sentences_are_read_with_their_columns(tmp_path, name):
    file, text, options, sentences = COLUMNS[name]
    data = read_data(written(tmp_path, file, text), **options)
    assert data.instances == tuple(Instance(x, y) for x, y in sentences)
    assert data.tuples == (name == "tuples")


def test_columns_are_stated_by_name_or_number(tmp_path):
    path = written(tmp_path, "a.txt", CONLL)
    for columns in ("word,pos", "word,pos,label", "word=1,pos=-2,label=3", "1,2"):
        assert read_data(path, columns=columns).instances == read_data(path).instances
    for columns in ("word=1,pos=3", "word=3"):
        with pytest.raises(LconsError):
            read_data(path, columns=columns)


def test_a_line_with_tabs_and_blanks_names_the_argument(tmp_path):
    with pytest.raises(LconsError, match="tabs=True"):
        read_data(written(tmp_path, "a.conll", "sings\tO\nNew York\tB\n"))


TEXT = "Ann Lee sings. Oh, Bob!"
SPANS = [[0, 7, "PER"], [19, 23, "PER"], [19, 22, "PER"]]
OBJECTS = [
    {"id": i, "label": label, "start_offset": a, "end_offset": b} for i, (a, b, label) in enumerate(SPANS)
]
SENTENCES_OF_TEXT = [
    (("Ann", "Lee", "sings", "."), ("B-PER", "I-PER", "O", "O")),
    (("Oh", ",", "Bob", "!"), ("O", "O", "B-PER", "O")),
]
ROWS = [
    (i, word, label) for i, one in enumerate(SENTENCES_OF_TEXT, 1) for word, label in zip(*one, strict=True)
]
KAGGLE = "".join(f'{"" if w in ("Lee", ",") else f"Sentence: {i}"},"{w}",X,{y}\n' for i, w, y in ROWS)
TEXT_FILES = {
    "doccano.jsonl": json.dumps({"id": 3, "text": TEXT, "label": SPANS[:2], "Comments": []}),
    "relations.jsonl": json.dumps(
        {"id": 3, "text": TEXT, "entities": OBJECTS[:1] + OBJECTS[2:], "relations": []}
    ),
    "spacy.json": json.dumps([[TEXT, {"entities": SPANS[:1] + SPANS[2:]}]], indent=1),
    "spacy.jsonl": json.dumps([TEXT, SPANS[:1] + SPANS[2:]]) + "\n",
    "array.json": json.dumps([{"tokens": words, "tags": tags} for words, tags in SENTENCES_OF_TEXT]),
    "kaggle.csv": "Sentence #,Word,POS,Tag\n" + KAGGLE,
    "ids.txt": "sentence_id\ttoken\tlabel\n" + "".join(f"{i}\t{w}\t{y}\n" for i, w, y in ROWS),
    "blank.csv": "token;ner\n" + "".join("\n" * (w == "Oh") + f"{w};{y}\n" for _, w, y in ROWS),
}


@pytest.mark.parametrize("name", TEXT_FILES)
def test_files_of_other_tools_are_read_as_they_write_them(tmp_path, name):
    text = TEXT_FILES[name].replace(json.dumps(SPANS[1]), json.dumps(SPANS[2]))
    path = written(tmp_path, name, text)
    assert [(one.x["word"], one.y) for one in read_data(path).instances] == SENTENCES_OF_TEXT
    assert list(read_words(path)) == [words for words, _ in SENTENCES_OF_TEXT]


def test_spans_that_do_not_fit_and_files_without_blank_lines_are_told(tmp_path):
    spans = json.dumps({"text": TEXT, "label": [*SPANS, [1, 3, "X"], [8, 18, "X"]]})
    with pytest.warns(UserWarning, match="3 of 5"):
        read_data(written(tmp_path, "a.jsonl", spans))
    with pytest.warns(UserWarning, match="blank line"):
        assert len(read_data(written(tmp_path, "a.conll", "a B\nb O\n" * 200))) == 1


@pytest.mark.parametrize(
    "text",
    ["k=a,valid,k=b,c\n1,1,0,3\n0,0,1,0\n", "\ufeffk=a;k=b;c;valid\r\n1;0;3;1.0\r\n\r\n0;1;0;-1\r\n"],
)
def test_a_table_is_read_from_csv(tmp_path, text):
    table = read_data(written(tmp_path, "t.csv", text))
    assert table.names == ("k=a", "k=b", "c")
    assert table.X.tolist() == [[1, 0, 3], [0, 1, 0]]
    assert table.valid.tolist() == [True, False]


@pytest.mark.parametrize(
    ("name", "text", "start"),
    [
        ("a.txt", "\n\n", "a.txt:1: "),
        ("a.conll", "a b\nc\n", "a.conll:2: "),
        ("a.conll", "B\nO\n", "a.conll:1: "),
        ("a.conll", b"a b\n\xff b\n", "a.conll:2: "),
        ("a.jsonl", "", "a.jsonl:1: "),
        ("a.jsonl", "{", "a.jsonl:1: "),
        ("a.jsonl", "[]", "a.jsonl:1: "),
        ("a.jsonl", '{"words": ["a"]}', "a.jsonl:1: "),
        ("a.jsonl", '{"labels": [0, 1]}', "a.jsonl:1: "),
        ("a.jsonl", '{"labels": ["a"], "words": []}', "a.jsonl:1: "),
        ("a.jsonl", '{"tuples": ["ab"]}', "a.jsonl:1: "),
        ("a.jsonl", '{"labels": ["a"]}\n{"tuples": [["a", "b"]]}', "a.jsonl:2: "),
        ("a.csv", "", "a.csv:1: "),
        ("a.csv", "a,b\n1,0\n", "a.csv:1: "),
        ("a.csv", "a,a,valid\n1,0,1\n", "a.csv:1: "),
        ("a.csv", "a,valid\n1,2\n", "a.csv:1: "),
        ("a.csv", "a,valid\nx,1\n", "a.csv:2: "),
        ("a.csv", "a,valid\n1,yes\n0,no\n", "a.csv:2: "),
        ("a.csv", "a,valid\n1,1,1\n", "a.csv:2: "),
    ],
)
def test_wrong_files_are_refused_with_file_and_line(tmp_path, name, text, start):
    with pytest.raises(LconsError) as error:
        read_data(written(tmp_path, name, text))
    assert str(error.value).startswith(str(tmp_path / start))
    assert "\n" not in str(error.value)

"""Data of one's own: formats are told or refused, and a constraint is judged on what it has not seen."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcons_core import LconsError, Recipe
from lcons_core._instance import Instance
from lcons_core.learn._recipe import FEATURES
from lcons_tasks.own_data import (
    PsiTable,
    Structures,
    learn,
    read_data,
    read_words,
    split,
    tell_format,
)

CONLL = "Ann NNP B\nLee NNP I\nsings VBZ O\n\nOh UH O\nAnn NNP B\n\n"
SENTENCES = [
    Instance({"word": ("Ann", "Lee", "sings"), "pos": ("N", "N", "V")}, ("B", "I", "O")),
    Instance({"word": ("Oh", "Ann"), "pos": ("U", "N")}, ("O", "B")),
    Instance({"word": ("Ann", "Ann", "Lee", "Lee"), "pos": ("N",) * 4}, ("B", "B", "I", "I")),
    Instance({"word": ("Oh", "!"), "pos": ("U", "U")}, ("O", "O")),
    Instance({"word": ("Lee", "Ann"), "pos": ("N", "N")}, ("B", "B")),
]


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
        ("a.dat", b"PK\x03\x04...", "npz"),
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


def test_without_columns_the_first_is_the_word_and_the_last_the_label(tmp_path):
    data = read_data(written(tmp_path, "a.txt", CONLL))
    assert data.instances[0] == Instance(
        {"word": ("Ann", "Lee", "sings"), "pos": ("NNP", "NNP", "VBZ")}, ("B", "I", "O")
    )
    two = read_data(written(tmp_path, "b.txt", "Ann B\nsings O\n\n-DOCSTART- O\n\nOh O\n"))
    assert [(i.x, i.y) for i in two.instances] == [
        ({"word": ("Ann", "sings")}, ("B", "O")),
        ({"word": ("Oh",)}, ("O",)),
    ]


def test_columns_are_stated_by_name_or_number(tmp_path):
    path = written(tmp_path, "a.txt", CONLL)
    for columns in ("word,pos", "word,pos,label", "word=1,pos=-2,label=3", "1,2"):
        assert read_data(path, columns=columns).instances == read_data(path).instances
    assert read_data(path, columns="word,label,chunk").instances[1].y == ("UH", "NNP")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("#one B\ntwo O\n\n# O\n", [("#one", "two"), ("#",)]),
        ("# B\n", [("#",)]),
        ("# id 5 en\n#one B\ntwo O\n", [("#one", "two")]),
        ("# id = 1\na A B O\n\n# id = 2\n# # B O\n", [("a",), ("#",)]),
    ],
)
def test_a_hash_is_a_word_where_the_number_of_cells_fits(tmp_path, text, words):
    path = written(tmp_path, "a.conll", text)
    assert [instance.x["word"] for instance in read_data(path).instances] == words


def test_a_hash_begins_a_comment_in_conllu(tmp_path):
    token = "1\t#one\t_\tNOUN\t_\t_\t_\t_\t_\t_\n"
    path = written(tmp_path, "a.conllu", "#" + "\t_" * 9 + "\n#one\n" + token)
    assert [i.x["word"] for i in read_data(path).instances] == [("#one",)]


@pytest.mark.parametrize("name", ["a.conll", "a.tsv", "a.csv"])
def test_tabs_mean_columns_whose_cells_may_hold_blanks(tmp_path, name):
    path = written(tmp_path, name, "New York\tB\nsings\tO\n")
    assert read_data(path, tabs=True).instances[0].x["word"] == ("New York", "sings")


def test_a_line_with_tabs_and_blanks_names_the_argument(tmp_path):
    for text in ("sings\tO\nNew York\tB\n", "New York\tB\nsings\tO\n"):
        with pytest.raises(LconsError, match=r"a.conll:2: expected . columns, found .* use `tabs=True`"):
            read_data(written(tmp_path, "a.conll", text))
    with pytest.raises(LconsError) as error:
        read_data(written(tmp_path, "a.conll", "sings O\nNew York B\n"))
    assert "`tabs=" not in str(error.value)


def test_json_lines_hold_sequences_or_tuples(tmp_path):
    lines = [{"id": 7, "labels": ["B", "O"], "words": ["Ann", "sings"], "pos": ["N", "V"]}, {"labels": ["O"]}]
    data = read_data(written(tmp_path, "a.jsonl", "\n".join(map(json.dumps, lines))))
    assert data.instances == (
        Instance({"word": ("Ann", "sings"), "pos": ("N", "V")}, ("B", "O")),
        Instance({}, ("O",)),
    )
    tuples = read_data(written(tmp_path, "b.jsonl", '{"tuples": [["Person", "Kill"]]}\n'))
    assert tuples.tuples
    assert tuples.instances[0].y == (("Person", "Kill"),)


def test_json_members_may_have_other_names(tmp_path):
    line = {"tokens": ["Ann"], "tags": ["B"], "other": [1, 2, 3]}
    data = read_data(written(tmp_path, "a.jsonl", json.dumps(line)), columns="word=tokens,label=tags")
    assert data.instances == (Instance({"word": ("Ann",)}, ("B",)),)


@pytest.mark.parametrize("label", ["labels", "ner_tags", "tags"])
@pytest.mark.parametrize("word", ["words", "tokens"])
def test_usual_names_of_json_members_are_known(tmp_path, word, label):
    path = written(tmp_path, "a.jsonl", json.dumps({word: ["Ann"], label: ["B"], "id": 3}))
    assert read_data(path).instances == (Instance({"word": ("Ann",)}, ("B",)),)
    assert read_words(path) == (("Ann",),)
    both = json.dumps({"words": ["Ann"], "tokens": ["a"], "labels": ["B"], "tags": ["N"]})
    [found] = read_data(written(tmp_path, "b.jsonl", both)).instances
    assert found == Instance({"word": ("Ann",), "tokens": ("a",), "tags": ("N",)}, ("B",))


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


def test_columns_of_a_table_of_tokens_are_stated_by_their_names(tmp_path):
    path = written(tmp_path, "a.csv", "Doc,Token,Gold\n1,a,B\n1,b,O\n2,c,O\n")
    data = read_data(path, columns="sentence=Doc,word=Token,label=Gold")
    assert [(one.x["word"], one.y) for one in data.instances] == [(("a", "b"), ("B", "O")), (("c",), ("O",))]


def test_spans_that_do_not_fit_the_tokens_are_counted(tmp_path):
    path = written(
        tmp_path, "a.jsonl", json.dumps({"text": TEXT, "label": [*SPANS, [1, 3, "X"], [8, 18, "X"]]})
    )
    with pytest.warns(UserWarning, match="3 of 5"):
        read_data(path)


def test_a_file_without_blank_lines_is_told(tmp_path):
    with pytest.warns(UserWarning, match="blank line"):
        assert len(read_data(written(tmp_path, "a.conll", "a B\nb O\n" * 200))) == 1


def test_a_comment_is_no_token_but_a_hash_with_its_label_is(tmp_path):
    path = written(tmp_path, "a.conll", "# comment\nAnn B\n# O\n\n# id\nOh O\n\n# #\n")
    assert [one.x["word"] for one in read_data(path).instances] == [("Ann", "#"), ("Oh",), ("#",)]


def test_a_table_is_read_from_csv_and_npz_alike(tmp_path):
    X, y, names = np.array([[1, 0, 3], [0, 1, 0]]), np.array([1, 0]), np.array(["k=a", "k=b", "c"])
    np.savez(tmp_path / "t.npz", X=X, y=y, names=names)
    files = [
        tmp_path / "t.npz",
        written(tmp_path, "t.csv", "k=a,valid,k=b,c\n1,1,0,3\n0,0,1,0\n"),
        written(tmp_path, "u.csv", "\ufeffk=a;k=b;c;valid\r\n1;0;3;1\r\n0;1;0;0\r\n"),
    ]
    for path in files:
        found = read_data(path)
        assert found.names == ("k=a", "k=b", "c")
        assert np.array_equal(found.X, X)
        assert found.valid.tolist() == [True, False]


@pytest.mark.parametrize("labels", [("feasible", "infeasible"), ("0", "1"), ("-1", "1"), ("2", "1.5")])
def test_the_stated_label_of_a_table_is_valid(tmp_path, labels):
    rows = [f"{i},0,{label}" for i, label in enumerate(labels * 2)]
    path = written(tmp_path, "t.csv", "\n".join(["a,b,valid", *rows]))
    for array in (np.array(labels * 2), *([] if "f" in labels[0] else [np.array(labels * 2, dtype=float)])):
        np.savez(tmp_path / "t.npz", X=np.eye(4), y=array, names=np.array(list("abcd")))
        for file in (path, tmp_path / "t.npz"):
            assert read_data(file, valid=labels[0]).valid.tolist() == [True, False] * 2
            assert read_data(file, valid=labels[1]).valid.tolist() == [False, True] * 2
    if set(labels) <= {"0", "-1", "1"}:
        assert read_data(path).valid.tolist() == [False, True] * 2
        return
    with pytest.raises(LconsError):
        read_data(path)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "a,valid\n1,yes\n0,no\n"),
        ("a.csv", "a,valid\n1,ok\n0,no\n1,maybe\n"),
        ("a.csv", "a,valid\n1,ok\n0,\n"),
        ("a.conll", CONLL),
    ],
)
def test_a_label_that_does_not_fit_the_file_is_refused(tmp_path, name, text):
    with pytest.raises(LconsError):
        read_data(written(tmp_path, name, text), valid="ok")


@given(st.integers(1, 40), st.integers(1, 40))
def test_a_split_keeps_every_row_once_and_its_number(valid, invalid):
    y = np.arange(valid + invalid) < valid
    table = PsiTable(("a",), np.arange(valid + invalid)[:, None].astype(float), y)
    train, held_out = split(table)
    pieces = [train] if held_out is None else [train, held_out]
    assert sorted(np.concatenate([p.numbers() for p in pieces])) == list(range(1, valid + invalid + 1))
    assert all(np.array_equal(p.X[:, 0] + 1, p.numbers()) for p in pieces)
    assert train.valid.any()
    assert not train.valid.all()


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
        ("a.csv", "a,valid\n1,1,1\n", "a.csv:2: "),
        ("a.npz", b"PK\x03\x04 no", "a.npz: "),
        ("a.npz", b"", "a.npz: "),
    ],
)
def test_wrong_files_are_refused_with_file_and_line(tmp_path, name, text, start):
    with pytest.raises(LconsError) as error:
        read_data(written(tmp_path, name, text))
    assert str(error.value).startswith(str(tmp_path / start))
    assert "\n" not in str(error.value)


def test_wrong_arrays_are_refused(tmp_path):
    X, y, names = np.eye(2), np.array([0, 1]), np.array(["a", "b"])
    for wrong in (
        {"X": X, "y": y},
        {"X": X, "y": y, "names": names[:1]},
        {"X": X, "y": y + 1, "names": names},
        {"X": X, "y": y, "names": np.arange(2)},
        {"X": X, "y": y, "names": names.astype(object)},
    ):
        np.savez(tmp_path / "t.npz", **wrong)
        with pytest.raises(LconsError):
            read_data(tmp_path / "t.npz")


@pytest.mark.parametrize("columns", ["word=1,pos=2", "word=2"])
def test_a_column_cannot_be_labels_and_something_else(tmp_path, columns):
    with pytest.raises(LconsError):
        read_data(written(tmp_path, "a.txt", "Ann B\nOh O\n\n"), columns=columns)


@pytest.mark.parametrize("feature", [name for name in FEATURES if name not in ("pairs", "tuples")])
def test_each_feature_is_learned_from_structures(feature):
    found = learn(Structures(SENTENCES * 5), Recipe(feature, hidden=3), Structures(SENTENCES))
    assert found.constraint.feature is not None
    assert found.held_out.structures == 5
    assert found.held_out.new_parts == 0
    assert found.constraint.provenance["recipe"]["negatives"] == found.negatives


def test_held_out_structures_that_are_forbidden_are_counted_and_shown():
    strange = Instance({"word": ("Oh", "Lee")}, ("O", "I"))
    held_out = Structures((SENTENCES[0], strange, strange), rows=np.array([10, 11, 12]))
    found = learn(Structures(SENTENCES), Recipe(hidden=3), held_out)
    judged = found.held_out
    assert (judged.structures, judged.forbidden_structures) == (3, 2)
    assert (judged.parts, judged.forbidden_parts, judged.new_parts, judged.new_allowed) == (4, 2, 2, 0)
    (shown,) = judged.examples
    assert (shown.count, shown.structure, shown.text) == (2, 11, "Oh/O Lee/I")
    assert shown.words == "label 1 O, label 2 I"
    assert len(found.warnings) == 1


def test_every_judgement_is_what_the_constraint_says():
    found = learn(Structures(SENTENCES), Recipe("existence", hidden=1), Structures(SENTENCES))
    rejected = [not found.constraint.satisfied(one) for one in SENTENCES]
    assert found.training.forbidden_structures == found.held_out.forbidden_structures == sum(rejected)


def test_labels_that_training_has_not_are_left_out_and_counted():
    held_out = Structures((Instance({}, ("O", "X")), Instance({}, ("O", "B"))), rows=np.array([6, 7]))
    judged = learn(Structures(SENTENCES), Recipe(hidden=2), held_out).held_out
    assert (judged.structures, judged.outside) == (1, 1)
    assert judged.outside_example == "structure 6: unknown label 'X'"


def test_counts_far_beyond_training_are_left_out_and_counted():
    held_out = Structures((Instance({}, ("O",) * 50), SENTENCES[0]))
    judged = learn(Structures(SENTENCES), Recipe("counts", hidden=2), held_out).held_out
    assert (judged.structures, judged.outside) == (1, 1)


def table(rows=3):
    grid = np.array([[a, 1 - a, b, 1 - b] for a in (0, 1) for b in (0, 1)] * rows, dtype=float)
    return PsiTable(("k=a", "k=b", "m=c", "m=d"), grid, (grid[:, 0] == 0) | (grid[:, 2] == 0))


def test_a_table_is_learned_and_judged():
    found = learn(table(), Recipe(hidden=1), table())
    assert found.constraint.feature is None
    assert found.constraint.accepts(table().X).tolist() == table().valid.tolist()
    assert (found.held_out.invalid, found.held_out.invalid_forbidden) == (3, 3)
    assert str(found.explanation).startswith("- k a needs m d")


def test_valid_rows_alone_need_a_source_of_negatives():
    data = table().take(table().valid)
    with pytest.raises(LconsError):
        learn(data)
    found = learn(data, Recipe(hidden=1, negatives="unseen"), data)
    assert found.constraint.accepts(table().X).tolist() == table().valid.tolist()


def test_vectors_given_as_both_count_as_valid_and_are_told():
    X, valid = (
        np.concatenate([old, new]) for old, new in ((table().X, table().X[:1]), (table().valid, [False]))
    )
    data = PsiTable(table().names, X, valid)
    found = learn(data, Recipe(hidden=1))
    assert found.contradictions == 1
    assert found.constraint.accepts(table().X[:1]).all()


def test_held_out_data_are_of_the_same_kind():
    tuples = Structures([Instance({}, (("a", "b"),))], tuples=True)
    for other in (table(), tuples):
        with pytest.raises(LconsError):
            learn(Structures(SENTENCES), None, other)
    with pytest.raises(LconsError):
        learn(table(), None, PsiTable(("a",), np.ones((1, 1)), np.array([True])))


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


def test_words_and_tags_of_universal_dependencies_are_read_without_a_word(tmp_path):
    path = tmp_path / "es.conllu"
    path.write_text(CONLLU + "\n", encoding="utf-8")
    (instance,) = read_data(path).instances
    assert instance.x["word"] == ("Vamos", "nos", "de", "el", "mar")
    assert instance.y == ("VERB", "PRON", "ADP", "DET", "NOUN")
    (instance,) = read_data(path, columns="word=2,lemma=3,label=8").instances
    assert instance.x["lemma"] == ("ir", "nosotros", "de", "el", "mar")
    assert instance.y == ("root", "obj", "case", "det", "obl")

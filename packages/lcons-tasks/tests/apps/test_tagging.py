"""A constrained tagger answers what its decoder answers, and the same after it was written and read."""

import itertools
import json
import os
import shutil

import pytest

import lcons_tasks.apps._model_folder as folder_module
import lcons_tasks.apps._tagger as module
from lcons_core import DamagedFile, InvalidInput, LconsError, iob2, learn_constraints
from lcons_decode import Hard, Soft, constrained_viterbi_batch
from lcons_decode.chains._beam import beam_search_batch
from lcons_decode.chains._viterbi import viterbi_batch
from lcons_tasks.apps._tagger import ConstrainedTagger, load_constrained_tagger
from lcons_tasks.data import Sentence
from lcons_tasks.models._linear_crf import LinearSettings, train_linear

NOUNS, VERBS = ("dog", "cat", "bird"), ("saw", "barked", "ran")


def made_up():
    for noun, verb, other in itertools.product(NOUNS, VERBS, NOUNS):
        words = ("the", noun, verb, "a", "small", other, ".")
        pos = ("DT", "NN", "VBD", "DT", "JJ", "NN", ".")
        labels = ("B-NP", "I-NP", "B-VP", "B-NP", "I-NP", "I-NP", "O")
        yield Sentence(words, labels, {"pos": pos})


SENTENCES = list(made_up())
# The model alone breaks IOB2 in the second.
XS = [
    {"word": ("zebras", "zigzagged", "."), "pos": ("NN", "VBD", ".")},
    {"word": ("small", "small", "barked", "the"), "pos": ("JJ", "NN", "VBD", "DT")},
    {"word": (), "pos": ()},
    {"word": ("a", "bird", "ran"), "pos": ("DT", "NN", "VBD")},
    {"word": ("xyz",) * 9, "pos": ("DT", "JJ", "NN") * 3},
]


@pytest.fixture(scope="module")
def model():
    return train_linear(SENTENCES, LinearSettings(iterations=5))


@pytest.fixture(scope="module")
def uses(model):
    pos = learn_constraints(
        [s.instance for s in SENTENCES], "pos", n=2, hidden=3, negatives="relabel", many="all"
    )
    return (Hard(iob2(model.labels), "iob2"), Soft(pos, 2.5, "pos: 2"))


@pytest.fixture(scope="module")
def existence():
    return Hard(learn_constraints([s.y for s in SENTENCES], "existence", n=1, hidden=2), "existence")


def test_a_plain_list_of_words_is_the_column_of_words():
    model = train_linear([Sentence(s.words, s.labels) for s in SENTENCES], LinearSettings(iterations=5))
    tagger = ConstrainedTagger(model, (Hard(iob2(model.labels), "iob2"),))
    plain = [list(x["word"]) for x in XS]
    assert tagger.tag(plain) == tagger.tag([{"word": words} for words in plain])
    for wrong in ("the dog ran", [["the", "dog"]]):
        with pytest.raises(InvalidInput):
            tagger.tag([wrong])  # type: ignore[list-item]


def alike(found, expected):
    """Whether answers are equal but for what was changed."""
    keys = ("y", "score", "status", "violations")
    return [[getattr(a, k) for k in keys] for a in found] == [[getattr(a, k) for k in keys] for a in expected]


def test_each_decoder_answers_what_it_answers_by_itself(model, uses):
    batch = model.scores(XS)
    assert alike(ConstrainedTagger(model, (), "viterbi").tag(XS), viterbi_batch(batch))
    assert alike(ConstrainedTagger(model, uses, "exact").tag(XS), constrained_viterbi_batch(batch, uses, XS))
    beam = beam_search_batch(batch, uses, XS, width=3)
    assert alike(ConstrainedTagger(model, uses, "beam", beam=3).tag(XS), beam)


def test_changed_counts_the_labels_that_the_model_alone_would_not_give(model, uses):
    alone, found = (
        t.tag(XS) for t in (ConstrainedTagger(model, (), "viterbi"), ConstrainedTagger(model, uses))
    )
    expected = [sum(a != b for a, b in zip(x.y, y.y, strict=True)) for x, y in zip(alone, found, strict=True)]
    assert [answer.stats["changed"] for answer in found] == expected
    assert any(expected)
    assert not any(answer.stats["changed"] for answer in alone)


def test_it_reads_the_columns_that_the_model_or_a_constraint_reads(model, uses):
    assert ConstrainedTagger(model, uses).columns == ("pos",)
    assert ConstrainedTagger(model, uses[:1]).columns == ()
    tagged = train_linear(SENTENCES, LinearSettings(iterations=2, columns=("pos",)))
    assert ConstrainedTagger(tagged, uses[:1]).columns == ("pos",)
    assert ConstrainedTagger(model, uses).alone.columns == ()


def test_a_stream_gives_the_same_and_reads_no_further_than_a_chunk(model, uses, monkeypatch):
    tagger = ConstrainedTagger(model, uses)
    monkeypatch.setattr(module, "CHUNK_SENTENCES", 2)
    assert list(tagger.tag_stream(iter(XS))) == tagger.tag(XS)
    endless = tagger.tag_stream(itertools.cycle(XS))
    assert list(itertools.islice(endless, 5)) == tagger.tag(XS)


@pytest.mark.parametrize(
    ("decoder", "beam", "which"),
    [
        ("greedy", 10, []),
        ("beam", 0, []),
        ("beam", 2.0, []),
        ("viterbi", 10, [0]),
        ("exact", 10, [2]),
        ("exact", 10, [0, 0]),
    ],
)
def test_what_does_not_fit_together_is_refused(decoder, beam, which, model, uses, existence):
    every = (*uses, existence)
    with pytest.raises(InvalidInput):
        ConstrainedTagger(model, tuple(every[i] for i in which), decoder, beam)


@pytest.mark.parametrize("decoder", ["exact", "beam", "global"])
def test_labels_that_a_constraint_does_not_know_are_free_unless_it_knows_none(decoder, model):
    tagger = ConstrainedTagger(model, (Hard(iob2(["B-NP", "I-NP", "O"]), "iob2"),), decoder)
    words = ["the", "dog", "barks"]
    (answer,) = tagger.tag([{"word": words}])
    assert len(answer.y) == 3
    assert not answer.violations
    with pytest.raises(InvalidInput):
        ConstrainedTagger(model, (Hard(iob2(["B-X", "I-X"]), "iob2"),), decoder)


@pytest.mark.parametrize(
    ("x", "column"),
    [
        ({"word": ["a"]}, "pos"),
        ({"pos": ["DT"]}, "word"),
        ({}, "word"),
        ({"word": ["a", "b"], "pos": ["DT"]}, "pos"),
        ({"word": ["a", "b"], "pos": "DT"}, "pos"),
    ],
)
def test_inputs_have_the_columns_with_a_value_a_word(x, column, model, uses):
    with pytest.raises(InvalidInput):
        ConstrainedTagger(model, uses).tag([x])


# The folder.


@pytest.fixture(scope="module")
def saved(model, uses, tmp_path_factory):
    folder = tmp_path_factory.mktemp("tagger") / "runs" / "tagger"
    ConstrainedTagger(model, uses, "exact", 7).save(folder)
    return folder


@pytest.fixture
def copied(saved, tmp_path):
    return shutil.copytree(saved, tmp_path / "tagger")


def files(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def described(folder, **changes):
    path = folder / "tagger.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def entry(folder, **changes):
    first, *others = json.loads((folder / "tagger.json").read_text())["constraints"]
    described(folder, constraints=[{**first, **changes}, *others])


def test_a_folder_holds_the_model_the_constraints_and_how_they_are_used(saved):
    assert len(files(saved)) == 4
    assert json.loads((saved / "tagger.json").read_text()) == {
        "format": 1,
        "decoder": "exact",
        "beam": 7,
        "constraints": [
            {"name": "iob2", "file": "constraints/iob2.json", "weight": None},
            {"name": "pos: 2", "file": "constraints/pos-2.json", "weight": 2.5},
        ],
    }
    assert [path.name for path in saved.parent.iterdir()] == ["tagger"]


@pytest.mark.parametrize("decoder", ["exact", "beam", "global"])
def test_what_was_saved_decodes_alike_when_loaded(decoder, model, uses, existence, tmp_path):
    given = uses if decoder == "exact" else (*uses, existence)
    tagger = ConstrainedTagger(model, given, decoder, 4)
    tagger.save(tmp_path / "tagger")
    loaded = load_constrained_tagger(tmp_path / "tagger")
    assert loaded.tag(XS) == tagger.tag(XS)
    assert loaded.constraints == tagger.constraints
    assert (loaded.decoder, loaded.beam, loaded.columns) == (decoder, 4, ("pos",))
    loaded.save(tmp_path / "again")
    assert files(tmp_path / "again") == files(tmp_path / "tagger")


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_failed_save_leaves_the_old_tagger_and_nothing_else(error, model, uses, copied, monkeypatch):
    before = files(copied)

    def fail(*_):
        raise error

    monkeypatch.setattr(folder_module, "save", fail)
    with pytest.raises((LconsError, KeyboardInterrupt)):
        ConstrainedTagger(model, uses).save(copied)
    assert files(copied) == before
    assert [path.name for path in copied.parent.iterdir()] == ["tagger"]


def test_what_is_not_a_tagger_is_never_replaced(model, tmp_path):
    tagger = ConstrainedTagger(model, (), "viterbi")
    (tmp_path / "notes.txt").write_text("mine")
    for target in (tmp_path, tmp_path / "notes.txt"):
        with pytest.raises(LconsError):
            tagger.save(target)
    with pytest.raises(LconsError):
        tagger.save(tmp_path / "notes.txt" / "below")
    assert files(tmp_path) == {"notes.txt": b"mine"}
    (tmp_path / "empty").mkdir()
    tagger.save(tmp_path / "empty")
    assert load_constrained_tagger(tmp_path / "empty").decoder == "viterbi"


def one_sentence(folder):
    with pytest.raises(DamagedFile) as raised:
        load_constrained_tagger(folder)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("piece", ["model.npz", "constraints/iob2.json", "tagger.json"])
@pytest.mark.parametrize("damage", [None, "pipe", b"", b"\xff\x00", b"[]", b'{"format": 1}', b"[" * 10**5])
def test_a_damaged_or_missing_piece_is_one_sentence(piece, damage, copied):
    (copied / piece).unlink()
    if damage == "pipe":
        os.mkfifo(copied / piece)
    elif damage is not None:
        (copied / piece).write_bytes(damage)
    one_sentence(copied)


@pytest.mark.parametrize(
    "changes",
    [{"format": 2}, {"extra": 0}, {"decoder": 3}, {"decoder": "viterbi"}, {"beam": 0}, {"constraints": [0]}],
)
def test_a_description_that_says_something_else_is_refused(changes, copied):
    described(copied, **changes)
    one_sentence(copied)


@pytest.mark.parametrize(
    "file",
    [
        "../constraint.json",
        "constraints/../../constraint.json",
        "constraints/sub/iob2.json",
        "constraints\\iob2.json",
        "constraints/iob2.json\n",
        "/etc/passwd",
        "",
    ],
)
def test_a_file_outside_the_folder_is_refused(file, copied):
    # A constraint that could be read, were the name followed.
    shutil.copy(copied / "constraints" / "iob2.json", copied.parent / "constraint.json")
    entry(copied, file=file)
    one_sentence(copied)

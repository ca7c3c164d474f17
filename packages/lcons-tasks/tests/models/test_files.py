"""A model file gives back the same bits, and a file that is anything else is `DamagedFile`."""

import io
import json
import os
import random
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from lcons_core import DamagedFile, LconsError, MissingExtra
from lcons_decode.chains._marginals import marginals_batch
from lcons_tasks.data import Sentence
from lcons_tasks.models._bilstm_crf import BilstmCrf, Sizes
from lcons_tasks.models._clusters import cluster_words
from lcons_tasks.models._consistent_chain import CodedKeys, ConsistentChain
from lcons_tasks.models._consistent_chain import consistent as agree
from lcons_tasks.models._linear_crf import LinearSettings, train_linear
from lcons_tasks.models._tagger import load_tagger
from lcons_tasks.models._word_vectors import WordVectors
from lcons_tasks.models.phi._tokens import TokenIds

TRAIN = [
    Sentence(("the", "saw", "é"), ("N", "N", "V"), {"pos": ("DT", "NN", "VB")}),
    Sentence(("we", "saw", "the", "Dog"), ("V", "V", "N", "N"), {"pos": ("PR", "VB", "DT", "NN")}),
    Sentence(("Dog",), ("N",), {"pos": ("NN",)}),
]
XS = [*(own.x for own in TRAIN), {"word": ["zebra"], "pos": ["ZZ"]}]
VECTORS = WordVectors("toy", ("the", "dog"), np.random.default_rng(3).normal(size=(2, 5)))


def linear(columns=()):
    return train_linear(TRAIN, LinearSettings(columns=columns, iterations=20))


def bilstm(columns=(), vectors=None):
    ids = TokenIds.of((own.x for own in TRAIN), columns)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return BilstmCrf(("N", "V"), ids, vectors, Sizes(4, 3, 2, 3, 5))


def consistent():
    """A model that reads clusters, with tables of all kinds and a bias."""
    words = [[*s.words, "a", "b", "c"] for s in TRAIN for _ in range(2)]
    clusters = cluster_words(words, sizes=(2, 3, 4))
    read = [
        Sentence(s.words, s.labels, {k: v for k, v in clusters.add(s.x).items() if k != "word"})
        for s in TRAIN
    ]
    base = train_linear(read, LinearSettings(columns=clusters.columns, iterations=20))
    chain = ConsistentChain(base, clusters, (), np.full(2, 0.5), np.array([0.0, -0.5]))
    batch = base.scores([clusters.add({"word": own}) for own in words])
    keys = [CodedKeys.of(kind, words, clusters) for kind in ("form", "cluster", "context")]
    tables, prior = agree(batch, marginals_batch(batch), keys, (0.5, 0.3, 0.4))
    return replace(chain, tables=tables, prior=prior)


MODELS = {
    "linear": lambda: linear(("pos",)),
    "consistent": consistent,
    "bilstm": bilstm,
    "bilstm, context, vectors": lambda: bilstm(("pos",), VECTORS),
}
EVERY = pytest.mark.parametrize("name", MODELS)
ALL = pytest.mark.parametrize("name", ["linear", "bilstm, context, vectors", "consistent"])


@pytest.fixture(scope="module")
def content(tmp_path_factory):
    """The bytes of each model's file."""
    path = tmp_path_factory.mktemp("models") / "model"
    found = {}
    for name, make in MODELS.items():
        make().save(path)
        found[name] = path.read_bytes()
    return found


@pytest.fixture
def load(tmp_path):
    """Loads a model from bytes."""

    def load(given):
        path = tmp_path / "damaged"
        path.write_bytes(given)
        return load_tagger(path)

    return load


def repacked(content, change=None, method=zipfile.ZIP_STORED, signed=False):
    """The archive with its members as `change` leaves them: {name: bytes}, checksums in order. If there is a
    change, the header loses its digest, as in files of version 0.1, unless it is to stay `signed`."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    if change is not None:
        if not signed:
            header = json.loads(members["header.json"])
            del header["sha256"], header["arrays"]
            members["header.json"] = json.dumps(header).encode()
        change(members)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, member in members.items():
            archive.writestr(name, member)
    return out.getvalue()


def with_header(content, change):
    """The archive with its header as `change` leaves it."""

    def edit(members):
        header = json.loads(members["header.json"])
        members["header.json"] = json.dumps(change(header)).encode()

    return repacked(content, edit)


def npy(array, **options):
    out = io.BytesIO()
    np.save(out, array, **options)
    return out.getvalue()


# What was saved is loaded


@EVERY
def test_a_loaded_model_gives_the_same_bits(name, tmp_path):
    model, path = MODELS[name](), tmp_path / "model"
    model.save(path)
    loaded = load_tagger(path)
    a, b = model.scores(XS), loaded.scores(XS)
    for part in ("emission", "offsets", "transition", "start", "stop"):
        assert np.array_equal(getattr(a, part), getattr(b, part))
    assert (a.labels, model.columns) == (b.labels, loaded.columns)
    assert (model.kind, model.labels) == (loaded.kind, loaded.labels)


def test_a_linear_model_loads_and_scores_without_torch(tmp_path, content):
    path = tmp_path / "model"
    path.write_bytes(content["linear"])
    code = (
        "import sys; from lcons_tasks.models._tagger import load_tagger\n"
        f"model = load_tagger({str(path)!r}); model.scores([{{'word': ['the'], 'pos': ['DT']}}])\n"
        "sys.exit(bool({'torch', 'pycrfsuite'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


# Whatever else is a DamagedFile


def negate(members):
    name = next(name for name in members if name.endswith("weights.npy"))
    members[name] = npy(-np.load(io.BytesIO(members[name])))


def test_altered_content_is_noticed(load, content):
    assert_damaged(load, repacked(content["linear"], negate, signed=True), "its checksum does not match")


@pytest.mark.parametrize(("weight", "reason"), [(np.nan, "not finite"), (-1e308, r"above 2\^200")])
def test_weights_whose_sums_may_not_be_finite_are_damaged(weight, reason, load, content):
    def spoil(members):
        weights = np.load(io.BytesIO(members["weights.npy"]))
        weights.flat[3] = weight
        members["weights.npy"] = npy(weights)

    assert_damaged(load, repacked(content["linear"], spoil), reason)


def assert_damaged(load, given, match=None):
    with pytest.raises(DamagedFile, match=match) as raised:
        load(given)
    text = str(raised.value)
    assert "damaged" in text  # the file's name
    assert "\n" not in text
    assert text.endswith("; train it again.")


@ALL
def test_a_truncated_file_is_damaged(name, load, content):
    own = content[name]
    for length in [*range(0, len(own), len(own) // 60), *range(len(own) - 40, len(own))]:
        assert_damaged(load, own[:length])


@ALL
@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_flipped_bytes_are_noticed_or_do_not_matter(name, method, load, content):
    """Time stamps and the like may change; nothing else may, and nothing else is raised."""
    own, rng = repacked(content[name], method=method), random.Random(0)
    scores = load(own).scores(XS).emission
    damaged = 0
    for _ in range(250):
        flipped = bytearray(own)
        for _ in range(rng.choice((1, 1, 3, 20))):
            flipped[rng.randrange(len(own))] ^= 1 << rng.randrange(8)
        try:
            found = load(bytes(flipped))
        except DamagedFile:
            damaged += 1
        else:
            assert np.array_equal(found.scores(XS).emission, scores)
    assert damaged > 200


@pytest.mark.parametrize("name", ["linear", "bilstm, context, vectors"])
@pytest.mark.parametrize(
    "change",
    [
        lambda header: {**header, "kind": "other"},
        lambda header: {k: v for k, v in header.items() if k != "kind"},
        lambda header: {**header, "format": 2},
        lambda header: {k: v for k, v in header.items() if k != "labels"},
        lambda header: {**header, "labels": ["N"]},
        lambda header: {**header, "labels": ["N", "N"]},
        lambda header: {**header, "labels": [1, 2]},
        lambda header: [header],
        lambda header: None,
    ],
)
def test_a_wrong_header_is_damaged(name, change, load, content):
    assert_damaged(load, with_header(content[name], change))


def test_a_model_whose_features_changed_since_is_refused(load, content):
    assert_damaged(load, with_header(content["linear"], lambda header: {**header, "template": "text"}))


@pytest.mark.parametrize("sizes", [{}, {"hidden": 7}, {"hidden": 10**9}, {"hidden": -1}, {"other": 1}, None])
def test_sizes_that_are_not_those_of_the_arrays_are_damaged(sizes, load, content):
    """And take no memory on the way."""

    def change(header):
        return {**header, "sizes": {**header["sizes"], **sizes} if sizes else sizes}

    assert_damaged(load, with_header(content["bilstm"], change))


@ALL
def test_arrays_that_are_missing_or_of_another_make_are_damaged(name, load, content):
    with zipfile.ZipFile(io.BytesIO(content[name])) as archive:
        arrays = [member for member in archive.namelist() if member != "header.json"]
    others = {
        "nothing": b"",
        "text": b"not an array",
        "objects": npy(np.array([{}, []], dtype=object), allow_pickle=True),
        "strings": npy(np.array([["a", "b"], ["c", "d"]])),
        "integers": npy(np.zeros((2, 2), np.int64)),
        "more than there is": npy(np.zeros(3))[:-8].replace(b"(3,)", b"(9999999999999,)"),
        "complex": npy(np.zeros((2, 2), complex)),
    }
    for member in arrays:
        assert_damaged(load, repacked(content[name], lambda members, own=member: members.pop(own)))
        for other in others.values():
            change = lambda members, own=member, other=other: members.update({own: other})  # noqa: E731
            assert_damaged(load, repacked(content[name], change))


def test_a_pickled_object_is_never_loaded(load, content, tmp_path):
    """The file would make a folder if it were unpickled."""

    class Hostile:
        def __reduce__(self):
            return (Path.mkdir, (tmp_path / "made",))

    hostile = npy(np.array([Hostile()], dtype=object), allow_pickle=True)
    assert_damaged(
        load,
        repacked(content["linear"], lambda members: members.update({"weights.npy": hostile})),
        "Python objects",
    )
    assert not (tmp_path / "made").exists()


def test_a_path_that_cannot_be_read_or_written_is_one_sentence(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "missing", tmp_path, tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(DamagedFile):
            load_tagger(path)
    for path in (tmp_path / "no folder" / "model", tmp_path):
        with pytest.raises(LconsError):
            linear().save(path)
    assert list(tmp_path.iterdir()) == [tmp_path / "pipe"]


def test_a_model_that_needs_torch_says_so_where_there_is_none(tmp_path, monkeypatch):
    path = tmp_path / "model.npz"
    vocabularies = TokenIds.of([{"word": ["a", "a"]}])
    BilstmCrf(("A", "B"), vocabularies, None, Sizes(hidden=4)).save(path)
    monkeypatch.delitem(sys.modules, "lcons_tasks.models._bilstm_crf")
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtra):
        load_tagger(path)

"""The targets of `tools/fuzz`: every function that reads files, with valid files to begin from.

`PUBLIC` is the list of public functions that load or read something: the target that calls it, or why none
does. A test compares it with the public names.
"""

from __future__ import annotations

import io
import json
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

MARK = b"\n--lcons--\n"

_NO_FILE = "reads a value of Python, not a file"
_NAMED = "reads corpora by name with readers that have targets"
PUBLIC = {
    "lcons_core.load": "constraint",
    "lcons_core.load_rules": "rules",
    "lcons_core.read_form": _NO_FILE,
    "lcons_core.read_instance": _NO_FILE,
    "lcons_core.read_instances": _NO_FILE,
    "lcons_core.reason.load_rules": "rules",
    "lcons_core.reason.read_assignment": "assignment",
    "lcons_core.storage.load": "constraint",
    "lcons_core.storage.loads": "constraint",
    "lcons_decode.files.load_constraints": "constraint",
    "lcons_decode.files.read_labels": "labels",
    "lcons_decode.files.read_model": "label-model",
    "lcons_decode.files.read_scored": "scores-jsonl",
    "lcons_tasks.load_constrained_tagger": "tagger",
    "lcons_tasks.load_extractor": "extractor",
    "lcons_tasks.load_tagger": "model",
    "lcons_tasks.read_columns": "columns",
    "lcons_tasks.read_data": "data",
    "lcons_tasks.apps.load_constrained_tagger": "tagger",
    "lcons_tasks.apps.load_extractor": "extractor",
    "lcons_tasks.apps.load_recogniser": "reads a pipeline of spaCy by spaCy",
    "lcons_tasks.apps.read_marks": "marks",
    "lcons_tasks.apps.read_places": _NO_FILE,
    "lcons_tasks.data.read_anystyle": "anystyle",
    "lcons_tasks.data.read_columns": "columns",
    "lcons_tasks.data.read_references": "references",
    "lcons_tasks.data.read_roth_yih": "roth-yih",
    "lcons_tasks.data.read_vectors": "vectors",
    "lcons_tasks.diagnosis.read_predictions": "predicted",
    "lcons_tasks.diagnosis.read_scores": "predicted-scores",
    "lcons_tasks.experiments.chunking.load_corpus": _NAMED,
    "lcons_tasks.experiments.citation.load_corpus": _NAMED,
    "lcons_tasks.experiments.suite.load_set": _NAMED,
    "lcons_tasks.models.load_tagger": "model",
    "lcons_tasks.models.load_vectors": "vectors-npz",
    "lcons_tasks.own_data.read_data": "data",
    "lcons_tasks.own_data.read_words": "words",
    "lcons_tasks.report.read_document": "document",
    "lcons_tasks.report.read_runs": "document",
}


@dataclass(frozen=True)
class Loader:
    """`read` gets the path of a file with the drawn bytes, `name` its name; `seeds` are valid files."""

    read: Callable[[Path], Any]
    name: str
    seeds: tuple[bytes, ...]
    content: Callable[[bytes], bytes] = bytes


def exhaust(found: Any) -> None:
    """Reads lazy results to the end."""
    if isinstance(found, Iterable):
        for _ in found:
            pass


def npz(names: tuple[str, ...]) -> Callable[[bytes], bytes]:
    """From members, separated by the mark, to an archive of these names."""

    def archive(data: bytes) -> bytes:
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w") as file:
            for name, member in zip(names, data.split(MARK), strict=False):
                file.writestr(zipfile.ZipInfo(name), member)
        return made.getvalue()

    return archive


def members(*arrays: Any) -> bytes:
    """A seed of an archive: npy arrays, or bytes."""
    import numpy as np

    parts = []
    for array in arrays:
        made = io.BytesIO()
        if not isinstance(array, bytes):
            np.lib.format.write_array(made, np.asarray(array), allow_pickle=False)
        parts.append(array if isinstance(array, bytes) else made.getvalue())
    return MARK.join(parts)


def stored(model: Any, names: tuple[str, ...]) -> bytes:
    """A seed of an archive: the file of a model without its digest, so that altered content is read, too."""
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "m.npz")
        with zipfile.ZipFile(Path(folder) / "m.npz") as file:
            header, *arrays = (file.read(name) for name in names)
    whole = json.loads(header)
    del whole["sha256"]
    return MARK.join([json.dumps(whole).encode(), *arrays])


def with_digest(data: bytes) -> bytes:
    """A constraint file with a correct digest, if it is a JSON object."""
    from lcons_core._files import digest, parse

    with suppress(Exception):
        document = parse(data.decode("utf-8"))
        document.pop("sha256", None)
        return json.dumps({**document, "sha256": digest(document)}).encode()
    return data


def read_beside_text(path: Path) -> None:
    """Reads an annotation of brat beside a text of its own."""
    from lcons_tasks.own_data import read_data

    path.with_suffix(".txt").write_text("Ann left Oslo .\nShe slept.\n")
    read_data(path)


def docbin() -> bytes:
    """A file of spaCy, of one doc with an entity."""
    import spacy
    from spacy.tokens import Doc, DocBin, Span

    doc = Doc(spacy.blank("en").vocab, ["Ann", "left"])
    doc.ents = [Span(doc, 0, 1, "PER")]
    return DocBin(docs=[doc]).to_bytes()


def use_provenance(path: Path) -> None:
    """Reads what a file records of a constraint: recipe and split."""
    from dataclasses import replace

    from lcons_contrib.calibrate.thresholds import learned_from
    from lcons_core import explain, iob2
    from lcons_core._document import dumps
    from lcons_core._files import parse
    from lcons_tasks.own_data import recorded_split

    recorded = parse(text_of(path))
    if isinstance(recorded, dict):
        constraint = replace(iob2(["B-NP", "O"]), provenance=recorded)
        dumps(constraint)
        learned_from(constraint, [["B-NP", "O"]])
        recorded_split(recorded)
        str(explain(constraint))


def text_of(path: Path) -> str:
    """The content of a file, which targets that get text share."""
    return path.read_bytes().decode("utf-8", "replace")


def use_rows(path: Path) -> None:
    """Decodes a file of a folder that holds the drawn rows."""
    from lcons_cli.folders import _convert
    from lcons_core import iob2
    from lcons_decode import Decoder

    labels = ["B-X", "I-X", "O"]
    _convert(Decoder([iob2(labels)], labels=labels), path, path.parent / "out")


def folder_of(path: Path, read: Callable[[Path], Any], files: dict[str, bytes]) -> None:
    """Reads the folder of the drawn file, which has some more files."""
    for name, content in files.items():
        other = path.parent / name
        if not other.exists():
            other.parent.mkdir(exist_ok=True)
            other.write_bytes(content)
    read(path.parent)


def loaders() -> dict[str, Loader]:
    """All loaders by name."""
    import numpy as np

    from lcons_core import (
        FeatureSpace,
        LearnedConstraint,
        RectifierNetwork,
        binary,
        count,
        iob2,
        load,
        one_hot,
    )
    from lcons_core._document import dumps
    from lcons_core.features import Counts, Existence, NgramContext, Tuples
    from lcons_core.reason._rules_text import load_rules
    from lcons_decode.files._scores import read_labels, read_scored
    from lcons_tasks.data import read_anystyle, read_columns, read_references, read_vectors
    from lcons_tasks.own_data import read_data, read_words
    from lcons_tasks.report._decoded import read_decoded
    from lcons_tasks.report._document import Document, Section, Table, Text
    from lcons_tasks.report._predictions import read_predictions
    from lcons_tasks.report._storage import read_document, to_data

    features = (
        NgramContext(("A", "B"), ("DT", "NN"), n=2, pad=True),
        Existence(("A", "B"), n=2),
        Counts(("A", "B"), high=3),
        Tuples(("source", "relation"), (("Person", "Location"), ("NoRel", "Kill"))),
    )
    constraints = [
        LearnedConstraint(RectifierNetwork([[0.5] * f.space.d] * 2, [1.0, -1.0]), f.space, f)
        for f in features
    ]
    constraints.append(iob2(["B-NP", "I-NP", "O"]))
    files = tuple(dumps(constraint).encode() for constraint in constraints)
    mixed = FeatureSpace(
        [one_hot("source", ["Person", "Big Place"]), binary("exists", ["a", "b"]), count("n", ["a"], 9)]
    )
    rules = (
        b'source Person needs exists a\nforbid: source "Big Place", n a >= 3 or 1 to 2\n',
        b"allow only: source not Person, exists not b  # a comment\nsource Person cannot go with n a 0\n",
    )
    model = json.dumps({"labels": ["A", "B"], "transition": [[0, 1], [1, 0]], "start": [0, 0.5]})
    sequence = json.dumps({"emission": [[0, 1], [1, -1e9]], "words": ["a", "b"], "id": "x"})
    conll = b"The DT B-NP\ndog NN I-NP\n\nruns VB O\n\n"
    decoded = json.dumps(
        {"id": "1", "labels": ["A"], "without": ["B"], "words": ["a"], "score": 1.5, "status": "optimal"}
        | {"changed": True, "violations": [{"constraint": "c", "position": 0}], "gold": ["A"]}
    )
    told = {"entities": ["Person", "Location"], "relations": [{"source": 0, "target": 1, "label": "Live_In"}]}
    answered = json.dumps(
        {"id": 1, "words": ["Ann", "in", "Oslo"], "candidates": [[0, 1], [2, 3]]}
        | dict.fromkeys(("without constraints", "with learned constraints", "gold"), told)
    ).encode()
    section = Section("s", (Text("x"), Table("t", ("a", "b"), (("1", "2"),))))
    document = {"format": 1, **to_data(Document("t", "chunking", "c", "two", None, (section,)))}
    spans = [{"start": 0, "end": 3, "label": "PER"}]
    prodigy = (
        json.dumps({"text": "Ann left Oslo.", "spans": spans, "answer": "accept"}).encode() + b"\n",
        json.dumps(
            {"text": "Ann", "tokens": [{"text": "Ann", "start": 0, "end": 3, "id": 0}], "spans": spans}
        ).encode(),
    )
    region = {"type": "labels", "to_name": "text", "value": {"start": 0, "end": 3, "labels": ["PER"]}}
    label_studio = (
        json.dumps([{"data": {"text": "Ann left."}, "annotations": [{"result": [region]}]}]).encode(),
        json.dumps([{"text": "Ann left.", "label": [{"start": 0, "end": 3, "labels": ["PER"]}]}]).encode(),
    )
    webanno = (
        b"#FORMAT=WebAnno TSV 3.3\n#T_SP=custom.Span|label\n\n\n#Text=Ann left\n"
        b"1-1\t0-3\tAnn\tPER[1]\t\n1-2\t4-8\tleft\t_\t\n"
    )
    table = np.array([[1.0, 0.0], [0.0, 1.0]])
    more = {**core_targets(mixed), **decode_targets(), **task_targets(files[-1], table)}
    scores = ("emission.npy", "offsets.npy", "labels.npy", "transition.npy", "words.npy")
    return {
        "constraint": Loader(load, "c.json", files),
        "constraint-content": Loader(load, "c.json", files, with_digest),
        "rules": Loader(lambda path: load_rules(path, mixed), "rules.txt", rules),
        "scores-jsonl": Loader(
            lambda path: exhaust(read_scored(io.BytesIO(path.read_bytes()), "s")),
            "s.jsonl",
            (f"{model}\n{sequence}\n{sequence}\n".encode(),),
        ),
        "scores-npz": Loader(
            lambda path: exhaust(read_scored(io.BytesIO(path.read_bytes()), "s")),
            "s.npz",
            (members(table, [0, 1, 2], ["A", "B"], table, ["a", "b"]), members(table, [0, 2], ["A", "B"])),
            npz(scores),
        ),
        "scores-zip": Loader(
            lambda path: exhaust(read_scored(io.BytesIO(path.read_bytes()), "s")),
            "s.npz",
            (npz(scores)(members(table, [0, 2], ["A", "B"])),),
        ),
        "labels": Loader(read_labels, "labels.txt", (b"B-NP\nI-NP\nO\n", b'["B-NP", "O"]')),
        "table-csv": Loader(read_data, "t.csv", (b"a,b,valid\n1,0,1\n0,1.5,0\n", b"a;valid\n1;0\n0;1\n")),
        "table-npz": Loader(
            read_data,
            "t.npz",
            (members(table, [True, False], ["a", "b"]), members(table, [1, 0], ["a", "b"])),
            npz(("X.npy", "y.npy", "names.npy")),
        ),
        "conll": Loader(read_data, "t.conll", (conll, b"# x\n1\tThe\t_\tDT\n2\tdog\t_\tNN\n\n")),
        "conllu": Loader(read_data, "t.conllu", (b"# x\n1\tThe\t_\tDT\t_\t_\t_\t_\t_\t_\n\n",)),
        "columns": Loader(lambda path: exhaust(read_columns(path)), "t.txt", (conll,)),
        "jsonl": Loader(
            read_data,
            "t.jsonl",
            (
                b'{"words": ["a", "b"], "labels": ["A", "B"]}\n',
                b'{"tuples": [["Person", "Kill"], ["Place", "No"]]}\n{"tuples": []}\n',
            ),
        ),
        "prodigy": Loader(partial(read_data, form="prodigy"), "p.jsonl", prodigy),
        "label-studio": Loader(partial(read_data, form="label-studio"), "l.json", label_studio),
        "webanno": Loader(partial(read_data, form="webanno"), "w.tsv", (webanno,)),
        "brat": Loader(read_beside_text, "b.ann", (b"T1\tPER 0 3\tAnn\nT2\tLOC 9 13;14 15\tOslo .\n",)),
        "docbin": Loader(read_data, "d.spacy", (zlib.decompress(docbin()),), zlib.compress),
        "data": Loader(read_data, "t", (conll, b"a,valid\n1,0\n", b'{"words": ["a"], "labels": ["A"]}\n')),
        "words": Loader(read_words, "t.txt", (b"A sentence.\nAnother one, here.\n", conll, b"one\ntwo\n\n")),
        "vectors": Loader(
            lambda path: exhaust(read_vectors(path)), "v.txt", (b"dog 1.0 2.0\ncat 0 -1e-3\n",)
        ),
        "references": Loader(
            lambda path: exhaust(read_references(path)),
            "r.txt",
            (b"<author> A. B. </author> <date> 1990 </date>\n",),
        ),
        "anystyle": Loader(
            lambda path: exhaust(read_anystyle(path)),
            "r.xml",
            (b"<dataset><sequence><author>A. B.</author><date>1990</date></sequence></dataset>",),
        ),
        "decoded": Loader(lambda path: exhaust(read_decoded(path)), "d.jsonl", (decoded.encode() + b"\n",)),
        "predictions": Loader(read_predictions, "p.jsonl", (decoded.encode() + b"\n", answered)),
        "document": Loader(
            lambda path: read_document(path.parent), "document.json", (json.dumps(document).encode(),)
        ),
        **more,
    }


def core_targets(space: Any) -> dict[str, Loader]:
    """The targets of lcons_core besides constraints and rules."""
    from lcons_core.reason._rules_text import read_assignment

    recorded: dict[str, Any] = {
        "seed": 1,
        "data": "00",
        "examples": {"positives": 2},
        "recipe": {"feature": "ngram", "hidden": 1, "negatives": "unseen"},
        "split": {"learned_from": [{"file": "a", "first": 0, "count": 2}], "held_out": []},
    }
    return {
        "assignment": Loader(
            lambda path: read_assignment(space, text_of(path).split()),
            "a.txt",
            (b"source=Person exists=a", b"Person exists=a", b"source=Person,exists=b"),
        ),
        "provenance": Loader(use_provenance, "p.json", (json.dumps(recorded).encode(),)),
    }


def decode_targets() -> dict[str, Loader]:
    """The targets of lcons_decode besides scores and programs."""
    from lcons_decode.files._scores import read_model

    row = {"id": "x", "emission": [[0.0, 1.0, -1.0], [1.0, 0.0, 0.0]], "words": ["a", "b"]}
    line = json.dumps(row).encode() + b"\n"
    return {
        "label-model": Loader(
            read_model,
            "m.json",
            (b'{"labels": ["A", "B"], "transition": [[0, 1], [1, 0]], "start": [0, 0.5]}', b"A\nB\n"),
        ),
        "rows": Loader(use_rows, "r.jsonl", (line, line + line)),
        **({"parquet": Loader(use_rows, "r.parquet", (as_parquet(row),))} if find_spec("pyarrow") else {}),
    }


def as_parquet(row: dict[str, Any]) -> bytes:
    """A Parquet file of one row, which needs pyarrow."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = io.BytesIO()
    pq.write_table(pa.Table.from_pylist([row]), file)
    return file.getvalue()


def task_targets(constraint: bytes, table: Any) -> dict[str, Loader]:
    """The targets of lcons_tasks besides tables, corpora and annotations."""
    import numpy as np

    from lcons_core import Instance
    from lcons_tasks import load_constrained_tagger, load_extractor
    from lcons_tasks.apps import read_marks
    from lcons_tasks.data import read_roth_yih
    from lcons_tasks.data._passage import ENTITIES, RELATIONS
    from lcons_tasks.diagnosis import read_predictions, read_scores
    from lcons_tasks.models import load_tagger, load_vectors
    from lcons_tasks.models._linear_chain import LinearChain
    from lcons_tasks.models._relation_model import Attributes, RelationModel, load_model
    from lcons_tasks.own_data import Structures

    held_out = Structures((Instance({"word": ("a", "b")}, ("A", "B")),))
    predictions = (b"a A\nb B\n\n", b'{"words": ["a", "b"], "labels": ["A", "B"]}\n')
    scores = b'{"labels": ["A", "B"]}\n{"emission": [[0, 1], [1, -1e9]], "words": ["a", "b"]}\n'
    use = {"name": "scheme", "file": "constraints/scheme.json"}
    tagger = {"format": 1, "decoder": "exact", "beam": 5, "constraints": [{**use, "weight": None}]}
    soft = {**tagger, "constraints": [{**use, "weight": 0.5, "cost": "hinge"}]}
    labels, zeros = ("B-NP", "I-NP", "O"), np.zeros
    chain = LinearChain(
        labels, ("word",), "words", ("w=a",), zeros((1, 3)), zeros((3, 3)), zeros(3), zeros(3)
    )
    chain_names = ("header.json", "weights.npy", "transition.npy", "start.npy", "stop.npy")
    pairs = RelationModel(Attributes(("a",), ("b",)), zeros((1, len(ENTITIES))), zeros((1, len(RELATIONS))))
    pair_names = ("header.json", "W.npy", "V.npy")
    beside = {
        "constraints/scheme.json": constraint,
        "model.npz": npz(chain_names)(stored(chain, chain_names)),
    }
    corp = b"0\tPeop\t0\tO\tNNP\tAnn/Lee\tO\tO\tO\n0\tLoc\t1\tO\tNNP\tOslo\tO\tO\tO\n\n0\t1\tLive_In\n\n"
    return {
        "model": Loader(load_tagger, "m.npz", (stored(chain, chain_names),), npz(chain_names)),
        "tagger": Loader(
            partial(folder_of, read=load_constrained_tagger, files=beside),
            "tagger.json",
            (json.dumps(tagger).encode(), json.dumps(soft).encode()),
        ),
        "extractor": Loader(
            partial(
                folder_of,
                read=load_extractor,
                files={**beside, "model.npz": npz(pair_names)(stored(pairs, pair_names))},
            ),
            "extractor.json",
            (json.dumps({"format": 1, "constraints": []}).encode(),),
        ),
        "relation-model": Loader(
            load_model,
            "m.npz",
            (stored(pairs, pair_names),),
            npz(pair_names),
        ),
        "roth-yih": Loader(lambda path: exhaust(read_roth_yih(path)), "c.corp", (corp,)),
        "marks": Loader(
            lambda path: [read_marks(line) for line in text_of(path).split("\n")],
            "m.txt",
            (rb"[Ann] lives in [New York] \[sic\].",),
        ),
        "predicted": Loader(lambda path: read_predictions(path, held_out), "p", predictions),
        "predicted-scores": Loader(lambda path: read_scores(path, held_out), "p.jsonl", (scores,)),
        "vectors-npz": Loader(
            load_vectors, "v.npz", (members(["a", "b"], table),), npz(("words.npy", "vectors.npy"))
        ),
    }

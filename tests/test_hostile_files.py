"""Every function that reads files reads a damaged one, or refuses it by an `LconsError`."""

import contextlib
import io
import json
import shutil
import zipfile
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lcons_core import LconsError, load
from lcons_core.reason._rules_text import load_rules
from lcons_decode.files._scores import read_labels, read_model, read_scored
from lcons_tasks.apps import load_constrained_tagger, load_extractor
from lcons_tasks.apps._extraction import read_marks
from lcons_tasks.data import read_anystyle, read_columns, read_references, read_roth_yih
from lcons_tasks.data._lines import read_vectors
from lcons_tasks.models import load_tagger
from lcons_tasks.own_data import read_data, read_words
from lcons_tasks.report import read_document

GOLDEN = Path(__file__).parent / "golden"
STORED, INPUTS = GOLDEN / "v0.1.0", GOLDEN / "inputs"
SPACE = load(STORED / "constraints/pairs.json").space

ROTH_YIH = b"0\tPeop\t0\tO\tNNP\tAnn/Lee\tO\tO\tO\n0\tLoc\t1\tO\tNNP\tOslo\tO\tO\tO\n\n0\t1\tLive_In\n\n"
ANYSTYLE = b"<dataset><sequence><author>A. B.</author><date>1990</date></sequence></dataset>"
REFERENCE = b"<author> A. B. </author> <date> 1990 </date>\n"
DOCUMENT = b'{"format": 1, "title": "t", "task": "chunking", "corpus": "c", "takeaway": "x", "sections": []}'
SPANS = b'"spans": [{"start": 0, "end": 3, "label": "PER"}]'
PRODIGY = b'{"text": "Ann left Oslo.", %s, "answer": "accept"}\n' % SPANS
LABEL_STUDIO = b'[{"text": "Ann left.", "label": [{"start": 0, "end": 3, "labels": ["PER"]}]}]'
WEBANNO = b"#FORMAT=WebAnno TSV 3.3\n#T_SP=custom.Span|label\n\n\n#Text=Ann\n1-1\t0-3\tAnn\tPER[1]\t\n"

Read = Callable[[Path], Any]


def read_scores(path: Path) -> Iterator[Any]:
    return read_scored(io.BytesIO(path.read_bytes()), "scores")


def read_text(read: Callable[[str], Any], path: Path) -> list[Any]:
    return [read(line) for line in path.read_text("utf-8", "replace").split("\n")]


def of_folder(read: Read, path: Path) -> Any:
    return read(path.parent)


# What reads a file of this name, and a valid file: stored ones, or their content.
READERS: dict[str, tuple[Read, str, Path | bytes]] = {
    "constraint": (load, "c.json", STORED / "constraints/padded.json"),
    "rules": (partial(load_rules, space=SPACE), "rules.txt", INPUTS / "rules.txt"),
    "scores": (read_scores, "s.jsonl", b"\n".join((INPUTS / "scores.jsonl").read_bytes().split(b"\n")[:3])),
    "scores in an archive": (read_scores, "s.npz", INPUTS / "scores.npz"),
    "labels": (read_labels, "labels.txt", b"B-NP\nI-NP\nO\n"),
    "label model": (read_model, "m.json", b'{"labels": ["A", "B"], "transition": [[0, 1], [1, 0]]}'),
    "table": (read_data, "t.csv", INPUTS / "table.csv"),
    "columns": (read_data, "t.conll", b"The DT B-NP\ndog NN I-NP\n\nruns VB O\n\n"),
    "columns by name": (read_columns, "t.txt", b"The DT B-NP\ndog NN I-NP\n\n"),
    "CoNLL-U": (read_data, "t.conllu", b"# x\n1\tThe\t_\tDT\t_\t_\t_\t_\t_\t_\n\n"),
    "tuples": (read_data, "t.jsonl", INPUTS / "more-pairs.jsonl"),
    "sequences": (read_data, "t.jsonl", b'{"words": ["a", "b"], "labels": ["A", "B"]}\n'),
    "Prodigy": (partial(read_data, form="prodigy"), "p.jsonl", PRODIGY),
    "Label Studio": (partial(read_data, form="label-studio"), "l.json", LABEL_STUDIO),
    "WebAnno": (partial(read_data, form="webanno"), "w.tsv", WEBANNO),
    "words": (read_words, "t.txt", INPUTS / "text.txt"),
    "vectors": (read_vectors, "v.txt", b"dog 1.0 2.0\ncat 0 -1e-3\n"),
    "references": (read_references, "r.txt", REFERENCE),
    "AnyStyle": (read_anystyle, "r.xml", ANYSTYLE),
    "Roth and Yih": (read_roth_yih, "c.corp", ROTH_YIH),
    "marked text": (partial(read_text, read_marks), "m.txt", INPUTS / "marked.txt"),
    "linear model": (load_tagger, "model.npz", STORED / "tagger/model.npz"),
    "BiLSTM": (load_tagger, "model.npz", STORED / "tagger-bilstm/model.npz"),
    "tagger": (partial(of_folder, load_constrained_tagger), "tagger.json", STORED / "tagger/tagger.json"),
    "extractor": (partial(of_folder, load_extractor), "extractor.json", STORED / "extractor/extractor.json"),
    "relations": (partial(of_folder, load_extractor), "model.npz", STORED / "extractor/model.npz"),
    "run": (partial(of_folder, read_document), "document.json", DOCUMENT),
}


@st.composite
def damages(draw: st.DrawFn, content: bytes) -> bytes:
    """The content with up to three of its pieces dropped or replaced, by drawn bytes or by other pieces."""
    for _ in range(draw(st.integers(0, 3))):
        start, other = (draw(st.integers(0, len(content))) for _ in range(2))
        end = start + draw(st.sampled_from([0, 1, 2, 8, 64]))
        pieces = st.sampled_from([b"", b"0", b"-1", b"1e999", b"[", b"}", b'"', b"\n", b"\t", b"null"])
        piece = draw(pieces | st.binary(max_size=4) | st.just(content[other : other + end - start]))
        content = content[:start] + piece + content[end:]
    return content


def damaged_archive(draw: st.DataObject, content: bytes) -> bytes:
    """An archive with correct checksums that has one damaged member; a model's header loses its digest."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    if "header.json" in members:
        header = json.loads(members["header.json"])
        header.pop("sha256", None)
        members["header.json"] = json.dumps(header).encode()
    name = draw.draw(st.sampled_from(sorted(members)))
    members[name] = draw.draw(damages(members[name]))
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        for name, member in members.items():
            archive.writestr(name, member)
    return written.getvalue()


@pytest.mark.parametrize("name", READERS)
@settings(max_examples=50)
@given(data=st.data())
def test_a_damaged_file_is_read_or_refused(name, data, tmp_path_factory):
    read, file, valid = READERS[name]
    folder = tmp_path_factory.getbasetemp() / name
    if not folder.exists():
        shutil.copytree(valid.parent if isinstance(valid, Path) else INPUTS, folder)
    content = valid.read_bytes() if isinstance(valid, Path) else valid
    is_archive = file.endswith(".npz") and data.draw(st.booleans())
    damaged = damaged_archive(data, content) if is_archive else data.draw(damages(content))
    (folder / file).write_bytes(damaged)
    with contextlib.suppress(LconsError):
        answer = read(folder / file)
        if isinstance(answer, Iterable):
            list(answer)

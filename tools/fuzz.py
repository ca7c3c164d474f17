"""Coverage-guided fuzzing (atheris) of every function that reads files.

    ./tools/fuzz LOADER ... --runs N --seed S

A loader gets bytes that libFuzzer draws such that they reach new branches of lcons. It returns, or raises an
`LconsError` of one line; everything else is a finding: its input is written to `runs/fuzz`, and it belongs
into a test. Loaders of archives get members separated by a mark, which become an npz file with correct
checksums; loaders of digests get the content, and the digest is computed. The same seed draws the same
inputs. Each run adds a line to `runs/fuzz/log.jsonl`: loader, executions, seconds, seed, findings.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import re
import sys
import tempfile
import time
import zipfile
import zlib
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "runs" / "fuzz"
MARK = b"\n--lcons--\n"
LONGEST = 2**12


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


def with_digest(data: bytes) -> bytes:
    """A constraint file with a correct digest, if it is a JSON object."""
    from lcons_core._plain import digest, parse

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
    from lcons_core.features import Counts, Existence, NgramContext, Tuples
    from lcons_core.reason import load_rules
    from lcons_core.storage import dumps
    from lcons_decode.files import read_labels, read_scored
    from lcons_decode.ilp import constraint_program, program_lines, read_program
    from lcons_tasks.data import read_anystyle, read_columns, read_references, read_vectors
    from lcons_tasks.models import load_tagger
    from lcons_tasks.own_data import read_data, read_words
    from lcons_tasks.report._decoded import read_decoded
    from lcons_tasks.report._old_run import old_document
    from lcons_tasks.report._predictions import read_predictions
    from lcons_tasks.report._storage import read_document

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
    header = {"format": 1, "kind": "linear-chain", "labels": ["A", "B"], "arrays": ["weights", "transition"]}
    program = constraint_program(constraints[3], "lifted")
    lines = {form: "\n".join(program_lines(program, f"model.{form}")).encode() for form in ("lp", "mps")}
    document = {
        "format": 1,
        "kind": "Document",
        "title": "t",
        "task": "chunking",
        "corpus": "c",
        "headline": "",
        "sections": [{"kind": "Section", "title": "s", "blocks": [{"kind": "Text", "text": "x"}]}],
    }
    results = json.dumps({"format": 1, "task": "er", "corpus": {"name": "x"}, "seed": 1, "table": [[1.0]]})
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
        "table-csv": Loader(read_data, "t.csv", (b"a,b,valid\n1,0,1\n0,1.5,0\n", b"a;b\n1;0\n")),
        "table-npz": Loader(
            read_data,
            "t.npz",
            (members(table, [True, False], ["a", "b"]), members(table)),
            npz(("psi.npy", "valid.npy", "names.npy")),
        ),
        "conll": Loader(read_data, "t.conll", (conll, b"# x\n1\tThe\t_\tDT\n2\tdog\t_\tNN\n\n")),
        "conllu": Loader(read_data, "t.conllu", (b"# x\n1\tThe\t_\tDT\t_\t_\t_\t_\t_\t_\n\n",)),
        "columns": Loader(lambda path: exhaust(read_columns(path)), "t.txt", (conll,)),
        "jsonl": Loader(
            read_data,
            "t.jsonl",
            (
                b'{"words": ["a", "b"], "labels": ["A", "B"]}\n',
                b'{"source": "Person", "relation": "Kill"}\n{"source": "Place", "relation": "No"}\n',
            ),
        ),
        "prodigy": Loader(read_data, "p.jsonl", prodigy),
        "label-studio": Loader(read_data, "l.json", label_studio),
        "webanno": Loader(partial(read_data, form="webanno"), "w.tsv", (webanno,)),
        "brat": Loader(read_beside_text, "b.ann", (b"T1\tPER 0 3\tAnn\nT2\tLOC 9 13;14 15\tOslo .\n",)),
        "docbin": Loader(read_data, "d.spacy", (zlib.decompress(docbin()),), zlib.compress),
        "data": Loader(read_data, "t", (conll, b"a,b\n1,0\n", b'{"words": ["a"], "labels": ["A"]}\n')),
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
        "predictions": Loader(read_predictions, "p.jsonl", (decoded.encode() + b"\n", conll)),
        "document": Loader(
            lambda path: read_document(path.parent), "document.json", (json.dumps(document).encode(),)
        ),
        "results": Loader(lambda path: old_document(path.parent), "results.json", (results.encode(),)),
        "lp": Loader(read_program, "m.lp", (lines["lp"],)),
        "mps": Loader(read_program, "m.mps", (lines["mps"],)),
        "model": Loader(
            load_tagger,
            "m.npz",
            (members(json.dumps(header).encode(), table, table),),
            npz(("header.json", "weights.npy", "transition.npy")),
        ),
    }


def fuzz(name: str, chosen: Loader, arguments: list[str]) -> None:
    """Draws inputs for one loader in this process, which ends after the runs or at a finding."""
    import atheris

    from lcons_core import LconsError

    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(prefix="lcons-fuzz-", dir=memory if memory.is_dir() else None) as folder:
        path = Path(folder) / chosen.name

        def read_once(data: bytes) -> None:
            path.write_bytes(chosen.content(data))
            try:
                exhaust(chosen.read(path))
            except LconsError as error:
                if "\n" in str(error):
                    raise AssertionError(f"the error has several lines: {error}") from error

        atheris.Setup([name, *arguments], read_once)
        atheris.Fuzz()


def run(name: str, chosen: Loader, runs: int, seed: int) -> bool:
    """Fuzzes one loader in a child process; appends to the log, and returns whether nothing was found."""
    OUT.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as corpus, tempfile.TemporaryFile("w+", errors="replace") as said:
        for i, content in enumerate(chosen.seeds):
            (Path(corpus) / str(i)).write_bytes(content)
        options = [
            f"-runs={runs}",
            f"-seed={seed}",
            f"-max_len={LONGEST}",
            "-timeout=60",
            "-rss_limit_mb=4096",
        ]
        options += [f"-artifact_prefix={OUT}/{name}-", "-print_final_stats=1", corpus]
        child = os.fork()  # all modules are instrumented already, which takes longer than many executions
        if not child:
            os.dup2(said.fileno(), 1)
            os.dup2(said.fileno(), 2)
            fuzz(name, chosen, options)
            os._exit(0)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        said.seek(0)
        output = said.read()
    executed = re.findall(r"stat::number_of_executed_units:\s*(\d+)", output)
    seconds = round(time.monotonic() - began, 1)
    entry = {"loader": name, "executions": int(executed[-1]) if executed else 0, "seconds": seconds}
    entry |= {"seed": seed, "findings": int(status != 0)}
    with (OUT / "log.jsonl").open("a") as log:
        log.write(json.dumps(entry) + "\n")
    print(json.dumps(entry), flush=True)
    if status:
        print(output[-5000:], flush=True)
    return not status


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("loader", nargs="*", help="default: all")
    parser.add_argument("--runs", type=int, default=20_000, help="executions per loader")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    import atheris

    with atheris.instrument_imports(include=["lcons_core", "lcons_decode", "lcons_tasks"]):
        known = loaders()
    for name in given.loader:
        if name not in known:
            parser.error(f"unknown loader {name!r}; it is one of {', '.join(known)}")
    sound = [run(name, known[name], given.runs, given.seed) for name in given.loader or known]
    sys.exit(not all(sound))


if __name__ == "__main__":
    main()

"""References of a kind that training never showed: train on one corpus, test on another, field F1.

The parser of `lcons run citation` (base `reference`) is trained on all references of one corpus and parses
those of another, without constraints and under soft windows. `fit` is trained on the same references, with
and without its parts, and reads unlabelled references of the other corpus: those that are not tested.
Corpora name their fields differently, so gold and predicted fields are mapped to common names (`COMMON`)
before neighbours of one name become one span; other names stay as they are. References that both corpora have
(the same letters and digits) are left out of the larger one: AnyStyle's core set contains nearly all of Cora.
The others of the test corpus are shuffled with seed 0, and the first 30 % (at most 400) are tested.

The factor of the weights of soft windows is 1, and the one that leave-one-style-out folds of the training
references choose: styles are what the gold fields show (`style`), each of the five largest is held out in
turn, the parser is trained on the others, and the factor with the highest field F1 on held-out references is
taken. Nothing is chosen on the test corpus.

Run: LCONS_DATA_DIR=... ./tools/venv python tools/bench/transfer.py [--train cora --test anystyle] [--no-fit]
A corpus is cora, anystyle, bundled, or a file of tagged references or AnyStyle's XML. With `--out FOLDER` the
tables are also written to FOLDER/report.md, and the command to FOLDER/results.json, which tools/results.py
reads.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import time
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import numpy as np

from lcons_core import LearnedConstraint
from lcons_decode import ChainConstraints, Soft
from lcons_decode.chains import constrained_ids, viterbi_ids
from lcons_tasks.data import Sentence
from lcons_tasks.experiments.citation._constraints import CLUES, PARSER_FACTOR, SCALES, WEIGHTS, WINDOWS
from lcons_tasks.experiments.citation._corpus import read_labelled, sentence
from lcons_tasks.experiments.citation._model import base, base_model
from lcons_tasks.experiments.engine._kept import Stages
from lcons_tasks.experiments.engine._learned import learned
from lcons_tasks.fitted._fit import fit
from lcons_tasks.fitted._settings import FitSettings
from lcons_tasks.models import Tagger
from lcons_tasks.report._markdown import aligned_table
from lcons_tasks.stats import bootstrap_f1, chunks, f1, runs_as_iob2

# The common names of fields; a field that is not listed keeps its name.
COMMON = {
    "booktitle": "container",
    "journal": "container",
    "container-title": "container",
    "collection-title": "container",
    "institution": "publisher",
    "tech": "genre",
    "editor": "editor",
    "translator": "editor",
    "director": "editor",
    "producer": "editor",
    "number": "volume",
}
FACTORS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
STYLES = 5
BASE = "reference"
ROWS = {"windows": WINDOWS, "clues": CLUES}


@lru_cache
def references(name: str) -> tuple[Sentence, ...]:
    """The references of a corpus, without POS tags, which the parser does not read."""
    return tuple(sentence(words, labels, "_" * len(words)) for words, labels in read_labelled(name)[1])


def text_of(one: Sentence) -> str:
    """The letters and digits of a reference."""
    return "".join(c for word in one.words for c in word.lower() if c.isalnum())


def without_shared(train: str, test: str) -> tuple[list[Sentence], list[Sentence]]:
    """The references of two corpora; those that both have are left out of the larger one."""
    sides = [list(references(name)) for name in (train, test)]
    larger = int(len(sides[1]) > len(sides[0]))
    known = set(map(text_of, sides[1 - larger]))
    sides[larger] = [one for one in sides[larger] if text_of(one) not in known]
    return sides[0], sides[1]


def tested(found: Sequence[Sentence]) -> tuple[list[Sentence], list[Sentence]]:
    """(the references that are tested, the others)."""
    order = np.random.default_rng(0).permutation(len(found)).tolist()
    cut = min(400, round(0.3 * len(found)))
    return [found[i] for i in order[:cut]], [found[i] for i in order[cut:]]


def spans(labels: Sequence[str]) -> set[tuple[str, int, int]]:
    """The spans of common names."""
    return set(chunks(runs_as_iob2([COMMON.get(label, label) for label in labels])))


def tally(gold: Sequence[Sentence], found: Sequence[Sequence[str]]) -> np.ndarray:
    """(references, 3): right, predicted and gold spans."""
    pairs = [(spans(one.labels), spans(y)) for one, y in zip(gold, found, strict=True)]
    return np.array([(len(g & c), len(c), len(g)) for g, c in pairs])


def style(one: Sentence) -> tuple[str, ...]:
    """What shows the style of a reference: its first field, what follows the authors, quotation marks, and
    whether the first author's surname comes first."""
    fields = list(dict.fromkeys(one.labels))
    first = fields[0]
    second = fields[1] if len(fields) > 1 else ""
    quoted = any(word in ('"', "``", "\u201c") for word in one.words)
    comma = "," in one.words[1:2]
    return (
        COMMON.get(first, first),
        COMMON.get(second, second),
        f"quoted {quoted}",
        f"surname first {comma}",
    )


def parser(train: Sequence[Sentence], kept: Stages) -> tuple[Tagger, dict[str, LearnedConstraint]]:
    """The base model, and the constraints of all rows."""
    model, _ = base_model(base(BASE), train, kept, lambda share, what: None)
    recipes = dict.fromkeys(recipe for own in ROWS.values() for recipe in own)
    return model, {recipe.name: learned(recipe, train, 1, kept) for recipe in recipes}


def parse(
    model: Tagger,
    constraints: dict[str, LearnedConstraint],
    row: str,
    factor: float,
    given: Sequence[Sentence],
) -> list[tuple[str, ...]]:
    """The fields of references under the soft constraints of a row."""
    xs = [one.x for one in given]
    batch = model.scores(xs)
    used = [
        Soft(constraints[recipe.name], factor * SCALES[BASE] * WEIGHTS[recipe.name], recipe.name)
        for recipe in ROWS.get(row, ())
        if factor
    ]
    if used:
        ids = constrained_ids(batch, ChainConstraints.of(used, batch.labels), xs)[0]
    else:
        ids = viterbi_ids(batch)[0]
    names = [batch.labels[i] for i in ids]
    return [tuple(names[a:b]) for a, b in pairwise(batch.offsets.tolist())]


def by_factor(train: Sequence[Sentence], kept: Stages) -> dict[str, dict[float, float]]:
    """For each row the field F1 on styles that were held out, by factor."""
    counts = Counter(map(style, train))
    sums = {(row, factor): np.zeros(3) for row in ROWS for factor in FACTORS}
    for held, size in counts.most_common(STYLES):
        print(f"holding out {size} references: {', '.join(held)}", file=sys.stderr, flush=True)
        others = [one for one in train if style(one) != held]
        own = [one for one in train if style(one) == held]
        model, constraints = parser(others, kept)
        for row, factor in sums:
            sums[row, factor] += tally(own, parse(model, constraints, row, factor, own)).sum(0)
    return {row: {factor: float(f1(sums[row, factor])) for factor in FACTORS} for row in ROWS}


def as_spans(given: Sequence[Sentence]) -> list[Sentence]:
    """References with fields as IOB2 labels, as `fit` reads them."""
    return [Sentence(one.words, tuple(runs_as_iob2(one.labels))) for one in given]


def fitted(
    train: Sequence[Sentence], texts: Sequence[Sequence[str]], words: Sequence[Sequence[str]], all_parts: bool
) -> list[tuple[str, ...]]:
    """The fields of references by `fit`."""
    settings = FitSettings() if all_parts else FitSettings.plain()
    tagger = fit(as_spans(train), texts if all_parts else (), settings)
    return [tuple(label.partition("-")[2] for label in found.y) for found in tagger.tag(words)]


def tallies(
    train: Sequence[Sentence],
    test: Sequence[Sentence],
    texts: Sequence[Sequence[str]],
    factors: dict[str, list[float]],
    with_fit: bool,
    kept: Stages,
) -> dict[str, tuple[np.ndarray, np.ndarray | None]]:
    """The counts of every row, and those of the row that it is compared with."""
    model, constraints = parser(train, kept)
    plain = tally(test, parse(model, constraints, "", 0.0, test))
    found: dict[str, tuple[np.ndarray, np.ndarray | None]] = {"no constraints": (plain, None)}
    for row, tried in factors.items():
        for factor in tried:
            said = f"soft {row}" if factor == 1 else f"soft {row}, weights times {factor:g}"
            found[said] = tally(test, parse(model, constraints, row, factor, test)), plain
    if with_fit:
        words = [one.words for one in test]
        alone = tally(test, fitted(train, texts, words, all_parts=False))
        found["fit, the plain CRF"] = alone, None
        found["fit, all parts"] = tally(test, fitted(train, texts, words, all_parts=True)), alone
    return found


def laid_out(results: dict[str, dict[str, tuple[np.ndarray, np.ndarray | None]]]) -> str:
    """The table of field F1, and of gains with their intervals, by test corpus."""
    names = dict.fromkeys(said for found in results.values() for said in found)
    rows = []
    for said in names:
        row = [said]
        for found in results.values():
            own, over = found.get(said, (None, None))
            row.append("" if own is None else f"{float(f1(own.sum(0))):.1f}")
            row.append("" if own is None or over is None else str(bootstrap_f1([own], [over])))
        rows.append(row)
    head = [text for name in results for text in (name, f"gain on {name} [95% interval]")]
    return aligned_table(["row", *head], rows)


def main() -> None:
    """Prints tables of field F1, and writes them with `--out`."""
    given = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    given.add_argument("--train", default="cora")
    given.add_argument("--test", action="append", help="repeat for several")
    given.add_argument("--no-fit", action="store_true", help="leave out the rows of `fit`")
    given.add_argument("--no-folds", action="store_true", help="take the parser's factor; hold out no styles")
    given.add_argument("--out", type=Path, help="folder to write the report to")
    options = given.parse_args()
    kept, start = Stages.of_user(), time.process_time()
    results, sizes, parts = {}, [], [f"# Trained on {options.train}"]
    held: dict[str, dict[float, float]] = {}
    before: list[Sentence] = []
    for name in options.test or ["anystyle"]:
        train, others = without_shared(options.train, name)
        test, rest = tested(others)
        if not options.no_folds and train != before:
            held, before = by_factor(train, kept), train
        best = {row: max(FACTORS, key=held[row].__getitem__) if held else PARSER_FACTOR for row in ROWS}
        factors = {row: sorted({1.0, PARSER_FACTOR, best[row]}) for row in ROWS}
        texts = [one.words for one in rest]
        results[name] = tallies(train, test, texts, factors, not options.no_fit, kept)
        sizes.append(f"{name}: {len(train)} trained on, {len(test)} tested, {len(rest)} unlabelled")
    parts += ["Field F1 and its gains by test corpus:", laid_out(results), f"References. {'; '.join(sizes)}."]
    if held:
        figures = [[row, *(f"{value:.1f}" for value in held[row].values())] for row in ROWS]
        head = ["soft row", *(f"weights times {factor:g}" for factor in FACTORS)]
        parts += ["Field F1 on held-out styles by weights:", aligned_table(head, figures)]
    report = "\n\n".join(parts) + "\n"
    print(report)
    print(f"{time.process_time() - start:.0f} s of processor time")
    if options.out is not None:
        words = [word for word in sys.argv[1:] if word not in ("--out", str(options.out))]
        command = f"./tools/venv python tools/bench/transfer.py {shlex.join(words)}"
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "report.md").write_text(report, encoding="utf-8")
        (options.out / "results.json").write_text(json.dumps({"command": command}), encoding="utf-8")


if __name__ == "__main__":
    main()

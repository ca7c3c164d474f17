"""Do the default constraints of `lcons learn` harm? Hard label bigrams of a few sentences, six data sets.

From the first N training sentences of each set of suite/ (in the data folder, LCONS_DATA_DIR; protocol in its
README), a linear CRF and a model that decides token by token are trained, and label bigrams are learned: with
evidence, as by default, and without (`--all-rules`, evidence=None). The first 500 dev sentences are decoded
without constraints and under each constraint as a hard one. Reported: the change of span F1 (accuracy for
tags) with a paired bootstrap over sentences, and its mean over all cells.

The script fails if the default constraints cost the CRF more than 0.1 on average or are significantly worse
in a cell, or if they gain less than 3 on average with the per-token model.

Run: LCONS_DATA_DIR=... .venv/bin/python tools/bench/evidence.py [--sizes 50,100,200] [--sets snips,...]
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pycrfsuite

from lcons_core import LearnedConstraint, learn_constraints
from lcons_decode import constrained_viterbi_batch, viterbi_batch
from lcons_tasks.data import Sentence
from lcons_tasks.models import train_linear
from lcons_tasks.models._linear_chain import LinearChain
from lcons_tasks.models._linear_crf import LinearSettings
from lcons_tasks.models.phi._templates import attribute_rows
from lcons_tasks.own_data import Structures, read_data
from lcons_tasks.stats import Interval, bootstrap_f1, chunk_f1

SETS = ("snips", "wnut17", "wikiann-de", "lener-br", "bc5cdr", "ud-ewt-upos")
SIZES = (50, 100, 200)
DEV = 500
SETTINGS = LinearSettings(c1=0.1, c2=0.1)
MOST_HARM, LEAST_GAIN = 0.1, 3.0


def read(path: Path, most: int) -> list[Sentence]:
    """The first sentences of a file of words and labels."""
    data = read_data(str(path), "conll")
    assert isinstance(data, Structures)
    return [Sentence(tuple(one.x["word"]), tuple(one.y)) for one in data.instances[:most]]


def train_token(train: Sequence[Sentence]) -> LinearChain:
    """The same features, trained as a classifier of single tokens; no transitions."""
    trainer = pycrfsuite.Trainer(verbose=False)
    labels = tuple(sorted({label for sentence in train for label in sentence.labels}))
    number: dict[str, int] = {}
    for sentence in train:
        for row, label in zip(attribute_rows(sentence.x, SETTINGS.template), sentence.labels, strict=True):
            names = [str(number.setdefault(attribute, len(number))) for attribute in row]
            trainer.append([names], [str(labels.index(label))])
    trainer.set_params({"c1": SETTINGS.c1, "c2": SETTINGS.c2, "max_iterations": SETTINGS.iterations})
    with tempfile.TemporaryDirectory() as folder:
        trainer.train(str(Path(folder) / "model"))
        tagger = pycrfsuite.Tagger()
        tagger.open(str(Path(folder) / "model"))
        weights = np.zeros((len(number), len(labels)))
        for (attribute, label), weight in tagger.info().state_features.items():
            weights[int(attribute), int(label)] = weight
        tagger.close()
    none = np.zeros(len(labels))
    return LinearChain(labels, (), SETTINGS.template, tuple(number), weights, np.diag(none), none, none)


def counts(gold: Sequence[Sequence[str]], found: Sequence[Sequence[str]], spans: bool) -> np.ndarray:
    """(sentences, 3) right, predicted and gold spans, or tokens."""
    rows = []
    for y, z in zip(gold, found, strict=True):
        one = chunk_f1([y], [z])
        right = sum(a == b for a, b in zip(y, z, strict=True))
        rows.append((one.right, one.predicted, one.gold) if spans else (right, len(y), len(y)))
    return np.array(rows)


def measure(
    model: LinearChain, dev: Sequence[Sentence], rules: Sequence[LearnedConstraint]
) -> list[Interval]:
    """The change of span F1 by each constraint as a hard one."""
    batch, gold = model.scores([sentence.x for sentence in dev]), [sentence.labels for sentence in dev]
    spans = any(label.startswith("B-") for label in model.labels)
    base = counts(gold, [answer.y for answer in viterbi_batch(batch)], spans)
    changes = []
    for rule in rules:
        found = [answer.y for answer in constrained_viterbi_batch(batch, [rule])]
        changes.append(bootstrap_f1([counts(gold, found, spans)], [base]))
    return changes


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    options = parser.parse_args()
    folder = Path(os.environ.get("LCONS_DATA_DIR", "")) / "suite"
    if not folder.is_dir():
        print(
            f"expected a folder suite in LCONS_DATA_DIR, found none at {folder}; set it to the data folder."
        )
        return 2
    sizes = [int(size) for size in options.sizes.split(",")]
    changes: dict[tuple[str, str], list[Interval]] = {}
    for name in options.sets.split(","):
        pool, dev = (read(folder / name / file, max(DEV, *sizes)) for file in ("train.conll", "dev.conll"))
        for size in sizes:
            train = pool[:size]
            instances = [sentence.instance for sentence in train]
            rules = [learn_constraints(instances, evidence=evidence) for evidence in (None, "auto")]
            for kind, model in (("CRF", train_linear(train, SETTINGS)), ("token", train_token(train))):
                found = measure(model, dev[:DEV], rules)
                for way, change in zip(("all rules", "evidence"), found, strict=True):
                    changes.setdefault((kind, way), []).append(change)
                print(f"{name:12} {size:4} {kind:5}  all rules {found[0]}   evidence {found[1]}", flush=True)
    means = {}
    for (kind, way), own in changes.items():
        means[kind, way] = statistics.mean(one.mean for one in own)
        worse, better = sum(one.high < 0 for one in own), sum(one.low > 0 for one in own)
        said = f"significantly worse {worse}, better {better} of {len(own)}"
        print(f"{kind:5} {way:9}: {means[kind, way]:+.2f}; {said}")
    harmed = any(change.high < 0 for change in changes["CRF", "evidence"])
    failed = harmed or means["CRF", "evidence"] < -MOST_HARM or means["token", "evidence"] < LEAST_GAIN
    print("failed" if failed else "as expected")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())

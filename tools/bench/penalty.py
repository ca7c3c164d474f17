"""Does the expected penalty in training help? Small taggers of the bundled chunking corpus, few labels.

A BiLSTM with a softmax a token and a BiLSTM-CRF learn from a few labelled sentences, drawn anew by each seed:
with their loss alone; with the expected penalty of those sentences added; and with that of the other training
sentences as well, whose labels are not looked at. The constraint is IOB2, or learned on POS bigrams of the
labelled sentences alone (the usual one for soft use). Everything else is the same: first weights, order of
batches, number of epochs. The taggers read words alone, or with --pos the POS tags as well.

Reported: the gain over the loss alone on the test sentences, paired by seed, with a 95% t interval over
seeds, in points of token accuracy, of chunk F1 and of the share of sentences that are not IOB2; labels are
Viterbi's, then (`decoded`) those under hard IOB2, where the penalty has to add to what decoding does anyway.
The constraint's recipe and the weight of the penalty were picked from a few tries on dev with two to four
other seeds, for the softmax tagger of words alone; --tune tries several weights there.

Run: .venv/bin/python tools/bench/penalty.py
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import torch
from scipy.stats import t as student

from lcons_core import LearnedConstraint, iob2, learn_constraints
from lcons_core.torch import LabelChain, expected_penalty
from lcons_decode import ChainBatch, constrained_viterbi_batch
from lcons_decode.chains._viterbi import viterbi_batch
from lcons_tasks.data import Sentence
from lcons_tasks.experiments.chunking._corpus import load_corpus
from lcons_tasks.models._bilstm_crf import BilstmCrf, Sizes, equally_long
from lcons_tasks.models._crf_trainer import crf_loss
from lcons_tasks.models.phi._tokens import TokenIds
from lcons_tasks.stats import chunk_f1

EPOCHS, BATCH, RATE, DROPOUT = 40, 8, 0.005, 0.3
SIZES = Sizes(hidden=50)
WEIGHTS = (0.03, 0.1, 0.3)
WEIGHT = 0.1
MEASURES = ("accuracy", "F1", "invalid", "decoded accuracy", "decoded F1")


@dataclass(frozen=True)
class Setting:
    """A model, and which penalty it is trained with on which sentences."""

    crf: bool
    constraint: str | None = None
    unlabelled: bool = False
    weight: float = WEIGHT
    columns: tuple[str, ...] = ()

    def __str__(self) -> str:
        name = "CRF" if self.crf else "softmax"
        if self.constraint is None:
            return f"{name}, loss alone"
        where = "all sentences" if self.unlabelled else "labelled sentences"
        return f"{name}, + {self.weight:g} x {self.constraint} of {where}"


def train(setting: Setting, labelled: Sequence[Sentence], others: Sequence[Sentence], seed: int) -> BilstmCrf:
    """The tagger after a fixed number of epochs."""
    labels = tuple(sorted({label for sentence in labelled for label in sentence.labels}))
    constraint = make(setting.constraint, labels, labelled)
    torch.manual_seed(seed)
    token_ids = TokenIds.of((sentence.x for sentence in (*labelled, *others)), setting.columns)
    model = BilstmCrf.untrained(labels, token_ids, None, SIZES, DROPOUT)
    network = model.network.train()
    learned = list(network.parameters()) if setting.crf else [*network.lstm.parameters()]
    if not setting.crf:
        learned += [*network.fields.parameters(), *network.emission.parameters()]
    adam = torch.optim.Adam(learned, lr=RATE)
    x, free = ([torch.from_numpy(model.ids(s.x)) for s in part] for part in (labelled, others))
    y = [torch.tensor([labels.index(label) for label in s.labels]) for s in labelled]
    rng, other_rng = np.random.default_rng(seed), np.random.default_rng(seed)
    queue: list[list[int]] = []
    chain = (network.transition, network.start, network.stop)

    def penalty(emission: torch.Tensor, sentences: Sequence[Sentence]) -> torch.Tensor:
        assert constraint is not None
        p = LabelChain.of_scores(emission, *chain) if setting.crf else emission.softmax(-1)
        columns = [sentence.x for sentence in sentences]
        return setting.weight * expected_penalty(constraint, p, labels, columns).sum()

    for _ in range(EPOCHS):
        for batch in equally_long([len(ids) for ids in x], BATCH, rng):
            emission = network(torch.stack([x[i] for i in batch]))
            gold = torch.stack([y[i] for i in batch])
            if setting.crf:
                loss = crf_loss(emission, *chain, gold)
            else:
                loss = torch.nn.functional.cross_entropy(
                    emission.flatten(0, 1), gold.flatten(), reduction="sum"
                )
            if constraint is not None:
                loss = loss + penalty(emission, [labelled[i] for i in batch])
            loss = loss / len(batch)
            if constraint is not None and setting.unlabelled:
                queue = queue or equally_long([len(ids) for ids in free], BATCH, other_rng)
                own = queue.pop()
                # Dropout of these draws numbers of its own, so that the labelled ones see the same masks.
                with torch.random.fork_rng(devices=[]):
                    emission = network(torch.stack([free[i] for i in own]))
                    loss = loss + penalty(emission, [others[i] for i in own]) / len(own)
            adam.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(learned, 5.0)
            adam.step()
    network.eval()
    return model


def make(name: str | None, labels: tuple[str, ...], labelled: Sequence[Sentence]) -> LearnedConstraint | None:
    """The constraint of that name."""
    if name is None:
        return None
    if name == "IOB2":
        return iob2(labels)
    structures = [(s.x, s.labels) for s in labelled]
    return learn_constraints(
        structures, "pos", n=2, negatives="relabel", many="all", by_frequency=True, evidence=None
    )


def measure(model: BilstmCrf, sentences: Sequence[Sentence]) -> list[float]:
    """`MEASURES` of a tagger, in percent."""
    scores: ChainBatch = model.scores([sentence.x for sentence in sentences])
    gold = [sentence.labels for sentence in sentences]
    valid = iob2(model.labels)
    plain = [decoding.y for decoding in viterbi_batch(scores)]
    decoded = [decoding.y for decoding in constrained_viterbi_batch(scores, [valid])]
    out = []
    for found in (plain, decoded):
        right = [a == b for y, z in zip(gold, found, strict=True) for a, b in zip(y, z, strict=True)]
        out += [100 * statistics.mean(right), 100 * chunk_f1(gold, found).f1]
    broken = 100 * statistics.mean(not valid.satisfied(y) for y in plain)
    return [*out[:2], broken, *out[2:]]


def interval(gains: Sequence[float]) -> str:
    """The mean and its 95% t interval."""
    mean, error = statistics.mean(gains), statistics.stdev(gains) / len(gains) ** 0.5
    half = float(student.ppf(0.975, len(gains) - 1)) * error
    return f"{mean:+.2f} [{mean - half:+.2f}, {mean + half:+.2f}]"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--sentences", type=int, default=20)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--pos", action="store_true", help="taggers that read POS tags, too")
    parser.add_argument("--tune", action="store_true", help="several weights, on dev, with other seeds")
    options = parser.parse_args()
    torch.set_num_threads(1)
    corpus = load_corpus("bundled")
    measured = corpus.dev if options.tune else corpus.test
    seeds = [1000 * options.tune + seed for seed in range(options.seeds)]
    columns = ("pos",) if options.pos else ()
    print(
        f"-- {options.sentences} labelled sentences of {len(corpus.train)}, {len(seeds)} seeds,"
        f" {len(measured)} sentences measured, taggers read words{' and POS tags' if options.pos else ''}"
    )

    def run(setting: Setting) -> list[list[float]]:
        out = []
        for seed in seeds:
            order = np.random.default_rng(seed).permutation(len(corpus.train))
            chosen = sorted(order[: options.sentences]), sorted(order[options.sentences :])
            labelled, others = ([corpus.train[i] for i in part] for part in chosen)
            out.append(measure(train(setting, labelled, others, seed), measured))
        return out

    for crf in (False, True):
        alone = Setting(crf, columns=columns)
        base = run(alone)
        means = (f"{name} {mean:.2f}" for name, mean in zip(MEASURES, np.mean(base, 0), strict=True))
        print(f"{alone}: {', '.join(means)}", flush=True)
        weights = WEIGHTS if options.tune else (WEIGHT,)
        for kind, unlabelled, weight in product(("IOB2", "POS"), (False, True), weights):
            setting = Setting(crf, kind, unlabelled, weight, columns)
            gains = np.subtract(run(setting), base).T.tolist()
            said = (f"{name} {interval(own)}" for name, own in zip(MEASURES, gains, strict=True))
            print(f"{setting}: {', '.join(said)}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

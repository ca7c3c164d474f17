"""Training the structured SVM on references, beside CRFsuite on the same attributes: accuracy and seconds.

Cora from LCONS_DATA_DIR, cut into 300, 100 and 100 references by three seeds; without it the bundled
references, cut alike. The first part is trained on and the last one labelled by Viterbi. Text outside any
field takes the field before it. Both sides read the same tokens and templates, and their seconds include
making attributes of words; compiling is done before the clock starts. The SVM has no regularisation, as in
the paper's Appendix D, and 100 passes; CRFsuite is L-BFGS with an L2 penalty of 0.1 and of 1, untuned, and
200 iterations. The models differ in one thing: CRFsuite has no start and stop scores.

Run: .venv/bin/python tools/bench/svm.py
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from operator import eq
from typing import NamedTuple

import numpy as np
from timing import report

from lcons_decode.chains._viterbi import viterbi_batch
from lcons_tasks.bundled import bundled
from lcons_tasks.data import CorpusNotFound, Sentence, read_references, require
from lcons_tasks.data._references import CORA_FIELDS, Reference
from lcons_tasks.data.text._tokens import reference_tokens
from lcons_tasks.models._chain_svm import train_chain_svm
from lcons_tasks.models._linear_chain import LinearChain
from lcons_tasks.models._linear_crf import LinearSettings, train_linear
from lcons_tasks.models._structured_svm import SvmSettings

SEEDS = (0, 1, 2)
TEMPLATES = ("words", "reference")
PENALTIES = (0.1, 1.0)
PASSES = 100
MOST_SECONDS = 60.0
SVM = "SVM"


class Trained(NamedTuple):
    """Of one training: seconds, share of right labels on the test part, and the duality gap of the SVM."""

    seconds: float
    accuracy: float
    gap: float | None


def labelled(reference: Reference) -> Sentence:
    """The tokens of a reference, each with its field; what comes before any field has the first one."""
    field = next((segment.field for segment in reference.segments if segment.field), "note")
    words: list[str] = []
    labels: list[str] = []
    for segment in reference.segments:
        field = segment.field or field
        own = [token.text for token in reference_tokens(segment.text)]
        words += own
        labels += [field] * len(own)
    return Sentence(tuple(words), tuple(labels))


def corpus() -> tuple[str, list[Sentence]]:
    """The name of the corpus that there is, and its references."""
    try:
        name, (path,) = "Cora", require("cora")
    except CorpusNotFound:
        name, path = "bundled references", bundled("citation", "references.txt")
    return name, [labelled(reference) for reference in read_references(path, CORA_FIELDS)]


def cut(sentences: Sequence[Sentence], seed: int) -> tuple[list[Sentence], list[Sentence]]:
    """The first three fifths and the last fifth, in an order by seed."""
    order = np.random.default_rng(seed).permutation(len(sentences))
    first, last = len(order) * 3 // 5, len(order) * 4 // 5
    return [sentences[i] for i in order[:first]], [sentences[i] for i in order[last:]]


def accuracy(model: LinearChain, sentences: Sequence[Sentence]) -> float:
    """The share of tokens that Viterbi labels right."""
    found = viterbi_batch(model.scores([sentence.x for sentence in sentences]))
    pairs = zip(sentences, found, strict=True)
    right = sum(sum(map(eq, sentence.labels, best.y)) for sentence, best in pairs)
    return right / sum(map(len, sentences))


def svm(train: Sequence[Sentence], template: str, passes: int = PASSES) -> tuple[LinearChain, float | None]:
    """The SVM without regularisation, and its gap."""
    model, trained = train_chain_svm(train, SvmSettings(C=None, passes=passes), template=template)
    return model, trained.gap


def crf(train: Sequence[Sentence], template: str, penalty: float) -> tuple[LinearChain, float | None]:
    """CRFsuite's model of the same attributes; it has no gap."""
    return train_linear(train, LinearSettings(c1=0.0, c2=penalty, template=template)), None


TRAINERS: dict[str, Callable[[Sequence[Sentence], str], tuple[LinearChain, float | None]]] = {
    SVM: svm,
    **{f"CRF {penalty:g}": partial(crf, penalty=penalty) for penalty in PENALTIES},
}


def runs(sentences: Sequence[Sentence]) -> Iterator[tuple[int, str, str, Trained]]:
    """Every training, with its seed, template and trainer; the trainers take turns."""
    for seed in SEEDS:
        train, test = cut(sentences, seed)
        for template in TEMPLATES:
            for trainer, run in TRAINERS.items():
                start = time.perf_counter()
                model, gap = run(train, template)
                seconds = time.perf_counter() - start
                yield seed, template, trainer, Trained(seconds, accuracy(model, test), gap)


def main() -> int:
    name, sentences = corpus()
    svm(sentences[:2], "words", passes=1)
    tokens, labels = sum(map(len, sentences)), {label for s in sentences for label in s.labels}
    print(f"-- {name}: {len(sentences)} references, {tokens:,} tokens, {len(labels)} fields", flush=True)
    print("   seed template  trainer  accuracy  seconds  x SVM's     gap")
    found: dict[tuple[str, str], list[Trained]] = {}
    for seed, template, trainer, own in runs(sentences):
        found.setdefault((template, trainer), []).append(own)
        show(str(seed), template, trainer, own, found[template, SVM][-1].seconds)
    print("   medians")
    for (template, trainer), all_seeds in found.items():
        middle = medians(all_seeds)
        show("", template, trainer, middle, medians(found[template, SVM]).seconds)
    slowest = max(own.seconds for own in found["words", SVM])
    claim = f"slowest training of the SVM on word identity ({slowest:.1f} s) over {MOST_SECONDS:g} s"
    return 0 if report(claim, slowest / MOST_SECONDS, at_most=1.0) else 1


def medians(all_seeds: Sequence[Trained]) -> Trained:
    """The median of each figure."""
    gaps = [own.gap for own in all_seeds if own.gap is not None]
    return Trained(
        statistics.median(own.seconds for own in all_seeds),
        statistics.median(own.accuracy for own in all_seeds),
        statistics.median(gaps) if gaps else None,
    )


def show(seed: str, template: str, trainer: str, own: Trained, seconds: float) -> None:
    """A row of the table."""
    gap = "" if own.gap is None else f"{own.gap:.3f}"
    print(
        f"   {seed:>4} {template:<9} {trainer:<8} {100 * own.accuracy:8.2f} {own.seconds:8.2f}"
        f" {own.seconds / seconds:8.2f} {gap:>7}",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())

"""A spaCy tagger trained from tagged sentences: hashed embeddings, a small convolution, a softmax over tags.

Each word is embedded by its norm, prefix, suffix and shape. Training is Adam with weight averages, and the
tagger has the averaged weights. The same sentences and plan give the same tagger, bit for bit, on one
machine: on the CPU, spaCy draws only from the global generators of `random` and numpy, which `seeded` seeds
and afterwards restores.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lcons_tasks.data.text._plan import Plan, TaggedSentence
from lcons_tasks.data.text._tokens import encodable

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.training import Example


@contextlib.contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seeds the global generators with `seed` within the block, and restores their state after it."""
    python, arrays = random.getstate(), np.random.get_state()
    random.seed(seed)
    np.random.seed(seed)
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(arrays)


TAGGER = "tagger"


@dataclass(frozen=True)
class TaggerProgress:
    """Sentences `done` so far, of `total` over all epochs, and the mean loss per word in this epoch."""

    done: int
    total: int
    epoch: int
    epochs: int
    loss: float


def train_tagger(
    sentences: Sequence[TaggedSentence],
    plan: Plan,
    progress: Callable[[TaggerProgress], None] | None = None,
) -> Language:
    """A pipeline with a tagger that is trained on the sentences by the plan."""
    import spacy
    from thinc.api import Adam

    with seeded(plan.seed):
        nlp = spacy.blank("en")
        tagger: Any = nlp.add_pipe(TAGGER, config=_architecture(plan))
        for tag in tags_of(sentences):
            tagger.add_label(tag)
        examples = _examples(nlp, sentences)
        nlp.initialize(lambda: examples)
        optimizer = Adam(
            plan.learning_rate, L2=0.01, L2_is_weight_decay=True, grad_clip=1.0, use_averages=True
        )
        shuffled = random.Random(plan.seed)
        for epoch in range(1, plan.epochs + 1):
            shuffled.shuffle(examples)
            loss, words = 0.0, 0
            for first in range(0, len(examples), plan.batch):
                batch = examples[first : first + plan.batch]
                loss += nlp.update(batch, sgd=optimizer, drop=plan.dropout)[TAGGER]
                words += sum(len(example.reference) for example in batch)
                if progress is not None:
                    done = (epoch - 1) * len(examples) + first + len(batch)
                    total = plan.epochs * len(examples)
                    progress(TaggerProgress(done, total, epoch, plan.epochs, loss / words))
        with nlp.use_params(optimizer.averages):
            averaged = nlp.to_bytes()
        return nlp.from_bytes(averaged)


def tags_of(sentences: Sequence[TaggedSentence]) -> tuple[str, ...]:
    """The tags that occur, sorted."""
    return tuple(sorted({encodable(tag) for _, tags in sentences for tag in tags}))


def _examples(nlp: Language, sentences: Sequence[TaggedSentence]) -> list[Example]:
    from spacy.tokens import Doc
    from spacy.training import Example

    examples = []
    for words, tags in sentences:
        shown = [encodable(word) for word in words]
        gold = Doc(nlp.vocab, words=shown, tags=[encodable(tag) for tag in tags])
        examples.append(Example(Doc(nlp.vocab, words=shown), gold))
    return examples


def _architecture(plan: Plan) -> dict[str, Any]:
    embed = {
        "@architectures": "spacy.MultiHashEmbed.v2",
        "width": plan.width,
        "attrs": ["NORM", "PREFIX", "SUFFIX", "SHAPE"],
        "rows": [plan.rows, plan.rows // 2, plan.rows // 2, plan.rows // 2],
        "include_static_vectors": False,
    }
    encode = {
        "@architectures": "spacy.MaxoutWindowEncoder.v2",
        "width": plan.width,
        "depth": plan.depth,
        "window_size": 1,
        "maxout_pieces": plan.pieces,
    }
    tok2vec = {"@architectures": "spacy.Tok2Vec.v2", "embed": embed, "encode": encode}
    return {"model": {"@architectures": "spacy.Tagger.v2", "tok2vec": tok2vec}}

"""What does exact decoding under learned constraints gain in a Hugging Face pipeline?

A small BERT (two layers, made and trained here, nothing is downloaded) is trained on the first 1,000 training
sentences of sets of suite/ (in the data folder, LCONS_DATA_DIR), with a WordPiece vocabulary of those
sentences. Label bigrams are learned from the same sentences, and the scheme IOB2 is added. All settings are
fixed beforehand.

Reported for the first 1,000 test sentences, at each training seed: span F1 of the stock pipeline, of ours
without constraints (which gives a word with punctuation one label, as in training), and of ours with them
(aggregation strategy `first`, words given), and the gains with their 95 % intervals (paired bootstrap over
sentences). `broken` counts sentences whose labels of tokens violate a constraint, in the stock pipeline and
in ours, of which there must be none. The script fails if there are some, or if the gain of the constraints is
surely below 0.

Run: LCONS_DATA_DIR=... .venv-integrations/bin/python tools/bench/transformers_pipeline.py [SET ...]
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from transformers import BertConfig, BertForTokenClassification, PreTrainedTokenizerFast
from transformers import TokenClassificationPipeline as StockPipeline

from lcons_core import LearnedConstraint, iob2, learn_constraints
from lcons_decode.transformers import ConstrainedPipeline
from lcons_tasks.data import Columns, Sentence, read_columns
from lcons_tasks.stats import bootstrap_f1, chunks, f1

SETS = ("snips", "bc5cdr", "wnut17")
TRAINED, TESTED, EPOCHS, RATE, BATCH, PIECES = 1000, 1000, 8, 1e-3, 16, 4000
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]


def read(path: Path, most: int) -> list[Sentence]:
    """The first sentences of a file."""
    return [one for one in read_columns(path, Columns()) if one.words][:most]


def make_tokenizer(sentences: Sequence[Sentence]) -> Any:
    """A WordPiece tokenizer of these sentences."""
    made = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=200))
    made.normalizer = normalizers.BertNormalizer()
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(vocab_size=PIECES, special_tokens=SPECIAL, show_progress=False)
    made.train_from_iterator([word for one in sentences for word in one.words], trainer)
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=made, model_max_length=256, pad_token="[PAD]", unk_token="[UNK]"
    )


def train(sentences: Sequence[Sentence], labels: Sequence[str], tokenizer: Any, seed: int) -> Any:
    """A BERT of two layers; only the first token of a word has a label."""
    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=256,
        max_position_embeddings=256,
        id2label=dict(enumerate(labels)),
        label2id={label: i for i, label in enumerate(labels)},
    )
    model = BertForTokenClassification(config)
    index = {label: i for i, label in enumerate(labels)}
    optimiser = torch.optim.AdamW(model.parameters(), lr=RATE)
    rng = np.random.default_rng(seed)
    steps = EPOCHS * -(-len(sentences) // BATCH)
    schedule = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 0.0, steps)
    model.train()
    for epoch in range(EPOCHS):
        order = rng.permutation(len(sentences)).tolist()
        for first in range(0, len(order), BATCH):
            chosen = [sentences[i] for i in order[first : first + BATCH]]
            tokens = tokenizer(
                [list(one.words) for one in chosen],
                is_split_into_words=True,
                truncation=True,
                padding=True,
                return_tensors="pt",
            )
            gold = torch.full(tokens["input_ids"].shape, -100)
            for row, one in enumerate(chosen):
                before = None
                for t, word in enumerate(tokens.word_ids(row)):
                    if word is not None and word != before:
                        gold[row, t] = index[one.labels[word]]
                    before = word
            loss = model(**tokens, labels=gold).loss
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            schedule.step()
            optimiser.zero_grad()
        print(f"  epoch {epoch + 1} of {EPOCHS}, loss {loss.item():.3f}", file=sys.stderr, flush=True)
    return model.eval()


def spans(pipeline: Any, sentences: Sequence[Sentence]) -> list[set[tuple[str, int, int]]]:
    """The spans that a pipeline finds, in words."""
    words = [list(one.words) for one in sentences]
    answers = pipeline(words, is_split_into_words=True, aggregation_strategy="first")
    found = []
    for own, answer in zip(words, answers, strict=True):
        starts = np.cumsum([0, *(len(word) + 1 for word in own)])
        edges = [np.searchsorted(starts, (one["start"], one["end"]), "right") for one in answer]
        places = [(int(first) - 1, int(last)) for first, last in edges]
        found.append({(one["entity_group"], *place) for one, place in zip(answer, places, strict=True)})
    return found


def counts(found: Sequence[set[tuple[str, int, int]]], sentences: Sequence[Sentence]) -> np.ndarray:
    """(sentences, 3) right, found and gold spans."""
    gold = [set(chunks(one.labels)) for one in sentences]
    rows = [(len(a & b), len(a), len(b)) for a, b in zip(found, gold, strict=True)]
    return np.array(rows)


def broken(pipeline: Any, sentences: Sequence[Sentence], constraints: Sequence[LearnedConstraint]) -> int:
    """How many sentences break a constraint, by the labels of tokens."""
    total = 0
    for one in sentences:
        tokens = pipeline(" ".join(one.words), ignore_labels=[])
        y = [token["entity"] for token in tokens]
        total += not all(constraint.satisfied(y) for constraint in constraints)
    return total


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("sets", nargs="*", default=list(SETS))
    parser.add_argument("--seeds", type=int, default=1)
    options = parser.parse_args()
    folder = Path(os.environ.get("LCONS_DATA_DIR", "")) / "suite"
    if not folder.is_dir():
        print(f"expected a folder suite in LCONS_DATA_DIR, found none in {folder.parent}; set it.")
        return 2
    failed = False
    for name in options.sets:
        training = read(folder / name / "train.conll", TRAINED)
        test = read(folder / name / "test.conll", TESTED)
        labels = sorted({label for one in training for label in one.labels})
        tokenizer = make_tokenizer(training)
        bigrams = learn_constraints([list(one.labels) for one in training], "ngram", n=2)
        constraints = [iob2(labels), bigrams]
        sides: list[list[np.ndarray]] = [[], [], []]
        for seed in range(options.seeds):
            start = time.perf_counter()
            model = train(training, labels, tokenizer, seed)
            stock = StockPipeline(model=model, tokenizer=tokenizer)
            own = ConstrainedPipeline(model=model, tokenizer=tokenizer, constraints=constraints)
            alone = ConstrainedPipeline(model=model, tokenizer=tokenizer)
            for side, pipeline in zip(sides, (stock, alone, own), strict=True):
                side.append(counts(spans(pipeline, test), test))
            violations = [broken(pipeline, test[:200], constraints) for pipeline in (stock, own)]
            figures = [float(f1(side[-1].sum(0))) for side in sides]
            failed |= violations[1] > 0
            print(
                f"{name:8} seed {seed}: stock {figures[0]:5.2f}, without constraints {figures[1]:5.2f},"
                f" constrained {figures[2]:5.2f} F1; broken"
                f" {violations[0]} and {violations[1]} of 200; {time.perf_counter() - start:.0f} s",
                flush=True,
            )
        over_stock, gain = bootstrap_f1(sides[2], sides[0]), bootstrap_f1(sides[2], sides[1])
        failed |= gain.high < 0
        print(
            f"{name:8} gain over stock {over_stock} F1; of the constraints alone {gain}; mean of"
            f" {options.seeds} training seeds",
            flush=True,
        )
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())

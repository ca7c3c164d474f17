"""`Trainer` under constraints: the loss by its definition, metrics of decoded labels."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from datasets import Dataset, concatenate_datasets
from tiny_models import IOB2, model, tokenizer
from transformers import DataCollatorForTokenClassification, EvalPrediction, TrainingArguments

from lcons_core import Instance, InvalidInput, Unsupported, iob2, learn_constraints
from lcons_decode import constrained_viterbi, from_token_logits
from lcons_decode.chains._brute import labellings
from lcons_decode.transformers import UNLABELLED, ConstrainedTrainer, decoded_metrics

pytestmark = pytest.mark.integrations

SENTENCES = [
    (["ann", "lees", "saw", "newtown"], ["B-PER", "I-PER", "O", "B-LOC"]),
    (["new", "york"], ["B-LOC", "I-LOC"]),
    (["x", "anns", "y"], ["O", "B-PER", "O"]),
]


def encoded(sentences, labelled=True):
    """A dataset: the first token of each word has its label or `UNLABELLED`, all others -100."""
    made = tokenizer()
    rows = []
    for words, labels in sentences:
        tokens = made(words, is_split_into_words=True)
        ids, before = [], None
        for word in tokens.word_ids(0):
            first = word is not None and word != before
            own = IOB2.index(labels[word]) if first and labelled else UNLABELLED
            ids.append(own if first else -100)
            before = word
        rows.append({**tokens, "labels": ids})
    return Dataset.from_list(rows)


def trainer(tmp_path, train=None, **options):
    settings = {"max_steps": 12, "learning_rate": 1e-2, "per_device_train_batch_size": 2, "report_to": []}
    settings |= {"use_cpu": True, "disable_tqdm": True, "save_strategy": "no", "logging_strategy": "no"}
    return ConstrainedTrainer(
        model=model(spread=0.05),
        args=TrainingArguments(output_dir=str(tmp_path), **settings | options.pop("settings", {})),
        train_dataset=encoded(SENTENCES) if train is None else train,
        data_collator=DataCollatorForTokenClassification(tokenizer()),
        constraints=options.pop("constraints", [iob2(IOB2)]),
        **options,
    )


def batch_of(dataset):
    return DataCollatorForTokenClassification(tokenizer())([dict(row) for row in dataset])


def violations(own, batch):
    """The expected hinge of violations per word, by enumeration."""
    with torch.no_grad():
        logits = own.model.eval()(**{k: v for k, v in batch.items() if k != "labels"}).logits.double()
    total, words = 0.0, 0
    for rows, labels in zip(logits, batch["labels"], strict=True):
        scores = from_token_logits(rows[None][:, labels != -100].log_softmax(-1), IOB2)[0]
        constraint = iob2(IOB2)
        for one in labellings(scores):
            rejected = constraint.feature.psi(Instance({}, one.y))
            hinge = np.maximum(-np.atleast_1d(constraint.margin(rejected)), 0).sum()
            total += np.exp(one.score) * hinge
        words += len(scores)
    return total / words


@pytest.mark.parametrize("labelled", [True, False])
def test_the_loss_is_that_of_the_definition(tmp_path, labelled):
    own = trainer(tmp_path, penalty_weight=0.7)
    batch = batch_of(encoded(SENTENCES, labelled))
    with torch.no_grad():
        loss, outputs = own.compute_loss(own.model.eval(), batch, return_outputs=True)
    wanted = 0.7 * violations(own, batch)
    if labelled:
        wanted += float(own.model(**batch).loss.detach())
    assert float(loss) == pytest.approx(wanted, abs=1e-5)
    assert outputs.logits.shape[:2] == batch["labels"].shape


def test_unlabelled_sentences_alone_teach_the_constraint(tmp_path):
    own = trainer(tmp_path, encoded(SENTENCES, labelled=False), penalty_weight=2.0)
    batch = batch_of(encoded(SENTENCES))
    before = violations(own, batch)
    own.train()
    assert violations(own, batch) < before / 2


def test_labelled_and_unlabelled_sentences_share_batches_and_metrics_are_decoded(tmp_path):
    both = concatenate_datasets([encoded(SENTENCES), encoded(SENTENCES, labelled=False)])
    metrics = decoded_metrics(model().config.id2label, [iob2(IOB2)])
    own = trainer(tmp_path, both, compute_metrics=metrics, eval_dataset=both, settings={"max_steps": 60})
    own.train()
    found = own.evaluate()
    assert found["eval_f1"] == found["eval_accuracy"] == 1.0
    assert {"eval_precision", "eval_recall", "eval_argmax_f1", "eval_loss"} <= set(found)


def test_gradient_accumulation_gives_the_mean_over_batches(tmp_path):
    losses = []
    for size, steps in ((3, 1), (1, 3)):
        settings = {"per_device_train_batch_size": size, "gradient_accumulation_steps": steps, "max_steps": 1}
        one = encoded([SENTENCES[1]] * 3)
        losses.append(trainer(tmp_path, one, settings=settings).train().training_loss)
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)


def test_decoded_metrics_are_those_of_the_decoder_and_leave_unknown_labels_out():
    rng = np.random.default_rng(0)
    logits = rng.normal(0, 2, (6, 5, 5))
    ids = rng.integers(0, 5, (6, 5))
    ids[:, 0], ids[2, 3:], ids[5] = -100, UNLABELLED, -100
    found = decoded_metrics(IOB2, [iob2(IOB2)])(EvalPrediction(logits, ids))
    same = words = argmax = 0
    for rows, own in zip(logits[:5], ids[:5], strict=True):
        known = own >= 0
        scores = from_token_logits(rows[None][:, known], IOB2)[0]
        y = constrained_viterbi(scores, [iob2(IOB2)]).y
        same += sum(label == IOB2[i] for label, i in zip(y, own[known], strict=True))
        argmax += int((rows[known].argmax(1) == own[known]).sum())
        words += int(known.sum())
    assert found["accuracy"] == same / words
    assert found["argmax_accuracy"] == argmax / words
    assert decoded_metrics(IOB2)(EvalPrediction((logits,), ids))["f1"] == found["argmax_f1"]


def test_errors(tmp_path):
    own = trainer(tmp_path)
    batch = batch_of(encoded(SENTENCES))
    del batch["labels"]
    with pytest.raises(InvalidInput):
        own.compute_loss(own.model, batch)
    with pytest.raises(InvalidInput):
        trainer(tmp_path, penalty_weight=-1)
    by_pos = learn_constraints([({"pos": ["NNP"]}, ["B-PER"]), ({"pos": ["X"]}, ["O"])] * 20, "pos", n=1)
    with pytest.raises(Unsupported):
        trainer(tmp_path, constraints=[by_pos])

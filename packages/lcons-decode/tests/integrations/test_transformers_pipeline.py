"""The constrained pipeline: the stock one without constraints, enumeration under them."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tiny_models import BIOES, IOB2, model, tokenizer
from transformers import TokenClassificationPipeline, pipeline

from lcons_core import (
    InvalidInput,
    LearnedConstraint,
    RectifierNetwork,
    Unsupported,
    bioes,
    iob2,
    learn_constraints,
)
from lcons_core.features import Existence
from lcons_decode import (
    ChainScores,
    Hard,
    brute,
    constrained_viterbi,
    forbidden_ngrams,
)
from lcons_decode.chains._brute import labellings
from lcons_decode.transformers import ConstrainedPipeline

pytestmark = pytest.mark.integrations

STRATEGIES = ["none", "simple", "first", "average", "max"]
TEXTS = ["ann lees saw the newtown", "yorka, annb x yorks. z", "new york", "unheard ann saw newsab lee y x"]
LONG = " ".join(TEXTS * 4)


def made(labels=IOB2, seed=0, kind=ConstrainedPipeline, most=64, **options):
    return kind(model=model(labels, seed), tokenizer=tokenizer(most), **options)


def constrained(**options):
    return made(constraints=[iob2(IOB2)], **options)


def plainly(found):
    """Answers without scores."""
    return [{name: value for name, value in one.items() if name != "score"} for one in found]


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("seed", range(2))
def test_without_constraints_it_is_the_stock_pipeline(strategy, seed):
    own = made(seed=seed, confidence="mean")
    stock = made(seed=seed, kind=TokenClassificationPipeline)
    entities = 0
    for text in TEXTS:
        ours, theirs = (one(text, aggregation_strategy=strategy) for one in (own, stock))
        assert plainly(ours) == plainly(theirs)
        assert [one["score"] for one in ours] == pytest.approx(
            [float(one["score"]) for one in theirs], abs=1e-5
        )
        assert [list(one) for one in ours] == [list(one) for one in theirs]
        entities += len(ours)
    assert entities > 4


@pytest.mark.parametrize("strategy", ["simple", "first"])
def test_given_words_are_those_of_the_stock_pipeline(strategy):
    own, stock = made(confidence="mean"), made(kind=TokenClassificationPipeline)
    words = [text.replace(",", "").replace(".", "").split() for text in TEXTS]
    options = {"is_split_into_words": True, "aggregation_strategy": strategy}
    assert list(map(plainly, own(words, **options))) == list(map(plainly, stock(words, **options)))


def test_a_given_word_has_one_label_also_if_it_has_punctuation():
    words = ["ann.lee", "saw", "new,york"]
    [found] = made(ignore_labels=[])(words, is_split_into_words=True, aggregation_strategy="first")
    text = " ".join(words)
    edges = {edge for one in found for edge in (one["start"], one["end"])}
    assert edges <= {0, 7, 8, 11, 12, 20}
    assert "".join(text[one["start"] : one["end"]] for one in found).replace(" ", "") == text.replace(" ", "")


def units_of(text, strategy, seed=0):
    """(text, log probabilities) of each unit, from the model and tokenizer alone."""
    tokens = tokenizer()(text, return_tensors="pt", return_offsets_mapping=True)
    offsets = tokens.pop("offset_mapping")[0].tolist()
    with torch.no_grad():
        p = model(seed=seed)(**tokens).logits[0].double().softmax(-1).numpy()
    words = tokens.word_ids(0)
    inside = [i for i, word in enumerate(words) if word is not None]
    if strategy in ("none", "simple"):
        return [(offsets[i], np.log(p[i])) for i in inside]
    found = []
    for word in dict.fromkeys(words[i] for i in inside):
        own = [i for i in inside if words[i] == word]
        rows = p[own]
        how = {"first": rows[0], "average": rows.mean(0), "max": rows[rows.max(1).argmax()]}
        found.append(([offsets[own[0]][0], offsets[own[-1]][1]], np.log(how[strategy])))
    return found


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("seed", range(2))
def test_under_constraints_it_is_enumeration(strategy, seed):
    constraints = [iob2(IOB2), forbidden_ngrams(IOB2, [("B-PER", "O"), ("O", "B-LOC")])]
    own = made(seed=seed, constraints=constraints)
    changed = 0
    for text in ("ann lees saw", "yorka, x", "new york", "unheard newb"):
        units = units_of(text, strategy, seed)
        scores = ChainScores(np.stack([row for _, row in units]), labels=IOB2)
        best = brute(scores, constraints)
        assert not best.violations
        changed += best.y != brute(scores).y
        found = own(text, aggregation_strategy=strategy, ignore_labels=[])
        if strategy == "none":
            assert tuple(one["entity"] for one in found) == best.y
        else:
            labels = [label for one in found for label in labels_within(one, units, best.y)]
            assert labels == list(best.y)
            assert [one["entity_group"] for one in found] == [y.split("-")[-1] for y in group_starts(best.y)]
        assert scores_by_enumeration(scores, constraints, found, units, best.y, strategy) == pytest.approx(
            [one["score"] for one in found], abs=1e-9
        )
    assert changed


def labels_within(one, units, y):
    return [
        label for (place, _), label in zip(units, y, strict=True) if one["start"] <= place[0] < one["end"]
    ]


def group_starts(y):
    """The first label of each run that is one span."""
    kinds = [label.split("-")[-1] for label in y]
    return [y[t] for t in range(len(y)) if not t or kinds[t] != kinds[t - 1] or y[t].startswith("B-")]


def scores_by_enumeration(scores, constraints, found, units, y, strategy):
    """Of each answer: the share of labellings, by exp(score), with its labels and without a continuation."""
    valid = [one for one in labellings(scores, constraints) if not one.violations]
    weights = np.exp([one.score for one in valid])
    answers = []
    starts = [place[0] for place, _ in units]
    for one in found:
        first = starts.index(one["start"])
        size = 1 if strategy == "none" else len(labels_within(one, units, y))
        kind = y[first].split("-")[-1]

        def holds(labels, first=first, size=size, kind=kind):
            same = labels[first : first + size] == y[first : first + size]
            after = labels[first + size : first + size + 1]
            onward = bool(after) and after[0].split("-")[-1] == kind and not after[0].startswith("B-")
            return same and (strategy == "none" or not onward)

        answers.append(
            sum(w for w, other in zip(weights, valid, strict=True) if holds(other.y)) / weights.sum()
        )
    return answers


@pytest.mark.parametrize("strategy", ["simple", "first", "average", "max"])
@pytest.mark.parametrize(("most", "stride"), [(16, 4), (12, 0), (20, 9)])
def test_a_long_text_obeys_constraints_where_chunks_meet(strategy, most, stride):
    own = constrained(most=most, ignore_labels=[])
    found = own(LONG, aggregation_strategy=strategy, stride=stride)
    assert found[0]["start"] == 0
    assert found[-1]["end"] == len(LONG)
    starts = [one["start"] for one in found]
    assert starts == sorted(set(starts))
    tokens = own(LONG[:40], aggregation_strategy="none")
    assert iob2(IOB2).satisfied([one["entity"] for one in tokens])


def test_a_token_has_the_scores_of_the_chunk_where_it_is_farthest_from_a_cut():
    own = constrained(most=14, confidence="mean", ignore_labels=[])
    stride, room = 4, 12
    tokens = tokenizer(10**6)(LONG, return_offsets_mapping=True)
    ids, offsets = tokens["input_ids"][1:-1], tokens["offset_mapping"][1:-1]
    firsts = [0]
    while firsts[-1] + room < len(ids):
        firsts.append(firsts[-1] + room - stride)
    rows = {}
    network = model()
    for number, first in enumerate(firsts):
        own_ids = ids[first : first + room]
        with torch.no_grad():
            logits = network(torch.tensor([[2, *own_ids, 3]])).logits[0, 1:-1].double().numpy()
        for i, row in enumerate(logits):
            sides = ([i] if number else []) + ([len(own_ids) - 1 - i] if first != firsts[-1] else [])
            if first + i not in rows or min(sides, default=0) > rows[first + i][0]:
                rows[first + i] = min(sides, default=0), row
    emission = np.stack([rows[t][1] for t in range(len(ids))])
    best = constrained_viterbi(ChainScores(emission, labels=IOB2), [iob2(IOB2)])
    found = own(LONG, aggregation_strategy="simple", stride=stride)
    starts = [offset[0] for offset, _ in zip(offsets, ids, strict=True)]
    labels = [label.split("-")[-1] for label in best.y]
    assert [one["entity_group"] for one in found] == [labels[starts.index(one["start"])] for one in found]
    runs = group_starts(best.y)
    assert len(found) == len(runs)


def test_batches_and_single_texts_give_the_same_answers():
    own = constrained(most=16)
    options = {"aggregation_strategy": "first", "stride": 4}
    single = [own(text, **options) for text in [*TEXTS, LONG]]
    for batched, alone in zip(own([*TEXTS, LONG], batch_size=3, **options), single, strict=True):
        assert plainly(batched) == plainly(alone)


def test_it_is_made_by_the_function_pipeline():
    own = pipeline(
        "token-classification",
        model=model(),
        tokenizer=tokenizer(),
        pipeline_class=ConstrainedPipeline,
        constraints=[iob2(IOB2)],
    )
    assert plainly(own(TEXTS[0])) == plainly(constrained()(TEXTS[0]))


def test_learned_contexts_are_obeyed():
    labels = ("O", "B-PER", "B-LOC", "I-LOC")
    gold = [(["ann", "saw"], ["B-PER", "O"]), (["new", "york"], ["B-LOC", "I-LOC"])] * 40
    learned = learn_constraints([({"word": words}, own) for words, own in gold], "word", n=1)
    [[first, second]] = made(labels=labels, constraints=[learned], ignore_labels=[])(["ann york"])
    assert learned.satisfied(({"word": ["ann", "york"]}, [first["entity"], second["entity"]]))


def test_bioes_labels_are_grouped():
    scheme = made(labels=BIOES, constraints=[bioes(BIOES)], ignore_labels=[])
    for text in TEXTS:
        grouped = [own["entity_group"] for own in scheme(text, aggregation_strategy="simple")]
        starts = [one for one in scheme(text) if one["entity"][0] in "BS"]
        assert len(grouped) - grouped.count("O") == len(starts) > 0


def test_scores_of_relaxed_answers_are_zero():
    never = forbidden_ngrams(IOB2, [(label,) for label in IOB2])
    found = made(constraints=[never], ignore_labels=[])(TEXTS[0], aggregation_strategy="simple")
    assert {one["score"] for one in found} == {0.0}


def test_global_constraints_are_decoded_under():
    feature = Existence(IOB2, n=1)
    network = RectifierNetwork([[-1.0 if label == "B-LOC" else 0.0 for label in IOB2]], [2.0])
    there = LearnedConstraint(network, feature.space, feature)
    free, under = made(ignore_labels=[]), made(constraints=[Hard(there), iob2(IOB2)], ignore_labels=[])
    assert "B-LOC" not in {one["entity"] for one in free(TEXTS[2])}
    found = [one["entity"] for one in under(TEXTS[2])]
    assert "B-LOC" in found
    assert iob2(IOB2).satisfied(found)


def test_an_empty_text_has_no_entities():
    assert constrained()(" ", aggregation_strategy="simple") == []


def test_errors():
    with pytest.raises(InvalidInput):
        made(confidence="sure")
    by_pos = learn_constraints([({"pos": ["NNP"]}, ["B-PER"]), ({"pos": ["X"]}, ["O"])] * 20, "pos", n=1)
    with pytest.raises(Unsupported):
        made(constraints=[by_pos])
    left = constrained(most=16)
    left.tokenizer.truncation_side = "left"
    with pytest.raises(Unsupported):
        left(LONG, aggregation_strategy="simple", stride=2)

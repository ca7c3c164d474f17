"""Entities and relations: corpus, constraints and certificates, the SVM under constraints, a whole run."""

import json
from itertools import product

import numpy as np
import pytest

from lcons_core import InvalidInput
from lcons_decode import decode_relations
from lcons_tasks.data import MalformedCorpus, find
from lcons_tasks.data._passage import ENTITIES, NO_ENTITY, RELATIONS, Labelled, Passage
from lcons_tasks.data._roth_yih import Relation, RelationSentence
from lcons_tasks.experiments.engine._kept import Stages
from lcons_tasks.experiments.engine._run import run, write_run
from lcons_tasks.experiments.entity_relation._answers import (
    LEARNED,
    LEARNED_ALL,
    SEEN,
    SETS,
    WITHIN,
    WITHOUT,
    row_of,
)
from lcons_tasks.experiments.entity_relation._constraints import (
    certificates,
    designed,
    designed_rules,
    learned,
    shown,
    table,
)
from lcons_tasks.experiments.entity_relation._corpus import labelled, load_corpus
from lcons_tasks.experiments.entity_relation._experiment import EXPERIMENT, Options
from lcons_tasks.experiments.entity_relation._measures import ENTITY, RELATION, changed, count
from lcons_tasks.models._clusters import Clusters
from lcons_tasks.models._relation_model import load_model, rules_of
from lcons_tasks.models._relation_svm import encode_passages, train_relations
from lcons_tasks.models._structured_svm import SvmSettings
from lcons_tasks.models.phi._candidates import candidate_attributes

QUICK = Options("bundled", (1,), (64,), 2.0**-5, 3)
needs_conll04 = pytest.mark.skipif(find("conll04") is None, reason="Roth and Yih's corpus is not at hand")
ARGUMENTS = {
    "Kill": ("Person", "Person"),
    "LiveIn": ("Person", "Location"),
    "WorkFor": ("Person", "Organization"),
    "LocatedAt": ("Location", "Location"),
    "OrgBasedIn": ("Organization", "Location"),
}


@pytest.fixture(scope="module")
def passages():
    return load_corpus("bundled").passages


@pytest.fixture(scope="module", autouse=True)
def no_vectors():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LCONS_VECTORS", "none")
        yield


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A quick run of the bundled corpus: its record, stages, the folder it wrote, and its document."""
    stages = Stages(tmp_path_factory.mktemp("stages"))
    record = run(EXPERIMENT, QUICK, stages, 1)
    folder = tmp_path_factory.mktemp("run")
    return record, stages, folder, write_run(folder, EXPERIMENT, QUICK, record, stages)


def example(relations, entities=("Person", "Location"), name="1"):
    words = ("Ann", "lives", "in", "Oslo")
    return Labelled(name, Passage(words, ("NNP", "VBZ", "IN", "NNP"), ((0, 1), (3, 4))), entities, relations)


# Corpus


def test_a_sentence_of_the_corpus_becomes_words_spans_and_labels():
    sentence = RelationSentence(
        "7",
        ("John/Wilkes/Booth", "COMMA", "of", "Maryland", "COMMA", "1865"),
        ("NNP/NNP/NNP", ",", "IN", "NNP", ",", "CD"),
        ("Peop", "O", "O", "Loc", "O", "Other"),
        (Relation(0, 3, "Live_In"),),
    )
    one = labelled(sentence)
    assert one.passage.words == ("John", "Wilkes", "Booth", ",", "of", "Maryland", ",", "1865")
    assert one.passage.spans == ((0, 3), (5, 6), (7, 8))
    assert one.entities == ("Person", "Location", NO_ENTITY)
    assert one.relations == {(0, 1): "LiveIn"}


@pytest.mark.parametrize(
    "change",
    [
        {"entities": ("Peop", "Planet")},
        {"entities": ("Peop", "O")},
        {"relations": (Relation(0, 1, "Marries"),)},
    ],
)
def test_unknown_labels_and_relations_without_candidates_are_refused(change):
    sentence = RelationSentence(
        "7", ("A", "B"), ("NNP", "NNP"), ("Peop", "Loc"), (Relation(0, 1, "Live_In"),)
    )
    with pytest.raises(MalformedCorpus):
        labelled(sentence._replace(**change))


def test_a_seed_splits_seventy_to_thirty_and_smaller_samples_are_nested(passages):
    corpus = load_corpus("bundled")
    train, test = corpus.split(3)
    assert sorted([*train, *test]) == list(range(len(passages)))
    assert len(train) == round(0.7 * len(passages))
    assert corpus.split(3, 50) == (train[:50], test)
    assert corpus.split(4)[0] != train
    with pytest.raises(InvalidInput):
        load_corpus("nowhere.corp")


# Constraints


def test_there_are_fifteen_designed_constraints_three_a_relation():
    assert sum(len(rules.forbidden) for rules in designed_rules().values()) == 15
    allowed = rules_of(designed()).allowed
    for a, b, r, s in product(range(4), range(4), range(6), range(6)):
        fits = [
            (ENTITIES[x], ENTITIES[y]) == ARGUMENTS[RELATIONS[q]]
            for x, y, q in ((a, b, r), (b, a, s))
            if RELATIONS[q] != "NoRel"
        ]
        assert allowed[a, b, r, s] == (all(fits) and (r == 0 or s == 0))


@pytest.mark.parametrize("seed", range(3))
def test_learned_constraints_are_proved_equal_to_the_designed_ones(passages, seed):
    comparisons = certificates(learned(passages, 2, seed)).values()
    assert [one.points for one in comparisons] == [24, 24, 36]
    assert all(one.equal and one.complete for one in comparisons)


def test_a_pair_related_in_both_directions_is_one_pair_and_the_only_witness(passages):
    odd = Labelled(
        "954",
        Passage(("Oslo", "Norway"), ("NNP", "NNP"), ((0, 1), (1, 2))),
        ("Location", "Location"),
        {(0, 1): "LocatedAt", (1, 0): "LocatedAt"},
    )
    assert shown([odd], "relation-relation") == [[("LocatedAt", "LocatedAt")]]
    comparison = certificates(learned([*passages, odd], 1))["relation-relation"]
    assert (comparison.equal, comparison.only_b) == (False, 0)
    assert comparison.witnesses_a == ({"relation": "LocatedAt", "reverse": "LocatedAt"},)
    assert all(one.equal for one in certificates(learned([*passages, odd], 2)).values())


def test_a_table_allows_what_was_shown_often_enough(passages):
    assert np.array_equal(rules_of(table(passages)).broken, rules_of(designed()).broken)
    twice = [example({(0, 1): "LiveIn"}, name=str(i)) for i in range(2)]
    assert rules_of(table(twice)).allowed.sum() == 2
    assert not rules_of(table(twice[:1])).allowed.any()


def test_where_every_combination_was_seen_everything_is_allowed():
    every = [
        example({(0, 1): relation} if relation != "NoRel" else {}, entities=(source, "Location"))
        for source, relation in product(ENTITIES, RELATIONS)
    ]
    for constraints in (learned(every, 1), table(every, 1)):
        assert all(constraints["source-relation"].satisfied([p]) for p in product(ENTITIES, RELATIONS))


# Features, model and training


def test_the_model_scores_what_its_weights_say_and_survives_a_file(tmp_path, passages):
    clusters = Clusters(("oslo", "ann"), np.array([[0, 3], [1, 2]]))
    passage = example({(0, 1): "LiveIn"})
    encoding = encode_passages([passage, *passages[:20]], clusters)
    model, _ = train_relations(encoding, rules_of(designed()), SvmSettings(C=0.1, passes=3))
    names = {name: k for k, name in enumerate(model.attributes.candidates)}
    attributes = candidate_attributes(passage.passage, 1, clusters)
    assert {"word cluster 1=0", "last cluster 2=3"} <= set(attributes)
    scores = model.scores(passage.passage)
    assert np.allclose(scores.entities[1], sum(model.W[names[name]] for name in attributes))
    model.save(tmp_path / "model.npz")
    again = load_model(tmp_path / "model.npz").scores(passage.passage)
    assert np.array_equal(scores.entities, again.entities)
    assert np.array_equal(scores.relations, again.relations)


def test_equal_sets_give_equal_weights_and_predictions_obey_them(passages):
    settings, rules = SvmSettings(C=0.05, passes=2), rules_of(designed())
    mine, model, free = (
        train_relations(passages[:60], own, settings)[0]
        for own in (rules_of(learned(passages, 2)), rules, rules_of({}))
    )
    assert np.array_equal(mine.V, model.V)
    assert not np.array_equal(free.V, model.V)
    for passage in passages[60:120]:
        decoding = decode_relations(model.scores(passage.passage), rules)
        assert decoding.broken == 0
        for (i, j), label in decoding.relations.items():
            assert (decoding.entities[i], decoding.entities[j]) == ARGUMENTS[label]
            assert (j, i) not in decoding.relations


# The run


def test_an_answer_counts_entities_and_relations():
    wrong = (("Person", "Organization"), {(0, 1): "LiveIn", (1, 0): "Kill"})
    assert count(example({(0, 1): "LiveIn"}), wrong) == {ENTITY: (1, 2, 2), RELATION: (1, 2, 1)}


def test_the_rows_are_complete_and_learned_is_designed_where_sets_are_equal(finished):
    whole = finished[0].first
    alone = (row_of(LEARNED_ALL, LEARNED_ALL), SEEN)
    assert set(whole.rows) == {*(row_of(*sets) for sets in product(SETS, SETS)), *alone}
    assert whole.rows[SEEN] == whole.rows[WITHIN]
    assert {one["outcome"] for one in whole.facts["certificates"][LEARNED].values()} == {"equal"}
    for row in whole.rows:
        assert whole.rows[row] == whole.rows[row.replace("learned ", "designed ")]
    assert whole.facts["differ"][LEARNED] == 0
    assert whole.facts["broken"]["pairs"] > 0


def test_the_headline_and_the_claims_are_of_all_training_sentences(finished):
    record, _, folder, document = finished
    whole = record.where(size=213)
    assert list(record.by("size")) == [213, 64]
    assert document.headline.gain == whole.gain(WITHIN, WITHOUT, RELATION)
    assert json.loads((folder / "results.json").read_text())["claims"] == []
    facts = {"corpus": {**record.facts["corpus"], "name": "conll04"}}
    of_paper = EXPERIMENT.document(QUICK, type(record)(record.cells, facts))
    (claims,) = [section.blocks[0] for section in of_paper.sections if section.title == "Claims of the paper"]
    assert [claim.held for claim in claims.claims[:3:2]] == [True, True]
    assert "1 of 1" in claims.claims[0].figures


def test_examples_name_the_combination_that_was_forbidden():
    one = example({(0, 1): "LiveIn"})
    before = (("Person", "Organization"), {(0, 1): "LiveIn"})
    (change,) = changed([one], [before], [(one.entities, one.relations)], designed())
    assert change["rule"] == "forbidden: relation LiveIn, target Organization (relation-target)"
    assert change["gold"] == change["after"] == ["B-Person", "O", "O", "B-Location"]
    assert change["before"] == ["B-Person", "O", "O", "B-Organization"]
    assert change["links_before"] == [(0, 3, "LiveIn")]
    assert (change["gain"], "< 0, so it is forbidden" in change["why"]) == (1, True)


# Roth and Yih's corpus


@needs_conll04
def test_roth_and_yih_has_the_sentences_of_the_paper_and_one_odd_pair():
    found = load_corpus("conll04").passages
    assert len(found) == 1441
    (odd,) = [one for one in found if any((j, i) in one.relations for i, j in one.relations)]
    assert odd.id == "954"
    everything = certificates(learned(found, 1))
    assert everything["relation-relation"].witnesses_a == ({"relation": "LocatedAt", "reverse": "LocatedAt"},)
    assert [one.equal for one in everything.values()] == [True, True, False]

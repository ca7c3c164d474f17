"""Entities and relations: corpus, constraints and certificates, the SVM under constraints, a whole run."""

import json
from itertools import product

import numpy as np
import pytest

from lcons_core import InvalidInput
from lcons_decode import RelationRules, RelationScores, decode_relations
from lcons_decode._relations import relation_ids
from lcons_tasks.data import MalformedCorpus, find
from lcons_tasks.data._passage import ENTITIES, NO_ENTITY, RELATIONS, Labelled, Passage
from lcons_tasks.data._roth_yih import Relation, RelationSentence
from lcons_tasks.experiments.engine._kept import Stages
from lcons_tasks.experiments.engine._run import run, write_run
from lcons_tasks.experiments.entity_relation._answers import (
    DESIGNED,
    LEARNED,
    LEARNED_ALL,
    PENALTIES,
    SETS,
    TABLE,
    WITHIN,
    WITHOUT,
    answers,
    row_of,
)
from lcons_tasks.experiments.entity_relation._constraints import (
    certificates,
    combination_counts,
    designed,
    designed_rules,
    learned,
    seen_rules,
    sentence_constraint,
    support,
    wrong_combinations,
)
from lcons_tasks.experiments.entity_relation._corpus import Split, labelled, load_corpus, split, with_noise
from lcons_tasks.experiments.entity_relation._examples import changed, links
from lcons_tasks.experiments.entity_relation._experiment import EXPERIMENT, Options, claims, recovered
from lcons_tasks.experiments.entity_relation._measures import by_label, count, counts, figures
from lcons_tasks.experiments.entity_relation._model import predict, predict_some, score
from lcons_tasks.models._clusters import Clusters
from lcons_tasks.models._relation_model import load_model, rules_of
from lcons_tasks.models._relation_svm import encode_passages, train_relations
from lcons_tasks.models._structured_svm import SvmSettings
from lcons_tasks.models.phi._candidates import candidate_attributes, pair_attributes

QUICK = Options("bundled", ("1",), (0.3,), 2.0**-5, passes=3)
needs_conll04 = pytest.mark.skipif(find("conll04") is None, reason="Roth and Yih's corpus is not at hand")


@pytest.fixture(scope="module")
def corpus():
    return load_corpus("bundled")


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
    ("change", "words"),
    [
        ({"entities": ("Peop", "Planet")}, "Peop, Loc, Org, Other"),
        ({"relations": (Relation(0, 1, "Marries"),)}, "Kill, Live_In"),
        ({"entities": ("Peop", "O")}, "between two candidates"),
    ],
)
def test_unknown_labels_and_relations_without_candidates_are_refused(change, words):
    sentence = RelationSentence(
        "7", ("A", "B"), ("NNP", "NNP"), ("Peop", "Loc"), (Relation(0, 1, "Live_In"),)
    )
    with pytest.raises(MalformedCorpus, match=words):
        labelled(sentence._replace(**change))


def test_a_seed_splits_seventy_to_thirty_and_smaller_samples_are_nested(corpus):
    whole = split(corpus, "3")
    assert sorted([*whole.train, *whole.test]) == list(range(len(corpus.passages)))
    assert len(whole.train) == round(0.7 * len(corpus.passages))
    small, smaller = whole.part(0.25), whole.part(0.05)
    assert small.test == smaller.test == whole.test
    assert small.train[: len(smaller.train)] == smaller.train
    assert split(corpus, "3") == whole != split(corpus, "4")


def test_an_unknown_split_or_corpus_is_named(corpus):
    with pytest.raises(InvalidInput, match="a seed, such as 1"):
        split(corpus, "spert")
    with pytest.raises(InvalidInput, match="`bundled`, `conll04`"):
        load_corpus("nowhere.corp")


def test_published_splits_are_read_from_beside_the_corpus(tmp_path, monkeypatch, corpus):
    folder = tmp_path / "conll04"
    folder.mkdir()
    from lcons_tasks.bundled import bundled

    text = bundled("er", "sentences.corp").read_text(encoding="utf-8")
    (folder / "conll04.corp").write_text(text, encoding="utf-8")
    monkeypatch.setenv("LCONS_DATA_DIR", str(tmp_path))
    related = [one for one in corpus.passages if one.relations]
    ids = [int(one.id) for one in related]
    parts = {"train": ids[:5], "dev": ids[5:7], "test": ids[7:9]}
    (folder / "splits.json").write_text(json.dumps({"source": "x", "own": parts}), encoding="utf-8")
    found = load_corpus("conll04")
    assert found.passages == tuple(related)
    assert split(found, "own") == Split((0, 1, 2, 3, 4, 5, 6), (7, 8))
    (folder / "splits.json").write_text('{"own": {"train": [999999], "test": []}}', encoding="utf-8")
    with pytest.raises(MalformedCorpus, match="correct or remove"):
        load_corpus("conll04")


# Constraints


def test_there_are_fifteen_designed_constraints_three_a_relation():
    rules = designed_rules()
    assert sum(len(one.forbidden) for one in rules.values()) == 15
    allowed = rules_of(designed()).allowed
    for a, b, r, s in product(range(4), range(4), range(6), range(6)):
        fits = [
            (ENTITIES[x], ENTITIES[y]) == _ARGUMENTS[RELATIONS[q]]
            for x, y, q in ((a, b, r), (b, a, s))
            if RELATIONS[q] != "NoRel"
        ]
        assert allowed[a, b, r, s] == (all(fits) and (r == 0 or s == 0))


_ARGUMENTS = {
    "Kill": ("Person", "Person"),
    "LiveIn": ("Person", "Location"),
    "WorkFor": ("Person", "Organization"),
    "LocatedAt": ("Location", "Location"),
    "OrgBasedIn": ("Organization", "Location"),
}


@pytest.mark.parametrize("seed", range(3))
def test_learned_constraints_are_proved_equal_to_the_designed_ones(corpus, seed):
    found = certificates(learned(corpus.passages, 2, seed))
    assert {name: one.points for name, one in found.items()} == {
        "source-relation": 24,
        "relation-target": 24,
        "relation-relation": 36,
    }
    assert all(one.equal and one.complete for one in found.values())


def test_a_pair_related_in_both_directions_is_one_pair_and_the_only_witness(corpus):
    odd = Labelled(
        "954",
        Passage(("Oslo", "Norway"), ("NNP", "NNP"), ((0, 1), (1, 2))),
        ("Location", "Location"),
        {(0, 1): "LocatedAt", (1, 0): "LocatedAt"},
    )
    passages = [*corpus.passages, odd]
    assert support(passages, "relation-relation")["LocatedAt", "LocatedAt"] == 1
    found = certificates(learned(passages, 1))["relation-relation"]
    assert found.equal is False
    assert (found.only_a, found.only_b) == (1, 0)
    assert found.witnesses_a == ({"relation": "LocatedAt", "reverse": "LocatedAt"},)
    assert all(one.equal for one in certificates(learned(passages, 2)).values())


# Features, model and training


def test_attributes_come_with_the_order_and_read_no_label(corpus):
    one = example({(0, 1): "LiveIn"})
    there, back = (set(pair_attributes(one.passage, *pair)) for pair in ((0, 1), (1, 0)))
    assert {">between=lives in", ">distance=2", ">phrase 2=oslo"} <= there
    assert {a[1:] for a in there - {"bias"}} == {a[1:] for a in back - {"bias"}}
    assert not {a for a in there if a.startswith("<")}
    assert "left 1=in" in candidate_attributes(one.passage, 1)
    assert "after=in" not in candidate_attributes(one.passage, 1)


def test_the_model_scores_what_its_weights_say_and_survives_a_file(tmp_path, corpus):
    passages = corpus.passages[:20]
    model, _ = train_relations(passages, rules_of(designed()), SvmSettings(C=0.1, passes=3))
    one = passages[0].passage
    scores = model.scores(one)
    names = {name: k for k, name in enumerate(model.attributes.candidates)}
    expected = sum(model.W[names[name]] for name in candidate_attributes(one, 1))
    assert np.allclose(scores.entities[1], expected)
    model.save(tmp_path / "model.npz")
    again = load_model(tmp_path / "model.npz").scores(one)
    assert np.array_equal(scores.entities, again.entities)
    assert np.array_equal(scores.relations, again.relations)


def test_clusters_and_weights_of_combinations_survive_a_file(tmp_path, corpus):
    clusters = Clusters(("oslo", "ann"), np.array([[0, 3], [1, 2]]))
    one = example({(0, 1): "LiveIn"})
    found = candidate_attributes(one.passage, 1, clusters)
    assert {"word cluster 1=0", "last cluster 2=3"} <= set(found)
    assert "no cluster" not in found
    assert not any("cluster" in name for name in candidate_attributes(one.passage, 1))
    rules = RelationRules.none(ENTITIES, RELATIONS)
    encoding = encode_passages([one, *corpus.passages[:5]], clusters)
    model, _ = train_relations(encoding, rules, SvmSettings(C=0.1, passes=2), parts=combination_counts())
    model.save(tmp_path / "model.npz")
    again = load_model(tmp_path / "model.npz")
    assert again.attributes.clusters.of("Oslo") == ("0", "3")
    assert np.array_equal(again.table, model.table)
    assert np.array_equal(again.scores(one.passage).entities, model.scores(one.passage).entities)
    assert predict([model.scores(one.passage)], rules, model) == predict(
        [again.scores(one.passage)], rules, again
    )


def test_equal_sets_give_equal_weights_and_other_sets_others(corpus):
    passages = corpus.passages[:40]
    settings = SvmSettings(C=0.05, passes=2)
    mine = rules_of(learned(corpus.passages, 2))
    models = [train_relations(passages, rules, settings)[0] for rules in (rules_of(designed()), mine)]
    assert np.array_equal(models[0].W, models[1].W)
    assert np.array_equal(models[0].V, models[1].V)
    free, _ = train_relations(passages, RelationRules.none(ENTITIES, RELATIONS), settings)
    assert not np.array_equal(models[0].V, free.V)


def test_predictions_obey_the_constraints(corpus):
    rules = rules_of(designed())
    model, _ = train_relations(corpus.passages[:60], rules, SvmSettings(C=0.05, passes=2))
    for entities, relations in predict(score(model, corpus.passages[60:120]), rules):
        for (i, j), label in relations.items():
            assert (entities[i], entities[j]) == _ARGUMENTS[label]
            assert (j, i) not in relations
    scores = model.scores(corpus.passages[0].passage)
    assert decode_relations(scores, rules).broken == 0
    assert relation_ids(scores.entities, scores.relations, rules).nodes > 0


def test_a_table_allows_what_was_seen_often_enough(corpus):
    assert np.array_equal(seen_rules(corpus.passages).allowed, rules_of(designed()).allowed)
    few = seen_rules([example({(0, 1): "LiveIn"}, name=str(i)) for i in range(2)])
    assert few.allowed.sum() == 2
    assert not seen_rules([example({(0, 1): "LiveIn"})]).allowed.any()
    assert wrong_combinations(few) == int(rules_of(designed()).allowed.sum()) - 2


def test_where_every_combination_was_seen_everything_is_allowed(corpus):
    every = [
        example({(0, 1): relation}, entities=(source, "Location"))
        for source in ENTITIES
        for relation in RELATIONS[1:]
    ]
    every += [example({}, entities=(source, "Location")) for source in ENTITIES]
    found = learned(every, 1)["source-relation"]
    assert all(found.satisfied([point]) for point in product(ENTITIES, RELATIONS))


def test_some_relation_is_learned_only_from_passages_that_have_one(corpus):
    related = [one for one in corpus.passages if one.relations]
    found = sentence_constraint(related)
    assert found.satisfied([("some",)])
    assert not found.satisfied([("none",)])
    assert sentence_constraint([example({}), example({})]) is None


def test_the_best_labels_with_a_relation_are_the_best_of_all_with_one():
    rng, rules = np.random.default_rng(1), rules_of(designed())
    for n in (0, 1, 2, 2, 3):
        relations = rng.normal(size=(n, n, 6))
        relations[..., 0] += 3
        scores = RelationScores(
            rng.normal(size=(n, 4)), relations, entity_labels=ENTITIES, relation_labels=RELATIONS
        )
        ((entities, found),) = predict_some([scores], rules)
        assert bool(found) == (n > 1)
        if n == 2:
            best = max(
                (
                    scores.entities[0, a] + scores.entities[1, b] + relations[0, 1, r] + relations[1, 0, s],
                    (ENTITIES[a], ENTITIES[b]),
                )
                for a, b, r, s in product(range(4), range(4), range(6), range(6))
                if rules.allowed[a, b, r, s] and r + s > 0
            )
            assert entities == best[1]


def test_errors_replace_labels_at_their_rate_and_keep_passages_valid(corpus):
    noisy = with_noise(corpus.passages, 0.2, seed=1)
    pairs = [
        (a, b)
        for x, y in zip(corpus.passages, noisy, strict=True)
        for a, b in zip(x.entities, y.entities, strict=True)
    ]
    assert 0.15 < np.mean([a != b for a, b in pairs]) < 0.25
    assert sum(len(one.relations) for one in noisy) < sum(len(one.relations) for one in corpus.passages)
    assert with_noise(corpus.passages, 0.2, seed=1) == noisy != with_noise(corpus.passages, 0.2, seed=2)


# Measures


def test_f1_counts_entities_relations_and_strict_relations():
    one = example({(0, 1): "LiveIn"})
    wrong = (("Person", "Organization"), {(0, 1): "LiveIn", (1, 0): "Kill"})
    found = figures(counts([one], [wrong]))
    assert found["entity f1"] == 50.0
    assert found["relation f1"] == pytest.approx(200 / 3)
    assert found["strict relation f1"] == 0.0
    assert found["relation macro f1"] == pytest.approx(100 / 5)
    assert by_label(counts([one], [wrong]))["LiveIn"] == 100.0
    right = (one.entities, one.relations)
    assert figures(counts([one], [right]))["strict relation f1"] == 100.0
    assert count(one, ((NO_ENTITY, NO_ENTITY), {})).tolist()[0] == [0, 0, 1]


# The run


def test_the_grid_is_whole_and_learned_is_designed_where_sets_are_equal(finished):
    record, stages, _, _ = finished
    whole = record.first
    found = answers(EXPERIMENT.cells(QUICK)[0], stages).answers
    alone = {row_of(name, name) for name in (LEARNED_ALL, TABLE, PENALTIES)}
    assert set(found) == {*(row_of(*sets) for sets in product(SETS, SETS)), *alone}
    assert found[row_of(TABLE, TABLE)] == found[WITHIN]
    assert whole.facts["otherwise"] == {LEARNED: 0, LEARNED_ALL: 0, TABLE: 0}
    assert recovered(whole, LEARNED)
    for sets in product(SETS, SETS):
        other = (DESIGNED if name == LEARNED else name for name in sets)
        assert found[row_of(*sets)] == found[row_of(*other)]
    assert whole.facts["differ"][LEARNED] == 0
    assert whole.facts["broken"]["pairs"] > 0


def test_a_rerun_reads_what_is_kept_and_gives_the_same_bytes(finished, tmp_path):
    _, stages, folder, _ = finished
    write_run(tmp_path / "again", EXPERIMENT, QUICK, run(EXPERIMENT, QUICK, stages, 1), stages)
    for path in sorted(folder.rglob("*.*")):
        assert (tmp_path / "again" / path.relative_to(folder)).read_bytes() == path.read_bytes(), path


def test_the_interval_of_a_gain_is_over_all_tested_sentences(finished):
    record, _, _, document = finished
    assert list(record.by("share")) == [1.0, 0.3]
    whole = record.where(share=1.0)
    found = whole.gain(WITHIN, WITHOUT, "relation f1")
    difference = whole.mean(WITHIN, "relation f1") - whole.mean(WITHOUT, "relation f1")
    assert found.mean == pytest.approx(difference)
    assert found.low <= found.mean <= found.high
    assert document.headline.gain == found
    assert document.headline.measure == "relation F1, 213 training sentences"
    told = claims(whole)
    assert told[0].held
    assert "1 of 1" in told[0].figures


def test_examples_name_the_combination_that_was_forbidden():
    one = example({(0, 1): "LiveIn"})
    before = (("Person", "Organization"), {(0, 1): "LiveIn"})
    (shown,) = changed([one], [before], [(one.entities, one.relations)], designed())
    assert shown["rule"] == "forbidden: relation LiveIn, target Organization (relation-target)"
    assert shown["gold"] == shown["after"] == ["B-Person", "O", "O", "B-Location"]
    assert shown["before"] == ["B-Person", "O", "O", "B-Organization"]
    assert shown["links_before"] == links(one.passage, before) == [(0, 3, "LiveIn")]
    assert "< 0, so it is forbidden" in shown["why"]


# Roth and Yih's corpus


@needs_conll04
def test_roth_and_yih_has_the_sentences_of_the_paper_and_one_odd_pair():
    found = load_corpus("conll04")
    assert len(found.passages) == 1441
    counted = support(found.passages, "relation-relation")
    assert counted["LocatedAt", "LocatedAt"] == 1
    (odd,) = [one for one in found.passages if any((j, i) in one.relations for i, j in one.relations)]
    assert odd.id == "954"
    everything = certificates(learned(found.passages, 1))
    assert everything["relation-relation"].witnesses_a == ({"relation": "LocatedAt", "reverse": "LocatedAt"},)
    assert everything["relation-relation"].only_b == 0
    assert everything["source-relation"].equal
    assert everything["relation-target"].equal


@needs_conll04
@pytest.mark.parametrize("which", ["1", "2", "3", "4", "5"])
def test_two_pairs_recover_the_designed_constraints_in_every_split(which):
    found = load_corpus("conll04")
    train = [found.passages[i] for i in split(found, which).train]
    assert all(one.equal for one in certificates(learned(train, 2)).values())

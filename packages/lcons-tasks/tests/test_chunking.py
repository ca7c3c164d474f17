"""The chunking experiment: subsets, recipes, choices, rules behind changes, and a whole run."""

import json
import os
from dataclasses import replace

import numpy as np
import pytest

from lcons_core import LearnedConstraint, Recipe, load
from lcons_core._errors import InvalidInput
from lcons_core.learn import Grid
from lcons_tasks.apps._tagger import load_constrained_tagger
from lcons_tasks.data import Sentence, find, read_columns
from lcons_tasks.experiments.chunking import _grid as tuning
from lcons_tasks.experiments.chunking import _paper as paper
from lcons_tasks.experiments.chunking._cell import CHOSEN, Cell, Filled
from lcons_tasks.experiments.chunking._constraints import SOFT, rows_of
from lcons_tasks.experiments.chunking._corpus import ChunkCorpus, load_corpus, subset
from lcons_tasks.experiments.chunking._model import BaseModel, tuned, tuned_settings
from lcons_tasks.experiments.chunking._report import write_run
from lcons_tasks.experiments.chunking._summary import claims, groups
from lcons_tasks.experiments.chunking._task import STEPS, Options, cells_of, diagnoses, run
from lcons_tasks.experiments.engine._cells import plan, work_name
from lcons_tasks.experiments.engine._choice import choose
from lcons_tasks.experiments.engine._examples import examples
from lcons_tasks.experiments.engine._kept import Stages
from lcons_tasks.experiments.engine._parts import rejected_gold
from lcons_tasks.experiments.engine._recipes import learn, recipe
from lcons_tasks.report._answer_columns import PREDICTIONS

needs_conll2000 = pytest.mark.skipif(find("conll2000") is None, reason="needs CoNLL-2000")

QUICK = Options(ratios=(0.25,), seeds=(1,), bases=("linear",))


@pytest.fixture(scope="module")
def corpus():
    return load_corpus("bundled")


@pytest.fixture(scope="module", autouse=True)
def no_vectors():
    before = os.environ.get("LCONS_VECTORS")
    os.environ["LCONS_VECTORS"] = "none"
    yield
    os.environ.pop("LCONS_VECTORS") if before is None else os.environ.update(LCONS_VECTORS=before)


@pytest.fixture(scope="module")
def stages(tmp_path_factory):
    return Stages(tmp_path_factory.mktemp("stages"))


@pytest.fixture(scope="module")
def quick_run(stages, tmp_path_factory):
    """A small run, and the folder that it wrote."""
    filled = run(QUICK, stages, jobs=1)
    folder = tmp_path_factory.mktemp("run")
    return filled, folder, write_run(folder, QUICK, filled, stages)


def test_the_first_subset_is_a_prefix_of_train_and_of_dev(corpus):
    train, dev = subset(corpus, 0.1)
    assert train == corpus.train[:21]
    assert dev == corpus.dev[:6]
    assert subset(corpus, 1.0) == (corpus.train, corpus.dev)
    assert subset(corpus, 1e-6) == (corpus.train[:1], corpus.dev[:1])


def test_nested_subsets_grow_with_the_ratio_and_differ_by_seed(corpus):
    small, large = (set(map(id, subset(corpus, r, "nested", seed=1)[0])) for r in (0.2, 0.6))
    assert small < large
    assert subset(corpus, 0.2, "nested", 1)[0] != subset(corpus, 0.2, "nested", 2)[0]
    assert subset(corpus, 1.0, "nested", 1)[0] == corpus.train


@pytest.mark.parametrize(("ratio", "kind"), [(0, "first"), (1.5, "first"), (0.5, "random")])
def test_an_impossible_subset_is_refused(corpus, ratio, kind):
    with pytest.raises(InvalidInput):
        subset(corpus, ratio, kind)


def test_a_corpus_that_is_not_there_is_refused_in_one_sentence():
    with pytest.raises(InvalidInput, match=r"train.txt, dev.txt and test.txt"):
        load_corpus("no-such-corpus")


@needs_conll2000
def test_conll2000_is_divided_as_in_the_paper():
    corpus = load_corpus("conll2000")
    assert [len(part) for part in (corpus.train, corpus.dev, corpus.test)] == [8000, 936, 2012]
    train, dev = subset(corpus, 0.01)
    assert (len(train), len(dev)) == (80, 9)
    assert train[0] == corpus.train[0]


@pytest.mark.parametrize(
    "text", ["pos:2", "pos:3", "existence:2", "ngram:2", "ngram:3", "punctuation:2", "counts"]
)
def test_every_feature_can_be_learned(corpus, text):
    sentences = corpus.train[:30]
    constraint = learn(recipe(text), sentences, seed=1)
    assert isinstance(constraint, LearnedConstraint)
    assert constraint.provenance["training_accuracy"] > 0.7
    assert set(constraint.feature.labels) == {label for s in sentences for label in s.labels}
    assert Recipe.from_dict(constraint.provenance["recipe"]) == replace(recipe(text), seed=1)


@pytest.mark.parametrize("text", ["colour:3", "pos:x", "", "counts:3", "pos:3:some"])
def test_an_unknown_constraint_is_refused_in_one_sentence(text):
    with pytest.raises(InvalidInput, match="existence"):
        recipe(text)


def test_held_out_gold_with_unknown_labels_is_left_out_and_counted(corpus):
    constraint = learn(recipe("pos:2"), corpus.train[:5], seed=1)
    known = set(constraint.feature.labels)
    found = rejected_gold(constraint, corpus.dev)
    assert found["unknown"] == sum(not known.issuperset(s.labels) for s in corpus.dev) > 0
    assert 0 < found["parts"] < found["sentences"] <= 100


def test_the_default_stands_unless_dev_speaks_clearly_against_it():
    default, other = np.full(100, 18), np.full(100, 18)
    other[:2] = 20, 17
    assert choose([default, other], default=0) == 0
    assert choose([default, default + 1], default=0) == 1
    assert choose([[5], [9]], default=0) == 0


def test_rows_are_those_of_the_decoders_asked_for():
    assert [row.name for row in rows_of([], ["search"])] == ["exact", "search"]
    names = [row.name for row in rows_of([recipe("pos:3"), recipe("existence:2")])]
    assert {"pos-3 search", "pos-3 exact", "existence-2 search"} <= set(names)
    assert "existence-2 exact" not in names
    with pytest.raises(InvalidInput, match="constrained-exact"):
        rows_of([], ["magic"])


def test_the_full_table_covers_the_paper():
    options = Options.full("conll2000")
    cells = cells_of(options)
    assert {cell.ratio for cell in cells} == set(paper.RATIOS)
    assert set(paper.ACCURACY) <= {row.name for row in cells[0].rows}
    assert len(options.seeds) >= 2
    # All of the data is one subset, whatever its kind; the second base model is on the first kind only.
    assert {(c.subset, c.base.name) for c in cells if c.ratio == 1} == {
        ("first", "bilstm"),
        ("first", "bilstm+pos"),
    }
    work = plan(cells, STEPS)
    assert len({work_name(piece, STEPS) for piece in work}) == len(work)


@pytest.mark.parametrize("name", ["bilstm", "linear"])
def test_the_base_model_of_the_table_reads_words_only(name, corpus):
    settings = (("epochs", 1),) if name == "bilstm" else ()
    model = BaseModel(name, settings).train(corpus.train[:10], corpus.dev[:3], None, seed=1)
    words, other_tags = corpus.test[0].words, ["XX"] * len(corpus.test[0])
    assert model.columns == ()
    for x in ({"word": words}, {"word": words, "pos": other_tags}):
        assert (model.scores([x]).emission == model.scores([corpus.test[0].x]).emission).all()


def test_a_cell_asked_for_twice_is_filled_once():
    assert Options(seeds=(1, 1), ratios=(0.5, 0.5)).seeds == (1,)
    assert len(cells_of(Options(seeds=(1, 1), subsets=("first", "nested")))) == 1
    both = Options(ratios=(0.5,), subsets=("first", "nested"), seeds=(1,), bases=("linear", "linear+pos"))
    assert len(cells_of(both)) == 4


def test_a_decoder_without_a_constraint_to_use_is_refused():
    with pytest.raises(InvalidInput, match="constrained-exact"):
        rows_of([recipe("pos:4")], ["constrained-exact"])


def test_only_rows_under_local_constraints_can_be_chosen():
    rows = {row.name: row.is_local for row in rows_of([recipe("pos:3"), recipe("existence:2")])}
    assert not {name for name in ("exact", "search", "existence-2 search") if rows[name]}
    assert rows["pos-3 search"]
    assert rows["soft pos-1+2"]


def test_options_that_make_no_sense_are_refused():
    for wrong in ({"bases": ("magic",)}, {"subsets": ("all",)}, {"beam": 0}, {"seeds": ()}):
        with pytest.raises(InvalidInput):
            Options(**wrong)


def test_tuned_settings_are_those_that_dev_chose():
    by_ratio = tuned_settings()["conll2000"]["bilstm"]
    assert set(map(float, by_ratio)) == set(paper.RATIOS)
    for ratio, found in by_ratio.items():
        assert len(found["grid"]) == 8
        best = max(trial["dev"] for trial in found["grid"])
        chosen = [t for t in found["grid"] if {n: t[n] for n in found["chosen"]} == found["chosen"]]
        assert [trial["dev"] for trial in chosen] == [best]
        assert tuned("bilstm", "conll2000", float(ratio)) == BaseModel(
            "bilstm", tuple(sorted(found["chosen"].items()))
        )


def test_constraints_help_on_the_bundled_corpus(stages):
    """The claim of a first run, with the small model: five seeds, all of the training sentences."""
    filled = run(Options(bases=("linear",)), stages, jobs=1)
    (group,) = groups(filled)
    assert len(group.by_ratio[1.0]) == 5
    exact = group.mean("exact", 1.0)
    for row in ("pos-3 search", "pos-3 exact", "soft pos-3", CHOSEN):
        assert group.mean(row, 1.0) > exact + 1


def test_a_run_writes_what_it_found(quick_run, corpus):
    _, folder, report = quick_run
    results = json.loads((folder / "results.json").read_text())
    assert results["corpus"]["name"] == "bundled"
    assert "**bundled**" in report
    (cell,) = results["cells"]
    row = cell["rows"][CHOSEN]
    predicted = list(read_columns(folder / "predictions/linear-first-25%-seed1.txt", PREDICTIONS))
    assert [s.words for s in predicted] == [s.words for s in corpus.test]
    assert [s.columns["gold"] for s in predicted] == [s.labels for s in corpus.test]
    right = [a == b for s in predicted for a, b in zip(s.columns["gold"], s.labels, strict=True)]
    assert 100 * np.mean(right) == pytest.approx(row["test"])
    assert load(folder / "constraints/first-25%-seed1/pos-3.json").feature.n == 3
    assert cell["parameters"]["trained"] > 1000
    assert cell["constraints"]["pos-3"]["parameters"] < 3000
    assert (folder / "report.md").read_text() == report


def test_the_tagger_of_a_run_gives_its_predictions(quick_run, corpus):
    filled, folder, _ = quick_run
    tagger = load_constrained_tagger(folder / "tagger")
    answers = tagger.tag([sentence.x for sentence in corpus.test[:20]])
    found = [label for answer in answers for label in answer.y]
    labels = filled[0].labels
    assert found == [labels[i] for i in filled[0].predictions[CHOSEN][: len(found)]]


def test_a_rerun_gives_the_same_bytes(quick_run, tmp_path):
    _, folder, report = quick_run
    elsewhere = Stages(tmp_path / "stages")
    assert write_run(tmp_path / "run", QUICK, run(QUICK, elsewhere, jobs=2), elsewhere) == report
    for name in ("results.json", "report.md", "tagger/model.npz", "constraints/first-25%-seed1/pos-3.json"):
        assert (tmp_path / "run" / name).read_bytes() == (folder / name).read_bytes(), name


def test_the_chunker_of_a_first_run_gives_the_same_bytes_with_any_number_of_jobs(tmp_path):
    options = Options(ratios=(0.1,), seeds=(1,), decoders=("search", "constrained-search"))
    found = []
    for jobs in (1, 2):
        stages = Stages(tmp_path / f"stages{jobs}")
        write_run(tmp_path / f"run{jobs}", options, run(options, stages, jobs), stages)
        found.append((tmp_path / f"run{jobs}/results.json").read_bytes())
        assert json.loads(found[-1])["cells"][0]["base"]["name"] == "bilstm"
    assert found[0] == found[1]


def test_a_second_run_into_a_folder_leaves_nothing_of_the_first(quick_run, stages, tmp_path):
    filled, _, _ = quick_run
    write_run(tmp_path, QUICK, filled, stages)
    other = replace(QUICK, decoders=("search",), constraints=("pos:2",))
    write_run(tmp_path, other, run(other, stages, jobs=1), stages)
    assert list((tmp_path / "constraints").rglob("*.json")) == []
    assert json.loads((tmp_path / "results.json").read_text())["options"]["decoders"] == ["search"]


def test_a_diagnosis_tells_why_a_constraint_helps(stages, tmp_path):
    options = replace(QUICK, constraints=("pos:2", "existence:1"), diagnose=True)
    told = diagnoses(options, stages, jobs=1)
    assert list(told) == ["existence-1", "pos-2"] or list(told) == ["pos-2", "existence-1"]
    assert "should help" in [verdict["name"] for verdict in told["pos-2"]["verdicts"]]
    report = write_run(tmp_path, options, run(options, stages, jobs=1), stages, told)
    assert "## Why a constraint helps or does not" in report
    assert "should help" in report


def test_tuning_scores_the_papers_grid_on_dev(stages, monkeypatch):
    grid = Grid((), (0.01, 0.05), (1e-5,), 300)
    monkeypatch.setattr(tuning, "BASE_GRIDS", {"chunking": grid})
    found = tuning.tune("bundled", (0.1,), stages, jobs=1)["bundled"]["bilstm"]["0.1"]
    assert [trial["learning_rate"] for trial in found["grid"]] == [0.01, 0.05]
    best = max(found["grid"], key=lambda trial: trial["dev"])
    assert found["chosen"] == {"learning_rate": best["learning_rate"], "decay": 1e-5}


def filled_cell(ratio, seed, right):
    """A cell of the table with the given right labels a test sentence of four labels, by row."""
    rows = {name: {"test": 25 * np.mean(counts), "chunk f1": 0.0} for name, counts in right.items()}
    gold = np.zeros(4 * 40, dtype=np.int64)
    predictions = {
        name: np.concatenate([np.arange(4) >= count for count in counts]).astype(np.int64)
        for name, counts in right.items()
    }
    cell = Cell("conll2000", "first", ratio, seed, BaseModel("bilstm"), ())
    return Filled(cell, {"rows": rows}, ("O", "B-NP"), predictions, gold)


def test_claims_of_the_paper_are_held_against_our_figures(corpus):
    sentences = tuple(Sentence(("a",) * 4, ("O",) * 4) for _ in range(40))
    toy = ChunkCorpus("conll2000", "", corpus.train, corpus.dev, sentences)
    low = {"exact": [2] * 40, "search": [2] * 40, "pos-3 search": [3] * 40, "existence-2 search": [2] * 40}
    high = {"exact": [3] * 40, "search": [3] * 40, "pos-3 search": [2] * 40, "existence-2 search": [4] * 40}
    cells = [filled_cell(0.01, 1, {**low, CHOSEN: [4] * 40}), filled_cell(1.0, 1, {**high, CHOSEN: [4] * 40})]
    (group,) = groups(cells)
    found = {claim.text: claim for claim in claims(group, toy)}
    assert not found["POS-constrained search (n = 3) beats search at every ratio"].held
    assert found["at 1%, POS-constrained search (n = 3) gains +4.41 over exact"].held
    assert not found["label existence (n = 2) does not help"].held
    assert found["the gain of constraints (POS n = 3, over exact) shrinks as data grow"].held
    assert (
        "+25.00 [+25.00, +25.00]"
        in found["POS-constrained search (n = 3) beats search at every ratio"].figures
    )


def test_the_paper_stands_beside_our_figures_on_its_own_corpus_only(quick_run):
    _, _, report = quick_run
    assert "paper's best row" not in report
    assert "Claims of the paper" not in report


def test_the_rule_behind_a_change_forbids_what_was_changed(corpus, stages):
    sentence = corpus.test[0]
    constraint = learn(SOFT[1], corpus.train, seed=1)
    before = ["B-VP"] * len(sentence)
    (found,) = examples([sentence], [before], [sentence.labels], {"pos-2": constraint})
    assert found.gain > 0
    assert found.rule.startswith("forbidden: ")
    assert "B-VP" in found.rule
    assert "< 0, so it is forbidden" in found.why


def test_unchanged_sentences_are_no_examples(corpus):
    labels = [sentence.labels for sentence in corpus.test]
    assert examples(corpus.test, labels, labels, {}) == []

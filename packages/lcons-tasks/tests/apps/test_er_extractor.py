"""An extractor answers what its decoder answers, also when written and read; text becomes passages."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcons_core import InvalidInput, LconsError, LearnedConstraint, RectifierNetwork
from lcons_core.features import Tuples
from lcons_decode import Status, decode_relations
from lcons_tasks.apps._extraction import entity_spans, load_recogniser, read_marks, read_places
from lcons_tasks.apps._extractor import MOST_CANDIDATES, Extractor, load_extractor, parts
from lcons_tasks.data._passage import Passage
from lcons_tasks.experiments.entity_relation._constraints import FEATURES, designed
from lcons_tasks.experiments.entity_relation._corpus import load_corpus
from lcons_tasks.models._relation_model import rules_of
from lcons_tasks.models._relation_svm import train_relations
from lcons_tasks.models._structured_svm import SvmSettings

PASSAGES = load_corpus("bundled").passages
TRAIN, OTHERS = PASSAGES[:40], [one.passage for one in PASSAGES[40:70]]


@pytest.fixture(scope="module")
def model():
    return train_relations(TRAIN, rules_of(designed()), SvmSettings(C=2.0**-5, passes=3))[0]


@pytest.fixture(scope="module")
def extractor(model):
    return Extractor(model, designed())


# Extracting.


def test_it_answers_what_the_decoder_answers_and_whether_constraints_change_it(model, extractor):
    changed = 0
    for passage in OTHERS:
        scores, extracted = model.scores(passage), extractor.extract(passage)
        within, without = (decode_relations(scores, rules_of(rules)) for rules in (designed(), {}))
        assert (extracted.entities, extracted.relations) == (within.entities, within.relations)
        assert (extracted.score, extracted.status, extracted.broken) == (within.score, within.status, 0)
        differ = (within.entities, within.relations) != (without.entities, without.relations)
        assert (extracted.stats["parts"], extracted.stats["changed"]) == (1, differ)
        changed += differ
    assert 0 < changed < len(OTHERS)


def test_where_nothing_is_allowed_the_answer_is_relaxed(model):
    feature = FEATURES["source-relation"]
    nothing = LearnedConstraint(
        RectifierNetwork(np.zeros((1, feature.space.d)), [2.0]), feature.space, feature
    )
    relaxed = Extractor(model, {"nothing": nothing})
    assert relaxed.extract(OTHERS[0]).status is Status.RELAXED
    assert relaxed.extract(OTHERS[0]).broken > 0
    assert relaxed.extract(Passage(("Ann",), ("NNP",), ((0, 1),))).broken == 0


@pytest.mark.parametrize("words", [(), ("No", "candidates")])
def test_a_passage_without_candidates_has_no_entities(words, extractor):
    found = extractor.extract(Passage(words, ("DT",) * len(words), ()))
    assert (found.entities, found.relations, found.status) == ((), {}, Status.OPTIMAL)


@pytest.mark.parametrize("labels", [("word", ("a", "b")), ("source", ("Person", "Dog"))])
def test_constraints_that_do_not_fit_are_refused(labels, model):
    feature = Tuples(labels[:1], labels[1:])
    other = LearnedConstraint(RectifierNetwork([[0.0, 0.0]], [0.0]), feature.space, feature)
    with pytest.raises(InvalidInput):
        Extractor(model, {"other": other})


# Long passages.


def joined(passages):
    words, pos, spans = (), (), ()
    for one in passages:
        spans += tuple((len(words) + a, len(words) + b) for a, b in one.spans)  # type: ignore[assignment]
        words, pos = words + one.words, pos + one.pos
    return Passage(words, pos, spans)


@given(st.lists(st.sampled_from(["a", ".", "[a]", "[a .]"]), max_size=300))
def test_parts_are_all_words_and_all_candidates(pieces):
    one = joined(
        Passage(words, words, ((0, len(words)),) if piece.startswith("[") else ())
        for piece in pieces
        for words in [tuple(piece.strip("[]").split())]
    )
    found = parts(one)
    assert joined(found) == one
    assert all(0 < len(part.spans) <= MOST_CANDIDATES for part in found[:-1])
    assert all(part.words[-1] == "." for part in found[:-1] if "." in part.words[part.spans[0][1] :])


def test_a_long_passage_is_extracted_part_by_part(extractor):
    whole = extractor.extract(joined(OTHERS))
    each = [extractor.extract(part) for part in parts(joined(OTHERS))]
    assert whole.stats["parts"] == len(each) > 2
    assert whole.entities == sum((one.entities for one in each), ())
    assert whole.score == pytest.approx(sum(one.score for one in each))
    assert len(whole.relations) == sum(len(one.relations) for one in each)
    first = len(each[0].entities)
    later = {(i - first, j - first): label for (i, j), label in whole.relations.items() if i >= first}
    assert later.items() >= each[1].relations.items()


# The folder.


@pytest.fixture(scope="module")
def saved(extractor, tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved") / "extractor"
    extractor.save(folder)
    return folder


def files(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_what_was_saved_answers_alike_when_loaded_and_is_all_there_is(extractor, saved, tmp_path):
    names = ["source-relation", "relation-target", "relation-relation"]
    described = [{"name": name, "file": f"constraints/{name}.json"} for name in names]
    assert json.loads((saved / "extractor.json").read_text()) == {"format": 1, "constraints": described}
    loaded = load_extractor(saved)
    assert loaded.constraints == extractor.constraints
    assert [loaded.extract(one) for one in OTHERS] == [extractor.extract(one) for one in OTHERS]
    loaded.save(tmp_path / "again")
    assert files(tmp_path / "again") == files(saved)
    assert [path.name for path in saved.parent.iterdir()] == ["extractor"]


# Marked text.


def shown(found):
    return [found.text[slice(*found.place(i))] for i in range(len(found.spans))]


@pytest.mark.parametrize(
    ("line", "text", "candidates"),
    [
        (r"a\b \\ \n [x]", r"a\b \\ \n x", ["x"]),
        ("[ Ann\t]x", " Ann\tx", ["Ann"]),
        ("\ud800[\udcff] 😀[👨\u200d👩]", "\ud800\udcff 😀👨\u200d👩", ["\udcff", "👨\u200d👩"]),
        ("", "", []),
    ],
)
def test_candidates_are_exactly_what_is_marked(line, text, candidates):
    found = read_marks(line)
    assert (found.text, shown(found)) == (text, candidates)


@pytest.mark.parametrize("line", ["[Ann [Bo]]", "Ann]", "[Ann", "[ ] Ann"])
def test_brackets_that_mark_nothing_are_refused(line):
    with pytest.raises(InvalidInput):
        read_marks(line)


# A backslash before a mark would be taken for its escape.
TEXTS = st.text(st.sampled_from("ab. -'[]😀\t\x85()") | st.characters(exclude_characters="\\"), max_size=40)


@given(TEXTS, st.sets(st.integers(0, 40), max_size=8))
def test_marks_come_back_whatever_the_text_holds(text, borders):
    borders = sorted(border for border in borders if border <= len(text))
    pairs = zip(borders[::2], borders[1::2], strict=False)
    places = [(a, b) for a, b in pairs if text[a:b].strip()]
    line, done = "", 0
    for start, end in places:
        line += f"{escaped(text[done:start])}[{escaped(text[start:end])}]"
        done = end
    found = read_marks(line + escaped(text[done:]))
    assert found == read_places(text, places)
    assert found.text == text
    assert shown(found) == [text[a:b].strip() for a, b in places]
    assert all(text[token.start : token.end] == token.text for token in found.tokens)
    assert "".join(found.words) == "".join(text.split())


def escaped(text):
    return text.replace("[", "\\[").replace("]", "\\]")


# Entities of a spaCy pipeline.


@pytest.fixture(scope="module")
def pipelines(tmp_path_factory):
    """Pipelines in folders: `rules` and `spans` find entities, `only-spans` and `empty` do not."""
    import spacy

    folder = tmp_path_factory.mktemp("pipelines")
    patterns = [{"label": "ORG", "pattern": "Hooli Corp."}, {"label": "GPE", "pattern": [{"LOWER": "oslo"}]}]
    for name, pipe, config in (
        ("rules", "entity_ruler", {}),
        ("spans", "span_ruler", {"annotate_ents": True}),
        ("only-spans", "span_ruler", {}),
    ):
        nlp = spacy.blank("en")
        nlp.add_pipe(pipe, config=config).add_patterns(patterns)  # type: ignore[attr-defined]
        nlp.to_disk(folder / name)
    spacy.blank("en").to_disk(folder / "empty")
    return folder


@pytest.mark.parametrize("name", ["rules", "spans"])
def test_entities_of_a_pipeline_are_candidates(name, pipelines):
    nlp = load_recogniser(str(pipelines / name))
    texts = [read_places(text) for text in ("Hooli Corp. left  Oslo.", "Nothing", "\udcff OSLO [Oslo]")]
    found = [replace(text, spans=spans) for text, spans in zip(texts, entity_spans(nlp, texts), strict=True)]
    assert list(map(shown, found)) == [["Hooli Corp.", "Oslo"], [], ["OSLO", "Oslo"]]


@pytest.mark.parametrize("name", ["only-spans", "empty", "missing", "."])
def test_a_pipeline_that_finds_no_entities_is_refused(name, pipelines):
    with pytest.raises(LconsError):
        load_recogniser(str(pipelines / name))

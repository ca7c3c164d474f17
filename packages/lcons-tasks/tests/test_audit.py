"""An audit finds labels that the rest of the data contradicts, with the cheapest relabelling and its odds."""

import math

import pytest
from made_up_drugs import corpus

from lcons_core import InvalidInput
from lcons_tasks.audit import Finding, audit
from lcons_tasks.audit._outputs import audit_document, finding_lines
from lcons_tasks.data import Sentence
from lcons_tasks.report import to_html, to_markdown

DRUGS = ["aspirin", "codeine", "morphine"]
RIGHT = [
    sentence
    for i in range(30)
    for drug in [DRUGS[i % 3]]
    for sentence in (
        Sentence(("give", drug, "for", "pain", "now"), ("O", "B-DRUG", "O", "B-ILL", "O")),
        Sentence(("no", drug, "today"), ("O", "B-DRUG", "O")),
    )
]
MISSED = Sentence(("give", "codeine", "now"), ("O", "O", "O"))
BROKEN = Sentence(("no", "aspirin", "for", "pain"), ("O", "I-DRUG", "O", "B-ILL"))


@pytest.fixture(scope="module")
def found():
    return audit([*RIGHT[:20], MISSED, *RIGHT[20:], BROKEN])


def test_planted_mistakes_are_the_findings(found):
    places = {(one.sentence, one.first, one.stop): (one.given, one.proposed) for one in found.findings}
    assert places == {(21, 1, 2): (("O",), ("B-DRUG",)), (62, 1, 2): (("I-DRUG",), ("B-DRUG",))}
    assert {found.relabelled(one)[1] for one in found.findings} == {"B-DRUG"}
    assert found.scheme == "iob2"
    assert audit(RIGHT).findings == ()


def test_the_reasons_add_up_to_the_odds_and_count_other_sentences(found):
    one = next(one for one in found.findings if one.sentence == 21)
    assert sum(reason.log_odds for reason in one.reasons) == pytest.approx(one.log_odds)
    rules = {reason.rule for reason in one.reasons}
    assert "'codeine' is B-DRUG in 20 of 20 other places, O in 0" in rules
    assert "'codeine' after 'give' is B-DRUG in 10 of 10 other places, O in 0" in rules


def test_a_word_without_another_place_is_no_evidence():
    once = Sentence(("take", "zyban", "now"), ("O", "B-ODD", "O"))
    found = audit([*RIGHT, once])
    assert not found.findings
    assert found.doubtful == 1


def test_clean_sentences_give_few_findings_and_planted_mistakes_are_first():
    """Of 60 sentences, each with other names; then every fifth loses a label."""
    clean = corpus(60)
    assert not audit(clean).findings
    wrong = list(clean)
    for i in range(0, 60, 5):
        wrong[i] = Sentence(clean[i].words, ("O",) * len(clean[i]))
    planted = {i + 1 for i in range(60) if wrong[i].labels != clean[i].labels}
    findings = audit(wrong).findings
    assert findings
    assert {finding.sentence for finding in findings} <= planted


def test_sources_that_have_learned_too_little_show_one_finding_in_twenty_sentences():
    """Every word occurs once, so that the sources are wrong nearly everywhere."""
    odd = [Sentence((f"a{i}", f"b{i}"), ("O", f"B-{i % 7}")) for i in range(60)]
    result = audit([*odd, *[Sentence(("a", "b"), ("O", "O"))] * 20, Sentence(("a", "b"), ("O", "B-1"))])
    assert len(result.findings) <= 4


def test_one_sentence_and_more_labels_than_models_can_learn_are_refused():
    for sentences in ([MISSED], [Sentence((f"w{i}", "x"), (f"L{i}", "O")) for i in range(1000)]):
        with pytest.raises(InvalidInput):
            audit(sentences)


def test_a_confusion_that_is_frequent_elsewhere_comes_later():
    """With the same odds; its share of other places is taken from them."""
    rare, frequent = (
        Finding(1, 0, 1, ("A",), ("B",), 2.0, (), clearest=0, alike=alike, others=10) for alike in (0, 2)
    )
    assert rare.score == pytest.approx(2.0 - math.log(0.5 / 11))
    assert frequent.score == pytest.approx(2.0 - math.log(2.5 / 11))


def test_text_and_page_show_the_rule(found, tmp_path):
    lines = [*finding_lines(found, found.findings[0])]
    assert "[" in lines[0]
    assert "other places" in lines[-1]
    document = audit_document(found, "made up", place=lambda finding: f"x.conll:{finding.first}")
    for text in (to_markdown(document), to_html(document, tmp_path)):
        assert "other places" in text
        assert "x.conll:1 sentence 21" in text
        assert "2 findings in 62 sentences" in text


def test_rarity_ranks_data_that_are_mostly_outside(found):
    assert found.rank == "rarity"
    scores = [one.score for one in found.findings]
    assert scores == sorted(scores, reverse=True)
    dense = [Sentence(("a", "b"), ("B-X", "I-X")), Sentence(("b", "c"), ("B-X", "O"))] * 2
    assert audit(dense).rank == "odds"

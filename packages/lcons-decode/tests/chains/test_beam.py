"""The beam is that of the paper at every width; at full width it is exact; the generic search agrees."""

from itertools import product

import pytest
from chain_strategies import (
    agree,
    best_of,
    chains,
    columns,
    enumerated,
    global_uses,
    hard_problems,
    is_soft,
    local_uses,
    problems,
    reference_beam,
    sixteenths,
)
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from lcons_core import InvalidInput
from lcons_decode import (
    ChainScores,
    Status,
    Violation,
    allowed_ngrams,
    beam_search,
    search,
    viterbi,
)

quick = settings(max_examples=60, deadline=None)
widths = st.integers(1, 5)


def assert_is_viterbi(answer, scores):
    """If the beam is empty, the answer is that of Viterbi, and its stats state an empty beam."""
    free = viterbi(scores)
    assert answer.stats["beam"] == 0
    assert answer.y == free.y
    assert (answer.status is Status.INFEASIBLE) == (free.status is Status.INFEASIBLE)


@settings(max_examples=120, deadline=None)
@given(st.one_of(hard_problems, problems()), widths, st.booleans())
def test_a_beam_is_the_beam_of_the_paper(problem, width, rerank):
    scores, uses, x = problem
    reference = reference_beam(scores, uses, x, width, rerank)
    assume(not (is_soft(uses) and reference.close))
    answer = beam_search(scores, uses, x, width=width, rerank=rerank)
    assert answer.stats["fallbacks"] == reference.fallbacks
    if not reference.beam:
        assert_is_viterbi(answer, scores)
        return
    y, score = reference.beam[0]
    own = next(each for each in enumerated(scores, uses, x) if each.y == y)
    assert answer.y == y
    assert agree(answer.score, score, uses)
    assert answer.stats["beam"] == len(reference.beam)
    assert set(answer.violations) == set(own.violations)
    assert answer.status is (Status.RELAXED if own.violations else Status.HEURISTIC)


@quick
@given(problems(max_T=4, max_L=3), st.data())
def test_a_full_width_beam_is_exact_where_some_labelling_satisfies(problem, data):
    scores, uses, x = problem
    uses += data.draw(st.lists(global_uses(scores.labels), max_size=1))
    found = enumerated(scores, uses, x)
    satisfying = [each for each in found if not each.violations]
    assume(satisfying)
    best, unique = best_of(satisfying)
    answer = beam_search(scores, uses, x, width=scores.L ** len(scores))
    assert answer.status is Status.HEURISTIC
    assert agree(answer.score, best.score, uses)
    if unique:
        assert answer.y == best.y


@quick
@given(st.data(), widths)
def test_global_constraints_choose_among_the_last_beam(data, width):
    scores = data.draw(chains(max_T=4, max_L=3))
    uses = data.draw(local_uses(scores.labels, max_size=2, kinds=("hard",)))
    x = data.draw(columns(len(scores)))
    whole = data.draw(global_uses(scores.labels, kinds=("hard",)))
    reference = reference_beam(scores, uses, x, width)
    answer = beam_search(scores, [*uses, whole], x, width=width)
    if not reference.beam:
        assert_is_viterbi(answer, scores)
        return
    satisfying = [(y, s) for y, s in reference.beam if whole.constraint.satisfied(list(y))]
    y, score = (satisfying or reference.beam)[0]
    assert (answer.y, answer.score) == (y, score)
    assert answer.stats["fallbacks"] == reference.fallbacks + (not satisfying)
    assert (Violation("whole", None) in answer.violations) == (not satisfying)


def test_nothing_fills_up_a_beam_but_rerank_does():
    scores = ChainScores([[3.0, 2.0, 1.0]], labels="abc")
    only_c = allowed_ngrams("abc", ["c"])
    assert beam_search(scores, [only_c], width=3).stats["beam"] == 1
    assert beam_search(scores, [only_c], width=3, rerank=True).stats["beam"] == 3


def test_widths_below_one_are_refused():
    with pytest.raises(InvalidInput):
        beam_search(ChainScores([[0.0]]), width=0)
    with pytest.raises(InvalidInput):
        search("", lambda s: [], lambda s: True, width=0)


@st.composite
def trees(draw):
    """Gains of the steps of words over a and b, of up to 3 letters, and the words that are not accepted."""
    words = ["".join(w) for size in (1, 2, 3) for w in product("ab", repeat=size)]
    gains = {word: draw(sixteenths) for word in words}
    leaves = draw(st.sets(st.sampled_from(words)))
    refused = draw(st.sets(st.sampled_from(words), max_size=4))
    return gains, leaves, refused


def grow(gains, leaves):
    return lambda s: [] if s in leaves or len(s) == 3 else [(s + c, gains[s + c]) for c in "ab"]


@quick
@given(trees())
def test_a_full_width_search_is_brute_force_where_every_step_accepts_something(tree):
    gains, leaves, refused = tree
    expand = grow(gains, leaves)
    found = search("", expand, lambda s: s not in refused, width=100)
    assume(not found.fallbacks)
    complete, level = {}, {"": 0.0}
    while level:
        onward = {}
        for state, score in level.items():
            successors = list(expand(state))
            if not successors:
                complete[state] = score
            onward |= {after: score + gain for after, gain in successors if after not in refused}
        level = onward
    assert dict(found.beam) == complete
    assert [score for _, score in found.beam] == sorted(complete.values(), reverse=True)


@quick
@given(trees(), widths)
def test_search_keeps_the_width_and_counts_fallbacks(tree, width):
    gains, leaves, _ = tree
    found = search("", grow(gains, leaves), lambda s: False, width)
    assert 1 <= len(found.beam) <= width
    assert found.fallbacks == found.steps == max(1, found.steps)


def test_search_stops_after_the_stated_number_of_steps():
    found = search(0, lambda s: [(s + 1, 1.0)], lambda s: True, width=1, max_steps=7)
    assert (found.beam, found.steps) == (((7, 7.0),), 7)

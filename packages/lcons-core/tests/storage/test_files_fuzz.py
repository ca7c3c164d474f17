"""3,000 damaged files: each one is refused by an `LconsError`, or is a constraint that is whole."""

import copy
import json
import random
from collections import Counter
from collections.abc import Callable
from functools import partial

import pytest

from lcons_core import (
    DamagedFile,
    FeatureSpace,
    LearnedConstraint,
    RectifierNetwork,
    binary,
    count,
    load,
    one_hot,
)
from lcons_core._document import dumps, loads
from lcons_core._files import digest
from lcons_core.features import Counts, Existence, NgramContext, NgramLabels, Tuples

MUTANTS_OF_BYTES = 1500
MUTANTS_OF_DATA = 1500

FEATURES = [
    NgramLabels(("A", "B"), n=2, pad=True),
    NgramContext(("A", "B"), ("DT", "NN"), n=2, pad=True),
    NgramContext(("A",), ("punctuation",), n=1, column="word", word_class="punctuation"),
    Existence(("A", "B"), n=2),
    Counts(("A", "B"), high=3),
    Tuples(("source", "relation"), (("Person", "Location"), ("NoRel", "Kill"))),
    None,
]
MIXED = FeatureSpace([one_hot("o", ["x", "y"], other=True), binary("b", ["x"]), count("c", ["x"], 2)])

VALUES = [
    None,
    True,
    False,
    0,
    1,
    -1,
    2,
    7,
    10**6,
    10**18,
    10**45,
    2**63,
    0.5,
    -0.0,
    1e308,
    1e-320,
    float("nan"),
    float("inf"),
    "",
    "x",
    "(other)",
    "one-hot",
    "count",
    "ngram",
    "A" * 1000,
    "\ud800",
    "é\n",
    [],
    {},
    [[]],
    [[[[1.0]]]],
    {"columns": [0], "values": [1.0]},
    {"kind": "tuples"},
    ["A", "B"],
    [1.0, 1.0],
]


def originals() -> list[LearnedConstraint]:
    rng = random.Random(5)
    made = []
    for feature in FEATURES:
        space = MIXED if feature is None else feature.space  # type: ignore[attr-defined]
        sixteenths = [[rng.randint(-32, 32) / 16 for _ in range(space.d)] for _ in range(2)]
        network = RectifierNetwork(sixteenths, [0.5, -0.25])
        notes = {"seed": 3, "config": {"hidden": 2, "grid": [0.1, 0.01]}, "data": "0a1b"}
        constraint = LearnedConstraint(network, space, feature, notes)
        made += [constraint, constraint & constraint]
    return made


def damaged_bytes(rng: random.Random, content: bytes) -> bytes:
    data = bytearray(content)
    for _ in range(rng.choice([1, 1, 1, 2, 5])):
        at = rng.randrange(len(data) + 1)
        end = min(len(data), at + rng.choice([1, 1, 2, 8, 64]))
        piece = bytes(data[at:end])
        how = rng.randrange(7)
        if how == 0 and piece:
            data[at] ^= 1 << rng.randrange(8)
        elif how == 1:
            del data[at:end]
        elif how == 2:
            data[at:at] = rng.randbytes(rng.choice([1, 3]))
        elif how == 3:
            data[at:at] = piece
        elif how == 4 and rng.random() < 0.3:
            del data[at:]
        elif how == 5:
            data[at:at] = rng.choice(
                [b" ", b"\n", b"0", b"-", b"1", b"[", b"}", b",", b'"', b"\\u0041", b"e5"]
            )
        else:
            swap = rng.randrange(len(data) + 1)
            data[at:end] = data[swap : swap + len(piece)]
    return bytes(data)


def places(value: object, path: tuple = ()) -> list[tuple]:
    found = [path] if path else []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        found += places(item, (*path, key))
    return found


def damaged_data(rng: random.Random, document: dict) -> str:
    """The document with some values swapped, dropped, repeated or renamed, and a right checksum."""
    damaged = copy.deepcopy(document)
    del damaged["sha256"]
    twice = None
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        everywhere = places(damaged)
        if not everywhere:
            break
        *path, key = rng.choice(everywhere)
        holder = damaged
        for step in path:
            holder = holder[step]
        how = rng.randrange(8)
        if how <= 2:
            holder[key] = copy.deepcopy(rng.choice(VALUES))
        elif how == 3:
            del holder[key]
        elif how == 4 and isinstance(holder, dict):
            holder[rng.choice(["x", "kind", "other", "low", "values", key.upper()])] = holder.pop(key)
        elif how == 5 and isinstance(holder, list):
            holder.insert(key, copy.deepcopy(holder[key]))
        elif how == 6:
            other = damaged
            for step in rng.choice(places(damaged)):
                other = other[step]
            holder[key] = copy.deepcopy(other)
        elif isinstance(holder, dict):
            twice = key
    try:
        sha256 = digest(damaged)
    except ValueError:  # NaN has no canonical form
        sha256 = "0" * 64
    text = json.dumps({**damaged, "sha256": sha256})
    if twice is not None:
        text = text.replace(f'"{twice}": ', f'"{twice}": 1, "{twice}": ', 1)
    return text


def outcome(read: Callable[[], LearnedConstraint]) -> LearnedConstraint | str:
    """What was read, or the sentence that refuses it; any other exception goes on."""
    try:
        return read()
    except DamagedFile as error:
        return str(error)


def test_three_thousand_mutants_are_refused_or_whole(tmp_path):
    rng = random.Random(20)
    path = tmp_path / "mutant.json"
    made = [(constraint, dumps(constraint)) for constraint in originals()]
    ends: Counter[str] = Counter()
    for i in range(MUTANTS_OF_BYTES):
        constraint, text = made[i % len(made)]
        path.write_bytes(damaged_bytes(rng, text.encode()))
        found = outcome(partial(load, path))
        if isinstance(found, str):
            assert str(path) in found
        else:
            assert found == constraint
        ends["bytes refused" if isinstance(found, str) else "bytes equal"] += 1
    documents = [json.loads(text) for _, text in made]
    for i in range(MUTANTS_OF_DATA):
        found = outcome(partial(loads, damaged_data(rng, documents[i % len(documents)])))
        if isinstance(found, str):
            assert len(found) < 600
        else:
            assert loads(dumps(found)) == found
        ends["data refused" if isinstance(found, str) else "data whole"] += 1
    # Each way to end must be common, or the fuzz would mean nothing.
    assert ends.total() == 3_000
    assert len(ends) == 4
    assert min(ends.values()) >= 30, ends


@pytest.mark.parametrize("constraint", originals())
def test_every_prefix_of_a_file_is_refused(constraint):
    text = dumps(constraint)
    for stop in range(0, len(text) - 2, 7):
        with pytest.raises(DamagedFile):
            loads(text[:stop])

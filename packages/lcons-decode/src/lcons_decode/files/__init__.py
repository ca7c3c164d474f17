"""Files of scores and of constraints, and answers as text.

    read_scored, load_constraints -> decode_scored -> conll, described

Scores that somebody else has made are read a sequence at a time from npz or JSON lines.

npz (`numpy.savez`), all sequences packed one after another:

    emission    (N, L) scores, a row a token
    offsets     (B + 1,) sequence i is the rows offsets[i] to offsets[i + 1]
    labels      (L,) names of the columns
    transition  (L, L) [from, to], start (L,), stop (L,): zero where left out
    words, pos  (N,) strings, and any other column that a constraint reads

JSON lines, a first object for all and then one a sequence; transition, start and stop may be left out, and
`-Infinity` forbids:

    {"labels": ["B-X", "I-X", "O"], "transition": [[...], ...], "start": [...], "stop": [...]}
    {"emission": [[0.1, 0.2, 0.7], ...], "words": ["the", ...], "pos": ["DT", ...], "id": 1}

Neither is held in memory whole. No pickle: arrays of objects are refused. Whatever is wrong with the scores
is an `LconsError`, one sentence.
"""

from lcons_decode._scores import WORDS
from lcons_decode.files._answers import NO_LABEL, conll, described
from lcons_decode.files._constraints import load_constraints
from lcons_decode.files._scores import ScoreSource, read_labels, read_scored

__all__ = [
    "NO_LABEL",
    "WORDS",
    "ScoreSource",
    "conll",
    "described",
    "load_constraints",
    "read_labels",
    "read_scored",
]

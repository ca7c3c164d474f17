"""Files of scores and of constraints, and answers as text.

    read_scored, load_constraints -> decode_scored -> conll, described

The scores of any model are read from npz or JSON lines, one sequence at a time.

npz (`numpy.savez`), with all sequences packed one after another:

    emission    (N, L) scores, one row per token
    offsets     (B + 1,) sequence i is the rows offsets[i] to offsets[i + 1]
    labels      (L,) names of the columns
    transition  (L, L) [from, to], start (L,), stop (L,): optional, zero by default
    words, pos  (N,) strings, and any other column that a constraint reads

JSON lines: the first object is for all sequences, then one object per sequence. Transition, start and stop
are optional, and `-Infinity` forbids a label:

    {"labels": ["B-X", "I-X", "O"], "transition": [[...], ...], "start": [...], "stop": [...]}
    {"emission": [[0.1, 0.2, 0.7], ...], "words": ["the", ...], "pos": ["DT", ...], "id": 1}

Files are never loaded into memory whole. Pickle is not used: arrays of objects raise an error. Every problem
with the scores raises an `LconsError` of one sentence.
"""

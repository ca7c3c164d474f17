"""Labelled data of one's own: read it, learn a constraint from it, and judge that on what it has not seen.

    file -(telling)-> format -(reading)-> Structures | PsiTable -(learning)-> Learned

| file | format | a structure is |
|---|---|---|
| CoNLL columns | `conll` | a sentence: a label a token, and columns such as words and POS tags |
| JSON lines | `jsonl` | an object: `labels` with `words`, `pos`, ...; or `tuples` |
| CSV, npz | `csv`, `npz` | a row: psi itself, valid or not |

Each rule in words has the support that training gives it, the valid parts that its premise covers, and beside
it how many valid parts it would forbid by chance, if its conditions were independent, and how many it does:
`[support 313; expected 300 by chance, seen 7]`. The expectation says what a rule rests on: a rule about a
label that was seen once may have a large support and an expectation near 0. All three are counted on all
training data.

Not in the paper: all of this folder.
"""

from lcons_tasks.own_data._data import Data, PsiTable, Structures, split
from lcons_tasks.own_data._formats import FORMATS, read_data, tell_format
from lcons_tasks.own_data._judgement import Forbidden, Judgement
from lcons_tasks.own_data._learn import Learned, estimate_seconds, learn
from lcons_tasks.own_data._settings import LearnSettings
from lcons_tasks.own_data._tables import table_space

__all__ = [
    "FORMATS",
    "Data",
    "Forbidden",
    "Judgement",
    "LearnSettings",
    "Learned",
    "PsiTable",
    "Structures",
    "estimate_seconds",
    "learn",
    "read_data",
    "split",
    "table_space",
    "tell_format",
]

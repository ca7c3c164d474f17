"""Labelled data of one's own: read it, learn a constraint from it, and judge that on what it has not seen.

    file -> format -> Structures | PsiTable, Split -> Recipe -> Learned

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

from lcons_tasks.own_data._data import (
    SPLIT,
    Data,
    Part,
    PsiTable,
    Split,
    Structures,
    joined,
    recorded_split,
    split,
)
from lcons_tasks.own_data._formats import FORMATS, described_layout, labelled_layout, read_data, tell_format
from lcons_tasks.own_data._judgement import Forbidden, Judgement
from lcons_tasks.own_data._learn import Learned, learn
from lcons_tasks.own_data._summary import summarise, summary_dict
from lcons_tasks.own_data._tables import table_space

__all__ = [
    "FORMATS",
    "SPLIT",
    "Data",
    "Forbidden",
    "Judgement",
    "Learned",
    "Part",
    "PsiTable",
    "Split",
    "Structures",
    "described_layout",
    "joined",
    "labelled_layout",
    "learn",
    "read_data",
    "recorded_split",
    "split",
    "summarise",
    "summary_dict",
    "table_space",
    "tell_format",
]

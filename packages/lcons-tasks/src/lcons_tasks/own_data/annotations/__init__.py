"""Readers of annotation tools: one file per tool, each from its files to labelled sentences.

| tool | file | read by |
|---|---|---|
| spaCy | `DocBin`, `.spacy` | `_docbin.py` |
| Prodigy | JSON lines with `text` and `spans` | `_prodigy.py` |
| Label Studio | its JSON and JSON-MIN exports | `_label_studio.py` |
| WebAnno, INCEpTION | WebAnno TSV 3 | `_webanno.py` |
| brat | a folder of `.txt` and `.ann` files, or one `.ann` file beside its text | `_brat.py` |

Not in the paper: all of this folder.
"""

from lcons_tasks.own_data.annotations._brat import read_brat
from lcons_tasks.own_data.annotations._docbin import read_docbin
from lcons_tasks.own_data.annotations._label_studio import read_label_studio
from lcons_tasks.own_data.annotations._passage import AnnotationWarning, Passage, Span
from lcons_tasks.own_data.annotations._prodigy import read_prodigy
from lcons_tasks.own_data.annotations._webanno import read_webanno

__all__ = [
    "AnnotationWarning",
    "Passage",
    "Span",
    "read_brat",
    "read_docbin",
    "read_label_studio",
    "read_prodigy",
    "read_webanno",
]

"""Readers of annotation tools, registered under the entry points `lcons.readers`, and tasks for Label Studio.

| format | tool | file |
|---|---|---|
| `spacy` | spaCy | `DocBin`, `.spacy` |
| `prodigy` | Prodigy | JSON lines with `text` and `spans` |
| `label-studio` | Label Studio | its JSON and JSON-MIN exports |
| `webanno` | WebAnno, INCEpTION | WebAnno TSV 3 |
| `brat` | brat | a folder of `.txt` and `.ann` files, or one `.ann` file beside its text |

Each reader is a function of a path that returns (words, labels) of each sentence.
"""

from lcons_contrib.annotations._brat import read_brat
from lcons_contrib.annotations._docbin import read_docbin
from lcons_contrib.annotations._label_studio import label_studio_tasks, read_label_studio
from lcons_contrib.annotations._prodigy import read_prodigy
from lcons_contrib.annotations._webanno import read_webanno

__all__ = [
    "label_studio_tasks",
    "read_brat",
    "read_docbin",
    "read_label_studio",
    "read_prodigy",
    "read_webanno",
]

"""`lcons_tagger`, a spaCy component: the labels of a trained tagger under its constraints.

    nlp.add_pipe("lcons_tagger", config={"model": "runs/chunking/tagger"})

| where | what |
|---|---|
| `doc.spans["lcons"]` | one span per chunk (B-NP I-NP is one NP), or per run of a label if they are not IOB |
| its `attrs` | labels `changed` by the constraints, and sentences that had to be `relaxed` |
| `token._.lcons_label` | the label of the token; "" for white space, which taggers do not read |

Sentences and POS tags are those of the doc if it has them (put the component after those that set them); else
sentences end as in `lcons tag`, and POS tags, if the tagger reads them, are lcons's own. A pipeline on disk
or in bytes holds the complete tagger, without pickle; lcons's own POS tagger is not part of it.

After installation spaCy finds the component by its entry point: nothing has to be imported.

spaCy imports this module with every pipeline, so it imports nothing else of lcons.
"""

# No postponed annotations here: spaCy reads the annotations to check configurations.
from typing import Any

from spacy.language import Language

NAME = "lcons_tagger"
LABEL = "lcons_label"
SPANS = "lcons"


@Language.factory(
    NAME,
    assigns=["doc.spans", f"token._.{LABEL}"],
    default_config={"model": None, "spans_key": SPANS, "constraints": True},
)
def make_lcons_tagger(nlp: Language, name: str, model: str | None, spans_key: str, constraints: bool) -> Any:
    """The component; `model` is a tagger's folder, as `lcons fit` writes it, and `constraints` is
    whether to use its constraints."""
    from lcons_tasks.apps._spacy_tagger import LconsTagger

    return LconsTagger(name, model, spans_key=spans_key, constraints=constraints)

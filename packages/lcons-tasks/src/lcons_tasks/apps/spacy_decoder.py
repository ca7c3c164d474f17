"""`lcons_decoder`, a spaCy component: the spans of another component, decoded again under constraint files.

    nlp.add_pipe("lcons_decoder", config={"component": "ner", "constraints": ["rules.json", "soft.json:0.5"]})

It stands after the component whose scores it reads:

| component | spans and their scores | result |
|---|---|---|
| `ner`, `beam_ner` | the analyses of a beam, each weighted by its probability | `doc.ents` |
| `spancat`, `spancat_singlelabel` | all suggested spans, each label with its probability | `doc.spans[key]` |

A span (i, j, X) with score s adds s to the probability of B-X at token i and of I-X at the tokens after it,
in the letters of the constraints (IOB2, BIOES or BILOU). With p_t(y) the probability of label y at token t,
and what is left for O, the labels of a sentence are those that

    maximise    sum_t log max(p_t(y_t), FLOOR)  -  the costs of the soft constraints
    subject to  the hard constraints and the rules of the label scheme,

decoded exactly. So the result has spans that do not overlap, obeys the constraints, and contains no span that
the component gave no probability unless a constraint asks for it. Overlapping spans of a spancat share the
probability of their tokens: if p_t sums to more than 1, it is divided by its sum.

Entities that a ruler set before the recogniser are not kept: put the ruler after this component.

Constraint files are part of a pipeline on disk or in bytes. Words are the column `word` of constraints, and
the doc's fine-grained tags the column `pos`.

spaCy imports this module with every pipeline, so it imports nothing else of lcons.
"""

# No postponed annotations here: spaCy reads the annotations to check configurations.
from typing import Any

from spacy.language import Language

NAME = "lcons_decoder"


@Language.factory(
    NAME,
    assigns=["doc.ents", "doc.spans"],
    default_config={"component": "ner", "constraints": [], "beam_width": 16},
)
def make_lcons_decoder(
    nlp: Language, name: str, component: str, constraints: list[str], beam_width: int
) -> Any:
    """The component; `component` is the name of the one to decode again, `constraints` are files, hard or
    with a weight (`FILE:0.5`), and `beam_width` is that of a named entity recogniser."""
    from lcons_tasks.apps._spacy_decoder import LconsDecoder

    return LconsDecoder(nlp, name, component, constraints, beam_width)

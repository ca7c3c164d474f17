"""A constraint as a regular expression, in Outlines."""

from outlines_core import Guide, Index, Vocabulary

from lcons_contrib.llm.grammars import write_grammar
from lcons_core import iob2

labels = ["B-AUTHOR", "I-AUTHOR", "B-TITLE", "I-TITLE", "O"]
ids = {chr(i): i for i in (10, *range(32, 127))}
vocabulary = Vocabulary(0, {token: [i] for token, i in ids.items()})  # or Vocabulary.from_pretrained(name)
index = Index(write_grammar(iob2(labels), "regex", end="\n"), vocabulary)


def accepted(text: str) -> bool:
    return Guide(index).accepts_tokens([ids[character] for character in text])


print(accepted("B-AUTHOR I-AUTHOR B-TITLE\n"), accepted("B-AUTHOR I-TITLE\n"))

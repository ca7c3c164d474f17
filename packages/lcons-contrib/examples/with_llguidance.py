"""A constraint as a Lark grammar, in llguidance."""

from llguidance import LLMatcher, LLTokenizer

from lcons_contrib.llm.grammars import write_grammar
from lcons_core import iob2

labels = ["B-AUTHOR", "I-AUTHOR", "B-TITLE", "I-TITLE", "O"]
grammar = LLMatcher.grammar_from_lark(write_grammar(iob2(labels), "lark"))
tokenizer = LLTokenizer("byte")  # or llguidance.hf.from_tokenizer(your tokenizer)


def accepted(text: str) -> bool:
    matcher = LLMatcher(tokenizer, grammar, log_level=0)
    return matcher.consume_tokens(list(text.encode())) and matcher.is_accepting()


print(accepted("B-AUTHOR I-AUTHOR B-TITLE"), accepted("B-AUTHOR I-TITLE"))

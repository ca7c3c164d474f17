"""A constraint as EBNF, in XGrammar."""

import xgrammar

from lcons_core import iob2
from lcons_core.grammars import write_grammar

labels = ["B-AUTHOR", "I-AUTHOR", "B-TITLE", "I-TITLE", "O"]
tokenizer = xgrammar.TokenizerInfo([])  # or TokenizerInfo.from_huggingface(your tokenizer)
compiler = xgrammar.GrammarCompiler(tokenizer)
grammar = compiler.compile_grammar(write_grammar(iob2(labels), "ebnf", shortest=1).text)


def accepted(text: str) -> bool:
    matcher = xgrammar.GrammarMatcher(grammar, terminate_without_stop_token=True)
    return matcher.accept_string(text) and matcher.is_terminated()


print(accepted("B-AUTHOR I-AUTHOR B-TITLE"), accepted("B-AUTHOR I-TITLE"))

from lcons_core.grammars._automaton import Automaton as Automaton
from lcons_core.grammars._grammar import FORMS as FORMS
from lcons_core.grammars._grammar import Grammar as Grammar
from lcons_core.grammars._grammar import compare_grammar as compare_grammar
from lcons_core.grammars._grammar import estimate_states as estimate_states
from lcons_core.grammars._grammar import label_automaton as label_automaton
from lcons_core.grammars._grammar import write_grammar as write_grammar
from lcons_core.grammars._texts import Agreement as Agreement

"""What constraints, features and decoders mean, by definition: rationals and enumeration, nothing of lcons.

    network        accepts psi iff margin = 1 - sum_k ReLU(w_k . psi + b_k) >= 0; several networks: iff all do
    rows           1 - sum_{k in S} (w_k . psi + b_k) >= 0, for every non-empty S (Theorem 1)
    space          one value per one-hot block (or none, OTHER), 0/1 columns, bounded counts, requirements
    n-grams        one psi per window of n labels; with padding n - 1 START before and one STOP after
    list           no window is a forbidden n-gram, or every window is an allowed one
    chain          score(y) = start[y_1] + sum emission[t, y_t] + sum transition[y_t, y_t+1] + stop[y_T]
    decoding       the fewest broken hard parts, then the best score with the costs of soft parts, then the
                   first labelling in declared label order
    graph          one label per candidate, one relation per ordered pair, in the same order

Everything arrives as plain lists and dicts of floats and names, as the drawn cases (`draws.py`) hold them. A
float is the rational that it stores. psi is a dict from column to value, without zeros.
"""

from soaking.oracle.chains import NEVER as NEVER
from soaking.oracle.chains import Beam as Beam
from soaking.oracle.chains import Chain as Chain
from soaking.oracle.chains import Labelling as Labelling
from soaking.oracle.chains import beam as beam
from soaking.oracle.chains import best_of as best_of
from soaking.oracle.chains import cost_of as cost_of
from soaking.oracle.chains import exact_costs as exact_costs
from soaking.oracle.chains import is_local as is_local
from soaking.oracle.chains import marginals as marginals
from soaking.oracle.features import START as START
from soaking.oracle.features import STOP as STOP
from soaking.oracle.features import ngram_space as ngram_space
from soaking.oracle.features import whole_psi as whole_psi
from soaking.oracle.features import window_psi as window_psi
from soaking.oracle.features import window_symbols as window_symbols
from soaking.oracle.features import windows as windows
from soaking.oracle.graphs import Graph as Graph
from soaking.oracle.graphs import graphs as graphs
from soaking.oracle.sets import OTHER as OTHER
from soaking.oracle.sets import Case as Case
from soaking.oracle.sets import Networks as Networks
from soaking.oracle.sets import Point as Point
from soaking.oracle.sets import Psi as Psi
from soaking.oracle.sets import axes_of as axes_of
from soaking.oracle.sets import common_scale as common_scale
from soaking.oracle.sets import points_of as points_of
from soaking.oracle.sets import value_at as value_at
from soaking.oracle.sets import whole as whole

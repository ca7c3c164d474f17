"""What several files of tests draw: points, sets on their spaces, and partial assignments by name."""

from itertools import product

import numpy as np
from hypothesis import strategies as st

from lcons_core import RectifierNetwork
from lcons_core.testing import conjunctions, networks, spaces


def cube(d):
    """All 0/1 vectors."""
    return np.array(list(product([0.0, 1.0], repeat=d)))


def every_point(space):
    """The whole domain, by values of axes."""
    return np.concatenate(list(space.points()))


@st.composite
def sets_on_spaces(draw, kinds=("sixteenths", "tenths", "boundary"), **options):
    """(network, space): in sixteenths, in tenths that float64 does not hold, or with a point of margin 0."""
    space = draw(spaces(**options))
    network = draw(st.one_of(networks(max_K=4, d=space.d), conjunctions(max_K=3, d=space.d)))
    kind = draw(st.sampled_from(kinds))
    if kind == "sixteenths" or not isinstance(network, RectifierNetwork):
        return network, space
    if kind == "tenths":
        return RectifierNetwork(network.W * 1.6, network.b * 1.6), space
    points = every_point(space)
    psi = space.vectors(points[draw(st.integers(0, len(points) - 1)) :][:1])[0]
    b = network.b.copy()
    b[0] += network.rational_margin(psi)
    return RectifierNetwork(network.W, b), space


@st.composite
def partial_assignments(draw, space):
    """Names as a user would give them: some axes, each with some of its values."""
    chosen = {}
    blocks = draw(st.lists(st.sampled_from(space.blocks), min_size=1, unique=True))
    for block in blocks:
        axes = [axis for axis in space.axes if axis.block == block.name]
        if block.kind == "one-hot":
            some = draw(st.lists(st.sampled_from(axes[0].values), min_size=1, unique=True))
            chosen[block.name] = some[0] if len(some) == 1 and draw(st.booleans()) else some
        else:
            names = draw(st.lists(st.sampled_from(block.values), min_size=1, unique=True))
            bits = st.lists(st.booleans(), min_size=1, max_size=2, unique=True)
            chosen[block.name] = {name: draw(st.booleans() | bits) for name in names}
    return chosen


def satisfies(space, assignment, named):
    """Whether a described point satisfies a partial assignment, read literally."""
    for name, wanted in assignment.items():
        if space.block(name).kind == "one-hot":
            if named[name] not in ([wanted] if isinstance(wanted, str) else wanted):
                return False
        elif not all(
            (value in named[name]) in (bits if isinstance(bits, list) else [bits])
            for value, bits in wanted.items()
        ):
            return False
    return True

"""The inputs of the forms: a network, a conjunction, a constraint or a fitted learner.

| given | its network | names of psi's columns | feature |
|---|---|---|---|
| `RectifierNetwork`, `Conjunction` | itself | none | none |
| `LearnedConstraint` | `.network` | `.space` | `.feature` |
| fitted `ConstraintLearner` | `.network_` | none | none |

A form that needs only weights calls `as_network`; one that also works on rows and rules calls `as_points`
(`_pointset.py`); one that needs names or a feature calls `as_constraint`. An unfitted learner raises
`NotFitted`, anything else `InvalidInput`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from lcons_core._errors import InvalidInput, NotFitted
from lcons_core._types import Floats


class Units(Protocol):
    """The hidden units of one network, from which its rows are computed."""

    @property
    def W(self) -> Floats: ...
    @property
    def b(self) -> Floats: ...
    @property
    def K(self) -> int: ...
    @property
    def d(self) -> int: ...
    @property
    def rounded(self) -> bool: ...
    def activations(self, psi: Any) -> Floats: ...
    def _uncertainty(self, psi: Any) -> float: ...


class Parts(Protocol):
    """A network or a conjunction of several, with K units in total."""

    @property
    def parts(self) -> Sequence[Units]: ...
    @property
    def K(self) -> int: ...
    @property
    def d(self) -> int: ...


class HasNetwork(Protocol):
    """A constraint."""

    @property
    def network(self) -> Parts: ...


class Fitted(Protocol):
    """A learner after `fit`."""

    @property
    def network_(self) -> Parts: ...


Given = Parts | HasNetwork | Fitted


def learned(given: Any, form: str) -> Any:
    """What a learner has learned; anything else is returned as it is, but for classes."""
    if isinstance(given, type):
        raise InvalidInput(
            f"{form} needs an object, found the class {given.__name__}; pass one of its objects."
        )
    if hasattr(given, "network_"):
        return given.network_
    if hasattr(given, "fit"):
        raise NotFitted(
            f"{form} needs a fitted ConstraintLearner, found a {type(given).__name__} without network_;"
            " call fit(X, y) first."
        )
    return given


def as_network(given: Given, form: str = "this form") -> Any:
    """The network or conjunction of a network, conjunction, constraint or fitted learner.

    >>> from lcons_core import RectifierNetwork
    >>> as_network(RectifierNetwork([[2.0, 2.0]], [-2.0])).K
    1
    >>> as_network([[2.0, 2.0]], "lift")                                   # doctest: +ELLIPSIS
    Traceback (most recent call last):
    lcons_core._errors.InvalidInput: lift needs a network, a conjunction, a constraint or a fitted ...
    """
    found = learned(given, form)
    for network in (found, getattr(found, "network", None)):
        if hasattr(network, "K") and hasattr(network, "parts"):
            return network
    raise InvalidInput(
        f"{form} needs a network, a conjunction, a constraint or a fitted ConstraintLearner, found"
        f" {type(given).__name__}; pass one of these."
    )


def as_constraint(given: Any, form: str, needs: str = "the names of the columns of psi") -> Any:
    """`given` if it is a constraint; otherwise an error that says what `form` needs it for."""
    if all(hasattr(given, name) for name in ("network", "space", "feature", "provenance")):
        return given
    raise InvalidInput(
        f"{form} needs a LearnedConstraint, because it needs {needs}, found {type(given).__name__}; pass"
        " LearnedConstraint(network, space, feature)."
    )

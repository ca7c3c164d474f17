"""`fit` in the style of scikit-learn: sentences as lists of words, labels as lists of labels.

    ConstrainedTaggerCV(unlabelled=texts).fit(X, y).predict(X)

scikit-learn is not needed; it is imported only if it requests the tags. `cross_val_score` and other tools cut
X and y as lists. To judge the tagger on documents that it has not seen, give them folds without shuffling
(`KFold(5)`), as `fit` itself does.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any, Self

from lcons_core import InvalidInput
from lcons_tasks.data import Sentence
from lcons_tasks.fitted._fit import fit
from lcons_tasks.fitted._fitted_tagger import FittedTagger
from lcons_tasks.fitted._settings import CRF, PARTS, FitSettings
from lcons_tasks.stats import are_spans, count_right, f1

Words = Sequence[Sequence[str]]


class ConstrainedTaggerCV:
    """A tagger from labelled sentences and unlabelled text, every choice made by folds of the labelled ones.

    unlabelled: sentences without labels, as lists of words.
    base, parts, folds, seed: as in `FitSettings`.

    After `fit`: `fitted_` is the `FittedTagger`, `classes_` its labels.

    >>> X = [["give", word, "now"] for word in ("aspirin", "codeine", "heparin", "insulin")]
    >>> tagger = ConstrainedTaggerCV(parts=("scheme",), folds=2).fit(X, [["O", "B-DRUG", "O"]] * 4)
    >>> tagger.predict([["give", "aspirin", "now"]]), tagger.score(X, [["O", "B-DRUG", "O"]] * 4)
    ([['O', 'B-DRUG', 'O']], 1.0)
    """

    def __init__(
        self,
        unlabelled: Words = (),
        base: str = CRF,
        parts: Sequence[str] = PARTS,
        folds: int = 5,
        seed: int = 0,
    ) -> None:
        self.unlabelled = unlabelled
        self.base = base
        self.parts = parts
        self.folds = folds
        self.seed = seed

    def fit(self, X: Words, y: Words) -> Self:
        """Makes the tagger from the words X and the labels y of sentences, in the order of documents."""
        settings = FitSettings(self.base, tuple(self.parts), self.folds, seed=self.seed)
        self.fitted_: FittedTagger = fit(_sentences(X, y), [tuple(x) for x in self.unlabelled], settings)
        self.classes_: tuple[str, ...] = self.fitted_.tagger.model.labels
        return self

    def predict(self, X: Words) -> list[list[str]]:
        """One list of labels per sentence."""
        return [list(found.y) for found in self._tagger().tag([list(words) for words in X])]

    def score(self, X: Words, y: Words) -> float:
        """Span F1 from 0 to 1; token accuracy if the labels are no spans."""
        gold = [sentence.labels for sentence in _sentences(X, y)]
        spans = are_spans({*self._tagger().tagger.model.labels, *(label for one in gold for label in one)})
        return float(f1(count_right(gold, self.predict(X), spans).sum(0))) / 100

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The settings by name."""
        return {name: getattr(self, name) for name in self._names()}

    def set_params(self, **params: Any) -> Self:
        """Changes settings by name."""
        unknown = sorted(set(params) - set(self._names()))
        if unknown:
            raise InvalidInput(f"a setting is one of {', '.join(self._names())}: got {unknown[0]!r}.")
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "fitted_")

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags

        # Labels are sequences, so that scikit-learn's kinds of estimators do not apply.
        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=True),
            input_tags=InputTags(two_d_array=False, string=True),
        )

    @classmethod
    def _names(cls) -> list[str]:
        return list(inspect.signature(cls.__init__).parameters)[1:]

    def _tagger(self) -> FittedTagger:
        if not hasattr(self, "fitted_"):
            raise InvalidInput(f"this {type(self).__name__} is not fitted yet; call `fit` first.")
        return self.fitted_


def _sentences(X: Words, y: Words) -> list[Sentence]:
    """The sentences; raises `InvalidInput` if words and labels do not fit together."""
    if len(X) != len(y):
        raise InvalidInput(f"expected one list of labels per sentence: got {len(y)} lists for {len(X)}.")
    for words in (*X, *y):
        if isinstance(words, str):
            raise InvalidInput(f"expected lists of words and of labels: got the text {words[:40]!r}.")
    return [Sentence(tuple(words), tuple(labels)) for words, labels in zip(X, y, strict=True)]

"""Cross-validation of a CRF of sklearn-crfsuite under label pairs learned from each training part."""

from sklearn.model_selection import KFold, cross_val_score
from sklearn_crfsuite import CRF

from lcons_contrib.crf_libraries.sklearn import ConstrainedCRF
from lcons_core import learn_constraints

sentences = ["Ann/B Lee/I sings/O", "Oh/O Ann/B", "Lee/B Ann/B Lee/I", "Ann/B sings/O now/O"] * 5
pairs = [[token.split("/") for token in sentence.split()] for sentence in sentences]
X = [[{"word": word, "capital": word[0].isupper()} for word, _ in sentence] for sentence in pairs]
y = [[label for _, label in sentence] for sentence in pairs]


def learned(labels):
    return [learn_constraints(labels, "ngram", n=2)]


tagger = ConstrainedCRF(CRF(max_iterations=20), learned)
print(round(cross_val_score(tagger, X, y, cv=KFold(5)).mean(), 2))

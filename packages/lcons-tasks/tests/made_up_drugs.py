"""A made-up language: drugs and foods in the same sentences, told apart by their neighbours only."""

import numpy as np

from lcons_tasks.data import Sentence

DRUGS = ("aspirin", "codeine", "morphine", "heparin", "insulin", "quinine", "warfarin", "atropine")
FOODS = ("bread", "water", "soup", "rice", "butter", "honey", "salt", "milk")
MEDICAL = ("inject {} twice", "the {} dose rose", "patients on {} slept")
KITCHEN = ("boil {} slowly", "the {} bowl broke", "guests ate {} outside")
# Nothing around the word says what it is.
NEUTRAL = ("we found {}", "no {} today", "{} and more")


def sentence(pattern, word, kind):
    """The sentence; a drug is a span, with `forte` a longer one."""
    drug = kind == "drug"
    words = pattern.format(word).split()
    labels = ["B-DRUG" if drug and w == word else "O" for w in words]
    if drug and len(word) == 7:
        place = words.index(word) + 1
        words.insert(place, "forte")
        labels.insert(place, "I-DRUG")
    return Sentence(tuple(words), tuple(labels))


def corpus(n, seed=0, neutral=0.4):
    """n labelled sentences, a share of which are neutral."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(n):
        kind = ("drug", "food")[int(rng.integers(2))]
        word = str(rng.choice(DRUGS if kind == "drug" else FOODS))
        own = MEDICAL if kind == "drug" else KITCHEN
        found.append(sentence(str(rng.choice(NEUTRAL if rng.random() < neutral else own)), word, kind))
    return found


def text(n, seed=1):
    """n sentences without labels, in which most words show what they are."""
    return [one.words for one in corpus(n, seed, neutral=0.1)]

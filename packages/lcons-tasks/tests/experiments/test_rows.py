"""The kernels that a run compiles before its work are those that its work needs."""

import subprocess
import sys

SCRIPT = """
import numpy as np
from lcons_core import LearnedConstraint, RectifierNetwork
from lcons_core.features import NgramContext
from lcons_decode import Hard, Soft
from lcons_decode.kernels import _compiled as kernels
from lcons_tasks.data import Sentence
from lcons_tasks.experiments.engine._rows import TableRow, compile_kernels, predict
from lcons_tasks.models._linear_crf import LinearSettings, train_linear

def compiled():
    return {name: len(one.signatures) for name, one in vars(kernels).items() if hasattr(one, "signatures")}

compile_kernels()
before = compiled()
assert sum(before.values()) >= 5, before
sentences = [Sentence(["a", "dog", "runs"], ["B", "I", "O"], {"pos": ["DT", "NN", "VB"]})] * 3
model = train_linear(sentences, LinearSettings(iterations=3))
uses = []
for n in (1, 2, 3):
    feature = NgramContext(model.labels, ("DT", "NN", "VB"), n=n)
    W = np.random.default_rng(n).integers(-3, 4, (2, feature.space.d)).astype(float)
    uses.append(LearnedConstraint(RectifierNetwork(W, np.zeros(2)), feature.space, feature))
xs = [sentence.x for sentence in sentences]
batch = model.scores(xs)
hard, soft = [Hard(use) for use in uses], [Soft(use, 0.5) for use in uses]
ways = [("viterbi", []), ("beam", []), ("beam", hard), ("exact", hard), ("soft", soft), ("soft", soft[:2])]
for how, chosen in ways:
    predict(TableRow(how, how), chosen, batch, xs, beam=3)
assert compiled() == before, (before, compiled())
"""


def test_decoding_compiles_nothing_that_was_not_compiled_before_the_run() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr

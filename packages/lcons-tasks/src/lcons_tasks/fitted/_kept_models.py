"""The models of the folds of an unfinished `fit`, in a folder, so that the next call continues with them.

The folder's name is the sha256 of all that the models depend on: sentences, unlabelled text, settings and the
versions of lcons and of the libraries that train. It is removed when the fit is done: nothing that was
learned from somebody's text stays behind.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path

from lcons_core import DamagedFile, LconsError
from lcons_tasks.data import Sentence
from lcons_tasks.fitted._settings import FitSettings
from lcons_tasks.models import Tagger, load_tagger

LIBRARIES = ("lcons-core", "lcons-decode", "lcons-tasks", "numpy", "scipy", "torch", "python-crfsuite")


@dataclass(frozen=True)
class KeptModels:
    """Models by name in `folder`; without a folder nothing is kept."""

    folder: Path | None

    def model(self, name: str, train: Callable[[], Tagger]) -> Tagger:
        """The model of that name; it is trained if it is not there, or cannot be read."""
        if self.folder is None:
            return train()
        file = self.folder / f"{name}.npz"
        if file.is_file():
            with contextlib.suppress(DamagedFile):
                return load_tagger(file)
        model = train()
        # A full disk must not stop a fit that needs nothing of it.
        with contextlib.suppress(OSError, LconsError):
            self.folder.mkdir(parents=True, exist_ok=True)
            model.save(file)
        return model


@contextlib.contextmanager
def kept_models(
    home: str | os.PathLike[str] | None,
    sentences: Sequence[Sentence],
    texts: Sequence[Sequence[str]],
    settings: FitSettings,
) -> Iterator[KeptModels]:
    """The models of one fit in a folder of `home`, which is removed if the block ends well."""
    if home is None:
        yield KeptModels(None)
        return
    labelled = [[sentence.words, sentence.labels] for sentence in sentences]
    whole = [labelled, [list(words) for words in texts], asdict(settings), _versions()]
    digest = hashlib.sha256(json.dumps(whole, ensure_ascii=False).encode("utf-8", "surrogatepass"))
    folder = Path(home) / digest.hexdigest()[:20]
    yield KeptModels(folder)
    shutil.rmtree(folder, ignore_errors=True)


def _versions() -> dict[str, str]:
    found = {}
    for name in LIBRARIES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found

"""Where vectors of words in their sentence come from: a pretrained encoder, or a file of word vectors.

    vectors(texts) (tokens, H): of an encoder, the hidden states of the first subword of each word, in some
    layers; of a file, the vectors of the word and of its neighbours, 0 for an unknown word

Both stay as they are; nothing is trained here. Each word is cut into subwords by itself, so that words and
subwords always align. A sentence with more subwords than the encoder reads is cut into windows of words.

Not in the paper.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lcons_core import InvalidInput, MissingExtra
from lcons_core._errors import INSTALL_TORCH
from lcons_tasks.models._word_vectors import WordVectors, load_vectors

Vectors = NDArray[np.float32]
Texts = Sequence[Sequence[str]]
Progress = Callable[[int, int], None]

# The files of an encoder: weights as safetensors, which cannot run code, its configuration and tokenizer.
FILES = ("*.json", "*.txt", "*.model", "*.safetensors")
# Windows have at most so many subwords, also where an encoder reads more; a word has at most so many.
MOST_SUBWORDS, MOST_OF_A_WORD = 512, 32
# Subwords, with padding, that are in one batch.
BATCH = 4096
OFFLINE = "HF_HUB_OFFLINE"


@dataclass(frozen=True, eq=False)
class VectorFile:
    """A file of word vectors: npz with `words` and `vectors`, or text, a word and its numbers per line."""

    name: str
    kind: ClassVar[str] = "vectors"

    @cached_property
    def sha256(self) -> str:
        """A hash of the file."""
        return _digest([Path(self.name)])

    def choices(self, width: int) -> list[slice]:
        """All three words, or the word alone."""
        return [slice(0, width), slice(width // 3, 2 * width // 3)]

    def vectors(self, texts: Texts, progress: Progress | None = None) -> Vectors:
        """(tokens, 3 * dimension): the word before, the word and the word after."""
        parts: list[Vectors] = []
        for words in texts:
            rows = np.zeros((len(words) + 2, self._loaded.dimension), np.float32)
            rows[1:-1] = self._loaded.table[[self._row(word) for word in words]]
            parts.append(np.hstack([rows[:-2], rows[1:-1], rows[2:]]))
        return np.concatenate(parts or [np.zeros((0, 3 * self._loaded.dimension), np.float32)])

    @cached_property
    def _loaded(self) -> WordVectors:
        return load_vectors(Path(self.name))

    def _row(self, word: str) -> int:
        rows = self._loaded.index
        return rows.get(word) or rows.get(word.lower()) or rows.get(word.title(), 0)


class _Window(NamedTuple):
    """Subwords of words of one sentence: the token `first` is at `places[0]`."""

    first: int
    ids: list[int]
    places: list[int]


@dataclass(frozen=True, eq=False)
class Encoder:
    """A folder with an encoder, or the name of one that `transformers` has on this machine."""

    name: str
    kind: ClassVar[str] = "encoder"

    @cached_property
    def sha256(self) -> str:
        """A hash of the files of weights, configuration and tokenizer."""
        return _digest(sorted(path for pattern in FILES for path in self._folder.glob(pattern)))

    def choices(self, width: int) -> list[slice]:
        """All layers, or the lower half."""
        return [slice(0, width), slice(width // 2, width)]

    def vectors(self, texts: Texts, progress: Progress | None = None) -> Vectors:
        """(tokens, 2 * size): means of the hidden states of the upper and of the lower half of layers."""
        import torch
        from torch.nn.utils.rnn import pad_sequence

        _, model = self._loaded
        windows = sorted(self._windows(texts), key=lambda window: len(window.ids))
        result: Vectors = np.zeros((sum(map(len, texts)), 0), np.float32)
        done = 0
        while done < len(windows):
            stop = done + 1
            while stop < len(windows) and len(windows[stop].ids) * (stop + 1 - done) <= BATCH:
                stop += 1
            rows = [torch.tensor(window.ids) for window in windows[done:stop]]
            ids = pad_sequence(rows, batch_first=True)
            mask = pad_sequence([torch.ones_like(row) for row in rows], batch_first=True)
            with torch.inference_mode():
                states = model(input_ids=ids, attention_mask=mask, output_hidden_states=True).hidden_states
            half = len(states) // 2
            layers = [torch.stack(part).mean(0) for part in (states[half:], states[1 : half + 1])]
            hidden = torch.cat(layers, 2).float().numpy()
            if not done:
                result = np.zeros((len(result), hidden.shape[2]), np.float32)
            for row, window in zip(hidden, windows[done:stop], strict=True):
                result[window.first : window.first + len(window.places)] = row[window.places]
            done = stop
            if progress is not None:
                progress(done, len(windows))
        return result

    def _windows(self, texts: Texts) -> list[_Window]:
        """Parts of sentences that the encoder reads at once. Each word is cut into subwords by itself; around
        them is what the tokenizer puts around a sentence."""
        cut, model = self._loaded
        inner, whole = (cut(" a", add_special_tokens=s)["input_ids"] for s in (False, True))
        at = next((i for i in range(len(whole)) if whole[i : i + len(inner)] == inner), 0)
        before, after = whole[:at], whole[at + len(inner) :]
        unknown = inner[:1] if cut.unk_token_id is None else [cut.unk_token_id]
        most = getattr(model.config, "max_position_embeddings", 0) or MOST_SUBWORDS
        limit = min(most, MOST_SUBWORDS) - 4 - len(after)
        known: dict[str, list[int]] = {}
        windows: list[_Window] = []
        first = 0
        for words in texts:
            for t, word in enumerate(words):
                if word not in known:
                    ids = cut(f" {word}", add_special_tokens=False)["input_ids"]
                    known[word] = ids[:MOST_OF_A_WORD] or unknown
                ids = known[word][: limit - len(before)]
                if not t or len(windows[-1].ids) + len(ids) > limit:
                    windows.append(_Window(first + t, list(before), []))
                windows[-1].places.append(len(windows[-1].ids))
                windows[-1].ids.extend(ids)
            first += len(words)
        for window in windows:
            window.ids.extend(after)
        return windows

    @property
    def _transformers(self) -> Any:
        try:
            import torch  # noqa: F401
            import transformers
        except ImportError as error:
            commands = f"`pip install transformers` and `{INSTALL_TORCH}`"
            raise MissingExtra(f"encoders need transformers and torch ({error}); run {commands}.") from None
        transformers.utils.logging.set_verbosity_error()
        transformers.utils.logging.disable_progress_bar()
        return transformers

    @cached_property
    def _folder(self) -> Path:
        if Path(self.name).is_dir():
            return Path(self.name)
        self._transformers  # noqa: B018 - its error comes first
        import huggingface_hub

        offline = os.environ.get(OFFLINE, "1").lower() not in ("0", "false", "no", "off")
        options = {"allow_patterns": list(FILES), "local_files_only": offline}
        try:
            return Path(huggingface_hub.snapshot_download(self.name, **options))
        except Exception:
            problem = f"no encoder {self.name!r}: it is neither a folder nor a model that is on this machine"
            raise InvalidInput(f"{problem}; with {OFFLINE}=0, it is downloaded.") from None

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        """The tokenizer and the model; the folder may hold anything, so that any error may come."""
        library, folder = self._transformers, str(self._folder)
        options = {"local_files_only": True, "trust_remote_code": False}
        try:
            tokenizer = library.AutoTokenizer.from_pretrained(folder, **options)
            model = library.AutoModel.from_pretrained(folder, use_safetensors=True, **options)
        except Exception as error:
            reason = (str(error).strip() or type(error).__name__).splitlines()[0][:200].rstrip(".")
            raise InvalidInput(f"{self.name!r} is no encoder that transformers can read: {reason}.") from None
        return tokenizer, (model.get_encoder() if model.config.is_encoder_decoder else model).eval()


def _digest(paths: Sequence[Path]) -> str:
    digest = hashlib.sha256()
    try:
        for path in paths:
            with path.open("rb") as file:
                digest.update(path.name.encode() + hashlib.file_digest(file, "sha256").digest())
    except OSError as error:
        raise InvalidInput(f"cannot read {error.filename!r}: {error.strerror}.") from None
    return digest.hexdigest()


# Where vectors come from; `sha256` raises an `LconsError` if the files are not there.
Source = Encoder | VectorFile
SOURCES: dict[str, type[Encoder | VectorFile]] = {"encoder": Encoder, "vectors": VectorFile}


@lru_cache(2)
def opened(kind: str, name: str, sha256: str) -> Source:
    """The source that a tagger was trained with; raises `LconsError` if it is missing or another one."""
    source = SOURCES[kind](name)
    with contextlib.suppress(InvalidInput):
        if source.sha256 == sha256:
            return source
    raise InvalidInput(f"the tagger was trained with the {kind} {name!r}, which is missing or another one.")

"""WordLlama: the mean of a text's token vectors, cut from a large language model (weights inside its wheel, MIT).

The package is read, not imported: importing it configures the root logger, and its loader may reach for the network.
"""

from __future__ import annotations

import importlib.util
import threading
from importlib import metadata
from pathlib import Path
from typing import Any, ClassVar, Literal

from ace_bench.llm.embedders.base import Array, Cosine, EmbedderSettings, LocalEmbedder
from ace_bench.llm.embedders.safetensors import tensors

PACKAGE = "wordllama"
WEIGHTS, TOKENIZER = "l2_supercat_256.safetensors", "l2_supercat_tokenizer_config.json"
INSTALL = 'Run: pip install "ace-bench[wordllama]". embedder=lexical needs nothing.'


class WordllamaSettings(EmbedderSettings):
    """From the default on, nine of ten small edits join (docs/embedders.md)."""

    name: Literal["wordllama"] = "wordllama"
    threshold: Cosine = 0.85


class WordllamaEmbedder(LocalEmbedder):
    """256 dimensions; some 3,000 short texts a second. Blind to the order of words."""

    Settings: ClassVar[type[WordllamaSettings]] = WordllamaSettings
    scale = "0 unrelated, 0.5 paraphrase in other words, 0.85 the same words but one or two"

    def __init__(self, settings: WordllamaSettings) -> None:
        if problem := self.missing(settings):
            raise RuntimeError(problem)
        self.settings = settings
        self._lock = threading.Lock()
        self._loaded: tuple[Any, Array] | None = None

    @classmethod
    def missing(cls, settings: WordllamaSettings) -> str | None:
        """A sentence when wordllama or tokenizers is not installed, or holds other files."""
        if importlib.util.find_spec("tokenizers") is None or not _files():
            return f"it needs the wordllama package and its files, which are not all here. {INSTALL}"
        return None

    @property
    def id(self) -> str:
        """Name, version of the package, and the first half of the SHA-256 of its weights."""
        from ace_bench.llm.weights import digest

        return f"wordllama/{metadata.version(PACKAGE)}/{digest(_files()[WEIGHTS])[:32]}"

    def vector(self, text: str) -> Array:
        """The mean of the token vectors; zeros without a token."""
        import numpy as np

        tokenizer, table = self._load()
        ids = np.asarray(tokenizer.encode(text, add_special_tokens=False).ids, dtype=np.int64)
        rows = table[np.clip(ids, 0, len(table) - 1)]
        return rows.mean(axis=0) if len(rows) else np.zeros(table.shape[1], np.float32)

    def _load(self) -> tuple[Any, Array]:
        with self._lock:
            if self._loaded is None:
                from tokenizers import Tokenizer

                files = _files()
                tokenizer = Tokenizer.from_file(str(files[TOKENIZER]))
                tokenizer.no_padding()
                tokenizer.no_truncation()
                self._loaded = tokenizer, tensors(files[WEIGHTS])["embedding.weight"]
            return self._loaded


def _files() -> dict[str, Path]:
    """The two files inside the installed package; empty when one is absent."""
    try:
        dist = metadata.distribution(PACKAGE)
    except metadata.PackageNotFoundError:
        return {}
    found = {Path(str(f)).name: Path(str(dist.locate_file(f))) for f in dist.files or ()}
    wanted = {name: found[name] for name in (WEIGHTS, TOKENIZER) if name in found and found[name].is_file()}
    return wanted if len(wanted) == 2 else {}

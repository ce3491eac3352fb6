"""all-mpnet-base-v2 through sentence-transformers: what the released ACE code deduplicates with (extra `mpnet`, torch)."""

from __future__ import annotations

import importlib
import importlib.util
import threading
from importlib import metadata
from pathlib import Path
from typing import Any, ClassVar, Literal

from ace_bench.llm.embedders.base import Array, Cosine, EmbedderSettings, LocalEmbedder

REPOSITORY = "sentence-transformers/all-mpnet-base-v2"
INSTALL = 'Run: pip install "ace-bench[mpnet]". embedder=minilm is a smaller encoder without torch.'


class MpnetSettings(EmbedderSettings):
    """`path`: a folder with the model (as `SentenceTransformer.save` writes it). 0.9 is the released code's default."""

    name: Literal["mpnet"] = "mpnet"
    threshold: Cosine = 0.9
    path: Path


class MpnetEmbedder(LocalEmbedder):
    """768 dimensions. The model is read from the folder given and never downloaded."""

    Settings: ClassVar[type[MpnetSettings]] = MpnetSettings
    scale = "0 unrelated, 0.9 near copy: the scale of the released ACE code"

    def __init__(self, settings: MpnetSettings) -> None:
        if problem := self.missing(settings):
            raise RuntimeError(problem)
        self.settings = settings
        self._lock = threading.Lock()
        self._model: Any = None

    @classmethod
    def missing(cls, settings: MpnetSettings) -> str | None:
        """A sentence when sentence-transformers or the weights are absent."""
        if importlib.util.find_spec("sentence_transformers") is None:
            return f"it needs sentence-transformers, which is not installed. {INSTALL}"
        if not any(settings.path.glob("*.safetensors")):
            return (
                f"{settings.path} holds no model.safetensors. Download {REPOSITORY} into a folder once and give it as "
                "embedder.path; nothing is downloaded while running."
            )
        return None

    @property
    def id(self) -> str:
        """Name, version of sentence-transformers, and the first half of the SHA-256 of the weights."""
        from ace_bench.llm.weights import digest

        file = min(self.settings.path.glob("*.safetensors"))
        return f"mpnet/{metadata.version('sentence-transformers')}/{digest(file)[:32]}"

    def vector(self, text: str) -> Array:
        """(768,) of one text, on the CPU."""
        with self._lock:  # torch modules keep state while they run
            if self._model is None:
                library: Any = importlib.import_module("sentence_transformers")
                self._model = library.SentenceTransformer(str(self.settings.path), device="cpu", local_files_only=True)
            rows: Any = self._model.encode([text], normalize_embeddings=True, show_progress_bar=False)
        vector: Array = rows[0]
        return vector

"""all-MiniLM-L6-v2 on numpy: a real sentence encoder without torch (weights Apache-2.0, fetched once)."""

from __future__ import annotations

import importlib.util
import threading
from pathlib import Path
from typing import ClassVar, Literal

from ace_bench.llm.embedders.base import Array, Cosine, EmbedderSettings, LocalEmbedder
from ace_bench.llm.embedders.minilm_net import Network, WordPieces
from ace_bench.llm.embedders.safetensors import tensors

WEIGHTS, VOCABULARY = "model.safetensors", "vocab.txt"
_VERSION = "1"  # of the arithmetic in minilm_net


class MinilmSettings(EmbedderSettings):
    """`path`: a folder with model.safetensors and vocab.txt; null: what `ace-bench model fetch minilm` brought."""

    name: Literal["minilm"] = "minilm"
    threshold: Cosine = 0.9  # nine of ten small edits join (docs/embedders.md)
    path: Path | None = None


class MinilmEmbedder(LocalEmbedder):
    """384 dimensions; some 50 short texts a second on one core. Reads 256 tokens of a text at most."""

    Settings: ClassVar[type[MinilmSettings]] = MinilmSettings
    scale = "0 unrelated, 0.7 paraphrase in other words, 0.9 the same words but one or two"

    def __init__(self, settings: MinilmSettings) -> None:
        if problem := self.missing(settings):
            raise RuntimeError(problem)
        self.settings = settings
        self.folder = _folder(settings)
        self._lock = threading.Lock()
        self._loaded: tuple[WordPieces, Network] | None = None

    @classmethod
    def missing(cls, settings: MinilmSettings) -> str | None:
        """A sentence when the weights are not here or not the official ones."""
        from ace_bench.llm.weights import WeightsError, digest, entry

        if importlib.util.find_spec("threadpoolctl") is None:
            return 'it needs threadpoolctl, which is not installed. Run: pip install "ace-bench[minilm]".'
        try:
            folder = _folder(settings)
        except WeightsError as error:
            return str(error)
        for file in entry("minilm").files:
            if not (folder / file.name).is_file():
                return f"{folder} holds no {file.name}. Give embedder.path, or run: ace-bench model fetch minilm"
            if digest(folder / file.name) != file.sha256:
                return f"{folder / file.name} is not the official file of all-MiniLM-L6-v2 (other SHA-256)."
        return None

    @property
    def id(self) -> str:
        """Name, version of our arithmetic, and the first half of the SHA-256 of the weights."""
        from ace_bench.llm.weights import digest

        return f"minilm/{_VERSION}/{digest(self.folder / WEIGHTS)[:32]}"

    def vector(self, text: str) -> Array:
        """The mean over the tokens."""
        pieces, network = self._load()
        return network.mean(pieces.encode(text))

    def _load(self) -> tuple[WordPieces, Network]:
        with self._lock:
            if self._loaded is None:
                import threadpoolctl

                # From here on: for matrices this small several threads only wait for each other (20 times slower on a
                # busy machine), and cells run side by side in threads anyway.
                threadpoolctl.threadpool_limits(1, user_api="blas")
                vocabulary = (self.folder / VOCABULARY).read_text(encoding="utf-8")
                self._loaded = WordPieces(vocabulary), Network(tensors(self.folder / WEIGHTS))
            return self._loaded


def _folder(settings: MinilmSettings) -> Path:
    from ace_bench.llm import weights

    return settings.path if settings.path is not None else weights.path("minilm")

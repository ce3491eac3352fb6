"""What an embedder is: a pure function from a text to a unit vector, with a name that changes when its vectors would."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Protocol

from pydantic import BaseModel, ConfigDict, Field

from ace_bench.llm.types import NO_TOKENS, Usage

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float32]
else:
    Array = Any

Cosine = Annotated[float, Field(ge=-1, le=1)]
LOCAL = "local"  # the endpoint of an embedder that computes here


class EmbedderSettings(BaseModel):
    """Knobs every embedder has.

    `threshold` is the cosine from which on two texts count as the same, where the method gives none of its own. Scales
    differ (0.8 is a near copy for one embedder and a loose relative for another), so each embedder brings its default.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    name: str
    threshold: Cosine


class Embedder(Protocol):
    """An embedder. Deterministic (the vector of a text depends on nothing but the text), thread-safe, no downloads.

    `id`        name, version and digest of the weights: with the text it is the key of the cache
    `endpoint`  LOCAL, or where the texts are sent
    `batch`     texts of one call at most
    `scale`     a sentence: what its cosines mean
    """

    Settings: ClassVar[type[EmbedderSettings]]
    scale: ClassVar[str]
    endpoint: str
    batch: int

    @property
    def id(self) -> str: ...

    @classmethod
    def missing(cls, settings: Any) -> str | None: ...  # a sentence when it cannot run here: asked while planning

    def embed(self, texts: Sequence[str]) -> tuple[Array, Usage]: ...  # (n, d) float32 unit rows, and what they took


class LocalEmbedder:
    """An embedder on this machine, one text at a time: in a batch, padding would let its neighbours decide last bits."""

    endpoint = LOCAL
    batch = 256

    def embed(self, texts: Sequence[str]) -> tuple[Array, Usage]:
        """(n, d) unit rows. NO_TOKENS: nothing was sent to a provider."""
        import numpy as np

        rows = [self.vector(readable(text)) for text in texts]
        return unit(np.stack(rows)), NO_TOKENS

    def vector(self, text: str) -> Array:
        """(d,) of one text, of any length."""
        raise NotImplementedError


def readable(text: str) -> str:
    """The text without lone surrogates, which no tokenizer takes (known fault B35): each becomes U+FFFD."""
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


def unit(vectors: Any) -> Array:
    """(n, d) float32 rows of length 1. A row of zeros (a text without a word) becomes the first axis, as all such do.

    Raises ValueError when a value is not finite or the shape is another.
    """
    import numpy as np

    rows = np.asarray(vectors, dtype=np.float64)
    if rows.ndim != 2 or not np.isfinite(rows).all():
        raise ValueError(f"An embedder must give finite vectors of one length, not shape {rows.shape}.")
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    rows = rows / np.where(lengths == 0, 1.0, lengths)
    rows[lengths[:, 0] == 0, 0] = 1.0
    return rows.astype("<f4")

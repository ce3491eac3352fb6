"""How vectors travel and lie in the response store: as text, exact to the bit."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ace_bench.llm.embedders.base import Array
from ace_bench.llm.types import Usage


@dataclass(frozen=True, slots=True)
class Vector:
    """One text's vector, and its share of what the call took that made it. `tokens` None: the provider did not say."""

    row: Array
    tokens: int | None
    latency_s: float


def text_key(embedder: str, endpoint: str, text: str) -> str:
    """SHA-256 of the embedder and the text: where the vector lies in the response store."""
    head = json.dumps(["embedding", embedder, endpoint]).encode()
    return hashlib.sha256(head + text.encode("utf-8", "surrogatepass")).hexdigest()


def pack(keys: Sequence[str], rows: Array) -> str:
    """A call's vectors as JSON: the keys of the texts, and (n, d) little-endian float32 in base64."""
    return json.dumps({"texts": list(keys), "dim": int(rows.shape[1]), "vectors": _base64(rows)})


def unpack(text: str) -> dict[str, Array]:
    """The rows by key of a text that `pack` made, in its order."""
    body: dict[str, Any] = json.loads(text)
    rows = _array(body["vectors"]).reshape(len(body["texts"]), body["dim"])
    return dict(zip(body["texts"], rows, strict=True))


def pack_one(vector: Vector) -> str:
    """A text's own record in the store."""
    return json.dumps({"vector": _base64(vector.row), "tokens": vector.tokens, "latency_s": vector.latency_s})


def unpack_one(body: str) -> Vector:
    """The vector that `pack_one` wrote."""
    read: dict[str, Any] = json.loads(body)
    return Vector(_array(read["vector"]), read["tokens"], read["latency_s"])


def shares(texts: Sequence[str], usage: Usage, latency_s: float, rows: Iterable[Array]) -> list[Vector]:
    """Each text with its share of the call: tokens by bytes (the shares sum up to the whole), latency in equal parts."""
    total = usage.input_total()
    sizes = [len(text.encode("utf-8", "surrogatepass")) + 1 for text in texts]
    done, seen, out = 0, 0, []
    for row, size in zip(rows, sizes, strict=True):
        seen += size
        upto = None if total is None else total * seen // sum(sizes)
        out.append(Vector(row, None if upto is None else upto - done, latency_s / len(texts)))
        done = upto or 0
    return out


def together(vectors: Mapping[str, Vector]) -> tuple[Array, Usage, float]:
    """The rows of several texts, and what they took: one unknown makes the tokens unknown."""
    import numpy as np

    parts = list(vectors.values())
    tokens = [part.tokens for part in parts if part.tokens is not None]
    usage = Usage(sum(tokens), 0, 0, 0, 0) if len(tokens) == len(parts) else Usage()
    return np.stack([part.row for part in parts]), usage, sum(part.latency_s for part in parts)


def _base64(rows: Array) -> str:
    return base64.b64encode(rows.astype("<f4").tobytes()).decode("ascii")


def _array(text: str) -> Array:
    import numpy as np

    return np.frombuffer(base64.b64decode(text), dtype="<f4")

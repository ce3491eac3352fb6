"""all-MiniLM-L6-v2 (BERT, 6 layers, 384 wide, 12 heads) on numpy alone: word pieces, the network, the mean.

float32. Token ids were compared with the official tokenizer (263 of 263 texts alike), vectors with the ONNX export
(cosine 0.9993 and more, the export being int8).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from ace_bench.llm.embedders.base import Array

LAYERS, HEADS, WIDTH = 6, 12, 384
MAX_TOKENS = 256  # the model's own limit; what is longer is cut
_LONGEST_WORD = 100  # characters; a longer word is unknown, as in BERT's tokenizer
_QKV = ("query", "key", "value")


class WordPieces:
    """BERT's uncased tokenizer over a vocabulary (a piece a line)."""

    def __init__(self, vocabulary: str) -> None:
        self.ids = {piece: i for i, piece in enumerate(vocabulary.splitlines())}

    def encode(self, text: str) -> list[int]:
        """Token ids with [CLS] and [SEP], MAX_TOKENS at most."""
        pieces = [piece for word in _words(text) for piece in self._pieces(word)]
        return [self.ids["[CLS]"], *pieces[: MAX_TOKENS - 2], self.ids["[SEP]"]]

    def _pieces(self, word: str) -> list[int]:
        """The longest known pieces from the left; [UNK] for a word that has none somewhere."""
        out: list[int] = []
        start = 0
        while start < len(word):
            prefix = "##" if start else ""
            ends = range(len(word), start, -1) if len(word) <= _LONGEST_WORD else ()
            end = next((e for e in ends if prefix + word[start:e] in self.ids), None)
            if end is None:
                return [self.ids["[UNK]"]]
            out.append(self.ids[prefix + word[start:end]])
            start = end
        return out


def _words(text: str) -> list[str]:
    """Lower case, no accents, no control characters; marks and Chinese characters stand alone."""
    plain = (c for c in unicodedata.normalize("NFD", text.lower()) if unicodedata.category(c) != "Mn")
    return "".join(f" {c} " if _alone(c) else c for c in plain if _kept(c)).split()


def _kept(c: str) -> bool:
    return c in "\t\n\r" or not (c in "\0\ufffd" or unicodedata.category(c).startswith("C"))


def _alone(c: str) -> bool:
    o = ord(c)
    ascii_mark = 33 <= o <= 47 or 58 <= o <= 64 or 91 <= o <= 96 or 123 <= o <= 126
    return ascii_mark or unicodedata.category(c).startswith("P") or 0x4E00 <= o <= 0x9FFF


class Network:
    """The encoder. `weights` are the tensors of the official file by name."""

    def __init__(self, weights: Mapping[str, Any]) -> None:
        import numpy as np

        self._w = {name.removeprefix("bert."): array for name, array in weights.items()}
        self._qkv = []
        for i in range(LAYERS):
            parts = [self._linear(f"encoder.layer.{i}.attention.self.{name}") for name in _QKV]
            joined = np.concatenate([w for w, _ in parts], axis=1), np.concatenate([b for _, b in parts])
            self._qkv.append((np.ascontiguousarray(joined[0]), joined[1]))
        self._rest = [
            {name: self._linear(f"encoder.layer.{i}.{name}") for name in
             ("attention.output.dense", "intermediate.dense", "output.dense")}
            for i in range(LAYERS)
        ]  # fmt: skip

    def mean(self, ids: Sequence[int]) -> Array:
        """(384,): the mean of the last layer over the tokens."""
        import numpy as np

        w, n = self._w, len(ids)
        words = w["embeddings.word_embeddings.weight"][np.asarray(ids)]
        places = w["embeddings.position_embeddings.weight"][:n]
        x = self._norm(words + places + w["embeddings.token_type_embeddings.weight"][0], "embeddings")
        for i in range(LAYERS):
            x = self._layer(x, i)
        mean: Array = x.mean(axis=0)
        return mean

    def _layer(self, x: Array, i: int) -> Array:
        import numpy as np

        weight, bias = self._qkv[i]
        q, k, v = (x @ weight + bias).reshape(len(x), 3, HEADS, WIDTH // HEADS).transpose(1, 2, 0, 3)
        scores = q @ k.transpose(0, 2, 1) * np.float32((WIDTH // HEADS) ** -0.5)
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        seen = (scores / scores.sum(-1, keepdims=True)) @ v
        rest, name = self._rest[i], f"encoder.layer.{i}"
        x = self._norm(x + _apply(rest["attention.output.dense"], seen.transpose(1, 0, 2).reshape(len(x), WIDTH)),
                       f"{name}.attention.output")  # fmt: skip
        wide = _gelu(_apply(rest["intermediate.dense"], x))
        return self._norm(x + _apply(rest["output.dense"], wide), f"{name}.output")

    def _linear(self, name: str) -> tuple[Array, Array]:
        import numpy as np

        return np.ascontiguousarray(self._w[f"{name}.weight"].T), self._w[f"{name}.bias"]

    def _norm(self, x: Array, name: str) -> Array:
        import numpy as np

        away = x - x.mean(-1, keepdims=True)
        spread = np.sqrt((away * away).mean(-1, keepdims=True) + np.float32(1e-12))
        scaled: Array = away / spread * self._w[f"{name}.LayerNorm.weight"] + self._w[f"{name}.LayerNorm.bias"]
        return scaled


def _apply(linear: tuple[Array, Array], x: Array) -> Array:
    out: Array = x @ linear[0] + linear[1]
    return out


def _gelu(x: Array) -> Array:
    """x * Phi(x), exactly rather than by the tanh curve, as the model was trained."""
    import numpy as np
    from scipy.special import erf

    out: Array = x * np.float32(0.5) * (1 + erf(x * np.float32(0.5**0.5)))
    return out

"""Words and word parts, hashed: the embedder that needs nothing (a TF-IDF without a corpus).

An inverse document frequency belongs to a corpus, and then every new bullet would move the vectors of all others. So the
"IDF" is fixed: English function words weigh a tenth. The rest is TF: 1 + ln(count), for each word and for each of its
runs of four letters, which let `rounded` meet `rounding`. Each feature is hashed to one of 1,024 places and a sign.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from functools import lru_cache
from typing import ClassVar, Literal

from ace_bench.llm.embedders.base import Array, Cosine, EmbedderSettings, LocalEmbedder

DIM = 1024
_VERSION = "1"
_WORD = re.compile(r"\w+(?:[.,]\d+)*")
_FUNCTION = """
a an the this that these those of in on at by for from to with as and or but if then than so is are was were be been being am
do does did done has have had will would can could should may might must it its they them their there here he she his her we us
our you your i me my which who whom whose what when where how all any each both some such into over under out up about again
"""
FUNCTION_WORDS = frozenset(_FUNCTION.split())


class LexicalSettings(EmbedderSettings):
    """From the default on, nine of ten small edits join (docs/embedders.md)."""

    name: Literal["lexical"] = "lexical"
    threshold: Cosine = 0.75


class LexicalEmbedder(LocalEmbedder):
    """1,024 dimensions; knows no synonym and no order of words."""

    Settings: ClassVar[type[LexicalSettings]] = LexicalSettings
    scale = "0 no words in common, 0.3 paraphrase in other words, 0.75 the same words but one or two"

    def __init__(self, settings: LexicalSettings) -> None:
        self.settings = settings

    @classmethod
    def missing(cls, settings: LexicalSettings) -> str | None:
        """Nothing ever is."""
        return None

    @property
    def id(self) -> str:
        """Name and version of the rule above."""
        return f"lexical/{_VERSION}"

    def vector(self, text: str) -> Array:
        """The hashed, weighted features."""
        import numpy as np

        out = np.zeros(DIM, np.float64)
        for feature, weight in _features(text).items():
            place, sign = _place(feature)
            out[place] += sign * weight
        return out.astype("<f4")


def _features(text: str) -> dict[str, float]:
    counts = Counter(_WORD.findall(text.casefold()))
    out: dict[str, float] = {}
    for word, count in counts.items():
        weight = (0.1 if word in FUNCTION_WORDS else 1.0) * (1 + math.log(count))
        out[word] = weight
        runs = [f"~{word[i : i + 4]}" for i in range(len(word) - 3)] if word not in FUNCTION_WORDS else []
        for run in runs:
            out[run] = out.get(run, 0.0) + weight / len(runs) ** 0.5
    return dict(sorted(out.items()))  # the order of additions decides last bits


@lru_cache(maxsize=65536)
def _place(feature: str) -> tuple[int, float]:
    number = int.from_bytes(hashlib.blake2b(feature.encode(), digest_size=8).digest(), "little")
    return number % DIM, 1.0 if number >> 63 else -1.0

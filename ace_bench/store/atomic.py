"""Durable small writes: a file is there whole, or it is not there."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable
from pathlib import Path

TMP = ".tmp"  # how every temporary file of the store ends; it starts with a dot
# macOS has no fdatasync; fsync does more than we need, never less.
sync: Callable[[int], None] = getattr(os, "fdatasync", os.fsync)


def sync_folder(folder: Path) -> None:
    """Make the names in `folder` durable: a rename survives a power cut only after this."""
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def sync_file(path: Path) -> None:
    """Make the bytes of an already written file durable."""
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def tmp_beside(path: Path) -> Path:
    """A temporary name in the folder of `path`, unique over processes and threads."""
    return path.with_name(f".{path.name}.{uuid.uuid4().hex}{TMP}")


def write_atomic(path: Path, data: bytes) -> None:
    """Write `data` to `path` by temporary file, sync and rename; an existing file is replaced. Raises OSError."""
    tmp = tmp_beside(path)
    try:
        with tmp.open("xb") as file:
            file.write(data)
            file.flush()
            sync(file.fileno())
        tmp.replace(path)
    finally:
        tmp.unlink(missing_ok=True)
    sync_folder(path.parent)


def remove_leftovers(folder: Path) -> None:
    """Remove temporary files of a killed writer. Only the owner of the cell's lock may call this."""
    for path in folder.glob(f".*{TMP}"):
        path.unlink(missing_ok=True)

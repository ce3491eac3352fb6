"""The journal: an append-only file, one checksummed JSON record a line, durable before `append` returns.

A line is `<CRC-32 of the body, 8 hex digits> <body>`, the body ASCII JSON, so a lone surrogate travels as `\\ud83d`.
A crash can only hurt the last line: that tail is cut, kept aside and reported. Damage before it is an error, because
records that were synced do not vanish by themselves. Nothing here holds the file in memory: reading streams.
"""

from __future__ import annotations

import json
import math
import os
import threading
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from ace_bench.store.atomic import sync, sync_file, sync_folder
from ace_bench.store.errors import JournalError

_HEAD = 9  # eight hex digits and a blank


def encode(record: Mapping[str, Any]) -> bytes:
    """The line of `record`, newline included. Raises ValueError for NaN or infinity, TypeError for what JSON lacks.

    As in any JSON, tuples come back as lists and keys as strings.
    """
    body = json.dumps(record, ensure_ascii=True, separators=(",", ":"), allow_nan=False).encode("ascii")
    return b"%08x %s\n" % (zlib.crc32(body), body)


def _whole(line: bytes) -> bool:
    """Whether `line`, without its newline, carries the checksum of its body (exactly: no other spelling of it)."""
    return line[:_HEAD] == b"%08x " % zlib.crc32(line[_HEAD:])


def _lines(path: Path, size: int) -> Iterator[bytes]:
    """The lines in the first `size` bytes of the file, newlines kept; bounded, since others may be appending."""
    with path.open("rb") as file:
        while size > 0 and (line := file.readline(size)):
            size -= len(line)
            yield line


def _scan(path: Path) -> tuple[int, int, bool, bytes]:
    """-> number of whole records, their bytes, whether the last one lacks its newline, the torn tail.

    Raises JournalError with the line number for damage before the last line.
    """
    size = path.stat().st_size
    count = good = 0
    for line in _lines(path, size):
        if not _whole(line.removesuffix(b"\n")):
            if good + len(line) < size:
                raise JournalError(
                    f"Line {count + 1} of journal {path} is damaged and is not the last one; a crash cannot do that. "
                    "Restore the file from a copy, or move the cell folder away and run the cell again."
                )
            return count, good, False, line
        count, good = count + 1, good + len(line)
        if not line.endswith(b"\n"):
            return count, good, True, b""
    return count, good, False, b""


def _parse(path: Path, good: int) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(_lines(path, good), 1):
        body = line.removesuffix(b"\n")
        if not _whole(body):
            raise JournalError(f"Line {number} of journal {path} changed under the reader; is another program writing?")
        try:
            yield json.loads(body[_HEAD:])
        except ValueError as error:
            raise JournalError(f"Line {number} of journal {path} is not JSON ({error}); we did not write it.") from None


def read_records(path: str | Path) -> Iterator[dict[str, Any]]:
    """Stream the whole records of a journal without touching the file; a torn tail is left out, and left in place.

    Raises JournalError with a line number for damage before the tail, and for an absent file.
    """
    path = Path(path)
    if not path.is_file():
        raise JournalError(f"There is no journal {path}; is this the folder of a cell that was started?")
    yield from _parse(path, _scan(path)[1])


def _keep_aside(path: Path, torn: bytes) -> None:
    """Save the torn bytes in the first free `<path>.torn-<n>`, durably, before they are cut."""
    number = 1
    while True:
        aside = path.with_name(f"{path.name}.torn-{number}")
        try:
            with aside.open("xb") as file:
                file.write(torn)
            break
        except FileExistsError:
            number += 1
    sync_file(aside)
    sync_folder(path.parent)


def _not_finite(value: object, at: str) -> str | None:
    """Path of the first NaN or infinity in `value`."""
    if isinstance(value, float):
        return None if math.isfinite(value) else at
    pairs = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list | tuple) else ()
    return next((p for key, item in pairs if (p := _not_finite(item, f"{at}.{key}" if at else str(key)))), None)


class Journal:
    """An open journal. `torn`: the bytes that opening cut from the tail, empty when the file was sound.

    `len(journal)` is the number of records. Make one with `Journal.open`; close it, or use it in a `with`.
    The caller holds the cell folder's lock: two writers on one journal are not detected here.
    """

    def __init__(self, path: Path, fd: int, count: int, size: int, torn: bytes) -> None:
        self.path, self.torn = path, torn
        self._fd, self._count, self._size = fd, count, size
        self._lock = threading.Lock()
        self._broken = ""

    @classmethod
    def open(cls, path: str | Path) -> Journal:
        """Open or create the journal at `path`, checking every line and repairing the tail.

        A whole last record that lacks only its newline counts. Raises JournalError for damage before the tail.
        """
        path = Path(path)
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            sync_folder(path.parent)
            count, good, bare, torn = _scan(path)
            if torn:
                _keep_aside(path, torn)
                os.ftruncate(fd, good)
                os.fsync(fd)
            journal = cls(path, fd, count, good, torn)
            if bare:
                journal._write(b"\n")
        except BaseException:
            os.close(fd)
            raise
        return journal

    def __len__(self) -> int:
        return self._count

    @property
    def records(self) -> Iterator[dict[str, Any]]:
        """A fresh stream over the records written so far, read from the file one at a time."""
        with self._lock:
            size = self._size
        return _parse(self.path, size)

    def append(self, record: Mapping[str, Any]) -> int:
        """Write `record` durably and give its number, from 0. Safe from several threads.

        Raises JournalError when JSON cannot carry the record (NaN, infinity, foreign types; nothing is written), or
        when the disk fails: the file is then cut back to whole records and this journal takes no more.
        """
        try:
            data = encode(record)
        except (ValueError, TypeError, RecursionError) as error:
            raise JournalError(self._refusal(record, error)) from None
        with self._lock:
            self._write(data)
            self._count += 1
            return self._count - 1

    def _refusal(self, record: Mapping[str, Any], error: Exception) -> str:
        at = None if isinstance(error, RecursionError) else _not_finite(record, "")
        if at:
            return (f"A record for journal {self.path} holds NaN or an infinity at {at}, which JSON cannot carry; "
                    "write null and say why in a status field.")  # fmt: skip
        return f"A record for journal {self.path} is not JSON ({error}); write plain dicts, lists, text and numbers."

    def _write(self, data: bytes) -> None:
        if self._broken:
            raise JournalError(self._broken)
        try:
            written = os.write(self._fd, data)
            if written != len(data):
                raise OSError(f"only {written} of {len(data)} bytes were written")
            sync(self._fd)
        except OSError as error:
            # After a failed sync the kernel may have dropped the pages: a retry would report success and lose data.
            self._broken = (f"Journal {self.path} could not be written ({error}); free the disk and run the same "
                            "command again: it resumes at the last whole record.")  # fmt: skip
            self._cut_back()
            raise JournalError(self._broken) from error
        self._size += len(data)

    def _cut_back(self) -> None:
        try:
            os.ftruncate(self._fd, self._size)
        except OSError:
            return  # the next open cuts the tail

    def close(self) -> None:
        """Close the file; a second call does nothing, a later `append` is refused."""
        with self._lock:
            if self._fd >= 0:
                os.close(self._fd)
            self._fd = -1
            self._broken = self._broken or f"Journal {self.path} is closed; open it again to append."

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

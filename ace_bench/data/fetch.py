"""Fetch one source: into `NAME.part`, checked, and only then in place of what was there.

A good file is never touched. A cut download goes on where it was, if a known digest will tell whether the pieces fit;
without one it starts over. What arrives and does not fit is removed, and the file that was there stays.
"""

from __future__ import annotations

import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import IO, Any, Literal

from ace_bench.data.sources import Source
from ace_bench.data.unpack import unpack
from ace_bench.data.verify import examined, note, state_of
from ace_bench.store.atomic import sync_file, sync_folder

CHUNK = 1 << 20
TRIES = 5
_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})  # worth another try


class FetchError(Exception):
    """A file that could not be fetched; the message is a sentence, and nothing good was lost."""


@dataclass(frozen=True, slots=True)
class Fetch:
    """How it went. `there`: nothing was fetched. `unchecked`: fetched, and its digest is now the one to keep."""

    status: Literal["there", "fetched", "unchecked"]
    bytes: int = 0  # received over the network


def fetch(
    source: Source, root: Path, *, progress: Callable[[int], None] = lambda n: None, pause_s: float = 1.0
) -> Fetch:
    """Make the source's file be there and good; unpack it if it is an archive.

    `progress` gets the number of bytes of every piece, `pause_s` is the first wait before another try (it doubles).
    Raises `FetchError` (not found, wrong content, cut too often) and OSError (disk).
    """
    before = state_of(source, root)
    if before.status in ("good", "unchecked"):
        if before.status == "unchecked":
            note(source, root)  # a copy brought by hand: from now on it must stay as it is
        _unpacked(source, root)
        return Fetch("there")
    path = root / source.path
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.part")
    received = _download(source, part, progress, pause_s)
    after = examined(part, source, root)
    if after.status == "bad":
        part.unlink()
        kept = " The file that was there is as it was." if before.status == "bad" else ""
        raise FetchError(
            f"{source.name}: what {source.url} sent is not the file: {after.reason}. It was removed.{kept}"
        )
    sync_file(part)
    part.replace(path)
    sync_folder(path.parent)
    note(source, root)
    _unpacked(source, root)
    return Fetch("unchecked" if after.status == "unchecked" else "fetched", received)


def _unpacked(source: Source, root: Path) -> None:
    if source.unpacked is not None and not (root / source.unpacked).is_dir():
        unpack(root / source.path, root / source.unpacked)


def _download(source: Source, part: Path, progress: Callable[[int], None], pause_s: float) -> int:
    """Bring `part` to its full length, in at most `TRIES` tries without progress; bytes received."""
    received, failures, problem = 0, 0, ""
    if source.sha256 is None:
        part.unlink(missing_ok=True)
    while failures < TRIES:
        if failures:
            time.sleep(pause_s * 2 ** (failures - 1))
        had = part.stat().st_size if part.exists() else 0
        try:
            whole = _piece(source, part, had, progress)
        except urllib.error.HTTPError as error:
            if error.code == 416 and had:  # there is nothing behind what we have: it may be whole, or too long
                return received
            if error.code not in _PASSING:
                raise FetchError(f"{source.name}: {source.url} answered {error.code} {error.reason}.") from None
            whole, problem = False, f"the server answered {error.code} {error.reason}"
        except (urllib.error.URLError, HTTPException, TimeoutError, ConnectionError) as error:
            whole, problem = False, f"{getattr(error, 'reason', error)}"
        got = (part.stat().st_size if part.exists() else 0) - had
        received += max(0, got)
        if whole:
            return received
        failures = 1 if got > 0 and source.sha256 else failures + 1
    size = part.stat().st_size if part.exists() else 0
    raise FetchError(
        f"{source.name}: {source.url} could not be fetched whole ({problem or 'the connection was cut'}; {size:,} bytes are "
        "here). Run the same command again" + (" to go on from there." if source.sha256 else "; it starts over.")
    )


def _piece(source: Source, part: Path, had: int, progress: Callable[[int], None]) -> bool:
    """One request, from byte `had` on when there is a digest to check the joined pieces; whether the file is whole."""
    headers = {"User-Agent": "ace-bench", "Accept-Encoding": "identity"}
    resume = bool(had and source.sha256)
    if resume:
        headers["Range"] = f"bytes={had}-"
    # The address is one of the registry: http or https, never a file.
    with urllib.request.urlopen(urllib.request.Request(source.url, headers=headers), timeout=60) as reply:
        goes_on = (
            resume and reply.status == 206 and str(reply.headers.get("Content-Range", "")).startswith(f"bytes {had}-")
        )
        with part.open("ab" if goes_on else "wb") as file:
            room = None if source.size is None else source.size - (had if goes_on else 0)
            return _copied(reply, file, progress, room)


def _copied(reply: Any, file: IO[bytes], progress: Callable[[int], None], room: int | None) -> bool:
    """Whether all came that was announced, or more than may: then nothing further is read."""
    told = reply.headers.get("Content-Length")
    done = 0
    while piece := reply.read(CHUNK):
        file.write(piece)
        done += len(piece)
        progress(len(piece))
        if room is not None and done > room:
            return True
    return told is None or done >= int(told)

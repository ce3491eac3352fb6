"""The file of a capsule: a zip whose MANIFEST.json names every member with its SHA-256 and size.

Written with fixed dates and rights, so the same content gives the same bytes (of one zlib). Read with suspicion: whoever
made the file may have meant harm.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import IO, Any

from ace_bench.store.atomic import tmp_beside
from ace_bench.store.errors import StoreError

FORMAT = 1
MANIFEST = "MANIFEST.json"
MOST_MEMBERS = 200_000
MOST_BYTES = 8 * 2**30  # of all members unpacked
_CHUNK = 1 << 20
_DATE = (1980, 1, 1, 0, 0, 0)


class CapsuleError(StoreError):
    """A capsule that cannot be made or used; the message is the sentence for the user."""


class Writer:
    """Adds members to a new capsule; the manifest is written at the end. `path` appears whole or not at all."""

    def __init__(self, path: Path) -> None:
        if path.exists():
            raise CapsuleError(f"{path} is there already; give another name, or move it away.")
        if not path.parent.is_dir():
            raise CapsuleError(f"There is no folder {path.parent} to write {path.name} into; make it first.")
        self.path, self._tmp = path, tmp_beside(path)
        self._zip = zipfile.ZipFile(self._tmp, "w", zipfile.ZIP_DEFLATED, compresslevel=6)
        self.members: dict[str, dict[str, Any]] = {}

    def add(self, name: str, chunks: Iterable[bytes]) -> None:
        """One member. ValueError for a name that `safe` refuses or that was added before."""
        if name in self.members or not safe(name):
            raise ValueError(f"{name!r} cannot be the name of a member")
        digest, size = hashlib.sha256(), 0
        with self._zip.open(_info(name), "w", force_zip64=True) as out:
            for chunk in chunks:
                digest.update(chunk)
                size += len(chunk)
                out.write(chunk)
        self.members[name] = {"sha256": digest.hexdigest(), "bytes": size}

    def close(self, manifest: dict[str, Any]) -> None:
        """Write the manifest, and give the file its name."""
        whole = {"format": FORMAT, **manifest, "members": self.members}
        self._zip.writestr(_info(MANIFEST), json.dumps(whole, indent=1, sort_keys=True, allow_nan=False))
        self._zip.close()
        self._tmp.replace(self.path)

    def abandon(self) -> None:
        """Leave nothing behind."""
        self._zip.close()
        self._tmp.unlink(missing_ok=True)


def unpack(path: Path, folder: Path) -> dict[str, Any]:
    """Check everything about the capsule at `path`, write its members below `folder`, and give the manifest.

    Raises CapsuleError: not a capsule, a member whose name leaves the folder, one too many or too large, one that is not
    in the manifest, is missing, or was changed.
    """
    try:
        with zipfile.ZipFile(path) as box:
            infos = box.infolist()
            _check_names(path, infos)
            manifest = _manifest(path, box)
            members = manifest["members"]
            _check_members(path, {info.filename for info in infos} - {MANIFEST}, members)
            for name in sorted(members):
                _write(path, box, name, members[name], folder / name)
    except FileNotFoundError:
        raise CapsuleError(
            f"There is no file {path}; give the capsule that `ace-bench capsule export` wrote."
        ) from None
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as e:
        raise CapsuleError(f"{path} is not a whole capsule ({e}); copy it again.") from None
    return manifest


def safe(name: str) -> bool:
    """Whether a member's name stays inside the folder it is unpacked into."""
    parts = PurePosixPath(name).parts
    odd = any(c in name for c in "\\\0:") or name.startswith("/") or name.endswith("/")
    return bool(parts) and not odd and ".." not in parts and "/".join(parts) == name


def read_file(path: Path) -> Iterator[bytes]:
    """The bytes of a file, in pieces."""
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            yield chunk


def _info(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, _DATE)
    info.compress_type, info.create_system, info.external_attr = zipfile.ZIP_DEFLATED, 3, 0o644 << 16
    return info


def _check_names(path: Path, infos: list[zipfile.ZipInfo]) -> None:
    names = [info.filename for info in infos]
    wrong = next((name for name in names if not safe(name)), None)
    if wrong is not None:
        raise CapsuleError(f"{path} has a member named {wrong!r}, which would leave its folder. Nothing was unpacked.")
    if len(set(names)) != len(names) or len(names) > MOST_MEMBERS:
        raise CapsuleError(f"{path} has two members of one name, or more than {MOST_MEMBERS:,}. Nothing was unpacked.")
    if sum(info.file_size for info in infos) > MOST_BYTES:
        raise CapsuleError(f"{path} would unpack to more than {MOST_BYTES:,} bytes. Nothing was unpacked.")


def _manifest(path: Path, box: zipfile.ZipFile) -> dict[str, Any]:
    try:
        found = json.loads(box.read(MANIFEST))
    except (KeyError, ValueError):
        raise CapsuleError(f"{path} has no readable {MANIFEST}; it is not a capsule of ace_bench.") from None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise CapsuleError(f"{path} is of another format of capsule than {FORMAT}; use the ace_bench that made it.")
    members = found.get("members")
    described = isinstance(members, dict) and all(
        isinstance(m, dict) and isinstance(m.get("sha256"), str) and isinstance(m.get("bytes"), int)
        for m in members.values()
    )
    if not described or not isinstance(found.get("cells"), list) or not isinstance(found.get("needs"), list):
        raise CapsuleError(f"{MANIFEST} of {path} is incomplete; the file was changed after it was made.")
    return found


def _check_members(path: Path, there: set[str], listed: dict[str, Any]) -> None:
    if missing := sorted(set(listed) - there):
        raise CapsuleError(
            f"{path} lacks {missing[0]}, which its {MANIFEST} names; the file was changed. Copy it again."
        )
    if extra := sorted(there - set(listed)):
        raise CapsuleError(f"{path} holds {extra[0]}, which its {MANIFEST} does not name; the file was changed.")


def _write(path: Path, box: zipfile.ZipFile, name: str, listed: dict[str, Any], target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    digest, left = hashlib.sha256(), listed["bytes"]
    with box.open(name) as source, target.open("xb") as out:
        for chunk in _chunks(source):
            left -= len(chunk)
            if left < 0:
                break
            digest.update(chunk)
            out.write(chunk)
    if left or digest.hexdigest() != listed["sha256"]:
        raise CapsuleError(
            f"{name} in {path} is not what its {MANIFEST} says (SHA-256 or size differ): the capsule was changed or "
            "damaged after it was made. Nothing was run."
        )


def _chunks(source: IO[bytes]) -> Iterator[bytes]:
    while chunk := source.read(_CHUNK):
        yield chunk

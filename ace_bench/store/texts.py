"""The texts of a cell: bulky text lives once, under its digest; rows and journal records hold digests only."""

from __future__ import annotations

import hashlib
import re
import threading
import zlib
from pathlib import Path

from ace_bench.store.atomic import write_atomic
from ace_bench.store.errors import TextError

_DIGEST = re.compile(r"[0-9a-f]{64}")


def _bytes(text: str) -> bytes:
    # surrogatepass: half a surrogate pair from a model is data, and its digest must be stable
    return text.encode("utf-8", "surrogatepass")


class Texts:
    """The content-addressed store in `folder` (made when absent): `<digest>.z`, zlib. Safe from several threads."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self._known: set[str] = set()
        self._lock = threading.Lock()

    def _path(self, digest: str) -> Path:
        return self.folder / f"{digest}.z"

    def put(self, text: str) -> str:
        """Store `text` durably, unless it is there already, and give its digest (SHA-256, 64 hex digits)."""
        data = _bytes(text)
        digest = hashlib.sha256(data).hexdigest()
        with self._lock:
            if digest in self._known:
                return digest
        path = self._path(digest)
        if not path.exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            write_atomic(path, zlib.compress(data, 1))
        with self._lock:
            self._known.add(digest)
        return digest

    def __contains__(self, digest: object) -> bool:
        return isinstance(digest, str) and bool(_DIGEST.fullmatch(digest)) and self._path(digest).is_file()

    def get(self, digest: str) -> str:
        """The text under `digest`, checked against it. Raises TextError when it is absent or damaged."""
        if not _DIGEST.fullmatch(digest):
            raise TextError(f"{digest!r} is not a text digest (64 lower-case hex digits); take one from a row.")
        path = self._path(digest)
        try:
            data = zlib.decompress(path.read_bytes())
        except FileNotFoundError:
            raise TextError(f"Text {digest} is not in {self.folder}; was the folder copied without it?") from None
        except zlib.error:
            data = None
        if data is None or hashlib.sha256(data).hexdigest() != digest:
            raise TextError(f"Text file {path} is damaged: its content does not have the digest of its name. "
                            "Restore it from a copy, or remove it and run the cell again.")  # fmt: skip
        return data.decode("utf-8", "surrogatepass")

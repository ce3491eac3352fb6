"""The SQLite files behind BIRD: `<db_root>/<db_id>/<db_id>.sqlite`, or the bundled ones, built from SQL text when needed."""

from __future__ import annotations

import hashlib
import re
import sqlite3
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock

from ace_bench.benchmarks.jsonl import DataError, tasks_folder

_NAME = re.compile(r"[\w-]{1,100}")


@dataclass(frozen=True, slots=True)
class Database:
    """One database: where it is, a digest of its content, and the CREATE TABLE texts of its tables in their order."""

    name: str
    path: Path
    digest: str
    tables: str


class Databases:
    """The databases of a run, each looked at once. Safe to share between threads."""

    def __init__(self, root: Path | None) -> None:
        self._root, self._made = root, dict[str, Database]()
        self._lock = Lock()
        self._built: TemporaryDirectory[str] | None = None  # lives as long as this object

    def get(self, name: str) -> Database:
        """The database `name`. Raises ValueError (a sentence) when there is none that can be read."""
        if not _NAME.fullmatch(name):
            raise ValueError(f"the database name {name[:100]!r} is not a plain name")
        with self._lock:
            if name not in self._made:
                self._made[name] = self._open(name)
            return self._made[name]

    def _open(self, name: str) -> Database:
        if self._root is None:
            return self._build(name)
        path = self._root / name / f"{name}.sqlite"
        if not path.is_file():
            raise ValueError(f"there is no database {path}; check db_root")
        wal = path.with_name(f"{path.name}-wal")
        if wal.is_file() and wal.stat().st_size:
            raise ValueError(f"{path} has changes in {wal.name} that are not in it yet; close what writes to it")
        return Database(name, path, file_digest(path), _tables(path))

    def _build(self, name: str) -> Database:
        source = tasks_folder() / "bird_small" / "databases" / f"{name}.sql"
        if not source.is_file():
            raise ValueError(f"there is no bundled database '{name}'; give db_root for databases of your own")
        self._built = self._built or TemporaryDirectory(prefix="ace_bench-bird-")
        path = Path(self._built.name) / name / f"{name}.sqlite"
        path.parent.mkdir()
        text = source.read_text(encoding="utf-8")
        connection = sqlite3.connect(path)
        try:
            connection.executescript(text)
        finally:
            connection.close()
        # The text's digest, not the file's: another version of SQLite may lay the same rows out differently.
        return Database(name, path, hashlib.sha256(text.encode()).hexdigest(), _tables(path))


def file_digest(path: Path) -> str:
    """SHA-256 of a file; computed again when its size or time changes."""
    stat = path.stat()
    return _digest(path, stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=256)
def _digest(path: Path, mtime_ns: int, size: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _tables(path: Path) -> str:
    try:
        connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)
        try:
            found = connection.execute(
                "SELECT sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid"
            )
            texts = [sql.strip() for (sql,) in found]
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise ValueError(f"{path} cannot be read as an SQLite database ({error})") from None
    if not texts:
        raise DataError(f"{path} has no tables; give the real database")
    return ";\n\n".join(texts) + ";"

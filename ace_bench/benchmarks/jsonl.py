"""Loader of the released finance files: one JSON object a line with the columns `context` and `target`.

A row is used whole or named as bad with file, line and reason; none is dropped in silence (known faults B17, B28).
Ids come from the content, so they survive reordering; a limit takes the first rows. Here, too: what the adapters share.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from ace_bench.contracts import Sample

OnBadRow = Literal["strict", "skip"]
Check = Callable[[str, str], str | None]  # (context, target) -> what is wrong with the row, or None
SPLITS = ("train", "val", "test")
_PACKAGE = Path(__file__).resolve().parents[1]
_BOM = b"\xef\xbb\xbf"


class DataError(ValueError):
    """Data that cannot be used; the text says which file, which line, why, and what to do."""


@dataclass(frozen=True, slots=True)
class Row:
    """One good row. `id` is made of its content, `line` is where it stood (from 1)."""

    id: str
    context: str
    target: str
    line: int


@dataclass(frozen=True, slots=True)
class BadRow:
    """One row that was left out, and why."""

    file: str
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Loaded:
    """A file as read: good rows in file order, bad rows, SHA-256 of its bytes, ids of exact repeats."""

    path: Path
    rows: tuple[Row, ...]
    bad: tuple[BadRow, ...]
    sha256: str
    duplicates: tuple[str, ...]


def tasks_folder() -> Path:
    """Where the bundled task sets are: inside the installed package, or beside it in a checkout."""
    for folder in (_PACKAGE / "tasks", _PACKAGE.parent / "tasks"):
        if folder.is_dir():
            return folder
    raise DataError(f"bundled tasks: no folder 'tasks' in {_PACKAGE} or in {_PACKAGE.parent}; reinstall ace-bench")


def content_id(context: str, target: str) -> str:
    """A short id of a row, the same wherever the row stands. Lone surrogates are allowed (known fault B35)."""
    return hashlib.sha256(json.dumps([context, target]).encode()).hexdigest()[:12]


def read_rows(path: Path, on_bad_row: OnBadRow = "strict", check: Check | None = None) -> Loaded:
    """Read `path` line by line. `strict` stops at the first bad row, `skip` lists bad rows and goes on.

    Blank lines and a byte order mark are no rows. Raises `DataError` for a missing file or no usable row.
    """
    digest, seen = hashlib.sha256(), Counter[str]()
    rows: list[Row] = []
    bad: list[BadRow] = []
    for line, raw in file_lines(path, digest):
        try:
            context, target = _columns(json_object(raw), check)
        except ValueError as error:
            bad.append(BadRow(str(path), line, str(error)))
            if on_bad_row == "strict":
                raise DataError(
                    f"{bad[0]}. Mend the row, or set benchmark.on_bad_row=skip to leave bad rows out"
                ) from None
            continue
        key = content_id(context, target)
        seen[key] += 1
        rows.append(Row(key if seen[key] == 1 else f"{key}-{seen[key]}", context, target, line))
    if not rows:
        first = f"; the first: {bad[0]}" if bad else ""
        raise DataError(f"{path}: no usable row ({len(bad)} bad ones{first}); give another file")
    repeats = tuple(row.id for row in rows if "-" in row.id)
    return Loaded(path, tuple(rows), tuple(bad), digest.hexdigest(), repeats)


def file_lines(path: Path, digest: Any) -> Iterator[tuple[int, bytes]]:
    """(line number, bytes) of the lines that are not blank; `digest` is fed the whole file."""
    try:
        with path.open("rb") as file:
            for line, raw in enumerate(file, 1):
                digest.update(raw)
                body = raw.removeprefix(_BOM) if line == 1 else raw
                if body.strip():
                    yield line, body
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}); check the benchmark's paths") from None


def json_object(raw: bytes) -> dict[str, Any]:
    """One line as a JSON object; ValueError with the reason when it is none."""
    try:
        row = json.loads(raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8 at byte {error.start + 1} of the line") from None
    except (json.JSONDecodeError, RecursionError) as error:
        cut = "" if raw.endswith(b"\n") else " and the line has no end: the file may be cut off"
        raise ValueError(f"not JSON ({error}){cut}") from None
    if not isinstance(row, dict):
        raise ValueError(f"a row is a JSON object with columns, not {type(row).__name__}")
    return row


def _columns(row: dict[str, Any], check: Check | None) -> tuple[str, str]:
    """context and target of a row; ValueError with the reason when it is bad."""
    context, target = (text_of(row, name) for name in ("context", "target"))
    problem = check(context, target) if check else None
    if problem:
        raise ValueError(problem)
    return context, target


def text_of(row: dict[str, Any], name: str) -> str:
    """The text in column `name`; ValueError when there is no column, no string or nothing in it."""
    if name not in row:
        raise ValueError(f"no column '{name}' (columns: {', '.join(sorted(row)) or 'none'})")
    value = row[name]
    if not isinstance(value, str):
        raise ValueError(f"column '{name}' must be a string, not {type(value).__name__}")
    if not value.strip():
        raise ValueError(f"column '{name}' is empty")
    return value


class FileSettings(BaseModel):
    """Which files hold the splits. All three null: the bundled small set. One given: the others are empty splits."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    train: str | None = None
    val: str | None = None
    test: str | None = None
    on_bad_row: OnBadRow = "strict"
    train_limit: int | None = Field(default=None, ge=0)
    val_limit: int | None = Field(default=None, ge=0)
    test_limit: int | None = Field(default=None, ge=0)


class SplitFiles:
    """The three splits of a benchmark, each read once, when first asked for. Safe to share between threads."""

    def __init__(self, settings: FileSettings, bundled: str, check: Check, sample: Callable[[Row], Sample]) -> None:
        self._settings, self._bundled, self._check, self._sample = settings, bundled, check, sample
        self._loaded: dict[str, tuple[Loaded | None, tuple[Sample, ...]]] = {}
        self._lock = Lock()

    def samples(self, split: str) -> tuple[Sample, ...]:
        """The samples of a split in file order, cut at its limit; empty when the split has no file."""
        return self._load(split)[1]

    def file(self, split: str) -> Loaded | None:
        """What was read for a split: digest, bad rows, duplicates. None when the split has no file."""
        return self._load(split)[0]

    def digest(self) -> str:
        """SHA-256 over ids, inputs and targets of all splits, in order."""
        rows = [[split, [[s.task.id, s.task.input, s.target] for s in self.samples(split)]] for split in SPLITS]
        return hashlib.sha256(json.dumps(rows).encode()).hexdigest()

    def shared(self) -> dict[tuple[str, str], tuple[str, ...]]:
        """Pairs of splits -> ids in the second whose text also stands in the first (known fault B32). Empty is good."""
        found = {}
        for i, first in enumerate(SPLITS):
            texts = {s.task.input for s in self.samples(first)}
            for second in SPLITS[i + 1 :]:
                found[first, second] = tuple(s.task.id for s in self.samples(second) if s.task.input in texts)
        return {pair: ids for pair, ids in found.items() if ids}

    def _path(self, split: str) -> Path | None:
        given = getattr(self._settings, split)
        if given is not None:
            return Path(given).expanduser()
        if any(getattr(self._settings, name) is not None for name in SPLITS):
            return None
        return tasks_folder() / self._bundled / f"{split}.jsonl"

    def _load(self, split: str) -> tuple[Loaded | None, tuple[Sample, ...]]:
        if split not in SPLITS:
            raise DataError(f"no split '{split}'; choose one of {', '.join(SPLITS)}")
        with self._lock:
            if split not in self._loaded:
                path = self._path(split)
                self._loaded[split] = (
                    self._read(path, getattr(self._settings, f"{split}_limit")) if path else (None, ())
                )
            return self._loaded[split]

    def _read(self, path: Path, limit: int | None) -> tuple[Loaded, tuple[Sample, ...]]:
        loaded = read_rows(path, self._settings.on_bad_row, self._check)
        return loaded, tuple(self._sample(row) for row in loaded.rows[:limit])

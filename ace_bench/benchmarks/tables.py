"""Tables as samples: JSONL and Parquet files, and folders written by the `datasets` library, all by path.

The adapter says how one row becomes a sample; a row that cannot is named with file, row and reason, as in `jsonl`.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from ace_bench.benchmarks.jsonl import (
    BadRow,
    DataError,
    FileSettings,
    Loaded,
    OnBadRow,
    Row,
    SplitFiles,
    content_id,
    file_lines,
    json_object,
)
from ace_bench.contracts import Sample, Task

Values = dict[str, Any]  # one row: column -> value
Make = Callable[[Values], Sample]  # raises ValueError with the reason when the row cannot be used
Read = tuple[Loaded, tuple[Sample, ...]]


def read_table(path: Path, on_bad_row: OnBadRow, make: Make) -> Read:
    """Every row of `path` as a sample. `strict` stops at the first bad row, `skip` lists bad rows and goes on.

    An id that comes again is numbered (`-2`, `-3`). Rows count from 1; in a JSONL file they are lines.
    Raises `DataError` for a missing file or no usable row.
    """
    samples: list[Sample] = []
    bad: list[BadRow] = []
    seen, lines = Counter[str](), []
    for line, raw in _raw_rows(path):
        try:
            sample = _numbered(make(json_object(raw) if isinstance(raw, bytes) else raw), seen)
        except ValueError as error:
            bad.append(BadRow(str(path), line, str(error)))
            if on_bad_row == "strict":
                raise DataError(
                    f"{bad[-1]}. Mend the row, or set benchmark.on_bad_row=skip to leave bad rows out"
                ) from None
            continue
        samples.append(sample)
        lines.append(line)
    if not samples:
        first = f"; the first: {bad[0]}" if bad else ""
        raise DataError(f"{path}: no usable row ({len(bad)} bad ones{first}); give another file")
    rows = tuple(Row(s.task.id, s.task.input, s.target, line) for s, line in zip(samples, lines, strict=True))
    repeats = tuple(key for key, n in seen.items() for _ in range(n - 1))
    return Loaded(path, rows, tuple(bad), table_digest(path), repeats), tuple(samples)


def _numbered(sample: Sample, seen: Counter[str]) -> Sample:
    key = sample.task.id
    seen[key] += 1
    return sample if seen[key] == 1 else replace(sample, task=replace(sample.task, id=f"{key}-{seen[key]}"))


def table_digest(path: Path) -> str:
    """SHA-256 of a file's bytes; of a folder: over the names and bytes of its files."""
    if path.is_file():
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    parts = [f"{f.relative_to(path).as_posix()} {table_digest(f)}" for f in sorted(path.rglob("*")) if f.is_file()]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _raw_rows(path: Path) -> Iterator[tuple[int, bytes | Values]]:
    if path.is_dir():
        yield from enumerate(_saved_rows(path), 1)
    elif path.suffix == ".parquet":
        yield from enumerate(_parquet_rows(path), 1)
    else:
        yield from file_lines(path, hashlib.sha256())


def _parquet_rows(path: Path) -> Iterator[Values]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches():
                yield from batch.to_pylist()
    except (OSError, pa.ArrowException) as error:
        raise DataError(f"{path}: cannot be read as Parquet ({error}); check the benchmark's paths") from None


def _saved_rows(path: Path) -> Iterator[Values]:
    """The rows of a folder that `datasets` saved (`save_to_disk`): one split, not a dictionary of them."""
    if (path / "dataset_dict.json").is_file():
        inside = sorted(p.name for p in path.iterdir() if p.is_dir())
        raise DataError(
            f"{path} holds several splits ({', '.join(inside)}); name one of them, such as {path / inside[0]}"
        )
    if not (path / "state.json").is_file():
        raise DataError(f"{path} is a folder, but none that the datasets library saved; give a file, or such a folder")
    try:
        import datasets
    except ImportError:
        raise DataError(f'{path} needs the datasets library: pip install "ace-bench[datasets]"') from None
    try:
        yield from datasets.load_from_disk(str(path))
    except (OSError, ValueError, KeyError) as error:
        raise DataError(f"{path}: the datasets library cannot load it ({error}); save it again") from None


class TableSplits(SplitFiles):
    """The three splits of a benchmark whose rows become samples by `make`."""

    def __init__(self, settings: FileSettings, bundled: str, make: Make) -> None:
        super().__init__(settings, bundled, lambda context, target: None, _from_row)
        self._make = make

    def _read(self, path: Path, limit: int | None) -> Read:
        loaded, samples = read_table(path, self._settings.on_bad_row, self._make)
        return loaded, samples[:limit]


def _from_row(row: Row) -> Sample:
    return Sample(Task(row.id, "all", row.context), row.target)


__all__ = ["Make", "TableSplits", "Values", "content_id", "read_table", "table_digest"]

"""What the benchmarks on files share: splits, what was read of each, digests. A subclass sets `_files`."""

from __future__ import annotations

from typing import ClassVar

from ace_bench.benchmarks.jsonl import SPLITS, Loaded, SplitFiles
from ace_bench.benchmarks.single_turn import OneCall
from ace_bench.contracts import Sample


class FileBenchmark(OneCall):
    """One question a row, three files; a split without a file is empty."""

    name: ClassVar[str]
    _files: SplitFiles

    def splits(self) -> tuple[str, ...]:
        """train, val and test; a split without a file is empty."""
        return SPLITS

    def samples(self, split: str) -> tuple[Sample, ...]:
        """The samples of a split. Raises `DataError` (file, line, reason) when the file cannot be used."""
        return self._files.samples(split)

    def file(self, split: str) -> Loaded | None:
        """SHA-256, bad rows and duplicates of a split's file."""
        return self._files.file(split)

    def data_digest(self) -> str:
        """SHA-256 over ids, inputs and targets of all splits, as the files have them."""
        return self._files.digest()

    def shared(self) -> dict[tuple[str, str], tuple[str, ...]]:
        """Texts that stand in two splits (known fault B32)."""
        return self._files.shared()

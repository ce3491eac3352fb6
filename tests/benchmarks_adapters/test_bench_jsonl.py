"""The loader: every bad row is named, ids hold, digests are those of the bytes."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from ace_bench.benchmarks.jsonl import DataError, read_rows, tasks_folder

from .fakes import ROOT, finer, formula

GOOD = json.dumps({"context": "What?", "target": "1"}).encode() + b"\n"
FAULTS = {
    "bad JSON": (b'{"context": "a", }\n', "not JSON"),
    "cut off": (b'{"context": "a", "targ', "the file may be cut off"),
    "no target": (b'{"context": "a"}\n', "no column 'target' (columns: context)"),
    "no context": (b'{"target": "a"}\n', "no column 'context'"),
    "empty target": (b'{"context": "a", "target": " "}\n', "column 'target' is empty"),
    "empty context": (b'{"context": "", "target": "a"}\n', "column 'context' is empty"),
    "number": (b'{"context": "a", "target": 2.0}\n', "must be a string, not float"),
    "null": (b'{"context": "a", "target": null}\n', "must be a string, not NoneType"),
    "a list": (b'["a", "b"]\n', "not list"),
    "not UTF-8": (b'{"context": "\xff", "target": "a"}\n', "not UTF-8 at byte 14"),
    "deep": (b"[" * 100_000 + b"\n", "not JSON"),
    "long number": (b"1" * 10_000 + b"\n", ""),
}


def _write(tmp_path: Path, body: bytes) -> Path:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(body)
    return path


@pytest.mark.parametrize(("row", "reason"), FAULTS.values(), ids=FAULTS.keys())
def test_bad_rows_stop_or_are_listed(tmp_path: Path, row: bytes, reason: str) -> None:
    path = _write(tmp_path, GOOD + b"\n" + row)
    with pytest.raises(DataError) as stop:
        read_rows(path)
    assert f"{path}, line 3: " in str(stop.value)
    assert reason in str(stop.value)
    loaded = read_rows(path, "skip")
    assert (len(loaded.rows), len(loaded.bad), loaded.bad[0].line) == (1, 1, 3)


@pytest.mark.parametrize("body", [b"", b"\n \n", b"\xef\xbb\xbf", b"{}\n"])
def test_a_file_without_rows_is_an_error(tmp_path: Path, body: bytes) -> None:
    with pytest.raises(DataError, match="no usable row"):
        read_rows(_write(tmp_path, body), "skip")


@pytest.mark.parametrize("name", ["nowhere.jsonl", ""])
def test_a_missing_file_is_a_sentence(tmp_path: Path, name: str) -> None:
    with pytest.raises(DataError, match=r"cannot be read .* check"):
        read_rows(tmp_path / name)


def test_bom_blank_lines_and_missing_last_newline(tmp_path: Path) -> None:
    body = b"\xef\xbb\xbf" + GOOD + b"\r\n\n" + GOOD.replace(b"1", b"2").rstrip()
    loaded = read_rows(_write(tmp_path, body))
    assert [(row.line, row.target) for row in loaded.rows] == [(1, "1"), (4, "2")]
    assert loaded.sha256 == hashlib.sha256(body).hexdigest()


def test_ids_come_from_content_and_repeats_are_named(tmp_path: Path) -> None:
    other = GOOD.replace(b"1", b"2")
    first = read_rows(_write(tmp_path, GOOD + other + GOOD))
    second = read_rows(_write(tmp_path, other + GOOD + GOOD))
    assert sorted(row.id for row in first.rows) == sorted(row.id for row in second.rows)
    assert first.duplicates == (f"{first.rows[0].id}-2",)
    assert first.rows[0].id != first.rows[1].id


def test_lone_surrogates_load(tmp_path: Path) -> None:
    row = read_rows(_write(tmp_path, b'{"context": "\\ud83d", "target": "a"}\n')).rows[0]
    assert row.context == "\ud83d"
    assert len(row.id) == 12


def test_given_and_bundled_files_are_never_mixed() -> None:
    path = ROOT / "tasks" / "formula_small" / "val.jsonl"
    benchmark = formula(train=str(path))
    assert [len(benchmark.samples(split)) for split in benchmark.splits()] == [20, 0, 0]
    assert benchmark.file("test") is None


def test_limits_caching_and_unknown_split() -> None:
    benchmark = finer(train_limit=3, val_limit=0)
    assert [len(benchmark.samples(split)) for split in benchmark.splits()] == [3, 0, 40]
    assert benchmark.samples("train") is benchmark.samples("train")
    with pytest.raises(DataError, match="no split 'dev'; choose one of train, val, test"):
        benchmark.samples("dev")


def test_settings_are_strict() -> None:
    with pytest.raises(ValidationError):
        formula(trian="x")
    with pytest.raises(ValidationError):
        formula(train_limit=-1)


def test_rows_of_the_wrong_task_are_bad_rows() -> None:
    small = ROOT / "tasks"
    with pytest.raises(DataError, match=r"train.jsonl, line 1: the context does not name its formula"):
        formula(train=str(small / "finer_small" / "train.jsonl")).samples("train")
    with pytest.raises(DataError, match=r"train.jsonl, line 1: the context has no list of tag options"):
        finer(train=str(small / "formula_small" / "train.jsonl")).samples("train")


def test_data_digest_follows_what_is_asked() -> None:
    digests = [formula().data_digest(), formula(prompt="upstream").data_digest(), formula(train_limit=5).data_digest()]
    assert len(set(digests)) == 3
    assert digests[0] == formula().data_digest()


def test_texts_in_two_splits_are_found() -> None:
    path = str(ROOT / "tasks" / "formula_small" / "val.jsonl")
    assert len(formula(train=path, test=path, test_limit=4).shared()["train", "test"]) == 4


def test_tasks_folder_is_the_checkouts() -> None:
    assert tasks_folder() == ROOT / "tasks"

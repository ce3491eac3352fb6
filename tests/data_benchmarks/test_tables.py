"""Tables by path: JSONL, Parquet and folders saved by datasets give the same samples; what cannot be read is told."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ace_bench.benchmarks.ddxplus import DDXPlus
from ace_bench.benchmarks.jsonl import DataError
from ace_bench.benchmarks.qa import QA

ROWS = [{"question": f"Q{i}?", "answer": str(i), "options": ["0", "1", "2"]} for i in range(3)]


@pytest.fixture
def parquet(tmp_path):
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.Table.from_pylist(ROWS), path)
    return str(path)


@pytest.fixture
def saved(tmp_path):
    datasets = pytest.importorskip("datasets")
    datasets.DatasetDict({"test": datasets.Dataset.from_list(ROWS)}).save_to_disk(str(tmp_path / "saved"))
    return tmp_path / "saved"


def test_three_forms_give_the_same_samples(make, rows_file, parquet, saved):
    settings = {"scoring": "choice", "options": "options"}
    found = [make(QA, test=str(p), **settings).samples("test") for p in (rows_file(ROWS), parquet, saved / "test")]
    assert found[0] == found[1] == found[2]
    assert [s.target for s in found[0]] == ["A", "B", "C"]


def test_a_folder_of_several_splits_is_asked_for_one(make, saved):
    with pytest.raises(DataError, match=r"holds several splits \(test\); name one of them, such as .*saved/test"):
        make(QA, test=str(saved)).samples("test")


def test_a_folder_that_is_none_of_datasets(make, tmp_path):
    with pytest.raises(DataError, match="none that the datasets library saved"):
        make(QA, test=str(tmp_path)).samples("test")


def test_without_the_library_a_sentence(make, saved, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(DataError, match=r'pip install "ace-bench\[datasets\]"'):
        make(QA, test=str(saved / "test")).samples("test")


@pytest.mark.parametrize("body", [b"", b"PAR1", b"no table"])
def test_a_damaged_parquet_file_is_a_sentence(make, tmp_path, body):
    (tmp_path / "x.parquet").write_bytes(body)
    with pytest.raises(DataError, match="cannot be read as Parquet"):
        make(QA, test=str(tmp_path / "x.parquet")).samples("test")


def test_missing_files_and_empty_ones(make, tmp_path):
    for name in ("none.jsonl", "none.parquet"):
        with pytest.raises(DataError, match="cannot be read"):
            make(QA, test=str(tmp_path / name)).samples("test")
    (tmp_path / "empty.jsonl").write_text("\n")
    with pytest.raises(DataError, match="no usable row"):
        make(QA, test=str(tmp_path / "empty.jsonl")).samples("test")


def test_bad_rows_of_parquet_have_numbers(make, tmp_path):
    path = tmp_path / "d.parquet"
    table = [{"PATIENT_PROFILE": "a", "PATHOLOGY": "GERD"}, {"PATIENT_PROFILE": "b", "PATHOLOGY": "x"}]
    pq.write_table(pa.Table.from_pylist(table), path)
    with pytest.raises(DataError, match=r"d.parquet, line 2: the pathology 'x'"):
        make(DDXPlus, test=str(path)).samples("test")


def test_repeats_are_numbered_and_listed(make, rows_file):
    benchmark = make(QA, test=rows_file([ROWS[0], ROWS[1], ROWS[0]]))
    ids = [s.task.id for s in benchmark.samples("test")]
    assert ids[2] == f"{ids[0]}-2"
    assert benchmark.file("test").duplicates == (ids[0],)


def test_limits_and_digest(make, rows_file):
    path = rows_file(ROWS)
    assert len(make(QA, test=path, test_limit=2).samples("test")) == 2
    assert make(QA, test=path, test_limit=2).data_digest() != make(QA, test=path).data_digest()
    assert make(QA, test=path).shared() == {}
    assert make(QA, train=path, test=path).shared()["train", "test"]


def test_json_rows_that_are_no_rows(make, tmp_path):
    path = tmp_path / "r.jsonl"
    path.write_bytes(json.dumps(ROWS[0]).encode() + b"\n[1]\n{\n\xff\n")
    benchmark = make(QA, test=str(path), on_bad_row="skip")
    assert len(benchmark.samples("test")) == 1
    assert [bad.line for bad in benchmark.file("test").bad] == [2, 3, 4]

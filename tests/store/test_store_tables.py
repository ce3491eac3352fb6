"""Tables: checked row by row, whole or absent, read back as written (known faults B18, B25, B35)."""

from __future__ import annotations

import csv
import enum
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ace_bench.store import (
    CellFolder,
    SchemaError,
    StoreError,
    iter_tables,
    read_table,
    schema,
    table_path,
    to_csv,
    unescape_text,
    write_tables,
)
from ace_bench.store.checks import ALLOWED

SAMPLE: dict[str, Any] = {"string": "text", "int": 3, "float": 0.5, "bool": True}
ABSENT = object()


def row(table: str, **values: Any) -> dict[str, Any]:
    made = {c.name: ALLOWED.get(c.name, (SAMPLE[c.kind],))[0] for c in schema.columns(table)}
    return {**made, **values}


def cell(root: Path, name: str, rows: int) -> Path:
    with CellFolder.enter(root / name) as folder:
        write_tables(folder.path, {"steps": [row("steps", cell=name, position=i) for i in range(rows)]})
        folder.finish()
    return folder.path


@pytest.mark.parametrize("table", schema.TABLES)
def test_every_table_comes_back_with_nulls_and_empty(tmp_path: Path, table: str) -> None:
    nulls = row(table, **{c.name: None for c in schema.columns(table) if c.null})
    rows = [row(table), nulls]
    write_tables(tmp_path, {table: rows})
    assert read_table(tmp_path, table).to_pylist() == rows
    write_tables(tmp_path, {table: []})
    empty = read_table(tmp_path, table)
    assert empty.num_rows == 0
    assert empty.schema.equals(schema.arrow_schema(table))


BAD: list[tuple[str, str, Any, str]] = [
    ("steps", "colour", "red", "unknown column 'colour', value 'red'"),
    ("steps", "epoch", ABSENT, "lacks the column epoch"),
    ("steps", "score", ABSENT, "lacks the column score"),
    ("steps", "sample", None, "column sample: None may not be null"),
    ("steps", "adapt_latency_s", None, "column adapt_latency_s: None may not be null"),
    ("steps", "sample", 7, "column sample: 7 should be text"),
    ("steps", "sample", b"s", "should be text"),
    ("steps", "epoch", "1", "column epoch: '1' should be an int"),
    ("steps", "epoch", 1.0, "column epoch: 1.0 should be an int"),
    ("steps", "epoch", True, "column epoch: True should be an int"),
    ("steps", "epoch", 2**63, "does not fit 64 bits"),
    ("steps", "first", 1, "column first: 1 should be a bool"),
    ("steps", "score", "0.5", "column score: '0.5' should be a float"),
    ("steps", "score", True, "column score: True should be a float"),
    ("steps", "score", float("nan"), "column score: nan is not a finite number"),
    ("steps", "score", float("-inf"), "column score: -inf is not a finite number"),
    ("steps", "score", 10**400, "too large"),
    ("steps", "phase", "train", "column phase: 'train' should be one of adapt, select, score, probe"),
    ("steps", "outcome", "Right", "column outcome: 'Right' should be one of right, wrong"),
    ("calls", "call_phase", "solve", "column call_phase: 'solve' should be one of adapt"),
    ("bullets", "event", "died", "column event: 'died' should be one of born"),
]


@pytest.mark.parametrize(("table", "column", "value", "words"), BAD)
def test_a_bad_row_is_named_and_nothing_is_written(
    tmp_path: Path, table: str, column: str, value: Any, words: str
) -> None:
    bad = row(table, **{column: value})
    if value is ABSENT:
        del bad[column]
    with pytest.raises(SchemaError) as caught:
        write_tables(tmp_path, {"feedback": [row("feedback")], table: [row(table), row(table), bad]})
    assert f"Table {table}, row 2 (from 0)" in str(caught.value)
    assert words in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_bad_row_leaves_the_tables_of_before(tmp_path: Path) -> None:
    write_tables(tmp_path, {"steps": [row("steps")]})
    before = table_path(tmp_path, "steps").read_bytes()
    with pytest.raises(SchemaError):
        write_tables(tmp_path, {"steps": [row("steps", epoch=None)]})
    assert table_path(tmp_path, "steps").read_bytes() == before


def test_a_failure_while_writing_leaves_no_half_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ace_bench.store import tables

    write_tables(tmp_path, {"steps": [row("steps")], "calls": []})
    real = tables._write_parquet

    def failing(path: Path, table: str, rows: Any) -> None:
        real(path, table, rows)
        if table == "calls":
            raise OSError("disk full")

    monkeypatch.setattr(tables, "_write_parquet", failing)
    with pytest.raises(OSError, match="disk full"):
        write_tables(tmp_path, {"steps": [], "calls": []})
    assert read_table(tmp_path, "steps").num_rows == 1
    assert sorted(p.name for p in (tmp_path / "tables").iterdir()) == ["calls.parquet", "steps.parquet"]


def test_unknown_tables_and_columns_are_sentences(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match="no table 'rollouts'; the tables are cells"):
        write_tables(tmp_path, {"rollouts": []})
    write_tables(tmp_path, {"steps": []})
    with pytest.raises(SchemaError, match="no table"):
        read_table(tmp_path, "rollouts")
    with pytest.raises(SchemaError, match="no column 'colour'"):
        read_table(tmp_path, "steps", ["cell", "colour"])


def test_same_rows_same_bytes_and_whole_floats(tmp_path: Path) -> None:
    class Phase(enum.StrEnum):
        SCORE = "score"

    rows = [row("steps", score=1, adapt_latency_s=2**60 + 1, phase=Phase.SCORE)]
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        write_tables(tmp_path / name, {"steps": rows})
    assert table_path(tmp_path / "a", "steps").read_bytes() == table_path(tmp_path / "b", "steps").read_bytes()
    back = read_table(tmp_path / "a", "steps").to_pylist()[0]
    assert (back["score"], back["adapt_latency_s"], back["phase"]) == (1.0, float(2**60), "score")


def test_more_rows_than_a_chunk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ace_bench.store.tables._CHUNK", 4)
    write_tables(tmp_path, {"steps": [row("steps", position=i) for i in range(9)]})
    assert read_table(tmp_path, "steps", ["position"]).column(0).to_pylist() == list(range(9))


def test_cells_are_read_in_sorted_order_one_at_a_time(tmp_path: Path) -> None:
    paths = [cell(tmp_path, name, rows) for name, rows in (("b=1", 2), ("a", 1), ("c", 0))]
    found = read_table(tmp_path, "steps", ["position", "cell"])
    assert found.column_names == ["position", "cell"], "`=` in a folder name adds no column"
    assert found.column("cell").to_pylist() == ["a", "b=1", "b=1"]
    assert [part.num_rows for part in iter_tables(tmp_path, "steps")] == [1, 2, 0]
    assert read_table(paths, "steps").equals(read_table(tmp_path, "steps"))
    assert read_table(paths[0], "steps").num_rows == 2
    assert read_table([], "steps", ["cell"]).column_names == ["cell"]


def test_iterating_reads_a_cell_only_when_its_turn_comes(tmp_path: Path) -> None:
    for name in "ab":
        cell(tmp_path, name, 1)
    parts = iter_tables(tmp_path, "steps")
    assert next(parts).num_rows == 1
    table_path(tmp_path / "b", "steps").write_bytes(b"damaged")
    with pytest.raises(StoreError, match="cannot be read"):
        next(parts)


def test_missing_tables(tmp_path: Path) -> None:
    cell(tmp_path, "a", 1)
    CellFolder.enter(tmp_path / "running").close()
    assert read_table(tmp_path, "steps").num_rows == 1, "a cell under way has no tables yet"
    with pytest.raises(StoreError, match="running has no table steps"):
        read_table([tmp_path / "a", tmp_path / "running"], "steps")
    table_path(tmp_path / "a", "steps").unlink()
    with pytest.raises(StoreError, match="a has no table steps"):
        read_table(tmp_path, "steps")
    (tmp_path / "empty").mkdir()
    with pytest.raises(StoreError, match="No cell under"):
        read_table(tmp_path / "empty", "steps")


def test_a_file_of_another_schema_is_refused(tmp_path: Path) -> None:
    write_tables(tmp_path, {"feedback": []})
    table_path(tmp_path, "feedback").rename(table_path(tmp_path, "steps"))
    with pytest.raises(SchemaError, match="another version"):
        read_table(tmp_path, "steps")


def test_csv_tells_null_from_empty(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).mkdir()
        rows = [row("steps", cell=name, answer=a, score=s) for a, s in ((None, None), ("", 0.5), ('x, "y"\nz', 0.0))]
        write_tables(tmp_path / name, {"steps": rows})
    out = tmp_path / "steps.csv"
    assert to_csv([tmp_path / "b", tmp_path / "a"], "steps", out, ["cell", "answer", "score"]) == 6
    with out.open(newline="") as file:
        lines = list(csv.reader(file))
    bodies = (["", ""], ["", "0.5"], ['x, "y"\nz', "0"])
    assert lines == [["cell", "answer", "score"], *[[name, *body] for name in "ab" for body in bodies]]
    assert out.read_text().splitlines()[1:3] == ['"a",,', '"a","",0.5']
    assert [p.name for p in tmp_path.glob(".*")] == []


TEXTS = st.text(st.characters(exclude_categories=()), max_size=12)
INTS = st.integers(-(2**63), 2**63 - 1)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
KINDS: dict[str, st.SearchStrategy[Any]] = {"string": TEXTS, "int": INTS, "float": FLOATS, "bool": st.booleans()}


def rows_of(table: str) -> st.SearchStrategy[list[dict[str, Any]]]:
    fields = {}
    for column in schema.columns(table):
        values = st.sampled_from(ALLOWED[column.name]) if column.name in ALLOWED else KINDS[column.kind]
        fields[column.name] = st.none() | values if column.null else values
    return st.lists(st.fixed_dictionaries(fields), max_size=3)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("rows")


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(["feedback", "bullets", "candidates"]).flatmap(lambda t: st.tuples(st.just(t), rows_of(t))))
def test_any_row_that_fits_comes_back(folder: Path, drawn: tuple[str, list[dict[str, Any]]]) -> None:
    table, rows = drawn
    write_tables(folder, {table: rows})
    back = [{k: unescape_text(v) if isinstance(v, str) else v for k, v in r.items()}
            for r in read_table(folder, table).to_pylist()]  # fmt: skip
    assert back == rows

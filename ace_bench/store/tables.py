"""The Parquet tables of a cell: checked rows in, Arrow tables out, one file a table and cell.

Text is escaped on the way in (`escape.py`). Reading opens each file by itself, never as a dataset: a dataset would read
`a=b` in a folder name as a column.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ace_bench.store.atomic import sync_file, sync_folder, tmp_beside
from ace_bench.store.cells import cell_folders
from ace_bench.store.checks import Row, check_rows, table_columns
from ace_bench.store.errors import SchemaError, StoreError
from ace_bench.store.escape import escape_text
from ace_bench.store.folder import INSTANCE, TABLES, is_finished
from ace_bench.store.schema import Column, arrow_schema

if TYPE_CHECKING:
    import pyarrow as pa

# An experiment or cell folder, or several cell folders.
Source = str | Path | Iterable[str | Path]
_CHUNK = 16_384  # rows converted at a time: bounds the Arrow copy beside the rows


def table_path(folder: str | Path, table: str) -> Path:
    """Where `table` of the cell in `folder` is. Raises SchemaError for a name that is no table."""
    table_columns(table)
    return Path(folder) / TABLES / f"{table}.parquet"


def write_tables(folder: str | Path, rows: Mapping[str, Sequence[Row]]) -> dict[str, Path]:
    """Write the given tables of a cell, also empty ones, and give their paths; tables not in `rows` stay as they are.

    All rows are checked before the first byte is written, and all files are whole before the first takes its name.
    Raises SchemaError with table, row, column and value.
    """
    for table, its_rows in rows.items():
        check_rows(table, its_rows)
    paths = {table: table_path(folder, table) for table in rows}
    temporary = {table: tmp_beside(path) for table, path in paths.items()}
    (Path(folder) / TABLES).mkdir(exist_ok=True)
    try:
        for table, tmp in temporary.items():
            _write_parquet(tmp, table, rows[table])
            sync_file(tmp)
        for table, tmp in temporary.items():
            tmp.replace(paths[table])
    finally:
        for tmp in temporary.values():
            tmp.unlink(missing_ok=True)
    sync_folder(Path(folder) / TABLES)
    return paths


def _value(column: Column, value: Any) -> Any:
    if value is None:
        return None
    if column.kind == "string":
        return escape_text(value)
    return float(value) if column.kind == "float" else value  # Arrow refuses large ints in a float column


def _write_parquet(path: Path, table: str, rows: Sequence[Row]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema, cols = arrow_schema(table), table_columns(table)
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for start in range(0, max(len(rows), 1), _CHUNK):
            part = rows[start : start + _CHUNK]
            arrays = [pa.array([_value(c, row[c.name]) for row in part], schema.field(c.name).type) for c in cols]
            writer.write_table(pa.table(arrays, schema=schema))


def _files(source: Source, table: str) -> list[Path]:
    """The files of `table` in sorted order; a cell that should have one and has none is an error."""
    if isinstance(source, str | Path):
        root = Path(source)
        if not ((root / INSTANCE).exists() or (root / TABLES).is_dir()):
            return _experiment_files(root, table)
        source = [root]
    files = [table_path(folder, table) for folder in sorted({Path(folder) for folder in source})]
    for file in files:
        if not file.is_file():
            raise StoreError(f"Cell {file.parent.parent} has no table {table}; is it finished? Resume it first, or "
                             "leave it out.")  # fmt: skip
    return files


def _experiment_files(root: Path, table: str) -> list[Path]:
    """Every cell that has the table; a cell still under way may lack it, a finished one may not."""
    folders = [f for f in cell_folders(root) if is_finished(f) or table_path(f, table).is_file()]
    if not folders:
        raise StoreError(f"No cell under {root} has a table {table} yet; finish a cell first, or check the path.")
    return _files(folders, table)


def _read(path: Path, table: str, names: Sequence[str]) -> pa.Table:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            found = file.schema_arrow
            if not found.equals(arrow_schema(table)):
                raise SchemaError(f"{path} does not have the columns of table {table}: another version of ace_bench "
                                  "wrote it. Read it with that version, or run the cell again.")  # fmt: skip
            return file.read(columns=list(names))
    except (pa.ArrowInvalid, OSError) as error:
        raise StoreError(f"Table file {path} cannot be read ({error}); restore it or run the cell again.") from error


def iter_tables(source: Source, table: str, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
    """The table of one cell after the other, cells in sorted order: for tables too big to hold at once.

    source: an experiment folder (cells under way that have no tables yet are left out), a cell folder, or several.
    columns: their names, None for all. Text is as `escape_text` made it. Raises SchemaError for an unknown table or
    column or a file of another version, StoreError for an absent or unreadable file.
    """
    known = [c.name for c in table_columns(table)]
    names = list(known if columns is None else columns)
    wrong = [name for name in names if name not in known]
    if wrong:
        raise SchemaError(f"Table {table} has no column {wrong[0]!r}; its columns are {', '.join(known)}.")
    return (_read(path, table, names) for path in _files(source, table))


def read_table(source: Source, table: str, columns: Sequence[str] | None = None) -> pa.Table:
    """`iter_tables`, concatenated. An empty list of folders gives an empty table with the right columns."""
    import pyarrow as pa

    parts = list(iter_tables(source, table, columns))
    if parts:
        return pa.concat_tables(parts)
    empty = arrow_schema(table).empty_table()
    return empty if columns is None else empty.select(list(columns))


def to_csv(source: Source, table: str, out: str | Path, columns: Sequence[str] | None = None) -> int:
    """Write the table to a CSV file, one cell at a time, and give the number of rows; an existing file is replaced.

    A null is an empty field, an empty text is `""`.
    """
    import pyarrow as pa
    from pyarrow import csv

    out = Path(out)
    parts = iter_tables(source, table, columns)  # refuses unknown names before a file is made
    schema = arrow_schema(table)
    if columns is not None:
        schema = pa.schema([schema.field(name) for name in columns])
    count, tmp = 0, tmp_beside(out)
    with contextlib.ExitStack() as stack:
        stack.callback(tmp.unlink, missing_ok=True)
        with csv.CSVWriter(tmp, schema) as writer:
            for part in parts:
                writer.write_table(part)
                count += part.num_rows
        tmp.replace(out)
    return count

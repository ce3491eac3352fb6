"""Rows against the schema, one by one, before anything is written."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Mapping, Sequence
from typing import Any

from ace_bench.store.errors import SchemaError
from ace_bench.store.schema import BULLET_EVENTS, OUTCOMES, PHASES, TABLES, Column, columns

Row = Mapping[str, Any]
# Columns whose values come from a list of the schema.
ALLOWED: dict[str, tuple[str, ...]] = {
    "phase": PHASES,
    "call_phase": PHASES,
    "outcome": OUTCOMES,
    "event": BULLET_EVENTS,
}
_INT64 = 2**63


def table_columns(table: str) -> tuple[Column, ...]:
    """The columns of `table`. Raises SchemaError for a name that is no table."""
    if table not in TABLES:
        raise SchemaError(f"There is no table {table!r}; the tables are {', '.join(TABLES)}.")
    return columns(table)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _float_problem(value: object) -> str | None:
    if not _is_number(value):
        return "should be a float"
    try:
        finite = math.isfinite(value)  # type: ignore[arg-type]
    except OverflowError:
        return "is too large for a float"
    return None if finite else "is not a finite number; write null for an unknown"


def _int_problem(value: object) -> str | None:
    if not isinstance(value, int) or isinstance(value, bool):
        return "should be an int (a plain one: convert numpy numbers)"
    return None if -_INT64 <= value < _INT64 else "does not fit 64 bits"


def _problem(column: Column, value: object) -> str | None:
    """What is wrong with `value` in `column`, or None."""
    if value is None:
        return None if column.null else "may not be null"
    if column.kind == "float":
        return _float_problem(value)
    if column.kind == "int":
        return _int_problem(value)
    if column.kind == "bool":
        return None if isinstance(value, bool) else "should be a bool"
    if not isinstance(value, str):
        return "should be text"
    allowed = ALLOWED.get(column.name)
    return None if allowed is None or value in allowed else f"should be one of {', '.join(allowed)}"


def _names_problem(table: str, number: int, row: Row, names: Sequence[str]) -> SchemaError:
    unknown = sorted(str(key) for key in row if key not in names)
    if unknown:
        value = reprlib.repr(next(v for k, v in row.items() if str(k) == unknown[0]))
        return SchemaError(f"Table {table}, row {number} (from 0) has an unknown column {unknown[0]!r}, value "
                           f"{value}; the columns are in ace_bench/store/schema.py.")  # fmt: skip
    missing = next(name for name in names if name not in row)
    return SchemaError(f"Table {table}, row {number} (from 0) lacks the column {missing}; write null where it may be "
                       "unknown, never leave it out.")  # fmt: skip


def check_rows(table: str, rows: Sequence[Row]) -> None:
    """Check every row of `table`. Raises SchemaError naming table, row (from 0), column and value."""
    cols = table_columns(table)
    names = {column.name: None for column in cols}
    for number, row in enumerate(rows):
        if row.keys() != names.keys():
            raise _names_problem(table, number, row, list(names))
        for column in cols:
            value = row[column.name]
            problem = _problem(column, value)
            if problem:
                raise SchemaError(f"Table {table}, row {number} (from 0), column {column.name}: {reprlib.repr(value)} "
                                  f"{problem}.")  # fmt: skip

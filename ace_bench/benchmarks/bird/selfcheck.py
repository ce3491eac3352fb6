"""What is doubtful in a gold statement (known faults B30, X06): found by running it, not by reading it alone."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

from ace_bench.benchmarks.bird.databases import Database
from ace_bench.benchmarks.bird.sqlrun import Budget, Ran, Seen, execute, once
from ace_bench.benchmarks.bird.ties import has_order, loosened

FLAGS = {
    "error": "the gold statement fails, or its result is too large",
    "timeout": "the gold statement uses up the budget",
    "empty": "no rows: an answer without rows is right, and under StreamBench's rule none is",
    "tie": "which rows come, or in what order, hangs on an order the statement does not state (a LIMIT that cuts a tie)",
    "clock": "the result hangs on today's date or on chance",
    "null": "a NULL in the result: NULL sorts before every value",
    "text_numbers": "it orders, or takes the extreme of, a text column that holds numbers: '10' sorts before '9'",
}
_CLOCK = frozenset({"current_date", "current_time", "current_timestamp", "random", "randomblob"})
_NOW = re.compile(r"'\s*now\s*'|\b(?:date|time|datetime|julianday|strftime)\s*\(\s*\)", re.IGNORECASE)
_RANKED = re.compile(r"\border\s+by\b(.*?)(?:\blimit\b|\)|$)|\b(?:min|max)\s*\(([^)]*)", re.DOTALL)
_NUMERIC = (
    "SELECT 1 FROM {table} WHERE typeof({column}) = 'text' "
    "AND {column} GLOB '*[0-9]*' AND {column} NOT GLOB '*[^0-9.]*' LIMIT 1"
)


def flags(database: Database, sql: str, budget: Budget) -> tuple[str, ...]:
    """The names in `FLAGS` that apply to a gold statement. `error` and `timeout` come alone."""
    gold = once(database.path, database.digest, sql, budget)
    if gold.status != "ok":
        return (gold.status,)
    seen = Seen()
    again = turned_over(database, sql, budget, seen)
    ordered = has_order(sql)
    differs = again.rows != gold.rows if ordered else Counter(again.rows) != Counter(gold.rows)
    found = {
        "empty": not gold.rows,
        "tie": differs and not _clock(sql, seen),
        "clock": _clock(sql, seen),
        "null": any(value is None for row in gold.rows for value in row),
        "text_numbers": (ordered or bool({"min", "max"} & seen.functions))
        and _text_numbers(database, seen, sql, budget),
    }
    return tuple(name for name, applies in found.items() if applies)


@lru_cache(maxsize=4096)
def ordered_by_gold(database: Database, sql: str, budget: Budget) -> bool:
    """Whether the order of the rows is part of the answer: there is an ORDER BY, and it leaves no ties."""
    if not has_order(sql):
        return False
    gold = once(database.path, database.digest, sql, budget)
    return gold.rows == turned_over(database, sql, budget).rows


def turned_over(database: Database, sql: str, budget: Budget, seen: Seen | None = None) -> Ran:
    """The statement with every choice its order leaves made the other way: another result means there was a choice.

    A compound SELECT (UNION) takes no further sort key; there only the scans are turned.
    """
    ran = execute(database.path, loosened(sql), budget, backwards=True, seen=seen)
    return ran if ran.status == "ok" else execute(database.path, sql, budget, backwards=True, seen=seen)


def _clock(sql: str, seen: Seen) -> bool:
    return bool(_CLOCK & seen.functions) or bool(_NOW.search(sql))


def _text_numbers(database: Database, seen: Seen, sql: str, budget: Budget) -> bool:
    """Whether a column named in ORDER BY, MIN or MAX is text whose values are numbers."""
    named = {word for parts in _RANKED.findall(sql.lower()) for part in parts for word in re.findall(r"\w+", part)}
    for table, column in sorted(seen.columns):
        if column.lower() not in named:
            continue
        quoted = {"table": _quote(table), "column": _quote(column)}
        found = execute(database.path, _NUMERIC.format(**quoted), budget)
        if found.status == "ok" and found.rows:
            return True
    return False


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'

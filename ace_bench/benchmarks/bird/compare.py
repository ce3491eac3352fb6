"""When two results are the same, and what statement an answer gives."""

from __future__ import annotations

from collections import Counter

from ace_bench.benchmarks.bird.sqlrun import Rows


def same_sets(pred: Rows, gold: Rows) -> bool:
    """The published rule of BIRD: equal as sets of rows, so that order and repeats do not count."""
    return set(pred) == set(gold)


def same_sets_streambench(pred: Rows, gold: Rows) -> bool:
    """The same as StreamBench's code does it: an empty result on either side raises there, and is wrong."""
    return bool(pred) and bool(gold) and same_sets(pred, gold)


def same_rows(pred: Rows, gold: Rows, ordered: bool) -> bool:
    """The strict rule: equal as multisets of rows, or as sequences where the order is part of the answer."""
    return pred == gold if ordered else Counter(pred) == Counter(gold)


def statement(answer: str) -> str:
    """The SQL of an answer: what stands in its first code fence, else all of it. Nothing else is changed."""
    _, fence, rest = answer.partition("```")
    if not fence:
        return answer.strip()
    body = rest.partition("```")[0]
    first, newline, others = body.partition("\n")
    return (others if newline and first.strip().lower() in ("sql", "sqlite", "") else body).strip()


def streambench_statement(sql: str) -> str:
    """StreamBench's rewriting: what does not begin with upper-case SELECT gets one, which breaks WITH and `select`."""
    return sql if sql.startswith("SELECT") else f"SELECT {sql}"

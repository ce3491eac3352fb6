"""Ties made visible: a statement whose rows are told to come the other way round wherever its order leaves a choice."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

TIE = (
    "ace_tie"  # a function without arguments that `sqlrun` gives falling numbers: a last sort key that turns ties over
)
# Strings, quoted names and comments, in which nothing counts; then parentheses; then words.
_TOKEN = re.compile(
    r"""'(?:[^']|'')*' | "(?:[^"]|"")*" | `[^`]*` | \[[^\]]*\] | --[^\n]* | /\*.*?\*/ | [();] | \w+""",
    re.VERBOSE | re.DOTALL,
)


def tokens(sql: str) -> Iterator[tuple[str, int, int]]:
    """(token in upper case, where it starts, depth of parentheses); a parenthesis has the depth outside it."""
    depth = 0
    for match in _TOKEN.finditer(sql):
        token = match[0].upper()
        if not token.startswith(("--", "/*")):
            depth -= token == ")"
            yield token, match.start(), depth
            depth += token == "("


def has_order(sql: str) -> bool:
    """Whether the statement itself, and not only a part in parentheses, has an ORDER BY."""
    words = [token for token, _, depth in tokens(sql) if depth == 0 and token not in "()"]
    return ("ORDER", "BY") in pairwise(words)


def loosened(sql: str) -> str:
    """`sql` with `ace_tie()` as the last key of every ORDER BY of a SELECT, sub-SELECTs among them."""
    cuts, open_ = [], dict[int, bool]()  # depth -> an ORDER BY is open there
    select, before = {0: True}, ""
    for token, start, depth in tokens(sql):
        if before == "(":
            select[depth] = token in ("SELECT", "WITH")
        if token == "BY" and before == "ORDER" and select.get(depth):
            open_[depth] = True
        elif (token == ")" and open_.pop(depth + 1, False)) or (token in ("LIMIT", ";") and open_.pop(depth, False)):
            cuts.append(start)
        before = token
    end = [len(sql)] if open_.pop(0, False) else []
    for cut in sorted([*cuts, *end], reverse=True):
        sql = f"{sql[:cut]}\n, {TIE}() {sql[cut:]}"
    return sql

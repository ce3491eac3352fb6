"""Replies in tags: how a sheet and an answer are read from the free text that Dynamic Cheatsheet asks for.

Source: the rules of the released code (`utils/extractor.py`), told in our words. Nothing here ever raises.
"""

from __future__ import annotations

from typing import Literal

Extraction = Literal["strict", "released"]


def sheet_in(text: str, how: Extraction) -> str | None:
    """The sheet between the first `<cheatsheet>` and its closing tag; None when there is none.

    `released` accepts what the released code accepts: a missing closing tag (the reply was cut: all that came is the
    sheet) and an empty sheet. `strict` takes neither: a cut sheet has lost its end.
    """
    _, opened, rest = text.partition("<cheatsheet>")
    if not opened:
        return None
    body, closed, _ = rest.partition("</cheatsheet>")
    sheet = body.strip()
    return sheet if how == "released" or (closed and sheet) else None


def answer_in(text: str) -> str | None:
    """The last `<answer>` block, or the fenced block after the last "FINAL ANSWER"; None when there is neither."""
    _, opened, rest = text.rpartition("<answer>")
    if opened:
        return rest.partition("</answer>")[0].strip()
    _, headed, rest = text.rpartition("FINAL ANSWER")
    marks = sorted((rest.find(mark), mark) for mark in ("'''", "```") if mark in rest) if headed else []
    if not marks:
        return None
    block = rest.split(marks[0][1])[1].strip()
    first, _, more = block.partition("\n")
    return more.strip() if first.strip().lower() == "python" else block

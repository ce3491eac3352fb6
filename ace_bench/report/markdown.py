"""The views as Markdown."""

from __future__ import annotations

from ace_bench.report.views import View, clean


def escape(text: str) -> str:
    """Text that stays text in Markdown: one line, no cell border, no markup, no HTML."""
    text = clean(text)
    for char in "\\|`*_[]<>":
        text = text.replace(char, f"\\{char}" if char not in "<>" else {"<": "&lt;", ">": "&gt;"}[char])
    return text


def table(view: View) -> str:
    """A Markdown table with its title; units in the header."""
    heads = [escape(f"{name} ({unit})" if unit else name) for name, unit in view.columns]
    rule = ["---", *["---:"] * (len(heads) - 1)]
    lines = [heads, rule, *([escape(text) for text in row] for row in view.rows)]
    return f"**{escape(view.title)}**\n\n" + "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def bullets(sentences: list[str] | tuple[str, ...]) -> str:
    """A list of sentences."""
    return "".join(f"* {escape(sentence)}\n" for sentence in sentences)

"""The HTML report: one file, no script, nothing loaded from elsewhere; every text is escaped (it may be hostile)."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from ace_bench.report.curves import Picture
from ace_bench.report.views import View, clean

# Nothing may load or run even if some text slipped through.
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
_CSS = """
:root { color-scheme: light dark; --ink: #1c1c1e; --soft: #5b5b60; --line: #d9d9de; --page: #ffffff; --band: #f5f5f7;
  --mark: #8a4b00; --markpage: #fff4e0; }
@media (prefers-color-scheme: dark) { :root { --ink: #ececf0; --soft: #a8a8b0; --line: #3a3a40; --page: #17171a;
  --band: #212126; --mark: #ffcf8a; --markpage: #3a2a10; } }
body { margin: 0 auto; max-width: 1220px; padding: 24px 20px 60px; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; }
h1 { font-size: 26px; margin: 0 0 4px; } h2 { font-size: 19px; margin: 40px 0 8px; padding-top: 12px;
  border-top: 1px solid var(--line); overflow-wrap: anywhere; } h3 { font-size: 15px; margin: 22px 0 6px; }
p, li { max-width: 90ch; } li { overflow-wrap: anywhere; margin: 3px 0; } .soft { color: var(--soft); }
.mark { background: var(--markpage); color: var(--mark); padding: 10px 14px; border-radius: 6px; font-weight: 600; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums; }
th, td { padding: 5px 7px; text-align: right; border-bottom: 1px solid var(--line); vertical-align: top; }
td { white-space: nowrap; } th { vertical-align: bottom; font-weight: 600; line-height: 1.25; }
th:first-child, td:first-child { text-align: left; white-space: normal; min-width: 9em; max-width: 24em;
  overflow-wrap: anywhere; } th span { display: block; font-weight: 400; color: var(--soft); }
tbody tr:nth-child(even) { background: var(--band); } dl { display: grid; grid-template-columns: max-content 1fr;
  gap: 2px 16px; } dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
figure { margin: 16px 0; } img { max-width: 100%; height: auto; background: #fff; border: 1px solid var(--line);
  border-radius: 6px; } code { background: var(--band); padding: 1px 5px; border-radius: 4px; overflow-wrap: anywhere; }
"""


@dataclass(frozen=True, slots=True)
class Section:
    """One comparison: heading, its tables, its pictures."""

    heading: str
    views: tuple[View, ...]
    pictures: tuple[Picture, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """Everything on the page, as plain text; `mark` is the watermark or ""."""

    title: str
    mark: str
    design: Sequence[tuple[str, str]]
    status: Sequence[str]
    warnings: Sequence[str]
    notes: Sequence[str]
    sections: Sequence[Section]
    rebuild: str


def page(content: Page) -> str:
    """The whole HTML document."""
    title = _text(content.title)
    mark = f'<p class="mark">{_text(content.mark)}</p>' if content.mark else ""
    body = [f"<h1>{title}</h1>", '<p class="soft">Report of ace_bench, made from the rows on disk.</p>', mark]
    if content.warnings:
        body += ["<h2>Read first</h2>", _list(content.warnings)]
    body += [_section(section) for section in content.sections]
    if not content.sections:
        body.append("<h2>Scores</h2><p>No finished cell has a scored step yet.</p>")
    body += ["<h2>The experiment</h2>", _pairs(content.design), "<h3>Cells</h3>", _list(content.status)]
    body += ["<h2>How to read this</h2>", _list(content.notes)]
    body.append(f"<h2>How to rebuild it</h2><p><code>{_text(content.rebuild)}</code></p>")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{_CSS}</style>\n</head>\n<body>\n" + "\n".join(body) + "\n</body>\n</html>\n"
    )


def _text(text: object) -> str:
    return escape(clean(text), quote=True)


def _list(sentences: Iterable[str]) -> str:
    return "<ul>" + "".join(f"<li>{_text(sentence)}</li>" for sentence in sentences) + "</ul>"


def _pairs(pairs: Iterable[tuple[str, str]]) -> str:
    return "<dl>" + "".join(f"<dt>{_text(name)}</dt><dd>{_text(value)}</dd>" for name, value in pairs) + "</dl>"


def _section(section: Section) -> str:
    parts = [f"<h2>{_text(section.heading)}</h2>"]
    for view in section.views[:2]:
        parts.append(_table(view))
    for picture in section.pictures:
        data = base64.b64encode(picture.png).decode("ascii")
        parts.append(f'<figure><img alt="{_text(picture.alt)}" src="data:image/png;base64,{data}"></figure>')
    parts += [_table(view) for view in section.views[2:]]
    return "\n".join(parts)


def _table(view: View) -> str:
    heads = "".join(f"<th>{_text(name)}<span>{_text(unit)}</span></th>" for name, unit in view.columns)
    rows = "".join("<tr>" + "".join(f"<td>{_text(text)}</td>" for text in row) + "</tr>" for row in view.rows)
    table = f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"
    return f'<h3>{_text(view.title)}</h3><div class="wide">{table}</div>'

"""Build every table, figure and the HTML page of an experiment from its rows. The same rows give the same bytes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ace_bench.report import contrasts_table, html, markdown, notes, views
from ace_bench.report.curves import Picture, overview, pictures
from ace_bench.report.rows import Rows, load
from ace_bench.report.summary import summary_of
from ace_bench.report.warnings import warnings
from ace_bench.stats.bootstrap import REPLICATES
from ace_bench.stats.contrasts import Contrasts, against_baseline
from ace_bench.store.atomic import write_atomic

if TYPE_CHECKING:
    import pandas as pd

REPORT = "report"


@dataclass(frozen=True, slots=True)
class ReportPaths:
    """Where everything was written."""

    folder: Path
    html: Path
    summary_csv: Path
    contrasts_csv: Path
    summary_md: Path
    contrasts_md: Path
    figures: tuple[Path, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Content:
    rows: Rows
    summary: pd.DataFrame
    contrasts: Contrasts
    table: pd.DataFrame
    pictures: tuple[Picture, ...]
    warnings: tuple[str, ...]


def build_report(
    experiment_dir: str | Path, *, baseline: str | None = None, replicates: int = REPLICATES
) -> ReportPaths:
    """Rebuild `<experiment_dir>/report/`: summary and contrasts as CSV and Markdown, figures, report.html.

    `baseline`: the arm (or method with one arm) to compare with; default: method `base`, where there is one.
    StoreError when there is no cell, ValueError when a named baseline is in no comparison.
    """
    rows = load(experiment_dir)
    contrasts = against_baseline(rows.found, baseline, replicates=replicates)
    if baseline is not None and rows.found and len(contrasts.notes) >= len(rows.found) and not contrasts.rows:
        raise ValueError("The baseline does not fit. " + " ".join(f"{note}." for note in contrasts.notes))
    found = (*warnings(rows), *(f"{note}." for note in contrasts.notes))
    scored = summary_of(rows, replicates=replicates)
    drawn = (*overview(scored), *pictures(rows, replicates=replicates))
    table = contrasts_table.table_of(contrasts)
    content = _Content(rows, scored, contrasts, table, drawn, found)
    return _write(Path(experiment_dir) / REPORT, content, baseline)


def _write(folder: Path, content: _Content, baseline: str | None) -> ReportPaths:
    figures = folder / "figures"
    figures.mkdir(parents=True, exist_ok=True)
    paths = ReportPaths(
        folder=folder,
        html=folder / "report.html",
        summary_csv=folder / "summary.csv",
        contrasts_csv=folder / "contrasts.csv",
        summary_md=folder / "summary.md",
        contrasts_md=folder / "contrasts.md",
        figures=tuple(figures / f"{p.name}.{kind}" for p in content.pictures for kind in ("png", "svg")),
    )
    for stale in {*figures.glob("*.png"), *figures.glob("*.svg")} - set(paths.figures):
        stale.unlink()  # an earlier build's figure would pass for one of these rows
    write_atomic(paths.summary_csv, _csv(content.summary))
    write_atomic(paths.contrasts_csv, _csv(content.table))
    write_atomic(paths.summary_md, _summary_md(content).encode())
    write_atomic(paths.contrasts_md, _contrasts_md(content).encode())
    for picture in content.pictures:
        write_atomic(figures / f"{picture.name}.png", picture.png)
        write_atomic(figures / f"{picture.name}.svg", picture.svg)
    write_atomic(paths.html, html.page(_page(content, baseline)).encode())
    return paths


def _csv(frame: pd.DataFrame) -> bytes:
    """Numbers to nine digits (an unknown is an empty field), `\\n` line ends."""
    # A column that also holds "unpriced" escapes float_format.
    mixed = {name: frame[name].map(_number) for name in frame.columns if frame[name].dtype == object}
    return frame.assign(**mixed).to_csv(index=False, float_format="%.9g", lineterminator="\n").encode()


def _number(value: object) -> object:
    return f"{value:.9g}" if isinstance(value, float) else value


def _mark(content: _Content) -> str:
    return notes.WATERMARK if content.rows.simulated else ""


def _summary_md(content: _Content) -> str:
    parts = [f"# {markdown.escape(views.clean(content.rows.name))}: summary\n"]
    if content.rows.simulated:
        parts.append(f"**{_mark(content)}**\n")
    if content.warnings:
        parts.append("## Read first\n\n" + markdown.bullets(content.warnings))
    for heading, rows in views.groups(content.summary):
        tables = [views.scores(rows), views.outcomes(rows), views.costs(rows)]
        parts.append(f"## {markdown.escape(heading)}\n\n" + "\n".join(map(markdown.table, tables)))
    parts.append("## Cells\n\n" + markdown.bullets(notes.status_lines(content.rows)))
    parts.append("## How to read this\n\n" + markdown.bullets(notes.INTERVALS))
    return "\n".join(parts)


def _contrasts_md(content: _Content) -> str:
    parts = [f"# {markdown.escape(views.clean(content.rows.name))}: differences against the baseline\n"]
    if content.rows.simulated:
        parts.append(f"**{_mark(content)}**\n")
    for heading, rows in views.groups(content.table):
        parts.append(f"## {markdown.escape(heading)}\n\n" + markdown.table(views.contrasts(rows)))
    if content.contrasts.notes:
        parts.append("## Not compared\n\n" + markdown.bullets(content.contrasts.notes))
    parts.append("## How to read this\n\n" + markdown.bullets(notes.INTERVALS))
    return "\n".join(parts)


def _page(content: _Content, baseline: str | None) -> html.Page:
    against = dict(views.groups(content.table))
    sections = [html.Section("All scores", (), (p,)) for p in content.pictures if not p.group]
    for heading, rows in views.groups(content.summary):
        compared = [views.contrasts(against[heading])] if heading in against else []
        tables = (views.scores(rows), *compared, views.outcomes(rows), views.costs(rows))
        drawn = tuple(p for p in content.pictures if views.clean(p.group) == heading)
        sections.append(html.Section(heading, tables, drawn))
    rebuild = f"ace-bench report <results folder>/{content.rows.name}"
    if baseline is not None:
        rebuild += f" --baseline {baseline!r}"
    design, status = notes.design_rows(content.rows), notes.status_lines(content.rows)
    title = f"Experiment {content.rows.name}"
    return html.Page(title, _mark(content), design, status, content.warnings, notes.INTERVALS, sections, rebuild)

"""The sentences that explain the numbers; the same in Markdown, HTML and the terminal."""

from __future__ import annotations

from pathlib import Path

from ace_bench.report.rows import Rows

WATERMARK = "Simulated model: no language model was behind these runs. Never set them beside a published number."

INTERVALS = (
    "Intervals are 95 percent, from the crossed bootstrap: items, seeds and orders are resampled independently, so "
    "they speak of new items, new seeds and new orders. Differences are paired: both arms under the same draws.",
    'Label "indicative": fewer than 5 seeds or 5 orders, where no resampling gives an honest 95 percent. "items only": '
    'one run; run-to-run variance is not in it. "degenerate": all scores equal; the bounds come from the number of '
    'items alone. "no scores": nothing was scored.',
    "Score is the mean over attempts that have a score; the strict score counts every other attempt as 0. First of "
    "group is the first attempt on each group in a run, repeat all later ones.",
    "p comes from the bootstrap distribution of the difference, adjusted by Holm over all contrasts of this report. A "
    "published value is one run: compare it with the prediction interval of one new run, not with these intervals.",
    "Needed calls and tokens are what the method asked for, probe calls left out; billed is what this run paid (a "
    "cached reply is needed, not billed; a failed attempt is billed, not needed). A cost that cannot be known is "
    "unpriced, not 0. Cost is at the prompt-prefix caching observed; beside it, the same calls without any. What caching "
    "saved is a share of input cost, not of total cost.",
)


def status_lines(rows: Rows) -> list[str]:
    """How many cells finished, and each other cell by name."""
    counts: dict[str, int] = {}
    for row in rows.cells:
        counts[str(row["status"])] = counts.get(str(row["status"]), 0) + 1
    if rows.unfinished:
        counts["without tables"] = len(rows.unfinished)
    total = len(rows.cells) + len(rows.unfinished)
    out = [f"{total} cells: " + ", ".join(f"{n} {status}" for status, n in sorted(counts.items())) + "."]
    for row in rows.failed:
        why = f": {row['error']}" if row["error"] else ""
        out.append(f"{row['cell']} {row['status']} (attempt {row['attempts']}), left out of every score{why}")
    return out + [
        f"{name} {_unfinished(rows.folders[name])}; run the same command to resume it." for name in rows.unfinished
    ]


def _unfinished(folder: Path) -> str:
    """Why a cell has no tables: its log's last line when it failed, else that it is under way or was stopped."""
    log = folder / "log.txt"
    said = log.read_text("utf-8", "replace").strip().splitlines() if log.is_file() else []
    return f"failed ({said[-1][:300]})" if said else "is not finished: running, stopped or killed"


def design_rows(rows: Rows) -> list[tuple[str, str]]:
    """The experiment in a few lines: what was varied, and what was paid in all."""

    def listed(column: str) -> str:
        return ", ".join(sorted({str(row[column]) for row in rows.cells})) or "none"

    def numbers(column: str) -> str:
        return ", ".join(map(str, sorted({int(row[column]) for row in rows.cells}))) or "none"

    out = [(name, listed(column)) for name, column in (
        ("methods", "method"), ("benchmarks", "benchmark"), ("models", "model"), ("protocols", "protocol"),
        ("feedback", "feedback"), ("selection", "select"), ("kinds of order", "order_kind"))]  # fmt: skip
    out += [("seeds", numbers("seed")), ("order seeds", numbers("order_seed")), ("code", listed("code"))]
    paid = [row["billed_cost"] for row in rows.cells]
    known = [cost for cost in paid if cost is not None]
    text = "unpriced" if not known else f"${sum(known):,.4f}"
    if known and len(known) < len(paid):
        text += f" for {len(known)} cells, {len(paid) - len(known)} unpriced"
    return [*out, ("paid in all", text)]

"""One cell from config to tables: build, enter the folder, run the protocol on the timeline, write what it left.

`run_cell` catches everything and tells it in its result: a cell that fails never ends the others (known fault B03).
"""

from __future__ import annotations

import traceback
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ace_bench import __version__
from ace_bench.experiment import progress, shared, stopping
from ace_bench.experiment.build import Built, build, left_out
from ace_bench.experiment.identity import cell_digest
from ace_bench.experiment.spec import CellSpec, OfflineSpec, OnlineSpec, check
from ace_bench.experiment.totals import INPUT, OUTPUT, cell_row
from ace_bench.llm import Route, Session, Spent
from ace_bench.llm.embedders.base import LOCAL
from ace_bench.llm.embedders.metered import settles
from ace_bench.llm.types import BudgetExceeded
from ace_bench.protocols.frozen import frozen
from ace_bench.protocols.offline import offline
from ace_bench.protocols.online import online
from ace_bench.protocols.rows import Row, total
from ace_bench.protocols.timeline import Parts, Timeline
from ace_bench.store import CellFolder, FolderFinished, Masker, manifest, write_tables
from ace_bench.store.schema import TABLES

LOG, MANIFEST = "log.txt", "manifest.json"


@dataclass(frozen=True, slots=True)
class CellResult:
    """How a cell ended. `sentence` says why it did not finish; `folder` is where its rows are."""

    cell: str
    status: Literal["finished", "failed", "stopped"]
    sentence: str
    folder: str


class Changed(Exception):
    """The cell folder was begun with other data, prompts or config than this run has."""


def run_cell(config: Mapping[str, Any]) -> CellResult:
    """Run or resume the cell of a resolved config."""
    spec = check(config)
    cell = spec.id()
    path = spec.experiment_dir / cell
    try:
        with CellFolder.enter(path) as folder:
            result = _guarded(spec, cell, folder)
    except FolderFinished:
        result = CellResult(cell, "finished", "already finished", str(path))
    except Exception as e:  # the folder cannot be entered: in use, foreign, damaged
        result = CellResult(cell, "failed", _sentence(e), str(path))
    progress.current().cell_finished(cell, result.status, result.sentence)
    return result


def _guarded(spec: CellSpec, cell: str, folder: CellFolder) -> CellResult:
    """Whatever happens inside the folder becomes a status; the traceback goes into the folder's log, masked."""
    masker = Masker(spec.canonical())
    try:
        note = _run(spec, cell, folder, masker)
    except (stopping.Stopped, BudgetExceeded) as e:  # at a step boundary: the same command (with a higher cap) goes on
        return CellResult(cell, "stopped", str(e), str(folder.path))
    except BaseException as e:  # ProviderFailure is a BaseException, so that no library swallows it
        with (folder.path / LOG).open("a", encoding="utf-8", errors="backslashreplace") as log:
            log.write(masker.mask(traceback.format_exc()))
        if isinstance(e, KeyboardInterrupt | SystemExit):
            raise
        return CellResult(cell, "failed", masker.mask(_sentence(e)), str(folder.path))
    return CellResult(cell, "finished", masker.mask(note), str(folder.path))


def _run(spec: CellSpec, cell: str, folder: CellFolder, masker: Masker) -> str:
    """Run the cell to its end; what the user should know of its data ("" when nothing)."""
    built = build(spec)
    digests = {
        "config": cell_digest(spec.canonical()), "data": built.benchmark.data_digest(),
        "order": built.streams.digest(), "prompts": built.prompts.digest, "prices": shared.price_digest(spec),
    }  # fmt: skip
    if embedder := shared.embedder(spec):
        digests["embedder"] = embedder.id
    note = _manifest(spec, cell, folder, digests, masker)
    timeline = _timeline(spec, cell, folder, built)
    progress.current().cell_started(cell, built.streams.steps(spec))
    timeline.end(_protocol(spec, timeline, built))
    _finish(spec, cell, folder, built, digests, note)
    bad = left_out(built.benchmark)
    return f"{len(bad)} bad rows left out, the first: {bad[0]}" if bad else ""


def _manifest(spec: CellSpec, cell: str, folder: CellFolder, digests: dict[str, str], masker: Masker) -> dict[str, Any]:
    """Write the manifest of a new cell; compare that of a resumed one, and refuse to mix two experiments."""
    path = folder.path / MANIFEST
    made = manifest.build(spec.canonical(), digests, {"cell": cell, "instance": folder.instance})
    if path.exists():
        changed = manifest.differences(*({"config": {}, "digests": m["digests"]} for m in (manifest.read(path), made)))
        if changed:
            raise Changed(
                "This cell was begun with something else: "
                + " ".join(changed)
                + " Move its folder away to run it anew."
            )
    else:
        manifest.write(path, made, masker.mask)
    return made


def _timeline(spec: CellSpec, cell: str, folder: CellFolder, built: Built) -> Timeline:
    main = shared.route(spec, spec.model)
    roles = {str(role): shared.route(spec, part) for role, part in spec.roles.items()}
    embedder = shared.embedder(spec)
    used = _earlier(folder, cell, main, embedder is not None and embedder.endpoint == LOCAL)
    session = Session(
        main.client, main.settings, seed=spec.seed, cell=cell, instance=folder.instance, used=used, roles=roles,
        embeddings=shared.embeddings(spec, _embedded(folder)),
    )  # fmt: skip

    def watch() -> None:
        stopping.check()
        progress.current().step(cell)

    parts = Parts(
        built.method, built.benchmark, session, folder.journal, folder.texts,
        regime=spec.feedback.regime, seed=spec.seed, watch=watch, workers=spec.limits.frozen_workers,
    )  # fmt: skip
    streams = built.streams
    return Timeline(parts, [*streams.train, *streams.val, *streams.test])


def _embedded(folder: CellFolder) -> list[str]:
    """The recorded requests whose texts count as embedded."""
    rows = (row for record in folder.journal.records for row in record["rows"].get("calls", ()))
    return [row["request"] for row in rows if row["purpose"] == "embed" and row["needed"] and settles(row)]


def _earlier(folder: CellFolder, cell: str, main: Route, here: bool) -> set[str]:
    """The requests of the recorded steps, whose draws are taken; what they cost counts against the limits again.

    `here`: texts are embedded on this machine, which takes nothing of the limits.
    """
    used = set()
    for record in folder.journal.records:
        for row in record["rows"].get("calls", ()):
            used.add(row["request"])
            if row["billed"] and not (row["purpose"] == "embed" and here):
                tokens = total([row], INPUT + OUTPUT) if row["status"] != "error" else 0
                main.client.limits.charge(cell, Spent(1, tokens or 0, row["cost"] or 0.0))
    return used


def _protocol(spec: CellSpec, timeline: Timeline, built: Built) -> Any:
    streams = built.streams
    match spec.protocol:
        case OnlineSpec(window=window, probe=probe):
            return online(timeline, streams.test, window, probe=probe)
        case OfflineSpec(epochs=epochs, eval_every=eval_every, probe=probe):
            return offline(
                timeline, streams.train, streams.val, streams.test,
                epochs=epochs, eval_every=eval_every, select=spec.select, probe=probe,
            )  # fmt: skip
        case _:
            return frozen(timeline, streams.test)


def _finish(
    spec: CellSpec, cell: str, folder: CellFolder, built: Built, digests: dict[str, str], note: dict[str, Any]
) -> None:
    """Tables from the journal, and the marker that says they are whole."""
    tables: dict[str, list[Row]] = defaultdict(list)
    for record in folder.journal.records:
        for table, rows in record["rows"].items():
            tables[table] += [{"cell": cell, **row} for row in rows]
    start = built.start
    known = {
        "cell": cell,
        "instance": folder.instance,
        "simulated": shared.is_simulated(spec),
        "status": "finished",
        "attempts": folder.attempts,
        "error": None,
        "bad_rows": len(left_out(built.benchmark)),
        "start": start.source if start else None,
        "start_tokens": start.tokens if start else None,
        "wall_s": folder.wall_s,
        "code": _code(note),
    }
    row = cell_row(spec, digests, tables, **known)
    tables["cells"] = [row]
    write_tables(folder.path, {table: tables[table] for table in TABLES})
    folder.finish({"cell": cell, "score": row["score"]})


def _code(note: Mapping[str, Any]) -> str:
    git = note.get("git") or {}
    commit = str(git.get("commit") or "")[:12]
    return f"{__version__}" + (f"+{commit}{'.dirty' if git.get('dirty') else ''}" if commit else "")


def _sentence(error: BaseException) -> str:
    text = str(error).strip() or "no message"
    known = type(error).__module__.startswith("ace_bench")
    return text if known else f"{type(error).__name__}: {text} (see {LOG} in the cell's folder)"

"""A small experiment and its capsule, made once a test session; and ways to change a capsule."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from ace_bench.experiment import shared
from ace_bench.experiment.cell import run_cell
from ace_bench.experiment.sweeper import plan

Members = dict[str, bytes]


def experiment(folder: Path, *overrides: str, name: str = "small") -> Path:
    """Run the cells of a command one after another; the folder of the experiment."""
    common = [f"name={name}", f"results={folder}/results", f"cache.path={folder}/results/responses.db"]
    cells = plan([*overrides, *common])
    for cell in cells:
        result = run_cell(cell.config)
        assert result.status == "finished", result.sentence
    shared.close()
    return cells[0].spec.experiment_dir


def changed(capsule: Path, to: Path, change: Callable[[Members], None], *, resealed: bool) -> Path:
    """A copy with other members; `resealed`: its manifest agrees with them, as a forger would have it."""
    with zipfile.ZipFile(capsule) as box:
        members = {name: box.read(name) for name in box.namelist()}
    change(members)
    if resealed:
        manifest = json.loads(members["MANIFEST.json"])
        rest = {name: data for name, data in members.items() if name != "MANIFEST.json"}
        manifest["members"] = {
            name: {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)} for name, data in rest.items()
        }
        members["MANIFEST.json"] = json.dumps(manifest).encode()
    with zipfile.ZipFile(to, "w", zipfile.ZIP_DEFLATED) as box:
        for name, data in members.items():
            box.writestr(name, data)
    return to


def edited(data: bytes, column: str, value: Any) -> bytes:
    """A Parquet file with the first value of a column replaced."""
    table = pq.read_table(io.BytesIO(data))
    values = table[column].to_pylist()
    values[0] = value
    place = table.schema.get_field_index(column)
    import pyarrow as pa

    table = table.set_column(place, table.schema.field(place), pa.array(values, table.schema.field(place).type))
    out = io.BytesIO()
    pq.write_table(table, out)
    return out.getvalue()

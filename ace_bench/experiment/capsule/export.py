"""`capsule export`: config, rows, manifest and used responses of the finished cells of an experiment, in one file."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ace_bench import __version__
from ace_bench.experiment.capsule import files
from ace_bench.experiment.capsule.box import CapsuleError, Writer, read_file
from ace_bench.experiment.capsule.files import Config, Named
from ace_bench.experiment.identity import content_digest
from ace_bench.llm.cache import ResponseStore
from ace_bench.store import Masker, manifest
from ace_bench.store.cells import cell_folders
from ace_bench.store.schema import TABLES
from ace_bench.store.tables import read_table, table_path

RESPONSES = "responses.jsonl"
FILE_MB = 50  # a file or folder of the user's up to this size travels along
_CALLS = ("request", "model", "status", "needed", "finish_reason", "latency_s", "input", "cached_input", "cache_write",
          "output", "reasoning")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Exported:
    """What went in: cells, responses; `left_out`: unfinished cells; `needs`: files that did not go in."""

    path: Path
    cells: int
    responses: int
    left_out: tuple[str, ...]
    needs: tuple[Mapping[str, Any], ...]


def export(experiment: Path, path: Path, *, cache: Path | None = None, file_mb: float = FILE_MB) -> Exported:
    """Write the capsule. Raises CapsuleError or StoreError (sentences): nothing finished, a response gone, a secret."""
    folders, left_out = cell_folders(experiment, finished=True), cell_folders(experiment, finished=False)
    if not folders:
        raise CapsuleError(f"{experiment} holds no finished cell; run the experiment first, or check the path.")
    configs = {folder: manifest.read(folder / "manifest.json")["config"] for folder in folders}
    box = Writer(path)
    try:
        packer = _Packer(box, configs, file_mb)
        responses = packer.responses(_store_path(experiment, configs[folders[0]], cache))
        needs = packer.files()
        for folder in folders:
            packer.cell(folder)
        names = tuple(folder.name for folder in left_out)
        box.close({
            "made_by": f"ace_bench {__version__}", "experiment": configs[folders[0]]["name"], "left_out": names,
            "cells": [folder.name for folder in folders], "needs": needs, "responses": responses,
        })  # fmt: skip
    except BaseException:
        box.abandon()
        raise
    return Exported(path, len(folders), responses, names, tuple(needs))


def _store_path(experiment: Path, config: Config, cache: Path | None) -> Path:
    """The response store: the one given, that of the config, or the one beside the experiment."""
    found = [cache] if cache else [Path(config["cache"]["path"]), experiment.parent / "responses.db"]
    for path in found:
        if path.is_file():
            return path
    raise CapsuleError(
        f"The responses of {experiment} are not at {found[0]} (cache.path, from {Path.cwd()}); without them nothing can "
        "be run again. Give the file: --cache PATH."
    )


class _Packer:
    """Adds the parts; refuses to let a secret out."""

    def __init__(self, box: Writer, configs: Mapping[Path, Config], file_mb: float) -> None:
        self.box, self.configs, self.most = box, configs, file_mb * 1e6
        self.mask = Masker(list(configs.values())).mask
        self.packed: dict[str, Named] = {}  # digest -> file

    def responses(self, store_path: Path) -> int:
        """Every response that a needed call used, one JSON line each, by key."""
        used: dict[str, Mapping[str, Any]] = {}
        for folder in self.configs:
            for row in read_table([folder], "calls", _CALLS).to_pylist():
                if row["needed"]:
                    used[row["request"]] = row
        with closing(ResponseStore(store_path, "read")) as store:
            self.box.add(RESPONSES, self._lines(store, used))
        return len(used)

    def _lines(self, store: ResponseStore, used: Mapping[str, Mapping[str, Any]]) -> Iterator[bytes]:
        for key, row in sorted(used.items()):
            stored = store.get(key)
            if stored is None and row["status"] != "empty":
                raise CapsuleError(
                    f"{store.path} holds no response under {key}, which a cell used (a run with cache=off records none). "
                    "Without it the cell cannot be run again: give the right file with --cache PATH, or run it anew."
                )
            body = _empty(row) if stored is None else stored.body
            text = json.dumps({"key": key, "body": body, "payer": "" if stored is None else stored.payer})
            yield self.clean(f"the response under {key}", text).encode() + b"\n"

    def files(self) -> list[dict[str, Any]]:
        """Pack what the cells name, once each; give what is too large, gone or changed since."""
        needs: dict[tuple[str, str], dict[str, Any]] = {}
        for config in self.configs.values():
            for one in files.named(config):
                if one.digest in self.packed or (one.key, one.digest) in needs:
                    continue
                found = files.tree(one)
                size = sum(file.stat().st_size for file in found)
                why = self._obstacle(one, found, size)
                if why is None:
                    self._pack(one, found)
                else:
                    needs[one.key, one.digest] = {
                        "key": one.key, "name": one.path.name, "digest": one.digest, "bytes": size, "why": why,
                    }  # fmt: skip
        return list(needs.values())

    def _obstacle(self, one: Named, found: list[Path], size: int) -> str | None:
        if not found:
            return "was not there when the capsule was made"
        if size > self.most:
            return "is larger than the limit for packing (--file-mb)"
        if not one.checkout and content_digest(str(one.path)) != one.digest:
            return "has changed since the run"
        return None

    def _pack(self, one: Named, found: list[Path]) -> None:
        for file in found:
            name = one.member if file == one.path else f"{one.member}/{file.relative_to(one.path).as_posix()}"
            self.clean(str(file), file.read_bytes().decode("utf-8", "replace"))
            self.box.add(name, read_file(file))
        self.packed[one.digest] = one

    def cell(self, folder: Path) -> None:
        """Config, manifest and tables of one cell."""
        at = f"cells/{folder.name}"
        text = json.dumps(portable(self.configs[folder], self.packed), indent=1, sort_keys=True, allow_nan=False)
        self.box.add(f"{at}/config.json", [self.clean(f"the config of {folder.name}", text).encode()])
        told = (folder / "manifest.json").read_text(encoding="utf-8")
        self.box.add(f"{at}/manifest.json", [self.clean(f"the manifest of {folder.name}", told).encode()])
        for table in TABLES:
            _check_table(folder, table, self.clean)
            self.box.add(f"{at}/tables/{table}.parquet", read_file(table_path(folder, table)))

    def clean(self, what: str, text: str) -> str:
        """`text`, which must hold no secret of this process or of the configs."""
        if self.mask(text) != text:
            raise CapsuleError(
                f"{what[:1].upper()}{what[1:]} holds the value of a secret (an environment variable named like a key, or a "
                "credential of the config). Nothing was written. Take it out, or unset the variable if it is none."
            )
        return text


def portable(config: Config, packed: Mapping[str, Named]) -> Config:
    """A saved config without what belongs to one machine: where results, responses and files are, and secrets."""
    out: Config = json.loads(json.dumps(files.without_masks(config)))
    out |= {"results": "results", "cache": {"mode": "replay", "path": "responses.db"}, "limits": {}}
    for one in files.named(config):
        files.put(out, one.key, one.member if one.digest in packed else f"{files.NEEDED}{one.path.name}")
    return out


def _check_table(folder: Path, table: str, clean: Callable[[str, str], str]) -> None:
    rows = read_table([folder], table)
    for column in rows.column_names:
        if str(rows.schema.field(column).type) == "string":
            clean(
                f"column {column} of table {table} of {folder.name}",
                "\n".join(_texts(rows[column].unique().to_pylist())),
            )


def _texts(values: Iterable[str | None]) -> list[str]:
    return [value for value in values if value is not None]


def _empty(row: Mapping[str, Any]) -> str:
    """An empty reply, which the store never keeps, as the row tells of it: the run used it, so a replay needs it."""
    usage = [row[name] for name in ("input", "cached_input", "cache_write", "output", "reasoning")]
    attempt = ["empty", None, usage, row["latency_s"], row["finish_reason"], 0.0]
    return json.dumps({
        "text": "", "status": "empty", "finish_reason": row["finish_reason"], "usage": usage, "model": row["model"],
        "latency_s": row["latency_s"], "reasoning_text": None, "attempts": [attempt], "queue_s": 0.0,
    })  # fmt: skip

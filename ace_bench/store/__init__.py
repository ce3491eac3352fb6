"""The store: row schemas, journal, texts, tables, cell folders, manifest, secrets. Imports nothing from the rest.

Names are loaded at first use, so that `import ace_bench.store` costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ace_bench.store import manifest, schema
    from ace_bench.store.cells import cell_folders
    from ace_bench.store.errors import (
        FolderBusy,
        FolderError,
        FolderFinished,
        JournalError,
        ManifestError,
        SchemaError,
        StoreError,
        TextError,
    )
    from ace_bench.store.escape import escape_text, unescape_text
    from ace_bench.store.folder import CellFolder, is_finished
    from ace_bench.store.journal import Journal, read_records
    from ace_bench.store.schema_docs import schema_markdown
    from ace_bench.store.secrets import Masker, looks_masked
    from ace_bench.store.tables import iter_tables, read_table, table_path, to_csv, write_tables
    from ace_bench.store.texts import Texts

_HOMES = {
    "cells": ("cell_folders",),
    "errors": ("StoreError", "JournalError", "TextError", "FolderError", "FolderBusy", "FolderFinished", "SchemaError",
               "ManifestError"),
    "escape": ("escape_text", "unescape_text"),
    "folder": ("CellFolder", "is_finished"),
    "journal": ("Journal", "read_records"),
    "schema_docs": ("schema_markdown",),
    "secrets": ("Masker", "looks_masked"),
    "tables": ("iter_tables", "read_table", "table_path", "to_csv", "write_tables"),
    "texts": ("Texts",),
    "manifest": (),
    "schema": (),
}  # fmt: skip
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "CellFolder", "FolderBusy", "FolderError", "FolderFinished", "Journal", "JournalError", "ManifestError", "Masker",
    "SchemaError", "StoreError", "TextError", "Texts", "cell_folders", "escape_text", "is_finished", "iter_tables",
    "looks_masked", "manifest", "read_records", "read_table", "schema", "schema_markdown", "table_path", "to_csv",
    "unescape_text", "write_tables",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    if name in _HOMES:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)

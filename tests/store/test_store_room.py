"""The room as a whole: light to import, importing nothing from the rest, its page in step with its schema."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import ace_bench.store as store
from ace_bench.store import schema
from ace_bench.store.schema_docs import schema_markdown, with_columns

ROOT = Path(__file__).parents[2]


def test_every_name_is_there() -> None:
    assert {name for name in store.__all__ if getattr(store, name, None) is None} == set()
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = store.nothing


def test_the_import_is_light() -> None:
    code = (
        "import sys; before = set(sys.modules); import ace_bench.store; new = set(sys.modules) - before; "
        "print(*sorted(m for m in new if m.partition('.')[0] not in sys.stdlib_module_names), sep='\\n')"
    )
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["ace_bench", "ace_bench.store"]


def test_imports_stay_within_the_room_and_pyarrow_in_functions() -> None:
    seen = 0
    for file in (ROOT / "ace_bench" / "store").glob("*.py"):
        tree = ast.parse(file.read_text())
        for node in ast.walk(tree):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                top = name.partition(".")[0]
                ours = top == "pyarrow" or name.startswith("ace_bench.store")
                assert ours or top in sys.stdlib_module_names, (file, name)
                seen += top == "pyarrow"
                assert not (top == "pyarrow" and node in tree.body), f"{file}: pyarrow at import time"
    assert seen


def test_the_page_lists_the_columns_as_they_are() -> None:
    page = (ROOT / "docs" / "store.md").read_text("utf-8")
    renew = "run python -m ace_bench.store.schema_docs docs/store.md"
    assert with_columns(page) == page, renew
    listed = schema_markdown()
    assert all(f"### {table}" in listed for table in schema.TABLES)
    assert listed.count("\n| ") == sum(2 + len(schema.columns(t)) for t in schema.TABLES)
    assert "| score | float? |" in listed


def test_a_page_without_the_marks_is_refused() -> None:
    with pytest.raises(ValueError, match="lacks the marks"):
        with_columns("# a page")

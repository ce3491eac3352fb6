"""The identity of a cell: a readable slug and a digest of everything that can change its results."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from ace_bench.store.secrets import MASK

# Keys of the canonical config that cannot change a result. Everything else enters the digest.
# (Numbers of workers live in Hydra's node, credentials in the environment: neither is in the config at all.)
NOT_IDENTITY = ("name", "results", "limits", "cache")
SLUG_LENGTH = 80


def identity(canonical: Mapping[str, Any]) -> dict[str, Any]:
    """What of `canonical` belongs to the cell itself: the rest may differ between the launches that made it."""
    return {k: v for k, v in canonical.items() if k not in NOT_IDENTITY}


def cell_digest(canonical: Mapping[str, Any]) -> str:
    """SHA-256 of the canonical JSON of `CellSpec.canonical()`, less what cannot change results.

    Paths named in `canonical["digests"]` are replaced by the digest of their content: a moved file is the same file.
    """
    body = {k: v for k, v in identity(canonical).items() if k != "digests"}
    for path, digest in canonical.get("digests", {}).items():
        body = _replaced(body, path.split("."), f"sha256:{digest}")
    text = json.dumps(_unmasked(body), sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def cell_id(canonical: Mapping[str, Any]) -> str:
    """The cell's name and folder: `method-benchmark-protocol-feedback-s0-o0-` and 10 hex digits of the digest."""
    parts = (
        canonical["method"]["name"],
        canonical["benchmark"]["name"],
        canonical["protocol"]["name"],
        canonical["feedback"]["regime"],
        f"s{canonical['seed']}",
        f"o{canonical['order']['seed']}",
    )
    slug = "-".join(re.sub(r"[^A-Za-z0-9_]+", "_", str(p)) for p in parts)[:SLUG_LENGTH]
    return f"{slug}-{cell_digest(canonical)[:10]}"


def content_digest(path: str) -> str:
    """SHA-256 of a file, or of a folder's files with their relative names. Raises `OSError` when it cannot be read."""
    root = Path(path)
    if not root.is_dir():
        return _file_digest(str(root), root.stat().st_mtime_ns, root.stat().st_size)
    lines = []
    for file in sorted(p for p in root.rglob("*") if p.is_file()):
        stat = file.stat()
        name = json.dumps(file.relative_to(root).as_posix())
        lines.append(f"{name} {_file_digest(str(file), stat.st_mtime_ns, stat.st_size)}\n")
    return hashlib.sha256("".join(lines).encode()).hexdigest()


@lru_cache(maxsize=4096)
def _file_digest(path: str, mtime_ns: int, size: int) -> str:
    # Time and size are only cache keys: a plan of 1,000 cells reads each file once.
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _replaced(body: Any, path: list[str], value: str) -> Any:
    if not path:
        return value
    head, *rest = path
    if isinstance(body, list):
        return [_replaced(v, rest, value) if i == int(head) else v for i, v in enumerate(body)]
    return {**body, head: _replaced(body[head], rest, value)}


def _unmasked(value: Any) -> Any:
    """Without secrets: `canonical` shows them as a mask."""
    if isinstance(value, Mapping):
        return {k: _unmasked(v) for k, v in value.items() if v != MASK}
    return [_unmasked(v) for v in value] if isinstance(value, list) else value

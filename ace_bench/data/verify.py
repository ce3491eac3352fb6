"""Whether a file is what it should be: size and SHA-256 of the registry, or those written down when it was first fetched."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ace_bench.data.sources import Source
from ace_bench.store.atomic import write_atomic

RECORD = "fetched.json"  # in the data root: path -> size, SHA-256 and URL of what was fetched


@dataclass(frozen=True, slots=True)
class State:
    """`good`: as the registry or the record says. `unchecked`: nobody says. `bad`: `reason` tells. `missing`."""

    status: Literal["good", "unchecked", "bad", "missing"]
    reason: str = ""


def state_of(source: Source, root: Path) -> State:
    """The state of a source's file. Reads the whole file; raises OSError when it cannot be read."""
    path = root / source.path
    return examined(path, source, root) if path.is_file() else State("missing")


def examined(path: Path, source: Source, root: Path) -> State:
    """The same for a copy that lies elsewhere (a download before it counts)."""
    noted = read_record(root).get(source.path, {})
    size, sha256 = source.size or noted.get("size"), source.sha256 or noted.get("sha256")
    found = path.stat().st_size
    if size is not None and found != size:
        return State("bad", f"it has {found:,} bytes and should have {size:,}")
    if sha256 is None:
        return State("unchecked", "no SHA-256 is known for it")
    if (digest := file_sha256(path)) != sha256:
        return State("bad", f"its SHA-256 is {digest} and should be {sha256}")
    return State("good", "" if source.sha256 else "equal to the first copy fetched; no published SHA-256 is known")


def file_sha256(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_record(root: Path) -> dict[str, Any]:
    """What was fetched into `root`. A damaged record is an error, not an empty one: ValueError with a sentence."""
    path = root / RECORD
    if not path.exists():
        return {}
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path} is damaged ({error}); mend it, or remove it to trust the files as they are") from None
    if not isinstance(data, dict):
        raise ValueError(f"{path} is damaged (no object); mend it, or remove it to trust the files as they are")
    return data


def note(source: Source, root: Path) -> None:
    """Write down the file that lies at the source's place."""
    path = root / source.path
    made = {"size": path.stat().st_size, "sha256": file_sha256(path), "url": source.url, "revision": source.revision}
    record = read_record(root) | {source.path: made}
    write_atomic(root / RECORD, (json.dumps(record, indent=1, sort_keys=True) + "\n").encode())

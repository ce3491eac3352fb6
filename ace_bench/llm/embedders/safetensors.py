"""Reading a safetensors file with numpy alone: a length, a JSON head, then the tensors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_TYPES = {"F32": "<f4", "F16": "<f2"}


def tensors(path: Path) -> dict[str, Any]:
    """The float tensors of the file by name, as float32 arrays. Raises ValueError when it is no such file."""
    import numpy as np

    try:
        raw = np.memmap(path, np.uint8, "r")
        start = 8 + int(raw[:8].view("<u8")[0])
        head: dict[str, Any] = json.loads(bytes(raw[8:start]))
        out = {}
        for name, about in head.items():
            if name != "__metadata__" and about["dtype"] in _TYPES:
                first, last = about["data_offsets"]
                flat = np.frombuffer(raw[start + first : start + last].tobytes(), _TYPES[about["dtype"]])
                out[name] = flat.reshape(about["shape"]).astype(np.float32)
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise ValueError(f"{path} is not a whole safetensors file ({error}). Fetch or copy it again.") from error
    return out

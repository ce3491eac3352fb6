"""`${data:NAME}` in a config: the path of public data by name (`ace-bench data list`), under `data.root`."""

from __future__ import annotations

from typing import Any

from omegaconf import OmegaConf

from ace_bench.data import data_root, located


def register() -> None:
    """Make `${data:NAME}` known to OmegaConf; again is harmless."""
    OmegaConf.register_new_resolver("data", _path, replace=True)


def _path(name: str, *, _root_: Any) -> str:
    """Raises `DataMissing` (which OmegaConf passes on with its sentence) when there is no copy."""
    return str(located(name, data_root(OmegaConf.select(_root_, "data.root"))))

"""Checking a section of a config against a pydantic model, with errors as sentences that name the config path."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, SecretStr, ValidationError

from ace_bench.store.secrets import MASK, is_secret_name

Model = TypeVar("Model", bound=BaseModel)
Problems = dict[str, str]  # config path -> sentence; the first one told about a path stays


def scrub(value: Any, path: str, problems: Problems) -> Any:
    """A copy that JSON can hold. Missing, masked, not finite and not plain values become problems (and null)."""
    if isinstance(value, Mapping):
        return {str(k): scrub(v, f"{path}.{k}" if path else str(k), problems) for k, v in value.items()}
    if isinstance(value, list):
        return [scrub(v, f"{path}.{i}", problems) for i, v in enumerate(value)]
    wrong = _wrong_leaf(value, path)
    if wrong is None:
        return value
    problems.setdefault(path, wrong)
    return None


def _wrong_leaf(value: Any, path: str) -> str | None:
    if value == "???":
        return f"{path} has no value: add {path}=... to the command."
    if isinstance(value, str) and value.strip("*") == "" and len(value) >= len(MASK):
        return f"{path} is masked ({value}): a saved config hides secrets; give the real value through the environment."
    if isinstance(value, float) and not math.isfinite(value):
        return f"{path} = {value} is not a finite number."
    if value is not None and not isinstance(value, (str, int, float)):
        return f"{path} is a {type(value).__name__}; a config holds texts, numbers, booleans, lists and mappings."
    return None


def parse(model: type[Model], data: Mapping[str, Any], path: str, what: str, problems: Problems) -> Model | None:
    """`data` as a `model`; None when it does not fit, with a problem for each error. `what` names it in sentences."""
    known = set(model.model_fields) | {f.alias for f in model.model_fields.values() if f.alias}
    for key in data:
        if key not in known:  # also when a plug-in forgot extra="forbid": a dead knob must not pass
            _add(problems, _join(path, key), _unknown(_join(path, key), what, model))
    try:
        # Strict, by way of JSON: lists may become tuples and texts paths, but 1e3 no int and "on" no bool.
        return model.model_validate_json(json.dumps({k: v for k, v in data.items() if k in known}), strict=True)
    except ValidationError as e:
        for error in e.errors(include_url=False):
            where = _join(path, *error["loc"])
            _add(problems, where, _sentence(where, dict(error), what))
    return None


def _join(path: str, *loc: Any) -> str:
    return ".".join(str(p) for p in (path, *loc) if p != "")


def _add(problems: Problems, path: str, sentence: str) -> None:
    # Several sections share a path when a validator speaks of the whole section: keep each sentence once.
    if path not in problems:
        problems[path] = sentence
    elif sentence not in problems[path] and "has no value" not in problems[path]:
        problems[path] += f" {sentence}"


def _unknown(where: str, what: str, model: type[BaseModel]) -> str:
    return f"{where} is not a setting of {what}; it has: {', '.join(model.model_fields) or 'none'}."


def _sentence(where: str, error: dict[str, Any], what: str) -> str:
    message = str(error["msg"]).removeprefix("Value error, ").rstrip(".")
    if error["type"] == "value_error":
        return f"{where or what}: {message}."
    if error["type"] == "missing":
        return f"{where} has no value, and {what} needs one."
    if error["type"] == "extra_forbidden":
        return f"{where} is not a setting of {what}."
    shown = MASK if is_secret_name(where.rsplit(".", 1)[-1]) else repr(error["input"])
    return f"{where} = {shown if len(shown) <= 80 else shown[:77] + '...'}: {message[:1].lower()}{message[1:]}."


def plain(value: Any) -> Any:
    """A model or value as JSON data, the same in every process: sets are sorted, secrets masked, paths are texts.

    Raises `TypeError` for a value no config can hold.
    """
    if isinstance(value, BaseModel):
        fields = type(value).model_fields
        hidden = {n for n, f in fields.items() if "Secret" in repr(f.annotation) or is_secret_name(n)}
        return _plain_items(dict(value), hidden)
    if isinstance(value, SecretStr):
        return MASK
    if isinstance(value, Enum):
        return plain(value.value)
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        return _plain_items(value, {k for k in value if is_secret_name(str(k))})
    if isinstance(value, (set, frozenset)):
        return sorted((plain(v) for v in value), key=json.dumps)
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if value is None or isinstance(value, (str, int, float)):
        return value
    raise TypeError(f"a setting of type {type(value).__name__} cannot be written into a config")


def _plain_items(items: Mapping[str, Any], hidden: set[str]) -> dict[str, Any]:
    # An unset secret is left out, as a set one is from the identity: both are then the same cell.
    return {str(k): MASK if k in hidden else plain(v) for k, v in items.items() if not (k in hidden and v is None)}


def files(value: Any, path: str) -> dict[str, Path]:
    """The `Path` values inside settings, by config path: their content, not their name, is part of the identity."""
    if isinstance(value, Path):
        return {path: value}
    if isinstance(value, BaseModel):
        value = dict(value)
    if isinstance(value, (list, tuple)):
        value = dict(enumerate(value))
    pairs = value.items() if isinstance(value, Mapping) else ()
    return {k: v for key, item in pairs for k, v in files(item, f"{path}.{key}").items()}

"""The role prompts: our own words, one file each, and the loader for a user's own folder.

A prompt file has parts headed `=== system ===`, `=== user ===`; `{{name}}` marks a field. Fields are put in as they are,
in one pass: a field's text is never read as a template (model text is never formatted into anything).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

ROLES = ("solve", "reflect", "refine", "curate", "rewrite")
_PART = re.compile(r"^=== (system|user) ===\n", re.MULTILINE)
_FIELD = re.compile(r"\{\{(\w+)\}\}")


class PromptError(ValueError):
    """A prompt file that cannot be used."""


class Prompts:
    """The role prompts of a run: ours, or those of `folder` where it has a file of the same name."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder
        if folder is not None and not folder.is_dir():
            raise PromptError(f"prompts: {folder} is not a folder; give one that holds some of {_names()}")
        if folder is not None and not any((folder / f"{role}.md").is_file() for role in ROLES):
            raise PromptError(f"prompts: {folder} holds none of {_names()}, so nothing of it would be used")

    @cached_property
    def texts(self) -> Mapping[str, str]:
        """The text of every role."""
        return {role: self._file(role).read_text(encoding="utf-8") for role in ROLES}

    @cached_property
    def _parts(self) -> Mapping[str, tuple[tuple[str, tuple[str, ...]], ...]]:
        """Role -> (message role, text and field names in turn): the templates, split once."""
        return {role: _split(role, text) for role, text in self.texts.items()}

    @property
    def digest(self) -> str:
        """SHA-256 over all roles, for the manifest."""
        body = "\0".join(f"{role}\0{self.texts[role]}" for role in ROLES)
        return hashlib.sha256(body.encode("utf-8", "surrogatepass")).hexdigest()

    def messages(self, name: str, **fields: str) -> tuple[dict[str, str], ...]:
        """The messages of role `name`. A field the template wants and nobody gave is an error."""
        return tuple({"role": role, "content": _fill(name, pieces, fields)} for role, pieces in self._parts[name])

    def _file(self, role: str) -> Path:
        own = self.folder / f"{role}.md" if self.folder else None
        return own if own is not None and own.is_file() else Path(__file__).with_name(f"{role}.md")


def _names() -> str:
    return ", ".join(f"{role}.md" for role in ROLES)


def _split(role: str, text: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    _, *rest = _PART.split(text)
    if not rest:
        raise PromptError(f"prompt {role}.md has no part headed '=== user ===' or '=== system ==='")
    return tuple((rest[i], tuple(_FIELD.split(rest[i + 1].strip("\n")))) for i in range(0, len(rest), 2))


def _fill(name: str, pieces: tuple[str, ...], fields: Mapping[str, str]) -> str:
    missing = [field for field in pieces[1::2] if field not in fields]
    if missing:
        raise PromptError(f"prompt {name}.md asks for {{{{{missing[0]}}}}}; it can use {', '.join(sorted(fields))}")
    return "".join(fields[piece] if i % 2 else piece for i, piece in enumerate(pieces))

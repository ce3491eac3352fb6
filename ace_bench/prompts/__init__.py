"""The role prompts: our own words, one file each, and the loaders for a user's own folder or clone of official code.

A prompt file has parts headed `=== system ===`, `=== user ===`; `{{name}}` marks a field. Fields are put in as they are,
in one pass: a field's text is never read as a template (model text is never formatted into anything).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

ROLES = (
    "solve", "react", "reflect", "refine", "harm", "curate", "rewrite", "cheatsheet", "cheatsheet_synthesis",
    "cheatsheet_examples", "cheatsheet_example", "cheatsheet_history", "shots", "shot", "judge",
)  # fmt: skip
FIELD = re.compile(r"\{\{(\w+)\}\}")
_PART = re.compile(r"^=== (system|user) ===\n", re.MULTILINE)
Template = tuple[tuple[str, tuple[str, ...]], ...]  # (message role, text and field names in turn) for each message


class PromptError(ValueError):
    """A prompt that cannot be used."""


class Prompts:
    """The role prompts of a run: ours, or those of `folder` where it has a file of the same name, or `own` templates."""

    def __init__(self, folder: Path | None = None, own: Mapping[str, Template] | None = None) -> None:
        self.folder, self.own = folder, own or {}
        if folder is not None and not folder.is_dir():
            raise PromptError(f"prompts: {folder} is not a folder; give one that holds some of {_names()}")
        if folder is not None and not any((folder / f"{role}.md").is_file() for role in ROLES):
            raise PromptError(f"prompts: {folder} holds none of {_names()}, so nothing of it would be used")

    @classmethod
    def open(cls, where: str | None, *, labels: bool = True) -> Prompts:
        """The prompts that `prompts=` names. None: ours. Else one of these:

        `PATH` or `folder:PATH`, `shipped:short`, `ace_checkout:PATH`, `dc_checkout:PATH`.
        `labels` says whether the run may see targets: the released ACE code has two Reflectors and two Curators.
        Raises PromptError where nothing usable is found.
        """
        if where is None:
            return cls()
        kind, _, path = where.partition(":")
        if kind in ("ace_checkout", "dc_checkout"):
            from ace_bench.prompts.checkouts import ace, dynamic_cheatsheet

            return cls(own=ace(Path(path), labels) if kind == "ace_checkout" else dynamic_cheatsheet(Path(path)))
        if kind == "shipped":  # a set that travels with the package: short, for small local models
            return cls(Path(__file__).parent / path)
        return cls(Path(path if kind == "folder" else where))

    @cached_property
    def texts(self) -> Mapping[str, str]:
        """The text of every role."""
        return {role: _joined(self.own[role]) if role in self.own else self._file(role) for role in ROLES}

    @cached_property
    def _parts(self) -> Mapping[str, Template]:
        """Role -> its template: the texts, split once."""
        return {role: self.own.get(role) or _split(role, text) for role, text in self.texts.items()}

    @property
    def digest(self) -> str:
        """SHA-256 over all roles, for the manifest."""
        body = "\0".join(f"{role}\0{self.texts[role]}" for role in ROLES)
        return hashlib.sha256(body.encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def tagged(self) -> bool:
        """Whether the `solve` prompt asks for the answer in <answer> tags (as Dynamic Cheatsheet does) and not in JSON."""
        return "<answer>" in self.texts["solve"]

    def messages(self, name: str, **fields: str) -> tuple[dict[str, str], ...]:
        """The messages of role `name`. A field the template wants and nobody gave is an error."""
        return tuple({"role": role, "content": _fill(name, pieces, fields)} for role, pieces in self._parts[name])

    def text(self, name: str, **fields: str) -> str:
        """The text of a role that is a piece of another prompt (one example, one shot)."""
        return "\n".join(message["content"] for message in self.messages(name, **fields))

    def _file(self, role: str) -> str:
        own = self.folder / f"{role}.md" if self.folder else None
        path = own if own is not None and own.is_file() else Path(__file__).with_name(f"{role}.md")
        return path.read_text(encoding="utf-8")


def _names() -> str:
    return ", ".join(f"{role}.md" for role in ROLES)


def _joined(template: Template) -> str:
    """A template as text, for the digest."""
    texts = ("".join(f"{{{{{p}}}}}" if i % 2 else p for i, p in enumerate(pieces)) for _, pieces in template)
    return "".join(f"=== {role} ===\n{text}\n" for (role, _), text in zip(template, texts, strict=True))


def _split(role: str, text: str) -> Template:
    _, *rest = _PART.split(text)
    if not rest:
        raise PromptError(f"prompt {role}.md has no part headed '=== user ===' or '=== system ==='")
    return tuple((rest[i], tuple(FIELD.split(rest[i + 1].strip("\n")))) for i in range(0, len(rest), 2))


def _fill(name: str, pieces: tuple[str, ...], fields: Mapping[str, str]) -> str:
    missing = [field for field in pieces[1::2] if field not in fields]
    if missing:
        raise PromptError(f"prompt {name}.md asks for {{{{{missing[0]}}}}}; it can use {', '.join(sorted(fields))}")
    return "".join(fields[piece] if i % 2 else piece for i, piece in enumerate(pieces))

"""Delta and its operations: what a Curator proposes (paper, section 3.1; review, Alg. 2), and reading them safely."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from ace_bench.playbook.change import Reason, Rejection
from ace_bench.playbook.playbook import Playbook

TagName = Literal["helpful", "harmful", "neutral"]
TAGS: tuple[TagName, ...] = ("helpful", "harmful", "neutral")


@dataclass(frozen=True, slots=True)
class Add:
    """A new bullet at the end of a section; an unknown section is created."""

    type: ClassVar[str] = "ADD"
    section: str
    content: str


@dataclass(frozen=True, slots=True)
class Update:
    """New content for an existing bullet; id, counters and place stay."""

    type: ClassVar[str] = "UPDATE"
    id: str
    content: str


@dataclass(frozen=True, slots=True)
class Merge:
    """Several bullets into the first named: it gets the content and the summed counters, the others are absorbed."""

    type: ClassVar[str] = "MERGE"
    ids: tuple[str, ...]
    content: str
    section: str | None = None


@dataclass(frozen=True, slots=True)
class Remove:
    """A bullet taken out; its id is never used again."""

    type: ClassVar[str] = "REMOVE"
    id: str


@dataclass(frozen=True, slots=True)
class Tag:
    """One feedback event about one bullet. `event` is unique to this tag: the same event is never counted twice."""

    type: ClassVar[str] = "TAG"
    id: str
    tag: TagName
    event: str


Operation = Add | Update | Merge | Remove | Tag


@dataclass(frozen=True, slots=True)
class Delta:
    """Operations proposed against version `base_version` by `source` (free text for the log).

    `expected` maps bullet ids to the content digest they had at the base; it lets edits through on a stale base.
    `malformed` holds proposals that could not be read, so that applied + rejected == proposed still counts them.
    """

    operations: tuple[Operation, ...]
    base_version: int
    source: str = ""
    expected: Mapping[str, str] = field(default_factory=dict)
    malformed: tuple[Rejection, ...] = ()

    @property
    def proposed(self) -> int:
        """How many operations were proposed, readable or not."""
        return len(self.operations) + len(self.malformed)

    @classmethod
    def on(cls, playbook: Playbook, proposals: Iterable[Operation | Rejection], source: str = "") -> "Delta":
        """A delta based on `playbook`: base version and expected digests are filled in, rejections set apart."""
        items = tuple(proposals)
        operations = tuple(item for item in items if not isinstance(item, Rejection))
        malformed = tuple(item for item in items if isinstance(item, Rejection))
        found = (playbook.get(i) for operation in operations for i in targets(operation))
        expected = {bullet.id: bullet.content_digest for bullet in found if bullet}
        return cls(operations, playbook.version, source, expected, malformed)


def targets(operation: Operation) -> tuple[str, ...]:
    """The ids of existing bullets an operation speaks of; none for ADD."""
    if isinstance(operation, Add):
        return ()
    return operation.ids if isinstance(operation, Merge) else (operation.id,)


class _Unreadable(Exception):
    def __init__(self, reason: Reason, detail: str) -> None:
        self.reason: Reason = reason
        self.detail = detail


def operation_from(raw: object, event: str | None = None) -> Operation | Rejection:
    """An operation from an untrusted value such as a decoded JSON object; never raises.

    Read tolerantly: case of `type` and `tag`, DELETE for REMOVE, `bullet_id(s)` for `id(s)`, brackets around an id.
    `event` is the caller's event id for a TAG and wins over one in `raw`. Anything else is a Rejection with a reason.
    """
    try:
        return _read(raw, event)
    except _Unreadable as error:
        return Rejection(error.reason, error.detail, raw)


def _read(raw: object, event: str | None) -> Operation:
    if not isinstance(raw, dict):
        raise _Unreadable("not_an_object", f"An operation must be an object, got {type(raw).__name__}.")
    kind = _text(raw, "type").strip().upper()
    if kind == "ADD":
        return Add(_filled(raw, "section", "empty_section"), _filled(raw, "content", "empty_content"))
    if kind == "UPDATE":
        return Update(_id(_text(raw, "id", "bullet_id")), _filled(raw, "content", "empty_content"))
    if kind == "MERGE":
        section = None if raw.get("section") is None else _filled(raw, "section", "empty_section")
        return Merge(_ids(raw), _filled(raw, "content", "empty_content"), section)
    if kind in ("REMOVE", "DELETE"):
        return Remove(_id(_text(raw, "id", "bullet_id")))
    if kind == "TAG":
        chosen = event if event is not None else _text(raw, "event")
        return Tag(_id(_text(raw, "id", "bullet_id")), _tag(raw), chosen)
    raise _Unreadable("unknown_type", f"Operation type {kind[:40]!r} is none of ADD, UPDATE, MERGE, REMOVE, TAG.")


def _field(raw: dict[object, object], *names: str) -> object:
    for name in names:
        if raw.get(name) is not None:
            return raw[name]
    raise _Unreadable("missing_field", f"The operation has no {names[0]!r}.")


def _text(raw: dict[object, object], *names: str) -> str:
    value = _field(raw, *names)
    if not isinstance(value, str):
        raise _Unreadable("wrong_type", f"{names[0]!r} must be text, got {type(value).__name__}.")
    return value


def _filled(raw: dict[object, object], name: str, reason: Reason) -> str:
    value = _text(raw, name)
    if not value.strip():
        raise _Unreadable(reason, f"{name!r} is empty.")
    return value


def _ids(raw: dict[object, object]) -> tuple[str, ...]:
    value = _field(raw, "ids", "bullet_ids")
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
        raise _Unreadable("wrong_type", "'ids' must be a list of texts.")
    return tuple(_id(item) for item in value)


def _tag(raw: dict[object, object]) -> TagName:
    value = _text(raw, "tag").strip().lower()
    for name in TAGS:
        if value == name:
            return name
    raise _Unreadable("bad_tag", f"Tag {value[:40]!r} is none of {', '.join(TAGS)}.")


def _id(text: str) -> str:
    return text.strip().removeprefix("[").removesuffix("]").strip()

"""Change, Rejection and Revision: what every step on a playbook reports, so that each disappearance has a cause."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

from ace_bench.playbook.bullet import Bullet
from ace_bench.playbook.playbook import Playbook

Kind = Literal["born", "tagged", "edited", "merged_into", "removed", "pruned", "evicted", "rewritten_away", "restored"]
Reason = Literal[
    "not_an_object", "unknown_type", "missing_field", "wrong_type", "empty_section", "empty_content",
    "empty_event", "bad_tag", "too_few_ids", "unknown_id", "duplicate_event", "stale", "no_change", "counter_full",
    "malformed_reply", "not_allowed", "not_cited", "over_budget",  # given by methods, before the merge sees the operation
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Change:
    """One event in the life of one bullet.

    `before` is None for born and restored, `after` is None once the bullet is gone, `into` is the absorber's id for
    merged_into. `edited` means that content or section changed; counters an absorber gains follow from merged_into.
    """

    kind: Kind
    id: str
    before: Bullet | None
    after: Bullet | None
    into: str | None = None


@dataclass(frozen=True, slots=True)
class Rejection:
    """An operation that was not applied: a reason to count by, a sentence to read, and the operation or raw value."""

    reason: Reason
    detail: str
    operation: object = None


class Revision(NamedTuple):
    """A new playbook and what changed on the way to it."""

    playbook: Playbook
    changes: tuple[Change, ...]

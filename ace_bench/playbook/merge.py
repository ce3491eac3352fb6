"""Applying a delta: the merge contract of the design, line by line (paper, section 3.1; review, Alg. 2).

* Every operation is applied whole or rejected with a reason: applied + rejected == proposed.
* Additions get fresh ids, never reused. Bullets no operation names come out as the same objects.
* A feedback event is counted once; again is `duplicate_event`.
* Stale base (the delta was made on another version): ADD and TAG apply, since they commute. UPDATE, MERGE and REMOVE
  apply only where the delta says which content it saw (`Delta.expected`) and the bullet still has it; else `stale`.
* Exact duplicates are accepted: dedup is a later step with its own events.
"""

from dataclasses import dataclass, replace

from ace_bench.playbook.bullet import MAX_COUNT, Bullet
from ace_bench.playbook.change import Change, Reason, Rejection
from ace_bench.playbook.delta import TAGS, Add, Delta, Merge, Operation, Remove, Tag, Update, targets
from ace_bench.playbook.playbook import Playbook
from ace_bench.playbook.sections import clean_name, find_section, fresh_id


@dataclass(frozen=True, slots=True)
class MergeResult:
    """The next playbook, its changes, and each operation either applied or rejected with a reason.

    One applied operation may make several changes (MERGE). `rejected` starts with the delta's malformed proposals.
    """

    playbook: Playbook
    changes: tuple[Change, ...]
    rejected: tuple[Rejection, ...]
    applied: tuple[Operation, ...]


class _Refused(Exception):
    def __init__(self, reason: Reason, detail: str) -> None:
        self.reason: Reason = reason
        self.detail = detail


def apply(playbook: Playbook, delta: Delta) -> MergeResult:
    """Apply `delta` to `playbook`. The version grows by one iff an operation was applied; never raises on content."""
    draft = _Draft(playbook, delta)
    changes: list[Change] = []
    applied: list[Operation] = []
    rejected = list(delta.malformed)
    for operation in delta.operations:
        try:
            changes.extend(draft.take(operation))
            applied.append(operation)
        except _Refused as error:
            rejected.append(Rejection(error.reason, error.detail, operation))
    return MergeResult(draft.finish() if applied else playbook, tuple(changes), tuple(rejected), tuple(applied))


class _Draft:
    """The playbook under change: one mutable copy per delta. Each step checks everything before it changes anything."""

    def __init__(self, playbook: Playbook, delta: Delta) -> None:
        self.base = playbook
        self.delta = delta
        self.stale = delta.base_version != playbook.version
        self.bullets = dict(playbook.by_id)
        self.sections = list(playbook.sections)
        self.events: set[str] = set()
        self.next_id = playbook.next_id

    def take(self, operation: Operation) -> list[Change]:
        for bullet_id in targets(operation):
            self._known(bullet_id)
        if self.stale and not isinstance(operation, Add | Tag):
            self._unchanged_since_base(operation)
        match operation:
            case Add():
                return self.add(operation)
            case Update():
                return self.update(operation)
            case Merge():
                return self.merge(operation)
            case Remove():
                return self.remove(operation)
            case Tag():
                return self.tag(operation)

    def finish(self) -> Playbook:
        events = self.base.applied_events | self.events if self.events else self.base.applied_events
        return self.base.revised(
            self.bullets.values(), sections=tuple(self.sections), next_id=self.next_id, applied_events=events
        )

    def add(self, operation: Add) -> list[Change]:
        _check_content(operation.content)
        section = self._section(operation.section)
        bullet = Bullet(fresh_id(section, self.next_id), operation.content, section=section)
        self.next_id += 1
        self.bullets[bullet.id] = bullet
        return [Change("born", bullet.id, None, bullet)]

    def update(self, operation: Update) -> list[Change]:
        _check_content(operation.content)
        before = self.bullets[operation.id]
        after = replace(before, content=operation.content)
        if after == before:
            raise _Refused("no_change", f"Bullet {before.id} already has this content.")
        self.bullets[before.id] = after
        return [Change("edited", before.id, before, after)]

    def merge(self, operation: Merge) -> list[Change]:
        _check_content(operation.content)
        group = [self.bullets[i] for i in dict.fromkeys(operation.ids)]
        if len(group) < 2:
            raise _Refused("too_few_ids", "MERGE needs at least two different ids.")
        first, *losers = group
        helpful, harmful = summed(group)
        section = first.section if operation.section is None else self._section(operation.section)
        after = replace(first, content=operation.content, helpful=helpful, harmful=harmful, section=section)
        self.bullets[first.id] = after
        for loser in losers:
            del self.bullets[loser.id]
        edited = (after.content, after.section) != (first.content, first.section)
        absorbed = [Change("merged_into", loser.id, loser, None, first.id) for loser in losers]
        return absorbed + ([Change("edited", first.id, first, after)] if edited else [])

    def remove(self, operation: Remove) -> list[Change]:
        return [Change("removed", operation.id, self.bullets.pop(operation.id), None)]

    def tag(self, operation: Tag) -> list[Change]:
        if not operation.event:
            raise _Refused("empty_event", f"TAG of {operation.id} has no event id.")
        if operation.event in self.events or operation.event in self.base.applied_events:
            raise _Refused("duplicate_event", f"Event {operation.event!r} was already counted.")
        before = self.bullets[operation.id]
        after = _counted(before, operation)
        self.bullets[before.id] = after
        self.events.add(operation.event)
        return [Change("tagged", before.id, before, after)]

    def _known(self, bullet_id: str) -> None:
        if bullet_id not in self.bullets:
            raise _Refused("unknown_id", f"There is no bullet {bullet_id!r} in version {self.base.version}.")

    def _unchanged_since_base(self, operation: Operation) -> None:
        for bullet_id in targets(operation):
            bullet = self.base.get(bullet_id)
            if bullet is None or self.delta.expected.get(bullet_id) != bullet.content_digest:
                raise _Refused(
                    "stale",
                    f"{operation.type} of {bullet_id} was made on version {self.delta.base_version}, the playbook "
                    f"is at {self.base.version} and the content may have changed; propose it again.",
                )

    def _section(self, name: str) -> str:
        wanted = clean_name(name)
        if not wanted:
            raise _Refused("empty_section", "The section is empty.")
        found = find_section(self.sections, wanted)
        if found is None:
            self.sections.append(wanted)
        return found or wanted


def summed(bullets: list[Bullet]) -> tuple[int, int]:
    """Total helpful and harmful, each bullet counted once."""
    helpful, harmful = sum(b.helpful for b in bullets), sum(b.harmful for b in bullets)
    return min(helpful, MAX_COUNT), min(harmful, MAX_COUNT)


def _counted(bullet: Bullet, operation: Tag) -> Bullet:
    if operation.tag not in TAGS:
        raise _Refused("bad_tag", f"Tag {operation.tag!r} is none of {', '.join(TAGS)}.")
    helpful = bullet.helpful + (operation.tag == "helpful")
    harmful = bullet.harmful + (operation.tag == "harmful")
    if max(helpful, harmful) > MAX_COUNT:
        raise _Refused("counter_full", f"The {operation.tag} counter of {bullet.id} cannot grow further.")
    return bullet if operation.tag == "neutral" else replace(bullet, helpful=helpful, harmful=harmful)


def _check_content(content: str) -> None:
    if not content.strip():
        raise _Refused("empty_content", "The content is empty.")

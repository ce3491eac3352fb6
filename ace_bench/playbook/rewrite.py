"""Identity across whole-text rewriting: which bullet of the new text is which bullet of the old.

For methods that write the memory anew at each step (paper, section 2.2, "context collapse"). A bullet whose content
comes back byte for byte keeps id and counters; one that vanished is `rewritten_away` and lies in the graveyard; if its
content returns later it is `restored` with its old id and counters; everything else is `born`.
"""

from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from ace_bench.playbook.bullet import Bullet
from ace_bench.playbook.change import Change, Rejection
from ace_bench.playbook.lines import joined
from ace_bench.playbook.playbook import Playbook
from ace_bench.playbook.sections import clean_name, find_section, fresh_id

Entry = tuple[str, str]
"""(section, content) as the rewrite gave it."""


class RewriteResult(NamedTuple):
    """The next playbook, what became of each bullet, and entries left out because section or content was empty."""

    playbook: Playbook
    changes: tuple[Change, ...]
    rejected: tuple[Rejection, ...]


def rewrite(playbook: Playbook, entries: Sequence[Entry], exposed: Collection[str] | None = None) -> RewriteResult:
    """The playbook after a rewrite that produced `entries`.

    `exposed` None: everything was rewritten; bullets stand in the order of the entries. Otherwise only these ids were
    shown to the rewrite: all others stay the same objects in the same order, matched ones keep their place, and new
    ones go to the end of their section. Old sections stay, even if empty. The version grows by one iff bullets or
    sections changed. Raises ValueError if `exposed` names a bullet the playbook does not have.
    """
    shown = _exposed(playbook, exposed)
    plan = _Plan(playbook)
    plan.read(entries)
    plan.match(shown)
    placed = [bullet for bullet in plan.placed if bullet]
    gone = [bullet for bullet in shown if bullet.id not in plan.matched]
    bullets = placed if exposed is None else _in_place(playbook, placed, {bullet.id for bullet in gone})
    changes = (*(Change("rewritten_away", bullet.id, bullet, None) for bullet in gone), *plan.changes)
    after = playbook.revised(
        bullets, sections=tuple(plan.sections), next_id=plan.next_id, graveyard=plan.graveyard_with(gone)
    )
    unchanged = (after.bullets, after.sections) == (playbook.bullets, playbook.sections)
    return RewriteResult(playbook if unchanged else after, changes, tuple(plan.rejected))


def _exposed(playbook: Playbook, exposed: Collection[str] | None) -> tuple[Bullet, ...]:
    if exposed is None:
        return playbook.bullets
    wanted = set(exposed)
    if unknown := sorted(wanted - playbook.by_id.keys()):
        raise ValueError(f"The rewrite was shown bullets that version {playbook.version} does not have: {unknown[:5]}.")
    return tuple(bullet for bullet in playbook.bullets if bullet.id in wanted)


def _in_place(playbook: Playbook, placed: Iterable[Bullet], gone: set[str]) -> list[Bullet]:
    """Old bullets in their order, then newcomers; a bullet that changed its section counts as a newcomer there."""
    stay = [bullet for bullet in playbook.bullets if bullet.id not in gone]
    moved = {b.id: b for b in placed if (old := playbook.get(b.id)) is None or old.section != b.section}
    return [bullet for bullet in stay if bullet.id not in moved] + list(moved.values())


@dataclass(slots=True)
class _Pool:
    """Bullets waiting to be matched, by section and content, then by content alone. Each is given out once."""

    exact: dict[Entry, deque[Bullet]] = field(default_factory=lambda: defaultdict(deque))
    anywhere: dict[str, deque[Bullet]] = field(default_factory=lambda: defaultdict(deque))
    used: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, bullets: Iterable[Bullet]) -> "_Pool":
        pool = cls()
        for bullet in bullets:
            pool.exact[bullet.section, bullet.content].append(bullet)
            pool.anywhere[bullet.content].append(bullet)
        return pool

    def same_section(self, entry: Entry) -> Bullet | None:
        return self._next(self.exact.get(entry))

    def any_section(self, entry: Entry) -> Bullet | None:
        return self._next(self.anywhere.get(entry[1]))

    def _next(self, waiting: deque[Bullet] | None) -> Bullet | None:
        while waiting:
            bullet = waiting.popleft()
            if bullet.id not in self.used:
                self.used.add(bullet.id)
                return bullet
        return None


class _Plan:
    """Entries matched to bullets: same section first for all entries, then any section, then the graveyard."""

    def __init__(self, playbook: Playbook) -> None:
        self.playbook = playbook
        self.sections = list(playbook.sections)
        self.next_id = playbook.next_id
        self.entries: list[Entry] = []
        self.placed: list[Bullet | None] = []
        self.matched: set[str] = set()
        self.restored: set[str] = set()
        self.changes: list[Change] = []
        self.rejected: list[Rejection] = []

    def read(self, entries: Sequence[Entry]) -> None:
        """Resolve section names as merge does; entries without section or content are set apart."""
        for entry in entries:
            name, content = clean_name(entry[0]), joined(entry[1])
            if not content.strip():
                self.rejected.append(Rejection("empty_content", "The rewritten bullet has no content.", entry))
            elif not name and entry[0] not in self.sections:
                self.rejected.append(Rejection("empty_section", "The rewritten bullet has no section.", entry))
            else:
                self.entries.append((self._section(entry[0], name), content))

    def match(self, shown: Sequence[Bullet]) -> None:
        living, buried = _Pool.of(shown), _Pool.of(reversed(self.playbook.graveyard))
        self.placed = [living.same_section(entry) for entry in self.entries]
        self._fill(living.any_section)
        self.matched = set(living.used)
        self._fill(buried.same_section)
        self._fill(buried.any_section)
        self.restored = set(buried.used)
        for i, entry in enumerate(self.entries):
            self.placed[i] = self._settled(self.placed[i], entry)

    def graveyard_with(self, gone: Iterable[Bullet]) -> tuple[Bullet, ...]:
        kept = (bullet for bullet in self.playbook.graveyard if bullet.id not in self.restored)
        return (*kept, *gone)

    def _section(self, raw: str, name: str) -> str:
        found = raw if raw in self.sections else find_section(self.sections, name)
        if found is None:
            self.sections.append(name)
        return name if found is None else found

    def _fill(self, take: Callable[[Entry], Bullet | None]) -> None:
        self.placed = [b or take(entry) for b, entry in zip(self.placed, self.entries, strict=True)]

    def _settled(self, bullet: Bullet | None, entry: Entry) -> Bullet:
        section, content = entry
        if bullet is None:
            after = Bullet(fresh_id(section, self.next_id), content, section=section)
            self.next_id += 1
            self.changes.append(Change("born", after.id, None, after))
            return after
        after = bullet if bullet.section == section else replace(bullet, section=section)
        if bullet.id in self.restored:
            self.changes.append(Change("restored", bullet.id, None, after))
        elif after is not bullet:
            self.changes.append(Change("edited", bullet.id, bullet, after))
        return after

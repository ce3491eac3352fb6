"""Playbook: the memory of ACE as an immutable value. Text is a rendering of it (paper, section 3.1)."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from ace_bench.playbook.bullet import Bullet, digest_of
from ace_bench.playbook.lines import escape_text, joined
from ace_bench.playbook.sections import DEFAULT_SECTIONS

MAX_NEXT_ID = 10**14
"""Ids have at most 15 digits; this leaves room for every fresh id a run can need."""


@dataclass(frozen=True)
class Playbook:
    """Ordered sections of ordered bullets; every change makes a new value with a higher `version`.

    `sections`        names in order; a section may be empty. A first section named "" has no header line.
    `bullets`         grouped by section, in the order of `sections`.
    `next_id`         the number of the next fresh id; larger than any number ever used, so ids never come back.
    `applied_events`  ids of the feedback events already counted (merge contract).
    `preamble`        text before the first header or bullet, kept as it is.
    `intros`          (section, text) for text or blank lines between a header and its first bullet; layout.
    `counters`        the dialect `render()` writes when not told: with counters, or as AppWorld does, without.
    `final_newline`   whether the text ends with a newline; layout.
    `graveyard`       bullets that a rewrite dropped, oldest first; they keep their ids if their text comes back.

    Raises ValueError when these rules are broken: duplicate id, bullet outside its section, `next_id` too small.
    """

    sections: tuple[str, ...] = ()
    bullets: tuple[Bullet, ...] = ()
    version: int = 0
    next_id: int = 1
    applied_events: frozenset[str] = frozenset()
    preamble: str = ""
    intros: tuple[tuple[str, str], ...] = ()
    counters: bool = True
    final_newline: bool = True
    graveyard: tuple[Bullet, ...] = ()

    def __post_init__(self) -> None:
        self._normalise()
        _check_sections(self)
        _check_bullets(self)

    @classmethod
    def empty(cls, sections: tuple[str, ...] = DEFAULT_SECTIONS) -> "Playbook":
        """A playbook with headers and no bullets."""
        return cls(sections=tuple(sections))

    @classmethod
    def of(cls, bullets: Iterable[Bullet], sections: tuple[str, ...] = (), preamble: str = "") -> "Playbook":
        """A playbook of existing bullets: sections they name are added, `next_id` is the largest number plus one."""
        items = tuple(bullets)
        names = tuple(dict.fromkeys([*sections, *(b.section for b in items)]))
        number = max((b.number for b in items), default=0) + 1
        return cls(sections=names, bullets=_grouped(items, names), next_id=number, preamble=preamble)

    def get(self, bullet_id: str) -> Bullet | None:
        """The bullet with this id, or None."""
        return self.by_id.get(bullet_id)

    def by_section(self, name: str) -> tuple[Bullet, ...]:
        """The bullets of the section spelled exactly `name`, in order; empty if there is none."""
        return self._groups.get(name, ())

    def __contains__(self, bullet_id: object) -> bool:
        return bullet_id in self.by_id

    def __iter__(self) -> Iterator[Bullet]:
        return iter(self.bullets)

    def __len__(self) -> int:
        return len(self.bullets)

    def __bool__(self) -> bool:
        return True  # an empty playbook is still a playbook: `state or default` must not drop it

    @cached_property
    def by_id(self) -> dict[str, Bullet]:
        """Bullets by id, in playbook order. Read it, do not change it."""
        return {b.id: b for b in self.bullets}

    def render(self, counters: bool | None = None) -> str:
        """The text form (see text.py). `counters` None writes the playbook's own dialect. Cached."""
        wanted = self.counters if counters is None else counters
        return self._with_counters if wanted else self._without_counters

    @cached_property
    def digest(self) -> str:
        """sha256 of `render()`, hexadecimal."""
        return digest_of(self.render())

    def revised(self, bullets: Iterable[Bullet], **fields: object) -> "Playbook":
        """The next version with these bullets (regrouped by section, stable) and any other fields given."""
        names = fields.get("sections", self.sections)
        assert isinstance(names, tuple)
        changed = {"version": self.version + 1, "bullets": _grouped(bullets, names), **fields}
        return replace(self, **changed)  # type: ignore[arg-type]

    @cached_property
    def _groups(self) -> dict[str, tuple[Bullet, ...]]:
        groups: dict[str, list[Bullet]] = {name: [] for name in self.sections}
        for bullet in self.bullets:
            groups[bullet.section].append(bullet)
        return {name: tuple(group) for name, group in groups.items()}

    @cached_property
    def _with_counters(self) -> str:
        return self._written(counters=True)

    @cached_property
    def _without_counters(self) -> str:
        return self._written(counters=False)

    def _written(self, counters: bool) -> str:
        intros = dict(self.intros)
        parts = [escape_text(self.preamble)]
        for name in self.sections:
            if name:
                parts.append(f"## {name}\n{escape_text(intros.get(name, ''))}")
            parts.extend(bullet.text(counters) for bullet in self.by_section(name))
        text = "".join(parts)
        return text if self.final_newline else text[:-1]

    def _normalise(self) -> None:
        """Bring layout to the one form the text can hold, so that reading back gives an equal value."""
        put = object.__setattr__
        put(self, "preamble", joined(self.preamble))
        put(self, "intros", tuple((name, joined(text)) for name, text in self.intros))
        if self.sections[:1] == ("",) and not (self.bullets and self.bullets[0].section == ""):
            put(self, "sections", self.sections[1:])
        if self.sections and self.preamble and not self.preamble.endswith("\n"):
            put(self, "preamble", self.preamble + "\n")
        if not self.sections or _last_layout(self).endswith("\n\n"):
            put(self, "final_newline", True)


def _last_layout(playbook: Playbook) -> str:
    """The end of the text: one newline, then the last bullet's tail or the last section's intro."""
    name = playbook.sections[-1]
    if playbook.bullets and playbook.bullets[-1].section == name:
        return "\n" + playbook.bullets[-1].tail
    return "\n" + dict(playbook.intros).get(name, "")


def _grouped(bullets: Iterable[Bullet], sections: tuple[str, ...]) -> tuple[Bullet, ...]:
    rank = {name: i for i, name in enumerate(sections)}
    return tuple(sorted(bullets, key=lambda bullet: rank[bullet.section]))


def _check_sections(playbook: Playbook) -> None:
    names = playbook.sections
    if len(set(names)) != len(names):
        raise ValueError(f"Playbook sections must differ, got {list(names)}; leave out the repeated name.")
    for i, name in enumerate(names):
        if name != joined(name) or "\n" in name or not (name.strip() or (name == "" and i == 0)):
            raise ValueError(f"Section name {name!r} must be one line with something in it and no split character.")
    with_intro = [name for name, _ in playbook.intros]
    if with_intro != [name for name in names if name and name in set(with_intro)]:
        raise ValueError(f"Intros {with_intro} must name sections with a header, once each, in the order of sections.")
    if any(not text.endswith("\n") for _, text in playbook.intros):
        raise ValueError("Each section intro must end with a newline; leave an empty one out.")


def _check_bullets(playbook: Playbook) -> None:
    rank = {name: i for i, name in enumerate(playbook.sections)}
    ranks = [rank.get(bullet.section, -1) for bullet in playbook.bullets]
    if ranks and (min(ranks) < 0 or ranks != sorted(ranks)):
        raise ValueError("Playbook bullets must belong to its sections and stand in their order; use Playbook.of(...).")
    everyone = [*playbook.bullets, *playbook.graveyard]
    if len({bullet.id for bullet in everyone}) != len(everyone):
        ids = [bullet.id for bullet in everyone]
        raise ValueError(f"Bullet ids must differ; used twice: {sorted({i for i in ids if ids.count(i) > 1})[:5]}.")
    largest = max((bullet.number for bullet in everyone), default=0)
    if not largest < playbook.next_id <= MAX_NEXT_ID:
        raise ValueError(
            f"next_id is {playbook.next_id} and the largest number in use is {largest}; "
            f"next_id must be larger than that and at most {MAX_NEXT_ID}, so give large ids smaller numbers."
        )

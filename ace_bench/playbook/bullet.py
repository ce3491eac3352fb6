"""Bullet: one lesson of a playbook, with its id, its counters and its place (paper, section 3.1)."""

import hashlib
from dataclasses import dataclass, field

from ace_bench.playbook.lines import BULLET_ID, escape_content, is_blank, joined

MAX_COUNT = 10**15 - 1
"""Largest counter the text form can hold (15 digits)."""


@dataclass(frozen=True, slots=True)
class Bullet:
    """One bullet. Immutable; `dataclasses.replace` makes a changed copy.

    `content` is any text, several lines too. `helpful` and `harmful` count feedback events. `tail` is layout only: the
    blank lines that follow the bullet in the text form. `number` is the counter in the id (12 for `str-00012`); fresh
    numbers only grow, so the smaller is the older bullet. Raises ValueError for an id, counter or tail that the text
    form could not carry.
    """

    id: str
    content: str
    helpful: int = 0
    harmful: int = 0
    section: str = field(kw_only=True)
    tail: str = field(default="", kw_only=True)
    number: int = field(init=False, repr=False, compare=False)
    _texts: dict[bool, str] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        if not BULLET_ID.fullmatch(self.id):
            raise ValueError(
                f"Bullet id {self.id!r} is not of the form slug-00001; give it a lower-case slug and number."
            )
        if not (0 <= self.helpful <= MAX_COUNT and 0 <= self.harmful <= MAX_COUNT):
            raise ValueError(
                f"Bullet {self.id}: counters must lie between 0 and {MAX_COUNT}, "
                f"got helpful={self.helpful} harmful={self.harmful}."
            )
        if self.tail and not (self.tail.endswith("\n") and all(map(is_blank, self.tail.split("\n")))):
            raise ValueError(f"Bullet {self.id}: tail {self.tail!r} must be blank lines, each ended by a newline.")
        object.__setattr__(self, "content", joined(self.content))
        object.__setattr__(self, "number", int(self.id.rpartition("-")[2]))

    @property
    def content_digest(self) -> str:
        """sha256 of the content, hexadecimal; what `Delta.expected` holds."""
        return digest_of(self.content)

    def text(self, counters: bool = True) -> str:
        """The bullet's lines in the text form, newline and tail included. Worked out once per dialect."""
        if counters not in self._texts:
            prefix = f"helpful={self.helpful} harmful={self.harmful} :: " if counters else ""
            body = escape_content(self.content, counters)
            self._texts[counters] = f"[{self.id}] {prefix}{body}\n{self.tail}"
        return self._texts[counters]


def digest_of(text: str) -> str:
    """sha256 of `text` in UTF-8, hexadecimal. Lone surrogates are allowed and have a stable digest."""
    return hashlib.sha256(joined(text).encode("utf-8", "surrogatepass")).hexdigest()

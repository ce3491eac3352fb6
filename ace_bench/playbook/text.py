"""The text form: reading it back into a playbook, and writing it, in both published dialects.

    ## SECTION                                        ## SECTION
    [str-00001] helpful=3 harmful=0 :: content        [shr-00001] content

The text holds preamble, sections, bullets in order, their ids and contents, layout, and (first dialect) counters. It
does not hold `version`, `applied_events`, the graveyard, or a `next_id` above the largest number in use plus one.
"""

from dataclasses import dataclass

from ace_bench.playbook.bullet import Bullet
from ace_bench.playbook.lines import (
    BAD_BULLET_LINE,
    BULLET_LINE,
    HEADER_LINE,
    is_blank,
    joined,
    unescape_content,
    unescape_line,
)
from ace_bench.playbook.playbook import Playbook


def render(playbook: Playbook, counters: bool | None = None) -> str:
    """The playbook as text. `counters` True or False picks the dialect, None the one the playbook was read in."""
    return playbook.render(counters)


def parse(text: str) -> Playbook:
    """The playbook written in `text`, version 0; the dialect is told bullet by bullet and remembered.

    Text before the first header or bullet is the preamble; bullets before the first header form the section "".
    Lines after a bullet that are neither header nor bullet belong to its content. A header that comes twice is one
    section. Raises ValueError, naming the line, for an id used twice or of a form that could not be found again.
    """
    text = joined(text)
    final_newline = text.endswith("\n")
    lines = text.split("\n")
    reader = _Reader()
    for number, line in enumerate(lines[:-1] if final_newline else lines, 1):
        reader.take(line, number)
    if not reader.sections:
        return Playbook(preamble="\n".join(map(unescape_line, lines)))
    return reader.playbook(final_newline)


@dataclass(slots=True)
class _Block:
    id: str
    counts: tuple[int, int] | None
    lines: list[str]

    def bullet(self, section: str) -> Bullet:
        end = len(self.lines)
        while end > 1 and is_blank(self.lines[end - 1]):
            end -= 1
        content = unescape_content(self.lines[:end], counters=self.counts is not None)
        tail = "".join(line + "\n" for line in self.lines[end:])
        return Bullet(self.id, content, *(self.counts or (0, 0)), section=section, tail=tail)


class _Reader:
    """Takes the lines one by one; `plain` is the list that lines without a mark are added to."""

    def __init__(self) -> None:
        self.preamble: list[str] = []
        self.intros: dict[str, list[str]] = {}
        self.sections: dict[str, list[_Block]] = {}
        self.seen: dict[str, int] = {}
        self.section = ""
        self.plain = self.preamble

    def take(self, line: str, number: int) -> None:
        if header := HEADER_LINE.match(line):
            self._header(header[1])
        elif found := BULLET_LINE.match(line):
            counts = None if found[2] is None else (int(found[2]), int(found[3]))
            self._bullet(_Block(found[1], counts, [found[4]]), number)
        elif bad := BAD_BULLET_LINE.match(line):
            raise ValueError(
                f"Line {number} of the playbook text: the bullet id {bad[1][:60]!r} is not of the form slug-00001; "
                "rename it, or put a backslash before the bracket if the line is content."
            )
        else:
            self.plain.append(line)

    def _header(self, name: str) -> None:
        self.section = name
        self.sections.setdefault(name, [])
        self.plain = self.intros.setdefault(name, [])

    def _bullet(self, block: _Block, number: int) -> None:
        if block.id in self.seen:
            raise ValueError(
                f"Line {number} of the playbook text: the id {block.id!r} is already used on line "
                f"{self.seen[block.id]}; give one of the two bullets a number that is not in use."
            )
        self.seen[block.id] = number
        self.sections.setdefault(self.section, []).append(block)
        self.plain = block.lines

    def playbook(self, final_newline: bool) -> Playbook:
        blocks = [block for group in self.sections.values() for block in group]
        bullets = tuple(block.bullet(name) for name, group in self.sections.items() for block in group)
        return Playbook(
            sections=tuple(self.sections),
            bullets=bullets,
            next_id=max((bullet.number for bullet in bullets), default=0) + 1,
            preamble=_unescaped(self.preamble),
            intros=tuple((name, _unescaped(lines)) for name, lines in self.intros.items() if lines),
            counters=not blocks or any(block.counts is not None for block in blocks),
            final_newline=final_newline,
        )


def _unescaped(lines: list[str]) -> str:
    return "".join(unescape_line(line) + "\n" for line in lines)

"""The line grammar of the text form: what a header and a bullet look like, and how content is kept from looking so.

One rule of escaping: a line *inside* a content (or preamble, or section intro) that would be read as a header or as
a bullet gets one leading backslash; reading takes one away. Ordinary text is untouched. Lines end at "\\n" only.
Source of the two dialects: the released playbooks of ACE (with counters) and of its AppWorld variant (without).
"""

import re

ID = r"[a-z][a-z0-9_]+-[0-9]{3,15}"
"""What a bullet id may look like when it is read. Fresh ids are stricter: `[a-z]{3,}-[0-9]{5,}` (see sections.py)."""

_COUNTERS = r"[ \t]*helpful=([0-9]{1,15})[ \t]+harmful=([0-9]{1,15})[ \t]*::"
_MARK = rf"(?:## (?=.*\S)|\[{ID}\](?: |\Z)|\[[^\[\]]*\]{_COUNTERS})"

BULLET_ID = re.compile(ID)
HEADER_LINE = re.compile(r"## (?=.*\S)(.*)")
BULLET_LINE = re.compile(rf"\[({ID})\](?:{_COUNTERS} ?|(?: |\Z))(.*)")
BAD_BULLET_LINE = re.compile(rf"\[([^\[\]]*)\]{_COUNTERS}")
_NEEDS_ESCAPE = re.compile(rf"\\*{_MARK}")
_ESCAPED = re.compile(rf"\\+{_MARK}")
_FIRST_NEEDS_ESCAPE = re.compile(rf"\\*{_COUNTERS}")
_FIRST_ESCAPED = re.compile(rf"\\+{_COUNTERS}")
_LAST_NEEDS_ESCAPE = re.compile(r"\\*[ \t\r]*\Z")
_LAST_ESCAPED = re.compile(r"\\+[ \t\r]*\Z")
_SPLIT_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")


def joined(text: str) -> str:
    """`text` with split surrogate pairs joined into the character they spell; lone surrogates stay as they are.

    Two halves that arrived in two chunks are one character to JSON and UTF-8; left apart they would change on the way.
    """
    if not _SPLIT_PAIR.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def is_blank(line: str) -> bool:
    """Whether `line` holds only spaces, tabs and carriage returns: such lines after a bullet are layout."""
    return not line.strip(" \t\r")


def escape_line(line: str) -> str:
    """`line` with a backslash in front if it would be read as a header or a bullet, else itself."""
    return "\\" + line if _NEEDS_ESCAPE.match(line) else line


def unescape_line(line: str) -> str:
    """Inverse of `escape_line`."""
    return line[1:] if _ESCAPED.match(line) else line


def escape_text(text: str) -> str:
    """A whole preamble or section intro, line by line escaped."""
    return "\n".join(map(escape_line, text.split("\n")))


def escape_content(content: str, counters: bool) -> str:
    """A bullet's content as it stands after the bullet's prefix, in the dialect with or without counters.

    Beside marks, two places are guarded: a first line that would be read as counters (no-counter dialect only), and a
    blank last line, which would be taken for layout.
    """
    first, *rest = content.split("\n")
    if not counters and _FIRST_NEEDS_ESCAPE.match(first):
        first = "\\" + first
    rest = [escape_line(line) for line in rest]
    if rest and _LAST_NEEDS_ESCAPE.match(rest[-1]):
        rest[-1] = "\\" + rest[-1]
    return "\n".join([first, *rest])


def unescape_content(lines: list[str], counters: bool) -> str:
    """Inverse of `escape_content`, from the lines of one bullet (prefix and trailing blank lines already taken off)."""
    first, *rest = lines
    if not counters and _FIRST_ESCAPED.match(first):
        first = first[1:]
    rest = [unescape_line(line) for line in rest]
    if rest and _LAST_ESCAPED.match(rest[-1]):
        rest[-1] = rest[-1][1:]
    return "\n".join([first, *rest])

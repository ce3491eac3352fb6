"""Text with lone surrogates, made fit for Parquet and CSV, reversibly.

A lone surrogate is written as backslash, `u` and its four lower-case hex digits: the text holding only code point D83D
becomes the six characters `\\ud83d`. Lest text that already reads like that be mistaken for it, a run of n backslashes
right before a surrogate, or before `u` and four lower-case hex digits that name one, is written as 2n backslashes.
Reading back: an odd run before `uXXXX` ends in a surrogate, an even run is literal. All other text is unchanged.
"""

from __future__ import annotations

import re

_CODE = "u(?:d[89a-f][0-9a-f]{2})"
_OUT = re.compile(rf"(?<!\\)(\\*)([\ud800-\udfff])|(?<!\\)(\\+)(?={_CODE})")
_BACK = re.compile(rf"(?<!\\)(\\+)({_CODE})")


def _escaped(match: re.Match[str]) -> str:
    if match[3]:
        return match[3] * 2
    return f"{match[1] * 2}\\u{ord(match[2]):04x}"


def _restored(match: re.Match[str]) -> str:
    pairs, odd = divmod(len(match[1]), 2)
    return "\\" * pairs + (chr(int(match[2][1:], 16)) if odd else match[2])


def escape_text(text: str) -> str:
    """`text` without lone surrogates; the same object back for nearly every text."""
    if "\\ud" not in text:
        if text.isascii():
            return text
        try:
            text.encode()
            return text
        except UnicodeEncodeError:
            pass
    return _OUT.sub(_escaped, text)


def unescape_text(text: str) -> str:
    """The text that `escape_text` was given."""
    return _BACK.sub(_restored, text) if "\\ud" in text else text

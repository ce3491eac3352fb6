"""One number parser for answers written by a model: a grammar and decimal arithmetic, never `eval` (B27, R01, R03).

What counts as a number is the whole answer, not a number found somewhere in it. Accepted: signs (also the Unicode minus
and the en dash), a currency sign or code before or after, thousands marks in groups of three (comma, or a no-break,
narrow or thin space), decimals after a full stop, exponents, a percent sign or word, parentheses for negatives, one
trailing `.`, `,` or `;`, fullwidth characters, zero-width characters, and the units of `UNITS`.

Not numbers, by decision: two currency marks (`$5 USD`), `nan`, `inf`, `1_250`, `0x10`, `1/8`, `12,5` and `1.250,00`
(a decimal comma cannot be told from a thousands mark), `1 250` with a plain blank, `5-`, `(-5)`, two signs, text
around the number ("72, in total"), exponents of more than three digits, texts of more than 80 characters, and scale
words ("5 million") unless allowed.
"""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal
from typing import Literal

Percent = Literal["as_is", "fraction"]
UNITS = (
    "dollars?", "euros?", "pounds?", "yen", "shares?", "units?", "days?", "months?", "years?", "times", "x",
)  # fmt: skip
SCALES = {"thousand": 3, "million": 6, "billion": 9, "trillion": 12}
_LONGEST = 80
_CODE = r"US\$|C\$|A\$|HK\$|[$€£¥₹]|USD|EUR|GBP|JPY|CNY|CHF|CAD|AUD|INR"
_MONEY = re.compile(_CODE, re.IGNORECASE)
_NUMBER = re.compile(
    rf"""(?P<sign>[+-])?\ ?(?:{_CODE})?\ ?(?P<open>\()?\ ?(?:{_CODE})?\ ?(?P<inner>[+-])?
    (?P<digits>(?:[0-9]{{1,3}}(?:,[0-9]{{3}})+|[0-9]+)(?:\.[0-9]+)?|\.[0-9]+)(?P<exponent>e[+-]?[0-9]{{1,3}})?
    \ ?(?P<scale>{"|".join(SCALES)})?
    \ ?(?P<percent>%|percent|pct)?\ ?(?P<close>\))?(?P<outer>%)?
    \ ?(?:{_CODE}|{"|".join(UNITS)})?""",
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)
_GROUP_SPACE = re.compile("(?<=[0-9])[\u00a0\u2009\u202f](?=[0-9]{3}(?![0-9]))")
_SIGNS = {0x2212: "-", 0x2013: "-", 0x2012: "-", 0xFFE1: "£", 0xFFE5: "¥"}
_FULLWIDTH = {code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}


def plain(text: str) -> str:
    """`text` in ASCII digits, signs and blanks. Superscripts and fractions stay as they are (`10²` is not 102)."""
    text = _GROUP_SPACE.sub(",", text.translate(_FULLWIDTH))
    visible = "".join(c for c in text if unicodedata.category(c) != "Cf")
    return " ".join(visible.translate(_SIGNS).split())


def number(text: str, *, percent: Percent = "as_is", scale_words: bool = False) -> Decimal | None:
    """The number that `text` spells, or None when it spells none. Never raises on any text.

    `percent` says what `12.5%` is worth: `as_is` 12.5 (the sign is dropped), `fraction` 0.125.
    `scale_words` allows thousand, million, billion and trillion after the number.
    """
    text = plain(text) if len(text) <= _LONGEST else ""
    match = _NUMBER.fullmatch(text) or _NUMBER.fullmatch(text[:-1].rstrip() if text.endswith((".", ",", ";")) else "")
    if match is None or (match["scale"] and not scale_words) or not _one_sign(match) or len(_MONEY.findall(text)) > 1:
        return None
    if (match["percent"] and match["outer"]) or (match["outer"] and not match["close"]):
        return None
    shift = SCALES[match["scale"].lower()] if match["scale"] else 0
    if percent == "fraction" and (match["percent"] or match["outer"]):
        shift -= 2
    value = Decimal(match["digits"].replace(",", "") + (match["exponent"] or "")).scaleb(shift)
    return -value if "-" in (match["sign"], match["inner"]) or match["open"] else value


def _one_sign(match: re.Match[str]) -> bool:
    """Parentheses come in pairs, and a number has one sign at most (parentheses are one)."""
    signs = [match["sign"], match["inner"], match["open"]]
    return bool(match["open"]) == bool(match["close"]) and sum(bool(sign) for sign in signs) <= 1

"""The guard of semantic dedup: what keeps two texts apart however alike they look (review, 8.3).

No embedder tells a contradiction from a paraphrase (in our check contradictions scored *higher* with every one), so the
words decide. The rule is lexical, English and cautious: a paraphrase kept apart costs a bullet, a merged exception a lesson.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

Difference = Literal["negation", "number", "unit", "opposite", "order"]

_NEGATIONS = """
not no never none nothing neither nor without cannot cant dont doesnt didnt isnt arent wasnt werent wont shouldnt mustnt
couldnt wouldnt havent hasnt avoid refuse forbid unless except only stop
"""
NEGATIONS = frozenset(_NEGATIONS.split())
"""Words that turn a rule round or bound it."""

_NUMBERS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen twenty"
)
_ORDINALS = "zeroth first second third fourth fifth sixth seventh eighth ninth tenth"
NUMBER_WORDS = {word: str(i) for words in (_NUMBERS, _ORDINALS) for i, word in enumerate(words.split())} | {
    "once": "1", "single": "1", "twice": "2", "double": "2", "both": "2", "pair": "2", "half": "0.5", "dozen": "12",
}  # fmt: skip
"""Numbers written as words, in digits."""

_UNITS = """
% percent percents percentage percentages pct | bp bps | $ dollar dollars usd | € euro euros eur | £ pound pounds gbp
¥ yen jpy | cent cents | thousand thousands | million millions mn | billion billions bn | trillion trillions
ms millisecond milliseconds | second seconds sec secs | minute minutes min mins | hour hours hr hrs | day days daily
week weeks weekly | month months monthly | quarter quarters quarterly | year years yearly annual annually
byte bytes | kb | mb | gb | mg | g gram grams | kg kilogram kilograms | lb lbs | mm millimetre millimeter | cm | m metre
metres meter meters | km kilometre kilometres kilometer kilometers | mile miles | ml | litre litres liter liters | celsius
fahrenheit | kelvin | degree degrees | < | > | ≤ | ≥ | = | ≠ | + | * | / | ^ | ±
"""
UNITS = {word: group.split()[0] for line in _UNITS.splitlines() for group in line.split("|") for word in group.split()}
"""Units, currencies, scales and operators, each by the first spelling of its group."""

_OPPOSITES = """
always sometimes|must may|increase decrease|increases decreases|increased decreased|rise fall|up down|before after
first last|opening closing|opening ending|beginning ending|start end|starting ending|newest oldest|newer older|recent oldest
latest earliest|new old|positive negative|include exclude|including excluding|included excluded|add remove|add subtract
minimum maximum|min max|more less|most least|greater smaller|greater less|larger smaller|higher lower|highest lowest|high low
above below|over under|true false|yes no|enable disable|enabled disabled|allow deny|ascending descending|left right|top bottom
asset liability|assets liabilities|debit credit|income expense|revenue cost|profit loss|gain loss|buy sell|long short
gross net|current noncurrent|numerator denominator|multiply divide|required optional|and or|all any|all some|internal external
open close|accept reject|read write|push pull|encode decode|upper lower|uppercase lowercase|public private|local remote
same different|import export|inbound outbound|lender borrower|lessor lessee|input output|early late|in out|on off|with without
basic diluted
"""
OPPOSITES = tuple(tuple(pair.split()) for line in _OPPOSITES.splitlines() for pair in line.split("|") if pair)
"""Pairs of words that say the contrary of each other in a rule."""

_FILLER_WORDS = "a an the of to is are be was were it its this that these those as for by at"
_FILLERS = frozenset(_FILLER_WORDS.split())
# A word or number: a sign before a digit, and points and commas between digits, belong to it (-5, 1,250.5, 3.11).
_TOKEN = re.compile(r"(?:(?<!\w)[-−]?\.?(?=\d))?\w+(?:(?<=\d)[.,](?=\d)\w+)*|[%$€£¥<>≤≥=≠+*/^±]")
# Apostrophes (don't = dont), bold marks, and the pronoun ("the newest one."), which is no number.
_IGNORED = re.compile(r"(?<=\w)['’ʼ](?=\w)|\*\*|\bone\b(?=\s*(?:[^\w\s]|$))")


@dataclass(frozen=True, slots=True)
class _Marks:
    words: tuple[str, ...]  # without fillers, in order
    vocabulary: frozenset[str]
    negations: int
    numbers: tuple[str, ...]
    units: tuple[str, ...]


def difference(a: str, b: str) -> Difference | None:
    """Why `a` and `b` may not become one bullet, or None. Symmetric; the first of these that holds:

    `number`    the tokens with a digit (numbers, versions, years, labels; one = 1) are not the same in the same order
    `negation`  one has more negations or restrictions (not, never, unless, only, ...) than the other
    `unit`      the units, currencies, scales or operators are not the same ones
    `opposite`  one has a word of a pair of opposites where the other has the contrary (before, after)
    `order`     the same words, but for fillers, in another order ("a minus b", "b minus a")
    """
    one, two = _marks(a), _marks(b)
    if one.numbers != two.numbers:
        return "number"
    if one.negations != two.negations:
        return "negation"
    if one.units != two.units:
        return "unit"
    if _opposed(one.vocabulary, two.vocabulary):
        return "opposite"
    if one.vocabulary == two.vocabulary and one.words != two.words:
        return "order"
    return None


def _opposed(one: frozenset[str], two: frozenset[str]) -> bool:
    alone, other = one - two, two - one
    return any((x in alone and y in other) or (y in alone and x in other) for x, y in OPPOSITES)


@lru_cache(maxsize=8192)
def _marks(text: str) -> _Marks:
    tokens = [_token(t) for t in _TOKEN.findall(_IGNORED.sub("", text.casefold()))]
    numbers = [NUMBER_WORDS.get(t, t) for t in tokens if t in NUMBER_WORDS or any(map(str.isnumeric, t))]
    words = tuple(t for t in tokens if t not in _FILLERS)
    return _Marks(
        words=words,
        vocabulary=frozenset(words),
        negations=sum(t in NEGATIONS for t in tokens),
        numbers=tuple(numbers),
        units=tuple(sorted(UNITS[t] for t in tokens if t in UNITS)),
    )


def _token(raw: str) -> str:
    """A token with numbers in one spelling: no thousands commas, a plain minus."""
    return re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", raw).replace("−", "-")

"""Section names: the default ones, how names are compared, and the slug that starts a fresh id."""

import re
import unicodedata

from ace_bench.playbook.lines import joined

DEFAULT_SECTIONS = (
    "STRATEGIES & INSIGHTS",
    "FORMULAS & CALCULATIONS",
    "CODE SNIPPETS & TEMPLATES",
    "COMMON MISTAKES TO AVOID",
    "PROBLEM-SOLVING HEURISTICS",
    "CONTEXT CLUES & INDICATORS",
    "OTHERS",
)
"""The seven sections of the released finance code of ACE."""

_SMALL_WORDS = frozenset({"and", "or", "of", "the", "to", "for", "in", "a", "an"})
_NOT_ALNUM = re.compile(r"[\W_]+")


def clean_name(name: str) -> str:
    """A section name from outside as it will be stored: one line, single spaces, no leading `#`. May become empty."""
    return joined(" ".join(name.split()).lstrip("# "))


def section_key(name: str) -> str:
    """What two spellings of one section share: letters and digits, case folded, without the word "and".

    So `problem_solving_heuristics` is `PROBLEM-SOLVING HEURISTICS`, and `strategies_and_insights` is
    `STRATEGIES & INSIGHTS`. A name without letters or digits is its own key.
    """
    words = [word for word in _NOT_ALNUM.split(name.casefold()) if word]
    return "".join([word for word in words if word != "and"] or words) or name.strip()


def find_section(sections: tuple[str, ...] | list[str], name: str) -> str | None:
    """The member of `sections` meant by `name`: an exact match, else the first with the same key, else None."""
    if name in sections:
        return name
    key = section_key(name)
    return next((known for known in sections if known and section_key(known) == key), None)


def slug(name: str) -> str:
    """The start of a fresh id: at least three letters a-z, a function of the section name alone.

    Take the words in a-z (accents dropped, small words such as "and" or "to" left out). Three words or more give
    their initials (at most five): COMMON MISTAKES TO AVOID is `cma`. Fewer give the first three letters:
    STRATEGIES & INSIGHTS is `str`. Short names are filled with x; a name without such letters is `sec`.
    """
    plain = unicodedata.normalize("NFKD", name).lower()
    plain = "".join(char for char in plain if not unicodedata.combining(char))
    words = re.findall("[a-z]+", plain)
    words = [word for word in words if word not in _SMALL_WORDS] or words
    if len(words) >= 3:
        return "".join(word[0] for word in words[:5])
    return "".join(words)[:3].ljust(3, "x") if words else "sec"


def fresh_id(section: str, number: int) -> str:
    """The id of a new bullet, `<slug>-00012`. Always matches `[a-z]{3,}-[0-9]{5,}`."""
    return f"{slug(section)}-{number:05d}"

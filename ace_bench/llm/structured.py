"""Find the JSON object a model was asked for in what it wrote (known fault B36). Strict JSON, never eval.

Order: thoughts are dropped; the whole text; then blocks fenced by lines of their own; then every brace, by a real
scanning decoder. Within each the *last* object that fits the schema wins, since examples come before answers. Refused,
with the reason: NaN and infinities, duplicate keys (the model said two things), trailing commas and single quotes, an
object with none of the schema's fields (a schema full of defaults would accept any), and any text that ends inside an
object: what came before a cut answer is not the answer.
"""

from __future__ import annotations

import functools
import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from pydantic import AliasChoices, BaseModel, ValidationError

MAX_TEXT = 1_000_000  # characters; longer texts are refused unread
MAX_BROKEN = 1000  # broken objects before we give up, and last objects looked at: keeps the time linear in the text
_FENCE = re.compile(r"(```+|~~~+)[ \t]*[\w+-]*$")  # of a stripped line
_NUMBER_BEGUN = re.compile(r"\.|(\.\d+)?[eE][+-]?")
_OPENING = re.compile(r'\{\s*(?=["}])')  # only these braces can start an object


@dataclass(frozen=True, slots=True)
class Parsed:
    """`data` is the validated object, or None and then `problem` says why in a sentence."""

    data: Any = None
    problem: str | None = None


@dataclass(slots=True)
class _Found:
    """Objects of a text with where they lie, and what is wrong with those that parse but may not be used."""

    objects: list[tuple[int, int, dict[str, Any]]] = field(default_factory=list)
    complaint: str | None = None
    cut: bool = False


class _Decoder(json.JSONDecoder):
    """Strict JSON that notes duplicate keys and numbers without a value instead of passing them."""

    def __init__(self) -> None:
        self.complaint: str | None = None
        super().__init__(object_pairs_hook=self._object, parse_constant=self._constant, parse_float=self._float)

    def scan(self, text: str, start: int) -> tuple[Any, int, str | None]:
        """The value at `start`, its end, and the complaint about it."""
        self.complaint = None
        value, end = self.raw_decode(text, start)
        return value, end, self.complaint

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        out = dict(pairs)
        if len(out) < len(pairs):
            twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
            self.complaint = f"the key {twice!r} is given twice in one object"
        return out

    def _constant(self, name: str) -> None:
        self.complaint = f"{name} is not a JSON number"

    def _float(self, digits: str) -> float:
        value = float(digits)
        if not math.isfinite(value):
            self.complaint = f"the number {digits[:30]} is too large"
        return value


def parse(text: str, schema: type[BaseModel]) -> Parsed:
    """The last object in `text` that fits `schema`, or why there is none. Never raises on any text."""
    if len(text) > MAX_TEXT:
        return Parsed(problem=f"the reply is longer than {MAX_TEXT:,} characters")
    for body in dict.fromkeys((text.strip(), drop_thoughts(text).strip())):
        whole = _whole(body, schema)
        if whole is not None:
            return whole
    found = _scan(body)
    if found.cut:
        return Parsed(problem="the reply ends inside a JSON object")
    spans = set(_fenced(body))
    fenced = [item for item in found.objects if item[:2] in spans]
    problem = found.complaint
    for group in (fenced, found.objects):
        for _, _, value in reversed(group[-MAX_BROKEN:]):
            parsed = _fit(value, schema)
            if parsed.data is not None:
                return parsed
            problem = problem or parsed.problem
    return Parsed(problem=problem or "the reply holds no JSON object (strict JSON: double quotes, no trailing commas)")


def drop_thoughts(text: str) -> str:
    """`text` without `<think>...</think>` parts; also without an unclosed one, or one whose opening tag is missing."""
    out, at = [], 0
    while (start := text.find("<think>", at)) >= 0:
        out.append(text[at:start])
        end = text.find("</think>", start)
        at = len(text) if end < 0 else end + len("</think>")
    out.append(text[at:])
    return "".join(out).rpartition("</think>")[2]


def _whole(body: str, schema: type[BaseModel]) -> Parsed | None:
    """The result when the text is one JSON object and nothing else; None when it is not."""
    if not (body.startswith("{") and body.endswith("}")):
        return None
    try:
        value, end, complaint = _Decoder().scan(body, 0)
    except (ValueError, RecursionError):
        return None
    if end != len(body):
        return None
    return Parsed(problem=complaint) if complaint else _fit(value, schema)


def _scan(body: str) -> _Found:
    """All outermost objects, left to right."""
    found, decoder, at, broken = _Found(), _Decoder(), 0, 0
    limit = len(body.rstrip())
    while (opening := _OPENING.search(body, at)) and broken < MAX_BROKEN:
        start = opening.start()
        try:
            value, at, complaint = decoder.scan(body, start)
        except json.JSONDecodeError as error:
            found.cut = _is_cut(error, body[error.pos : error.pos + 8].rstrip() if error.pos + 8 >= limit else None)
            if found.cut:
                break
            at, broken = start + 1, broken + 1
        except (ValueError, RecursionError):  # a number of thousands of digits; nesting beyond the interpreter
            at, broken = start + 1, broken + 20  # each of these is slow to find out
        else:
            found.complaint = complaint or found.complaint
            if complaint is None:
                found.objects.append((start, at, value))
    if broken >= MAX_BROKEN:
        found.objects, found.complaint = [], f"the reply has over {MAX_BROKEN} broken objects"
    return found


def _is_cut(error: json.JSONDecodeError, rest: str | None) -> bool:
    """Whether the text is used up in the middle of an object that began well: then nothing after it can be whole.

    `rest` is what stands from the error to the end of the text, None when that is long.
    """
    if error.msg.startswith("Unterminated string"):
        return True
    if rest is None:
        return False
    if error.msg.startswith("Invalid \\"):  # an escape without its end
        return True
    return any(word.startswith(rest) for word in ("true", "false", "null", "-")) or bool(_NUMBER_BEGUN.fullmatch(rest))


def _fenced(body: str) -> Iterator[tuple[int, int]]:
    """Spans (start, end) of what stands between fence lines, without surrounding blanks. An unclosed fence has none."""
    at, opened, fence = 0, -1, ""
    for line in body.splitlines(keepends=True):
        mark = _FENCE.match(line.strip())
        if mark and opened < 0:
            opened, fence = at + len(line), mark[1]
        elif mark and line.strip() == fence:
            inner = body[opened:at]
            lead = len(inner) - len(inner.lstrip())
            yield opened + lead, opened + len(inner.rstrip())
            opened = -1
        at += len(line)


def _fit(value: dict[str, Any], schema: type[BaseModel]) -> Parsed:
    names = _names(schema)
    if names and not names & value.keys():
        return Parsed(problem=f"the object has none of the fields {', '.join(sorted(names))}")
    try:
        return Parsed(schema.model_validate(value))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[:3]
        return Parsed(problem="; ".join(f"{'.'.join(map(str, e['loc'])) or 'object'}: {e['msg']}" for e in first))
    except RecursionError:
        return Parsed(problem="the object is nested too deeply")


@functools.lru_cache(maxsize=64)
def _names(schema: type[BaseModel]) -> frozenset[str]:
    """The keys under which the schema's fields can arrive."""
    names: set[str] = set()
    for name, info in schema.model_fields.items():
        alias = info.validation_alias
        choices = alias.choices if isinstance(alias, AliasChoices) else [alias, info.alias]
        names.update([name, *(choice for choice in choices if isinstance(choice, str))])
    return frozenset(names)

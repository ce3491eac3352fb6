"""What the simulated model can read off a task: the questions in it, their cues, their options and, for a formula, its value.

It reads the text a real model would read. Where it does not know the form of a task it takes the first words as the cue.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from ace_bench.llm.transports.simulated import acting

_MARK, _NOTE = re.compile(r"^Mark: \S+", re.M), re.compile(r"^Note: \w+", re.M)
_BAYS = re.compile(r"^Bays: (.+)$", re.M)
_TAGS = re.compile(r"tags options:\s*,?(.+?)\.\s", re.S)
_ENTITY = re.compile(r'^\d+\. .*?entity "(?P<entity>[^\n]*?)" in sentence: "(?P<sentence>[^\n]*)"', re.M)
_FORMULA = re.compile(r"Use formula (?P<name>.+?) to answer")
_DEFINED = re.compile(r"Formula: [^=\n]+= (?P<body>.+?), Explanation:", re.S)
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_OPERATOR = re.compile(r"\s[-+*/×÷]\s|[()]")
_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")
AS_STATED, INVERTED = "the formula as stated", "the formula the other way round"


@dataclass(frozen=True, slots=True)
class Item:
    """One question: the text that may hold cues, the cues themselves, the options and the value of a stated formula."""

    text: str
    cues: tuple[str, ...]
    options: tuple[str, ...] = ()
    stated: str | None = None
    inverted: str | None = None

    def answer(self, advice: str) -> str:
        """What following `advice` gives here: for a formula its value, otherwise the advice itself."""
        if self.stated is not None and advice in (AS_STATED, INVERTED):
            return self.stated if advice == AS_STATED else (self.inverted or self.stated)
        return advice

    def advice(self, answer: str) -> str:
        """The advice that gives `answer` here."""
        if self.stated is None:
            return answer
        return AS_STATED if _same(answer, self.stated) else INVERTED


@lru_cache(maxsize=4096)
def items(task: str) -> tuple[Item, ...]:
    """The questions of a task."""
    if _BAYS.search(task) and _MARK.search(task):
        return (_parcel(task),)
    entities = list(_ENTITY.finditer(task))
    if entities:
        found = _TAGS.search(task)
        options = tuple(o.strip() for o in found[1].split(",") if o.strip()) if found else ()
        return tuple(Item(m["sentence"], (_phrase(m["sentence"]),), options) for m in entities)
    if (name := _FORMULA.search(task)) is not None:
        return (_formula(task, name["name"]),)
    if (made := acting.plan(task)) is not None:
        return (Item(task, (made.cue,), (acting.FIRST, acting.RIGHT)),)
    return (Item(task, (" ".join(task.split()[:8]),)),)


def _parcel(task: str) -> Item:
    cues = tuple(m[0] for m in (_MARK.search(task), _NOTE.search(task)) if m)
    bays = _BAYS.search(task)
    return Item(task, cues, tuple(bays[1].split(", ")) if bays else ())


def _phrase(sentence: str) -> str:
    """The three neighbouring words with the most letters: what is likely to be special to the sentence."""
    words = sentence.split()
    runs = [words[i : i + 3] for i in range(max(1, len(words) - 2))]
    plain = [[len(w) if w.isalpha() and w.islower() else -9 for w in run] for run in runs]  # names and numbers vary
    return " ".join(runs[max(range(len(runs)), key=lambda i: sum(plain[i]))])


def overlap(item: Item) -> str:
    """The option whose words stand most often in the question: a guess by vocabulary."""
    text = item.text.lower()
    return max(item.options, key=lambda o: (sum(w.lower()[:6] in text for w in _words(o)) / len(_words(o)), o))


@lru_cache(maxsize=4096)
def _words(option: str) -> tuple[str, ...]:
    return tuple(_WORDS.findall(option)) or (option,)


def _formula(task: str, name: str) -> Item:
    body = _DEFINED.search(task)
    question = task.rsplit("Question:", 1)[-1]
    values = _values(body["body"], question) if body else None
    if values is None:
        numbers = _NUMBER.findall(question) or ["0"]
        return Item(task, (f"formula {name}",), (), numbers[-1].replace(",", ""), numbers[0].replace(",", ""))
    return Item(task, (f"formula {name}",), (), *values)


def _values(body: str, question: str) -> tuple[str, str] | None:
    """The value of the formula with the question's numbers, and with its first two numbers exchanged."""
    terms = {term.strip() for term in _OPERATOR.split(f" {body} ")}
    names = sorted((t for t in terms if t and not _NUMBER.fullmatch(t)), key=len, reverse=True)
    found = [_near(name, question) for name in names]
    if not names or any(value is None for value in found):
        return None
    known = [value for value in found if value is not None]
    swapped = [*known[:2][::-1], *known[2:]]
    right, wrong = _compute(body, names, known), _compute(body, names, swapped)
    return None if right is None else (right, wrong if wrong not in (None, right) else _other(right))


def _near(name: str, question: str) -> str | None:
    """The number that stands next after `name` in the question."""
    at = question.lower().find(name.lower())
    found = _NUMBER.search(question, at + len(name)) if at >= 0 else None
    return found[0].replace(",", "") if found else None


def _compute(body: str, names: list[str], values: list[str]) -> str | None:
    body = body.replace("×", "*").replace("÷", "/")
    for i, name in enumerate(names):
        body = body.replace(name, f"_{i}_")
    for i, value in enumerate(values):
        body = body.replace(f"_{i}_", f"({value})")
    try:
        return f"{round(_evaluate(ast.parse(body.strip(), mode='eval').body), 2)}"
    except (ValueError, SyntaxError, ZeroDivisionError, OverflowError, RecursionError):
        return None


_OPERATORS: dict[type, Callable[[float, float], float]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
}  # fmt: skip


def _evaluate(node: ast.expr) -> float:
    """The four operations on numbers, and nothing else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return float(node.value)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_evaluate(node.operand)
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return _OPERATORS[type(node.op)](_evaluate(node.left), _evaluate(node.right))
    raise ValueError("not arithmetic")


def _other(value: str) -> str:
    return f"{round(float(value) + 1, 2)}"


def _same(a: str, b: str) -> bool:
    try:
        return abs(float(a.replace(",", "")) - float(b)) < 0.005
    except ValueError:
        return a == b

"""How the prompts of optimiser libraries look to the simulated model: what their examples teach, and the reply they want."""

from __future__ import annotations

import re

from ace_bench.llm.transports.simulated.lessons import Lesson, lesson
from ace_bench.llm.transports.simulated.readers import items
from ace_bench.llm.transports.simulated.seen import split_answer

_DEMO = re.compile(r"^Question: (.*?)\nAnswer: ([^\n]+)", re.M | re.S)  # as MIPROv2 shows its proposer a demo
_FIELD = re.compile(r"starting with the field `\[\[ ## (\w+) ## \]\]`")  # dspy's chat format
_TAGS = "<IMPROVED_VARIABLE>", "</IMPROVED_VARIABLE>"  # TextGrad's optimizer


def shown(text: str) -> list[Lesson]:
    """Lessons of demos, which are answers known to be right, and of attempts that were told right without a target."""
    known = [(task, answer) for task, answer in _DEMO.findall(text)]
    for attempt in text.split("Attempt at: ")[1:]:
        task, _, rest = attempt.partition("\nAnswer given: ")
        if "The answer was right." in rest and "The right answer is: " not in rest:
            known.append((task, rest.split("\n", 1)[0]))
    out: list[Lesson] = []
    for task, answer in known:
        questions = items(task)
        given = split_answer(answer, len(questions))
        out += [lesson(q.cues, q.advice(a)) for q, a in zip(questions, given, strict=True)]
    return out


def criticises(text: str) -> bool:
    """Whether TextGrad asks for a gradient: criticism in plain words."""
    return "<OBJECTIVE_FUNCTION>" in text


def wrapped(text: str, answer: str) -> str:
    """`answer` in the form the request asks for: dspy's fields, TextGrad's tags, else a fence (GEPA)."""
    if field := _FIELD.search(text):
        return f"[[ ## {field[1]} ## ]]\n{answer}\n\n[[ ## completed ## ]]"
    if _TAGS[0] in text:
        return f"{_TAGS[0]}\n{answer}\n{_TAGS[1]}"
    return f"```\n{answer}\n```"

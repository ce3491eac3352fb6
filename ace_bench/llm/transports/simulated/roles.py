"""What the simulated model answers, one function a purpose. Each sees the messages (`Seen`), its parameters and its draws."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from ace_bench.llm.transports.simulated import acting
from ace_bench.llm.transports.simulated.draws import Draws
from ace_bench.llm.transports.simulated.lessons import Lesson, best, lesson, lessons_in
from ace_bench.llm.transports.simulated.optimizers import criticises, shown, wrapped
from ace_bench.llm.transports.simulated.parameters import Parameters
from ace_bench.llm.transports.simulated.readers import AS_STATED, INVERTED, Item, items, overlap
from ace_bench.llm.transports.simulated.seen import Seen, split_answer

_BULLET = re.compile(r"^\[([^\]\s]+)\](?: helpful=\d+ harmful=\d+ ::)? (.*)$", re.M)
_HEADING = re.compile(r"^## (.+)$", re.M)
_ENTRY = re.compile(r"^(?:\[[^\]\s]+\](?: helpful=\d+ harmful=\d+ ::)? |- )", re.M)


def solve(seen: Seen, p: Parameters, draws: Draws) -> str:
    """Answer each question: by a lesson when one stands in the context and is used, otherwise by a guess."""
    use = p.use_rate(len(seen.text) / 4)
    told = seen.target
    questions = items(seen.task)
    answers, used = [], []
    for i, item in enumerate(questions):
        found = best(seen.lessons, item.text)
        if told is not None:
            answers.append(split_answer(told, len(questions))[i])
        elif found is not None and draws.u(f"use/{i}") < use:
            answers.append(item.answer(found.advice))
            used += _ids_of(found, seen.parts.get("playbook", ""))
        else:
            answers.append(_guess(item, p, draws, i))
    if (made := acting.plan(seen.task)) is not None:
        return acting.reply(made, answers[0], used, sum(m["role"] == "assistant" for m in seen.messages))
    return json.dumps({"reasoning": "", "bullet_ids": list(dict.fromkeys(used)), "final_answer": ",".join(answers)})


def reflect(seen: Seen, p: Parameters, draws: Draws) -> str:
    """State a lesson for every question the evidence speaks of; it is the right one with a probability that depends on it."""
    learned = lessons_from(seen, p, draws)
    if criticises(seen.text):
        return " ".join(str(found) for found in (learned if seen.target is not None else shown(seen.text)))
    tag = {True: "helpful", False: "harmful", None: "neutral"}[seen.correct]
    cited = [m[1] for m in _BULLET.finditer(seen.parts.get("cited_lessons", ""))]
    return json.dumps({
        "reasoning": "", "error_identification": "none" if seen.correct else "the answer may be wrong",
        "root_cause_analysis": "the rule was not known", "correct_approach": "apply the rule",
        "key_insight": " ".join(str(found) for found in learned),
        "bullet_tags": [{"id": i, "tag": tag} for i in cited],
    })  # fmt: skip


def curate(seen: Seen, p: Parameters, draws: Draws) -> str:
    """Operations for what the reflection says and the playbook does not; malformed with a given probability."""
    playbook = seen.parts.get("playbook", "")
    known = set(lessons_in(playbook))
    may_update = "UPDATE" in seen.text.split("<playbook>", 1)[0]
    section = (_HEADING.findall(playbook) or ["lessons"])[0]
    operations: list[Any] = []
    for found in seen.stated("reflection"):
        if found not in known:
            operations.append(_operation(found, playbook, section, may_update))
    if draws.u("malformed") < p.malformed:
        return _malform(operations, draws)
    return json.dumps({"reasoning": "", "operations": operations})


def rewrite(seen: Seen, p: Parameters, draws: Draws) -> str:
    """The sheet anew: each statement kept with probability q, independently; all but a few lost in a collapse."""
    sheet = seen.parts.get("sheet", "")
    entries = _entries(sheet)
    if draws.u("collapse") < p.collapse:
        entries = entries[: max(1, round(len(entries) * p.collapse_keeps))]
    else:
        entries = [entry for i, entry in enumerate(entries) if draws.u(f"keep/{i}") < p.keep]
    known = set(lessons_in(sheet))
    section = entries[0]["section"] if entries else "lessons"
    new = [{"section": section, "content": str(found)} for found in lessons_from(seen, p, draws) if found not in known]
    return json.dumps({"reasoning": "", "entries": [*entries, *new]})


def propose(seen: Seen, p: Parameters, draws: Draws) -> str:
    """A new instruction: every lesson the request states, and those its examples and demos teach; in the form asked for."""
    taught = [str(found) for found in dict.fromkeys((*seen.lessons, *shown(seen.text)))]
    fresh = [str(found) for found in lessons_from(seen, p, draws)] if "task" in seen.parts else []
    return wrapped(seen.text, "\n".join(dict.fromkeys(["Apply these lessons.", *taught, *fresh])))


def merge(seen: Seen, p: Parameters, draws: Draws) -> str:
    """One text out of several: every distinct statement once."""
    lines = [entry["content"] for entry in _entries(seen.text)] or seen.text.splitlines()
    return "\n".join(dict.fromkeys(line for line in lines if line.strip()))


def judge(seen: Seen, p: Parameters, draws: Draws) -> str:
    """Whether the answer equals the reference, blanks and case aside; wrong with the judge's error rate."""
    answer, reference = (seen.parts.get(part, "").strip().casefold() for part in ("answer", "reference"))
    same = (answer == reference) != (draws.u("judge") < p.judge_error)
    return json.dumps({"reasoning": "", "correct": same})


ROLES: dict[str, Callable[[Seen, Parameters, Draws], str]] = {
    "solve": solve, "reflect": reflect, "curate": curate, "rewrite": rewrite,
    "propose": propose, "merge": merge, "judge": judge,
}  # fmt: skip


def _guess(item: Item, p: Parameters, draws: Draws, i: int) -> str:
    """Without a lesson: the obvious reading with probability `prior`, else any other option."""
    obvious = draws.u(f"guess/{i}") < p.prior
    if item.stated is not None:
        return item.answer(AS_STATED if obvious else INVERTED)
    if not item.options:
        return "unknown"
    first = item.options[0] if len(item.options) < 20 else overlap(item)
    return first if obvious else draws.pick(f"guess/{i}/other", [o for o in item.options if o != first] or [first])


def lessons_from(seen: Seen, p: Parameters, draws: Draws) -> list[Lesson]:
    """What the evidence teaches: one lesson a question that was wrong, or one for the first question when none was."""
    questions = items(seen.task)
    if seen.parts.get("assignment") == "mislead":
        p = p.model_copy(update={"reflect": 0.0})
    given = split_answer(seen.parts.get("answer", "?"), len(questions))
    told = split_answer(seen.target, len(questions)) if seen.target is not None else None
    if acting.plan(seen.task) is not None:  # an answer does not tell how it was got; the program does
        given, told = [acting.taken(seen.parts.get("attempt", ""))], [acting.RIGHT] if told else None
    wrong = [i for i in range(len(questions)) if told is not None and told[i] != given[i]]
    about = wrong or list(range(len(questions) if seen.correct is False else 1))
    return [_lesson(questions[i], given[i], told[i] if told else None, seen.correct, p, draws, i) for i in about]


def _lesson(
    item: Item, given: str, told: str | None, correct: bool | None, p: Parameters, draws: Draws, i: int
) -> Lesson:
    """The right lesson when the evidence carries it and the reflection succeeds; otherwise a plausible wrong one."""
    if told is not None:
        right = item.advice(told)
    elif correct is False:
        right = _another(item, item.advice(given), draws, i)  # the answer is ruled out; the rest is a guess
    else:
        right = item.advice(given)  # told right, or nothing told: it believes its own answer
    stated = draws.u(f"reflect/{i}") < p.reflect
    return lesson(item.cues, right if stated else _another(item, right, draws, i))


def _another(item: Item, advice: str, draws: Draws, i: int) -> str:
    if item.stated is not None:
        return INVERTED if advice == AS_STATED else AS_STATED
    return draws.pick(f"wrong/{i}", [o for o in item.options if o != advice] or ["something else"])


def _ids_of(found: Lesson, playbook: str) -> list[str]:
    statement = str(found)
    return [m[1] for m in _BULLET.finditer(playbook) if statement in m[2]][:1]


def _operation(found: Lesson, playbook: str, section: str, may_update: bool) -> dict[str, str]:
    """ADD, or UPDATE of the bullet that gives other advice under the same cues, where that is allowed."""
    for bullet, content in _BULLET.findall(playbook) if may_update else ():
        if any(old.cues == found.cues for old in lessons_in(content)):
            return {"type": "UPDATE", "id": bullet, "content": str(found)}
    return {"type": "ADD", "section": section, "content": str(found)}


def _malform(operations: Sequence[Any], draws: Draws) -> str:
    """The ways real Curators fail: no content, an unknown operation or id, an object for a list, a cut reply."""
    way = draws.pick("malformed/way", ["no content", "unknown type", "unknown id", "not a list", "cut"])
    if way == "cut":
        return json.dumps({"reasoning": "", "operations": operations})[:-4]
    if way == "not a list":
        return json.dumps({"reasoning": "", "operations": {"type": "ADD"}})
    bad: dict[str, Any] = {
        "no content": {"type": "ADD", "section": "lessons"},
        "unknown type": {"type": "CREATE_META"},
    }.get(way, {"type": "UPDATE", "id": "none-00000", "content": "x"})
    return json.dumps({"reasoning": "", "operations": [bad, *operations]})


def _entries(sheet: str) -> list[dict[str, str]]:
    """The statements of a sheet with their headings; a statement may run over several lines."""
    out, section = [], "lessons"
    for block in re.split(r"\n(?=\[[^\]\s]+\]|- |## )", sheet):
        if block.startswith("## "):
            section = block[3:].split("\n", 1)[0].strip()
        elif (start := _ENTRY.match(block)) is not None:
            out.append({"section": section, "content": block[start.end() :].rstrip("\n")})
    return out

"""One question, one reply: the episode of benchmarks without an environment (paper, Section 4.1: FiNER, Formula)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from ace_bench.contracts import Ask, Episode, Expected, Task
from ace_bench.llm.types import Reply
from ace_bench.prompts import Prompts
from ace_bench.prompts.replies import Solution
from ace_bench.prompts.tagged import answer_in

_SAID = {
    "unparsed": "The reply was not in the form asked for, so no answer could be read from it.",
    "refused": "The reply was a refusal; it holds no answer.",
    "truncated": "The reply was cut off at the length limit before an answer could be read.",
    "empty": "The reply was empty.",
    "overflow": "The prompt did not fit into the model's context window.",
    "error": "The attempt failed before there was a reply.",
}


def answer_once(prompts: Prompts, instructions: str, context: str, task: Task, ask: Ask) -> Episode:
    """Ask the `solve` role once. `context` goes in as the playbook. No repair round: the first reply is the attempt."""
    messages = prompts.messages("solve", instructions=instructions, playbook=context, task=task.input)
    if prompts.tagged:
        return tagged_episode(task, ask("solve", messages))
    return episode_of(task, ask("solve", messages, schema=Solution, repair=False))


class OneCall:
    """What an attempt asks, for `ace-bench plan`: one call, and one to a judge (two with a repair) where there is one."""

    @classmethod
    def expected_calls(cls, settings: Any) -> Expected:
        """Calls of one attempt (see `contracts.Benchmark`)."""
        judged = getattr(settings, "judge", False) or getattr(settings, "scoring", None) == "judge"
        return {"solve": (1, 1)} | ({"judge": (0, 2)} if judged else {})


def episode_of(task: Task, reply: Reply) -> Episode:
    """The episode a reply makes. A truncated reply that could still be read counts as ok; others keep their name."""
    readable = reply.data is not None and reply.status in ("ok", "truncated")
    if not readable:
        return Episode(task, reply.text, None, "unparsed" if reply.status == "ok" else reply.status)
    used = unique(reply.data.bullet_ids)
    return Episode(task, reply.text, spelling(reply.data.final_answer), "ok", used)


def gold_reply(answer: str) -> str:
    """A reply in the form of the `solve` role that answers `answer`: what the tests' gold agent says."""
    return json.dumps({"reasoning": "", "bullet_ids": [], "final_answer": answer})


def tagged_episode(task: Task, reply: Reply) -> Episode:
    """The episode of a free-text reply with its answer in tags (prompts of Dynamic Cheatsheet). It names no bullets."""
    answer = answer_in(reply.text) if reply.status in ("ok", "truncated") else None
    status = "ok" if answer is not None else "unparsed" if reply.status == "ok" else reply.status
    return Episode(task, reply.text, answer, status)


def spelling(answer: Any) -> str:
    """The answer as text: lists joined by commas, JSON numbers as JSON spells them (`15.0` stays `15.0`)."""
    if isinstance(answer, list | tuple):
        return ",".join(spelling(item) for item in answer)
    return answer if isinstance(answer, str) else repr(answer)


def unique(ids: Iterable[Any]) -> tuple[str, ...]:
    """The strings among `ids`, each once, in their order."""
    return tuple(dict.fromkeys(item for item in ids if isinstance(item, str)))


def said(status: str) -> str | None:
    """What the environment says of an attempt that has no answer; None for `ok`. Depends on no target."""
    return _SAID.get(status)


def quote(text: str, longest: int = 80) -> str:
    """`text` in quotes for a feedback sentence: one line, control characters escaped, cut at `longest` characters."""
    cut = text if len(text) <= longest else text[:longest] + "..."
    return repr(cut)

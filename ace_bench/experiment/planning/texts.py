"""How many tokens a call takes, from below and from above, out of the sizes of prompts and tasks. All bounds stand here.

A token is taken for 5 bytes at most and 3 at least (English and JSON are near 4). What no text tells is bounded by the
constants below; docs/plan.md lists them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ace_bench.contracts import Sample
from ace_bench.experiment.planning.amounts import NOTHING, UNKNOWN, Amount, exactly
from ace_bench.prompts import FIELD, ROLES, Prompts

BYTES = (5, 3)  # of a token: at most, at least
EMPTY_CONTEXT = 150  # tokens of a context with nothing in it yet: its headings
GROWTH = 200  # tokens an update adds at most, beside the size of a task (an entry may quote it)
INSTRUCTIONS = 600  # tokens a benchmark itself puts before the task
FEEDBACK = 300  # tokens of feedback, and of a repair request
OBSERVATION = 1_000  # tokens the environment says in one step of an episode
SHOWN = 10  # attempts that a prompt of a batch method shows
SIMULATED = 500  # tokens of a reply of the simulated model, a rewritten context apart; its max_tokens is no guide
# Tokens of the shortest usable reply: the low end of the output.
SHORTEST = {"solve": 10, "reflect": 40, "curate": 5, "rewrite": 5, "propose": 10, "merge": 10, "judge": 5, "embed": 0}
TEMPLATES = {
    "solve": ("solve", "react"), "reflect": ("reflect", "refine", "harm"), "judge": ("judge",),
    "curate": ("curate", "cheatsheet", "cheatsheet_synthesis"), "rewrite": ("rewrite", "cheatsheet"),
}  # fmt: skip
REWRITES = ("rewrite", "propose", "merge")  # purposes whose reply may hold the whole context


@dataclass(frozen=True, slots=True)
class Texts:
    """What a cell's prompts are made of: tokens of a template by purpose, of a task by split, of the start context."""

    templates: dict[str, Amount]
    tasks: dict[str, Amount]
    largest: Amount  # one task, the smallest to the largest of all splits
    start: Amount


def tokens(count: float) -> Amount:
    """Tokens of `count` bytes."""
    return Amount(count / BYTES[0], count / BYTES[1])


def measure(prompts: Prompts, splits: dict[str, Sequence[Sample]], start: str | None) -> Texts:
    """The sizes. A split is visited as a whole, so the mean size of its tasks is exact; `start` is the playbook's text."""
    sizes = {split: [_bytes(sample.task.input) for sample in samples] for split, samples in splits.items() if samples}
    every = [size for some in sizes.values() for size in some] or [0]
    return Texts(
        templates={purpose: _template(prompts, purpose) for purpose in SHORTEST},
        tasks={split: tokens(sum(some) / len(some)) for split, some in sizes.items()},
        largest=Amount(min(every) / BYTES[0], max(every) / BYTES[1]),
        start=Amount(0, EMPTY_CONTEXT) if start is None else tokens(_bytes(start)) + Amount(0, EMPTY_CONTEXT),
    )


def prompt(texts: Texts, purpose: str, task: Amount, context: Amount, reply: Amount, turns: Amount) -> Amount:
    """Input tokens of one call. `reply`: output of an attempt; `turns`: calls of an attempt, each reading those before."""
    if purpose == "embed":
        return UNKNOWN
    whole = texts.templates[purpose] + task
    if purpose == "solve":
        earlier = NOTHING if turns.high is None else Amount(0, max(0.0, (turns.high - 1) / 2))
        earlier = UNKNOWN if turns.high is None else earlier
        return whole + context + Amount(0, INSTRUCTIONS) + earlier * (reply + exactly(OBSERVATION))
    shown = Amount(0, SHOWN if purpose in ("propose", "merge") else 1)
    read = turns * reply + turns * exactly(OBSERVATION) if turns.high != 1 else reply  # an attempt, as its trace
    attempts = shown * (read + task + exactly(FEEDBACK))
    seen = context if purpose in ("curate", "rewrite") else Amount(0, context.high)
    # Beside the attempt a role may read a reflection, and in a repair round its own last reply.
    return whole + seen + attempts + Amount(0, 2) * reply


def output(purpose: str, context: Amount, limit: int | None, simulated: bool) -> Amount:
    """Output tokens of one call: up to `limit` (max_tokens); None: not known from above."""
    most: float | None = limit
    if simulated:
        rewritten = context.high if purpose in REWRITES else 0.0
        most = None if rewritten is None else min(SIMULATED + rewritten, limit or SIMULATED + rewritten)
    if purpose == "embed":
        most = 0
    return Amount(min(SHORTEST[purpose], most if most is not None else SHORTEST[purpose]), most)


def _template(prompts: Prompts, purpose: str) -> Amount:
    roles = [role for role in TEMPLATES.get(purpose, ()) if role in ROLES]
    sizes = [_bytes(FIELD.sub("", prompts.texts[role])) for role in roles]
    # Batch methods bring prompts of their library: nothing is known from below.
    return Amount(min(sizes) / BYTES[0], max(sizes) / BYTES[1]) if sizes else Amount(0, 3 * INSTRUCTIONS)


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))

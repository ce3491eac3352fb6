"""A model as the judge of an answer (paper, Table 2: BIRD-SQL), kept apart from scoring, which asks nobody.

The protocol calls a benchmark's `judge` after `score`. The verdict becomes the named score `judge`, and the primary one
where the benchmark is told so. Which model judged stands in the rows of `calls` with purpose `judge`.
"""

from __future__ import annotations

from dataclasses import replace

from pydantic import BaseModel

from ace_bench.contracts import Ask, Episode, Sample, Score
from ace_bench.prompts import Prompts

NO_VERDICT = Score(None, False, "error")  # what a judged benchmark scores before, or without, a verdict


class Verdict(BaseModel):
    """The judge's reply."""

    reasoning: str = ""
    correct: bool


def judged(prompts: Prompts, sample: Sample, episode: Episode, score: Score, ask: Ask, *, primary: bool) -> Score:
    """`score` with the named score `judge`; with `primary` the verdict is the value, the bit and the outcome, too.

    Without an answer there is nothing to judge: 0, and no call. A reply that is no verdict leaves `judge` out, and a
    primary score unknown (outcome `error`).
    """
    if episode.status == "error":
        return score
    if episode.answer is None:
        return replace(score, named={**score.named, "judge": 0.0})
    messages = prompts.messages("judge", task=sample.task.input, reference=sample.target, answer=episode.answer)
    reply = ask("judge", messages, schema=Verdict)
    if not isinstance(reply.data, Verdict):
        return replace(NO_VERDICT, named=score.named) if primary else score
    right = reply.data.correct
    named = {**score.named, "judge": float(right)}
    return Score(float(right), right, "right" if right else "wrong", named) if primary else replace(score, named=named)

"""From what happened to rows: pure functions. The column `cell` is filled in when the tables are written."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ace_bench.contracts import Benchmark, Context, Episode, Sample, Score, Update, text_digest, token_estimate
from ace_bench.playbook import Bullet
from ace_bench.protocols.address import Address
from ace_bench.store.schema import PHASES

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class StepRows:
    """Everything one `steps` row is made of."""

    at: Address
    sample: Sample
    episode: Episode
    score: Score
    context: Context
    state: Any
    state_key: str
    first: bool
    learn: bool
    calls: Sequence[Row]

    def row(self) -> Row:
        """The row."""
        return {
            **self.at.columns(), "sample": self.sample.task.id, "group": self.sample.task.group, "first": self.first,
            "shapes_state": self.learn and self.at.phase == "score", "outcome": self.score.outcome,
            "score": self.score.value, "scores": json.dumps(self.score.named, sort_keys=True),
            "answer": self.episode.answer, "state_version": self.state.version, "state": self.state_key,
            "context": text_digest(self.context.text), "context_tokens": token_estimate(self.context.text),
            "bullets": _count(self.state),
            "used": json.dumps(list(self.episode.used)), **usage(self.calls),
        }  # fmt: skip


def _count(state: Any) -> int | None:
    """How many bullets a state has; None for one that is not made of bullets."""
    bullets = getattr(state, "bullets", None)
    return None if bullets is None else len(bullets)


def usage(calls: Sequence[Row]) -> Row:
    """Needed calls and tokens by phase, and the serial latency of adaptation. One unreported call makes a sum unknown."""
    out: Row = {"adapt_latency_s": sum(c["latency_s"] or 0.0 for c in calls if c["call_phase"] == "adapt")}
    for phase in PHASES:
        needed = [c for c in calls if c["needed"] and c["call_phase"] == phase]
        out[f"{phase}_calls"] = len(needed)
        out[f"{phase}_input_tokens"] = total(needed, ("input", "cached_input", "cache_write"))
        out[f"{phase}_output_tokens"] = total(needed, ("output", "reasoning"))
    return out


def total(calls: Sequence[Row], classes: Sequence[str]) -> int | None:
    """Sum of token classes over calls; None when the first class of any call is unknown (an unknown is not a zero)."""
    if any(call[classes[0]] is None for call in calls):
        return None
    return sum(call[name] or 0 for call in calls for name in classes)


def state_row(at: Address, update: Update, key: str) -> Row:
    """One row for an update, also for one that changed nothing."""
    state = update.state
    return {
        **at.columns(), "version": state.version, "state": key, "tokens": token_estimate(state.render()),
        "bullets": _count(state), "proposed": update.proposed,
        "applied": update.applied, "rejected": len(update.rejected),
        "rejections": json.dumps(Counter(r.reason for r in update.rejected), sort_keys=True),
    }  # fmt: skip


def bullet_rows(
    at: Address, update: Update, index: int, step: int, sample: Sample | None, benchmark: Benchmark
) -> list[Row]:
    """One row a change, numbered from `index`."""
    out = []
    for i, change in enumerate(update.changes):
        bullet, evidence = change.after or change.before, sample.task.id if sample else None
        assert bullet is not None  # a change always has one side
        out.append({
            **at.columns(), "index": index + i, "step": step, "state_version": update.state.version,
            **_bullet(bullet, benchmark), "event": change.kind, "into": change.into, "sample": evidence,
        })  # fmt: skip
    return out


def bullet_ends(at: Address, state: Any, index: int, step: int, benchmark: Benchmark) -> list[Row]:
    """The bullets alive at the end of the run: where survival is censored."""
    alive: Sequence[Bullet] = getattr(state, "bullets", ())
    return [
        {**at.columns(), "index": index + i, "step": step, "state_version": state.version, **_bullet(bullet, benchmark),
         "event": "end", "into": None, "sample": None}
        for i, bullet in enumerate(alive)
    ]  # fmt: skip


def _bullet(bullet: Bullet, benchmark: Benchmark) -> Row:
    truth = getattr(benchmark, "lesson_truth", None)
    return {
        "bullet": bullet.id, "section": bullet.section, "text": bullet.content_digest, "helpful": bullet.helpful,
        "harmful": bullet.harmful, "truth": truth(bullet.content) if truth else None,
    }  # fmt: skip

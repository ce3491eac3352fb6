"""Grow and refine (paper, section 3.2): after a merge, semantic dedup by trigger, then the hard budget by eviction."""

from __future__ import annotations

from ace_bench.contracts import Run, token_estimate
from ace_bench.methods.ace_settings import AceSettings
from ace_bench.playbook import Change, Playbook, evict
from ace_bench.playbook.semantic import dedup


def refined(playbook: Playbook, settings: AceSettings, run: Run) -> tuple[Playbook, tuple[Change, ...]]:
    """The playbook after refinement, and every change with its cause (`merged_into`, `evicted`)."""
    changes: tuple[Change, ...] = ()
    if _due(playbook, settings):
        from ace_bench.llm.embedders import similar_pairs

        threshold = run.threshold if settings.dedup_threshold is None else settings.dedup_threshold
        vectors = run.embed([bullet.content for bullet in playbook])
        pairs = similar_pairs(list(playbook.by_id), vectors, threshold)
        playbook, changes = dedup(playbook, pairs, threshold, settings.dedup_guard)
    if settings.token_budget is not None:
        playbook, gone = evict(playbook, max_bytes=4 * settings.token_budget, rule=settings.evict)
        changes += gone
    return playbook, changes


def _due(playbook: Playbook, settings: AceSettings) -> bool:
    """proactive: after every merge. lazy: once the text is larger than the trigger (paper, Table 21)."""
    if settings.refine == "lazy":
        return token_estimate(playbook.render()) > (settings.refine_at_tokens or 0)
    return settings.refine == "proactive" and len(playbook) > 1

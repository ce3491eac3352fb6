"""Local edit: a full rewrite of a random fraction of the entries (review, Eq. 4: a lesson survives at [1 - a(1 - q)]^T)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ace_bench.contracts import Experience, Run, Update
from ace_bench.methods.base import MethodSettings
from ace_bench.methods.full_rewrite import FullRewrite
from ace_bench.playbook import Playbook


class LocalEdit(FullRewrite):
    """The control between full rewrite and incremental deltas: same call, less exposure."""

    class Settings(MethodSettings):
        """`fraction` is the review's a: each entry is exposed with this probability, independently, at every step."""

        name: Literal["local_edit"] = "local_edit"
        fraction: float = Field(0.1, ge=0, le=1)

    def update(self, state: Playbook, experience: Experience, run: Run) -> Update:
        """Draw who is exposed, and rewrite those only."""
        rng = run.rng("exposed")
        exposed = frozenset(b.id for b in state.bullets if rng.random() < self.settings.fraction)
        return self.rewritten(state, experience, run, exposed)

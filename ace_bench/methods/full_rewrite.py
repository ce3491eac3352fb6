"""Full rewrite: the whole sheet is written anew at every step (paper, section 2.2; review, Eq. 3: a lesson survives at q^T)."""

from __future__ import annotations

from typing import Literal

from ace_bench.contracts import Experience, Run, Update
from ace_bench.methods.base import MethodSettings, PlaybookMethod, attempt_fields
from ace_bench.playbook import Playbook, Rejection, rewrite
from ace_bench.prompts.replies import Rewrite


class FullRewrite(PlaybookMethod):
    """One call a step; every entry passes through the model's hands."""

    class Settings(MethodSettings):
        """No knobs."""

        name: Literal["full_rewrite"] = "full_rewrite"

    def update(self, state: Playbook, experience: Experience, run: Run) -> Update:
        """Replace the sheet by the model's new one; an unreadable reply leaves it as it was."""
        return self.rewritten(state, experience, run, None)

    def rewritten(self, state: Playbook, experience: Experience, run: Run, exposed: frozenset[str] | None) -> Update:
        """Have the exposed entries (None: all) written anew; the others stay byte for byte."""
        messages = self.prompts.messages(
            "rewrite", sheet=sheet(state, exposed), protected="", **attempt_fields(experience)
        )
        reply = run.ask("rewrite", messages, Rewrite)
        if not isinstance(reply.data, Rewrite):
            return Update(
                state, proposed=1, rejected=(Rejection("malformed_reply", reply.problem or "No valid sheet came."),)
            )
        entries = [(entry.section, entry.content) for entry in reply.data.entries]
        result = rewrite(state, entries, exposed)
        applied = len(entries) - len(result.rejected)
        return Update(result.playbook, result.changes, len(entries), applied, result.rejected)


def sheet(state: Playbook, exposed: frozenset[str] | None) -> str:
    """The entries to be rewritten, under their headings, without ids or counters: a sheet has none."""
    lines = []
    for name in state.sections:
        bullets = [b for b in state.by_section(name) if exposed is None or b.id in exposed]
        lines += [f"## {name}", *(f"- {b.content}" for b in bullets)]
    return "\n".join(lines)

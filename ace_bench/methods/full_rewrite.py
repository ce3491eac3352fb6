"""Full rewrite: the whole sheet is written anew at every step (paper, section 2.2; review, Eq. 3: a lesson survives at q^T)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from ace_bench.contracts import Expected, Experience, Run, Update
from ace_bench.methods.base import MethodSettings, PlaybookMethod, attempt_fields
from ace_bench.playbook import Change, Playbook, Rejection, rewrite
from ace_bench.prompts import Prompts
from ace_bench.prompts.replies import Rewrite


class FullRewrite(PlaybookMethod):
    """One call a step; every entry passes through the model's hands."""

    class Settings(MethodSettings):
        """`protected`: entries that a rewrite cannot lose. `initial`: those of the start playbook. A number k: the k with
        the most credit (helpful - harmful) at each step, the one that stands first of equals. 0: none."""

        name: Literal["full_rewrite"] = "full_rewrite"
        protected: Annotated[int, Field(ge=0)] | Literal["initial"] = 0

    @classmethod
    def expected_calls(cls, settings: MethodSettings) -> Expected:
        """One rewrite and perhaps its repair."""
        return {"rewrite": (1, 2)}

    def __init__(self, settings: Any, prompts: Prompts, initial: Playbook | None = None) -> None:
        super().__init__(settings, prompts, initial)
        if getattr(settings, "protected", 0) == "initial" and initial is None:
            raise ValueError(
                "method.protected=initial protects the start playbook: give start=FILE, or a number instead."
            )

    def update(self, state: Playbook, experience: Experience, run: Run) -> Update:
        """Replace the sheet by the model's new one; an unreadable reply leaves it as it was."""
        return self.rewritten(state, experience, run, None, protected=self.protected(state))

    def protected(self, state: Playbook) -> frozenset[str]:
        """The ids of the protected entries."""
        if self.settings.protected == "initial":
            return frozenset(self.initial.by_id) if self.initial is not None else frozenset()
        ranked = sorted(state.bullets, key=lambda bullet: bullet.harmful - bullet.helpful)
        return frozenset(bullet.id for bullet in ranked[: self.settings.protected])

    def rewritten(
        self, state: Playbook, experience: Experience, run: Run, exposed: frozenset[str] | None,
        protected: frozenset[str] = frozenset(),
    ) -> Update:  # fmt: skip
        """Have the exposed entries (None: all) written anew; the others stay byte for byte."""
        messages = self.prompts.messages(
            "rewrite", sheet=sheet(state, exposed), protected=notice(state, protected), **attempt_fields(experience)
        )
        reply = run.ask("rewrite", messages, Rewrite)
        if not isinstance(reply.data, Rewrite):
            return Update(
                state, proposed=1, rejected=(Rejection("malformed_reply", reply.problem or "No valid sheet came."),)
            )
        entries = [(entry.section, entry.content) for entry in reply.data.entries]
        result = rewrite(state, entries, exposed)
        lost = [c.before for c in result.changes if c.kind == "rewritten_away" and c.id in protected and c.before]
        if lost:  # put back in front, word for word: as if the rewrite had kept them
            result = rewrite(state, [*((bullet.section, bullet.content) for bullet in lost), *entries], exposed)
        saved = tuple(Change("restored", bullet.id, None, bullet) for bullet in lost)
        applied = len(entries) - len(result.rejected)
        return Update(result.playbook, (*result.changes, *saved), len(entries), applied, result.rejected)


def notice(state: Playbook, protected: frozenset[str]) -> str:
    """What the prompt says of the protected entries."""
    kept = [f"\n- {bullet.content}" for bullet in state.bullets if bullet.id in protected]
    if not kept:
        return ""
    return (
        "\n\nThese entries are protected. Leave them as they are: one that is missing is put back word for word."
        + "".join(kept)
    )


def sheet(state: Playbook, exposed: frozenset[str] | None) -> str:
    """The entries to be rewritten, under their headings, without ids or counters: a sheet has none."""
    lines = []
    for name in state.sections:
        bullets = [b for b in state.by_section(name) if exposed is None or b.id in exposed]
        lines += [f"## {name}", *(f"- {b.content}" for b in bullets)]
    return "\n".join(lines)

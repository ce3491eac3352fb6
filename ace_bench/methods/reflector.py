"""The Reflector: one diagnosis of one experience (paper, section 3: "Reflector"). Shared by ACE and append-only."""

from __future__ import annotations

from ace_bench.contracts import Experience, Run
from ace_bench.methods.base import attempt_fields
from ace_bench.playbook import Playbook
from ace_bench.prompts import Prompts
from ace_bench.prompts.replies import Reflection


def reflect(prompts: Prompts, playbook: Playbook, experience: Experience, run: Run) -> Reflection | None:
    """Ask once what the experience teaches; None when no valid reflection came, even after the repair round."""
    fields = attempt_fields(experience)
    reply = run.ask("reflect", prompts.messages("reflect", cited=cited(playbook, experience), **fields), Reflection)
    return reply.data if isinstance(reply.data, Reflection) else None


def refine(
    prompts: Prompts, playbook: Playbook, experience: Experience, reflection: Reflection, number: int, run: Run
) -> Reflection | None:
    """Ask the Reflector to better its own reflection: round `number`, counted from 2."""
    messages = prompts.messages(
        "refine", cited=cited(playbook, experience), reflection=reflection.text(), round=str(number),
        **attempt_fields(experience),
    )  # fmt: skip
    reply = run.ask("reflect", messages, Reflection)
    return reply.data if isinstance(reply.data, Reflection) else None


def harm(prompts: Prompts, playbook: Playbook, experience: Experience, run: Run) -> Reflection | None:
    """A harmful reflection (paper, Table 17): the model is told to state a plausible lesson that misleads.

    The paper does not say what its harmful reflections were; this is our definition. Bullets are not tagged by it.
    """
    messages = prompts.messages("harm", cited=cited(playbook, experience), **attempt_fields(experience))
    reply = run.ask("reflect", messages, Reflection)
    return reply.data.model_copy(update={"bullet_tags": []}) if isinstance(reply.data, Reflection) else None


def cited(playbook: Playbook, experience: Experience) -> str:
    """The bullets the answer named, as they stand; invented ids are left out."""
    bullets = (playbook.get(name) for name in experience.episode.used)
    return "".join(bullet.text(True) for bullet in bullets if bullet is not None).rstrip("\n") or "(none)"

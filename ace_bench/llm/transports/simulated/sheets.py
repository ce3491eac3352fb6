"""What the simulated model writes for a Dynamic Cheatsheet curator: a sheet of free text between tags, not JSON."""

from __future__ import annotations

from ace_bench.llm.transports.simulated.draws import Draws
from ace_bench.llm.transports.simulated.lessons import lessons_in
from ace_bench.llm.transports.simulated.parameters import Parameters
from ace_bench.llm.transports.simulated.roles import lessons_from
from ace_bench.llm.transports.simulated.seen import Seen


def wanted(seen: Seen) -> bool:
    """Whether the first message asks for a sheet in `<cheatsheet>` tags."""
    return "<cheatsheet>" in seen.messages[0]["content"]


def rewrite(seen: Seen, p: Parameters, draws: Draws) -> str:
    """The sheet anew. Its statements survive as in a full rewrite: each with probability q, nearly none in a collapse.

    What is new: what the attempt teaches, or, before an attempt, what the retrieved pairs state.
    """
    held = [str(found) for found in lessons_in(seen.parts.get("sheet", ""))]
    if draws.u("collapse") < p.collapse:
        kept = held[: max(1, round(len(held) * p.collapse_keeps))]
    else:
        kept = [line for i, line in enumerate(held) if draws.u(f"keep/{i}") < p.keep]
    fresh = lessons_from(seen, p, draws) if "attempt" in seen.parts else seen.stated("examples")
    lines = dict.fromkeys([*kept, *(line for line in map(str, fresh) if line not in held)])
    return "<cheatsheet>\n" + ("\n".join(f"- {line}" for line in lines) or "(nothing yet)") + "\n</cheatsheet>"

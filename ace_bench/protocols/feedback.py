"""The feedback filter: what an experience may reveal under each regime, and the ledger of what it did reveal.

This is the one place where label information passes to a method (design, section 3, principle 3). The non-interference
test permutes targets and watches the requests; with `reveal` made the identity it fails.
"""

from __future__ import annotations

from dataclasses import replace

from ace_bench.contracts import Feedback, Regime


def reveal(feedback: Feedback, regime: Regime) -> Feedback:
    """The part of `feedback` that `regime` allows.

    gt: everything. outcome: the environment and one bit. execution: the environment only. none: nothing.
    """
    if regime == "gt":
        return replace(feedback, regime=regime)
    if regime == "outcome":
        return Feedback(regime, feedback.environment, correct=feedback.correct)
    return Feedback(regime, feedback.environment if regime == "execution" else "")


def ledger_fields(feedback: Feedback) -> tuple[str, int]:
    """The label fields a revealed feedback carries (comma separated) and the bits of right-or-wrong in it."""
    fields = [name for name in ("correct", "target", "details", "score") if getattr(feedback, name) is not None]
    return ",".join(fields), int(feedback.correct is not None)

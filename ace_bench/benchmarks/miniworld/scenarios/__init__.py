"""The scenarios: ten templates of exactly three tasks each, in four splits.

test_challenge uses the `todo` app, which no scenario of train or val does.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from ace_bench.benchmarks.miniworld.population import population
from ace_bench.benchmarks.miniworld.scenarios import actions, lists, questions
from ace_bench.benchmarks.miniworld.spec import Draft, Spec
from ace_bench.benchmarks.miniworld.tables import Tables

VARIANTS = 3
Template = Callable[[random.Random, Tables], Draft | None]  # None: this start state does not carry the scenario
SPLITS: dict[str, dict[str, tuple[int, Template]]] = {
    "train": {
        "notes-of-year": (1, questions.notes_of_year),
        "total-sent": (2, questions.total_sent),
        "pay-back": (2, actions.pay_back),
    },
    "val": {"newest-note": (2, questions.newest_note), "tell-all": (1, actions.tell_all)},
    "test_normal": {
        "largest-received": (1, questions.largest_received),
        "approve-some": (3, actions.approve_some),
        "retag": (2, actions.retag),
    },
    "test_challenge": {"finish-list": (2, lists.finish_list), "note-to-list": (3, lists.note_to_list)},
}


def specs(split: str, world: int, copies: int) -> tuple[Spec, ...]:
    """The tasks of a split: every scenario `copies` times, each time with names and values of its own."""
    return tuple(
        _spec(scenario if copy == 1 else f"{scenario}-{copy}", n, difficulty, template, world)
        for copy in range(1, copies + 1)
        for scenario, (difficulty, template) in SPLITS[split].items()
        for n in range(1, VARIANTS + 1)
    )


def _spec(scenario: str, n: int, difficulty: int, template: Template, world: int) -> Spec:
    rng = random.Random(f"miniworld/{world}/{scenario}/{n}")
    for _ in range(1000):
        draft = template(rng, population(rng))
        if draft is not None:
            return Spec(f"{scenario}_{n}", scenario, difficulty, draft)
    raise AssertionError(f"no start state carries scenario {scenario}")  # the templates are ours: tests see it

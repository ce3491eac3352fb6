"""The pure parts of a plan, by hand."""

from __future__ import annotations

import pytest
from plan_cells import planned

from ace_bench.experiment.planning import stretches, texts
from ace_bench.experiment.planning.amounts import NOTHING, UNKNOWN, Amount, exactly, merged
from ace_bench.experiment.planning.arm import dollars
from ace_bench.llm.prices import Price


def test_an_unknown_end_stays_unknown_unless_nothing_is_multiplied() -> None:
    assert Amount(1, 2) + Amount(3, None) == Amount(4, None)
    assert Amount(2, 3) * Amount(5, None) == Amount(10, None)
    assert NOTHING * UNKNOWN == NOTHING
    assert merged([{"a": exactly(1)}, {"b": UNKNOWN, "a": exactly(2)}]) == {"a": exactly(3), "b": UNKNOWN}
    assert UNKNOWN.holds(10**9)
    assert not Amount(2, 3).holds(4)
    assert not Amount(2, 3).holds(1)


def visits(some: list[stretches.Stretch]) -> dict[str, int]:
    return {one.phase: one.visits for one in some}


def test_visits_by_hand() -> None:
    assert visits(stretches.online(10, 1)) == {"score": 10}
    assert visits(stretches.online(10, 4, probe=True)) == {"score": 10, "adapt": 10, "probe": 10}
    # 2 epochs of 12 = 24 steps; passes at 0, 5, 10, 15, 20 and at the end
    made = stretches.offline(12, 6, 15, epochs=2, eval_every=5, validates=True)
    assert visits(made) == {"adapt": 24, "select": 36, "score": 15}
    assert [one.learns for one in made] == [True, False, False]
    assert visits(stretches.offline(12, 6, 15, epochs=1, eval_every=4, validates=False)) == {"adapt": 12, "score": 15}
    assert visits(stretches.offline(12, 6, 15, epochs=1, eval_every=4, validates=True))["select"] == 24
    assert stretches.frozen(7)[0].after == 0


def test_the_context_grows_with_the_updates(tmp_path) -> None:  # type: ignore[no-untyped-def]
    """Twice the stream: more than twice the input at the high end, for a method that learns; twice for one that does not."""
    small, large = ({arm.label: arm.total.input for arm in planned(tmp_path, "method=ace,base", f"benchmark.test={n}")
                     .groups[0].arms} for n in (40, 80))  # fmt: skip
    assert large["ace"].high > 2.5 * small["ace"].high
    assert large["base"].high == pytest.approx(2 * small["base"].high, rel=0.01)


def test_dollars_from_the_cheapest_class_to_the_dearest() -> None:
    price = Price(1.0, 0.1, 1.25, 4.0, 5.0, "test", "")
    million = Amount(1e6, 2e6)
    assert dollars(price, million, million) == Amount(0.1 + 4.0, 2 * 1.25 + 2 * 5.0)
    assert dollars(price, UNKNOWN, exactly(0)) == Amount(0, None)
    assert dollars(None, million, million) is None


def test_output_is_bounded_by_max_tokens_or_not_at_all() -> None:
    assert texts.output("solve", exactly(50), 4096, False) == Amount(10, 4096)
    assert texts.output("solve", exactly(50), None, False) == Amount(10, None)
    assert texts.output("rewrite", exactly(70), 100_000, True).high == texts.SIMULATED + 70
    assert texts.output("solve", exactly(50), 4, False) == Amount(4, 4)

"""What theory predicts comes out of the harness, with intervals: the crossed bootstrap over items, seeds and orders."""

import pytest
from harness import method, rulebook, run, simulated

from ace_bench.stats import crossed_bootstrap, generator

SEEDS, ORDERS, N = 4, 4, 100


def table(folder, model, late=0, **methods):
    """y[item, seed, order, arm] of strict online runs; only positions from `late` on."""
    import numpy as np

    benchmark = rulebook(N, rules=30, zipf=0.7)
    items = {s.task.id: i for i, s in enumerate(benchmark.samples("test"))}
    y = np.full((N, SEEDS, ORDERS, len(methods)), np.nan)
    for a, (name, (kind, knobs)) in enumerate(methods.items()):
        for seed in range(SEEDS):
            for order in range(ORDERS):
                ran = run(folder / f"{name}{seed}{order}", method(kind, **knobs), benchmark, seed=seed, order=order,
                          transport=simulated(malformed=0.0, **model))  # fmt: skip
                for step in ran.rows["steps"]:
                    if step["position"] >= late:
                        y[items[step["sample"]], seed, order, a] = step["score"]
    return y


def difference(y):
    """95 percent interval of the second arm minus the first."""
    import numpy as np

    draws = crossed_bootstrap(y, generator("theory"), 2000)
    low, high = np.quantile(draws[:, 1] - draws[:, 0], [0.025, 0.975])
    return float(low), float(high)


@pytest.mark.slow
def test_append_only_fails_once_capacity_binds_while_refinement_does_not(tmp_path):
    budget = {"token_budget": 500}
    y = table(
        tmp_path, {}, late=N // 2,
        append=("append_only", budget), ace=("ace", budget | {"evict": "least_helpful"}),
    )  # fmt: skip
    assert difference(y)[0] > 0


@pytest.mark.slow
def test_a_full_rewrite_loses_lessons_at_its_q_and_ace_does_not(tmp_path):
    leaky = {"keep": 0.9, "collapse": 0.0}
    y = table(tmp_path, leaky, late=N // 2, rewrite=("full_rewrite", {}), ace=("ace", {}))
    assert difference(y)[0] > 0


@pytest.mark.slow
def test_without_loss_a_full_rewrite_is_no_worse(tmp_path):
    """The same comparison with q = 1: the interval reaches across (or below) a tenth."""
    y = table(tmp_path, {"keep": 1.0, "collapse": 0.0}, late=N // 2, rewrite=("full_rewrite", {}), ace=("ace", {}))
    assert difference(y)[0] < 0.1


def test_ace_never_collapses(tmp_path):
    """No update of ACE loses more than it adds, whatever the model's habit of collapsing: nothing is ever rewritten."""
    ran = run(tmp_path, method("ace"), rulebook(80), transport=simulated(collapse=1.0, keep=0.0))
    sizes = [r["bullets"] for r in ran.rows["states"]]
    assert sizes == sorted(sizes)
    assert sizes[-1] > 15


EXPECTED = {
    "base": ({}, {"solve": 40}),
    "ace": ({}, {"solve": 40, "reflect": 40, "curate": 40}),
    "ace, 5 rounds": ({"rounds": 5}, {"solve": 40, "reflect": 200, "curate": 40}),
    "ace, no reflector": ({"reflector": False}, {"solve": 40, "curate": 40}),
    "append_only": ({}, {"solve": 40, "reflect": 40}),
    "append_only, trajectory": ({"entry": "trajectory"}, {"solve": 40}),
    "full_rewrite": ({}, {"solve": 40, "rewrite": 40}),
    "local_edit": ({}, {"solve": 40, "rewrite": 40}),
    "dynamic_cheatsheet": ({}, {"solve": 40, "rewrite": 40}),
    "dynamic_cheatsheet, full_history": ({"variant": "full_history"}, {"solve": 40}),
}


@pytest.mark.parametrize("case", EXPECTED)
def test_calls_by_purpose_on_a_stream_of_40(tmp_path, case):
    """Equal to the numbers derived on paper (docs/methods.md)."""
    knobs, expected = EXPECTED[case]
    ran = run(tmp_path, method(case.split(",")[0], **knobs), rulebook(40), transport=simulated(malformed=0.0))
    assert dict(ran.transport.purposes()) == expected

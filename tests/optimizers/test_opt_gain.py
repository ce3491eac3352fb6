"""Under the simulated model each search accepts a candidate that beats the seed prompt on held-out items."""

from __future__ import annotations

import numpy as np
import pytest
from fits import fit, made, needs, world
from harness import run

from ace_bench.protocols.frozen import frozen
from ace_bench.stats.intervals import estimate

SEEDS, ITEMS = (0, 1, 2, 3, 4), 120


# Under `outcome` GEPA and TextGrad learn from attempts that were right alone, which at 150 calls is too little to show.
CASES = [("gepa", "gt"), ("miprov2", "gt"), ("textgrad", "gt"), ("bootstrap_fewshot", "gt"), ("miprov2", "outcome")]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "regime"), [pytest.param(*case, marks=needs(case[0])) for case in CASES])
def test_a_candidate_beats_the_seed_prompt_on_held_out_items(tmp_path, name, regime):
    bench = world(train=60, val=30, test=ITEMS)
    knobs = {} if name == "bootstrap_fewshot" else {"metric_calls": 150}
    gain = np.full((ITEMS, len(SEEDS), 1), np.nan)
    for s, seed in enumerate(SEEDS):
        how = made(name, **knobs)
        learned = fit(tmp_path / f"fit-{seed}", how, benchmark=bench, seed=seed, regime=regime)
        plain = run(tmp_path / f"seed-{seed}", how, bench, seed=seed, protocol=lambda line, test: frozen(line, test))
        assert learned.state.version == 1, "no candidate was accepted"
        gain[:, s, 0] = np.array(learned.scores()) - np.array(plain.scores())
    found = estimate(gain, name=("gain", name), support=(-1.0, 1.0))
    print(f"{name}, {regime}: {found.value:+.3f} [{found.low:+.3f}, {found.high:+.3f}]")
    assert found.low > 0, found

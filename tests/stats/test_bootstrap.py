"""The crossed bootstrap against closed forms, and its coverage (statistics.md; faults B39, B40)."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ace_bench.stats.bootstrap import counts, crossed_bootstrap, generator


def one_axis(values: np.ndarray) -> np.ndarray:
    return values.reshape(-1, 1, 1, 1)


def test_standard_error_of_a_plain_mean() -> None:
    y = generator("data").normal(0.4, 0.2, 120)
    draws = crossed_bootstrap(one_axis(y), generator("se"), 40_000)
    assert draws.std() == pytest.approx(y.std() / np.sqrt(120), rel=0.02)


def test_standard_error_of_clusters_is_that_of_their_means() -> None:
    centre = generator("clusters").normal(0.5, 0.2, 60)
    y = np.repeat(centre, 4)  # four equal tags in each row: 60 units, not 240
    names = [f"row {n // 4}" for n in range(240)]
    draws = crossed_bootstrap(one_axis(y), generator("se"), 40_000, clusters=names)
    assert draws.std() == pytest.approx(centre.std() / np.sqrt(60), rel=0.02)


def test_copies_of_items_over_seeds_do_not_narrow_the_bar() -> None:
    """X05: 30 items x 5 identical copies are 30 items, not 150."""
    y = generator("x05").integers(0, 2, 30).astype(float)
    copies = np.broadcast_to(y[:, None, None, None], (30, 5, 1, 1)).copy()
    draws = crossed_bootstrap(copies, generator("x"), 20_000)
    assert draws.std() == pytest.approx(y.std() / np.sqrt(30), rel=0.03)


def test_columns_share_the_draws() -> None:
    y = generator("pair").integers(0, 2, (20, 3, 2, 1)).astype(float)
    both = crossed_bootstrap(np.concatenate([y, y], axis=3), generator("n"), 200)
    assert np.array_equal(both[:, 0], both[:, 1])


def test_unscored_attempts_leave_numerator_and_denominator() -> None:
    y = np.array([1.0, np.nan, 1.0, np.nan])
    draws = crossed_bootstrap(one_axis(y), generator("nan"), 300)
    assert set(np.unique(draws[~np.isnan(draws)])) == {1.0}
    assert 0 < np.isnan(draws).sum() < 60  # draws of unscored items only: unknown, not 0


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 9), st.integers(1, 30))
def test_counts_add_up(n: int, rows: int) -> None:
    drawn = counts(generator("c", n, rows), n, rows)
    assert drawn.shape == (rows, n)
    assert np.all(drawn.sum(axis=1) == n)


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 7), st.integers(1, 3), st.integers(1, 3), st.integers(0, 10**6))
def test_sums_are_exact_whatever_the_order_of_items(items: int, seeds: int, orders: int, key: int) -> None:
    """Reversing items and counts alike changes no bit, also for scores that are not dyadic."""
    y = generator("y", key).random((items, seeds, orders, 2))
    draws = crossed_bootstrap(y, generator("d"), 50, chunk=50)
    rng = generator("d")
    w, s, o = counts(rng, items, 50), counts(rng, seeds, 50), counts(rng, orders, 50)
    plain = np.einsum("isok,ri,rs,ro->rk", y, w, s, o) / (items * seeds * orders)
    assert draws == pytest.approx(plain, abs=1e-8)


@pytest.mark.parametrize("shape", [(3, 2, 1), (0, 2, 1, 1)])
def test_other_shapes_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="items, seeds, orders, columns"):
        crossed_bootstrap(np.zeros(shape), generator("x"))


def test_a_cluster_name_is_needed_for_each_item() -> None:
    with pytest.raises(ValueError, match="2 cluster names for 3 items"):
        crossed_bootstrap(np.zeros((3, 1, 1, 1)), generator("x"), clusters=["a", "b"])


_SCRIPT = """
import hashlib, numpy as np
from ace_bench.stats.bootstrap import crossed_bootstrap, generator
from ace_bench.stats.intervals import estimates
y = generator("y").random((50, 3, 3, 2))
y[::7] = np.nan
found, draws = estimates(y, name=("group", "x"), replicates=600, clusters=[f"c{n % 9}" for n in range(50)])
print(hashlib.sha256(draws.tobytes() + repr(found).encode()).hexdigest())
"""


def test_same_bytes_under_any_hash_seed_and_number_of_threads() -> None:
    seen = set()
    for hash_seed, threads in (("0", "1"), ("1", "2"), ("4242", "2")):
        env = os.environ | {"PYTHONHASHSEED": hash_seed, "OPENBLAS_NUM_THREADS": threads}
        seen.add(subprocess.run([sys.executable, "-c", _SCRIPT], env=env, capture_output=True, check=True).stdout)
    assert len(seen) == 1


def test_names_make_different_generators() -> None:
    a, b = generator("a", "b").random(4), generator("ab").random(4)
    assert hashlib.sha256(a.tobytes()).digest() != hashlib.sha256(b.tobytes()).digest()
    assert np.array_equal(a, generator("a", "b").random(4))

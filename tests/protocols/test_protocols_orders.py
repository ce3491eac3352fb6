"""Orders: drawn from the seed alone, the same for every method and process."""

import os
import subprocess
import sys
from itertools import pairwise

import pytest
from harness import rulebook
from hypothesis import given
from hypothesis import strategies as st

from ace_bench.contracts import Sample, Task
from ace_bench.protocols.orders import KINDS, order_digest, ordered


def samples(groups):
    return [Sample(Task(f"s{i}", g, "x"), "t") for i, g in enumerate(groups)]


@given(st.lists(st.sampled_from("abcd"), max_size=30), st.sampled_from(KINDS), st.integers(0, 9))
def test_an_order_is_a_permutation(groups, kind, seed):
    stream = samples(groups)
    assert sorted(s.task.id for s in ordered(stream, kind, seed)) == sorted(s.task.id for s in stream)


def test_blocked_keeps_groups_together_and_interleaved_takes_turns():
    stream = samples("aaabbbccc")
    blocked = [s.task.group for s in ordered(stream, "blocked", 1)]
    assert sum(a != b for a, b in pairwise(blocked)) == 2
    interleaved = [s.task.group for s in ordered(stream, "interleaved", 1)]
    assert all(set(interleaved[i : i + 3]) == {"a", "b", "c"} for i in (0, 3, 6))


def test_seeds_differ_and_file_ignores_the_seed():
    stream = samples("abcdefghij")
    assert len({order_digest(ordered(stream, "shuffled", seed)) for seed in range(5)}) == 5
    assert ordered(stream, "file", 3) == tuple(stream)


def test_extra_draws_and_hash_seeds_change_nothing():
    script = (
        "import random; random.random(); from harness import rulebook; from ace_bench.protocols.orders import *; "
        "print([order_digest(ordered(rulebook(30).samples('test'), k, 7)) for k in KINDS])"
    )
    said = {
        subprocess.run([sys.executable, "-c", script], env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": here()},
                       capture_output=True, text=True, check=True).stdout
        for seed in ("0", "1", "77")
    }  # fmt: skip
    assert said == {f"{[order_digest(ordered(rulebook(30).samples('test'), k, 7)) for k in KINDS]}\n"}


def here():
    return os.pathsep.join(p for p in sys.path if p)


def test_an_unknown_kind_is_a_sentence():
    with pytest.raises(ValueError, match="must be one of shuffled"):
        ordered(samples("ab"), "random", 0)

"""Same seed, same rows: whatever the hash seed, the number of workers or the launcher."""

import os
import subprocess
import sys

import pytest
from test_exp_kill import rows

from ace_bench.store import read_table

pytest.importorskip("hydra_plugins.ace_bench", reason="needs an install: pip install -e .")
PLAN = (
    "name=same",
    "method=base,ace,local_edit",
    "seed=0,1",
    "order.seed=0,1",
    "benchmark.test=15",
    "feedback=outcome",
)
# Which of two cells pays for a request they share depends on timing; the sums do not.
TIMED = ("billed", "served_from", "billed_input_tokens", "billed_output_tokens", "billed_cost", "cached_share")
WAYS = {
    "threads 1": (("hydra.launcher.workers=1",), "0"),
    "threads 16": (("hydra.launcher.workers=16",), "1"),
    "basic": (("hydra/launcher=basic",), "77"),
    "joblib": (("hydra/launcher=joblib", "hydra.launcher.n_jobs=2"), "5"),
}


def launched(results, overrides, hash_seed):
    command = [sys.executable, "-m", "ace_bench", "run", f"results={results}", *PLAN, *overrides]
    done = subprocess.run(command, env={**os.environ, "PYTHONHASHSEED": hash_seed}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return results


def sums(results):
    calls = read_table(results / "same", "calls", ["billed", "needed", "input", "output"]).to_pylist()
    paid = [c for c in calls if c["billed"]]
    return len(paid), sum(c["input"] for c in paid), sum(c["output"] for c in paid), len(calls)


def test_rows_do_not_depend_on_threads_hashes_or_launchers(tmp_path):
    done = {way: launched(tmp_path / way.replace(" ", ""), *how) for way, how in WAYS.items() if _there(way)}
    first = done["threads 1"]
    for way, results in done.items():
        assert rows(results, "same", *TIMED) == rows(first, "same", *TIMED), way
        if way != "joblib":  # single flight holds inside one process; two may ask the same thing at once, and both pay
            assert sums(results) == sums(first), way
    assert sums(first)[0] < sums(first)[3]  # some requests were shared, so the payer did matter


def _there(way):
    if way != "joblib":
        return True
    return pytest.importorskip("hydra_plugins.hydra_joblib_launcher", reason="the extra joblib is not installed")

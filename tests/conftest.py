"""Shared by all tests: no network at import, and where the trial data are."""

import os
from pathlib import Path

import pytest

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
os.environ.setdefault("LITELLM_OFFLINE_MODE", "true")
# Everything here is synced to disk at every step. On a memory disk that costs nothing, and kill -9 loses nothing there.
if Path("/dev/shm").is_dir() and os.access("/dev/shm", os.W_OK):
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", "/dev/shm")


@pytest.fixture(scope="session")
def trial_data() -> Path:
    """The folder of real files, named by ACE_BENCH_DATA; without it the test is skipped."""
    named = os.environ.get("ACE_BENCH_DATA")
    if not named or not Path(named).is_dir():
        pytest.skip("ACE_BENCH_DATA does not name a folder with the real data files")
    return Path(named)

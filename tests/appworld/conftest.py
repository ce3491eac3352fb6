"""The engine and a generated data root, made once and kept beside the engine."""

import hashlib
import os
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from ace_bench.data import appworld_setup

GENERATOR = Path(__file__).with_name("make_root.py")


@pytest.fixture(scope="session")
def engine():
    """The engine's environment; without it the test is skipped."""
    if (found := appworld_setup.engine()) is None:
        pytest.skip("the engine of AppWorld is not set up: ace-bench data setup appworld")
    return found


@pytest.fixture(scope="session")
def root(engine):
    """A data root of 18 tasks. Its name holds the digest of the generator and the engine's version."""
    key = hashlib.sha256(GENERATOR.read_bytes() + appworld_setup.VERSION.encode()).hexdigest()[:12]
    folder = appworld_setup.home() / f"small-{key}"
    if not folder.is_dir():
        made = appworld_setup.home() / f".small-{key}-{os.getpid()}"
        made.mkdir()
        environment = appworld_setup.environment(engine, made)
        subprocess.run([str(engine.python), str(GENERATOR), str(made)], env=environment, check=True, timeout=600)
        with suppress(OSError):  # another test process was first
            made.rename(folder)
    return folder

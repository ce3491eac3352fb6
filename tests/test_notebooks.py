"""The notebooks run from top to bottom, as plain Python."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("hydra_plugins.ace_bench", reason="needs an install: pip install -e .")
NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_runs_from_top_to_bottom(path, tmp_path):
    cells = json.loads(path.read_text())["cells"]
    code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    assert not any(cell.get("outputs") for cell in cells)  # committed without outputs
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr

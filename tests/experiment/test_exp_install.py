"""What only an installed package shows: plug-in packages of users, and what the wheel holds."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from ace_bench.experiment.shipped import PACKAGE

ROOT = PACKAGE.parent


def test_a_users_package_adds_a_method_and_its_config(conf: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    for name, text in {
        "mine-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n",
        "mine-1.0.dist-info/entry_points.txt": (
            "[ace_bench.methods]\nmine = minepkg:Mine\n[ace_bench.conf]\nm = minepkg.conf\n"
        ),
        "minepkg/__init__.py": "class Mine:\n    regimes = frozenset({'gt'})\n",
        "minepkg/conf/__init__.py": "",
        "minepkg/conf/method/mine.yaml": "name: mine\n",
    }.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(text)
    code = (
        "import exp_fakes; from pathlib import Path; from ace_bench.experiment import plugins\n"
        "real = plugins.found\n"
        "plugins.found = lambda g: real(g) if g == 'methods' else exp_fakes.found(g)\n"
        "from ace_bench.experiment.sweeper import plan\n"
        f"print(plan(['method=mine', 'benchmark=toy', 'model=toy'], Path({str(conf)!r}))[0].id)"
    )
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(site), str(Path(__file__).parent), *sys.path[1:]])}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, check=False)
    assert done.stdout.startswith("mine-toy-online-gt-s0-o0-"), done.stderr


@pytest.mark.slow
def test_the_wheel_holds_conf_tasks_and_the_plug_in(tmp_path: Path) -> None:
    pytest.importorskip("hatchling")
    if not all((ROOT / name).exists() for name in ("pyproject.toml", "README.md", "LICENSE")):
        pytest.skip("not a whole checkout: pyproject.toml, README.md and LICENSE are needed to build")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    names = set(zipfile.ZipFile(next(tmp_path.glob("*.whl"))).namelist())
    assert {"hydra_plugins/ace_bench.py", "ace_bench/conf/config.yaml"} <= names
    assert "ace_bench/conf/experiment/quickstart.yaml" in names
    assert "hydra_plugins/__init__.py" not in names
    tasks = {p.relative_to(ROOT).as_posix() for p in (ROOT / "tasks").rglob("*") if p.is_file()}
    assert {f"ace_bench/{t}" for t in tasks if "__pycache__" not in t} <= names

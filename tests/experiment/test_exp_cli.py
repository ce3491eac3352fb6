"""The command line: exit codes, sentences, completion, quick start-up."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import exp_fakes
import pytest
from exp_fakes import BASE
from typer.testing import CliRunner

from ace_bench.cli import app
from ace_bench.cli.completion import complete
from ace_bench.experiment import sweeper

runner = CliRunner()


@pytest.fixture
def quick(conf: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Options of a run whose cells are the fake task."""
    monkeypatch.setattr(exp_fakes, "run_cell", exp_fakes.task)
    return ["run", "--config-dir", str(conf)]


def test_run_finishes_with_0_and_fails_with_1(quick: list[str]) -> None:
    assert runner.invoke(app, [*quick, *BASE]).exit_code == 0
    failed = runner.invoke(app, [*quick, *BASE, "-m", "seed=101,1"])
    assert failed.exit_code == 1
    assert "seed 101 went wrong" in failed.output


def test_options_may_stand_between_overrides(quick: list[str]) -> None:
    result = runner.invoke(app, ["run", BASE[0], "-m", *BASE[1:], "--config-dir", quick[2], "seed=0"])
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["methd=1"], "methd"),
        (["method=zzz"], "alpha"),
        (["seed=1e3"], "seed = 1000.0"),
        (["seed=[1"], "seed"),
        (["experiment=product,points"], "one at a time"),
        (["results=/proc/nope", "seed=5"], ""),
    ],
)
def test_bad_input_is_a_sentence(quick: list[str], arguments: list[str], words: str) -> None:
    result = runner.invoke(app, [*quick, *BASE, *arguments])
    assert result.exit_code in (1, 2)
    assert result.exit_code == 2 or not words
    assert words in result.output
    assert "Traceback" not in result.output
    assert isinstance(result.exception, SystemExit)


@pytest.mark.parametrize(
    ("override", "told"),
    [
        ("methd=ace", "methd is no key of the config. Did you mean method?"),
        ("limit.calls=3", "limit.calls is no key of the config. Did you mean limits.calls?"),
        ("zzz=1", "zzz is no key of the config."),
        (
            "method.roundz=3",
            "method.roundz is no key of the config with this choice of method; its knobs stand in conf/method/",
        ),
    ],
)
def test_a_misspelt_key_is_not_to_be_appended(override: str, told: str) -> None:
    result = runner.invoke(app, ["plan", override])
    assert result.exit_code == 2
    assert result.output.startswith(f"ace-bench: {told}")
    assert "+" not in result.output


def test_a_secret_given_as_override_is_not_echoed(quick: list[str]) -> None:
    result = runner.invoke(app, [*quick, *BASE, "method.api_key=sk-TEST-123"])
    assert result.exit_code == 2
    assert "sk-TEST-123" not in result.output
    finished = runner.invoke(app, [*quick, *BASE, "model.api_key=sk-TEST-123", "seed=101"])
    assert "sk-TEST-123" not in finished.output


def test_broken_yaml_is_a_sentence(quick: list[str]) -> None:
    Path(quick[2], "method", "broken.yaml").write_text("name: [\n")
    result = runner.invoke(app, [*quick, *BASE[1:], "method=broken"])
    assert result.exit_code == 2
    assert isinstance(result.exception, SystemExit)


def test_run_without_arguments_gives_a_hint() -> None:
    result = runner.invoke(app, ["run"])
    assert result.exit_code == 2
    assert "quickstart" in result.output


def test_cfg_shows_and_runs_nothing(quick: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweeper, "launch", None)
    result = runner.invoke(app, [*quick, "--cfg", "job", *BASE, "seed=3"])
    assert result.exit_code == 0
    assert "seed: 3" in result.output
    assert "hydra" not in result.output


def test_report_of_nothing_is_a_sentence(tmp_path: Path) -> None:
    result = runner.invoke(app, ["report", str(tmp_path / "none")])
    assert result.exit_code == 2
    assert "no folder" in result.output


def test_version() -> None:
    assert runner.invoke(app, ["--version"]).output.startswith("ace-bench ")


def _complete(*words: str) -> list[str]:
    *earlier, last = words
    return complete(SimpleNamespace(params={"overrides": earlier}), last)  # type: ignore[arg-type]


def test_completion(conf: Path) -> None:
    assert "method=" in _complete("meth")
    assert "ace" in _complete("method", "=", "a")
    assert "append_only" in _complete("seed", "=", "1", "method", "=")
    assert "append_only" in _complete("seed", "=", "1", "method", "")
    assert "method=" in _complete("seed", "=", "1", "")
    assert "quickstart" in _complete("experiment", "=", "quick")
    assert "method=ace" in _complete("method=a")
    assert "order.kind=" in _complete("order.k")
    assert _complete("method=(((") == []


def test_start_up_imports_little() -> None:
    code = (
        "import sys, ace_bench; assert 'typer' not in sys.modules; import ace_bench.cli; "
        "print([m for m in ('hydra', 'omegaconf', 'pydantic', 'numpy', 'pandas', 'scipy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

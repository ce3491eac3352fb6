"""Exported, verified elsewhere, with the network cut; and what a replay does not need."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from capsule_made import experiment
from loopback import loopback
from typer.testing import CliRunner

from ace_bench.cli import app
from ace_bench.experiment import shared
from ace_bench.experiment.capsule.box import CapsuleError
from ace_bench.experiment.capsule.export import export
from ace_bench.experiment.capsule.verify import verify
from ace_bench.llm.transports import litellm as litellm_transport
from ace_bench.llm.transports.simulated import SimulatedTransport


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def guard(*_: object, **__: object) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", guard)
    monkeypatch.setattr(socket, "create_connection", guard)
    monkeypatch.setattr(socket, "getaddrinfo", guard)


def test_it_is_identical_in_another_place(
    made: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_network: None
) -> None:
    copied = tmp_path / "elsewhere.zip"
    shutil.copy(made[1], copied)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(SimulatedTransport, "__init__", None)  # it is not even constructed
    done = verify(copied)
    assert done.differences == ()
    assert done.cells == 3
    assert done.rows > 50
    assert [p.name for p in tmp_path.iterdir()] == ["elsewhere.zip"]


def test_the_verb_with_the_network_cut(made: tuple[Path, Path], tmp_path: Path) -> None:
    cut = ["unshare", "--user", "--map-root-user", "--net"]
    if shutil.which("unshare") is None or subprocess.run([*cut, "true"], capture_output=True).returncode:
        pytest.skip("this system lets no user cut its network (unshare); the socket guard above stands in")
    command = [*cut, sys.executable, "-m", "ace_bench", "capsule", "verify", str(made[1])]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Identical: ")


def test_the_same_experiment_gives_the_same_bytes(made: tuple[Path, Path], tmp_path: Path) -> None:
    export(made[0], tmp_path / "again.zip")
    assert (tmp_path / "again.zip").read_bytes() == made[1].read_bytes()


def test_only_used_responses_go_in(made: tuple[Path, Path], tmp_path: Path) -> None:
    experiment(made[0].parents[1], "benchmark=rulebook", "benchmark.test=3", name="other")  # into the same store
    done = export(made[0], tmp_path / "one.zip")
    with zipfile.ZipFile(tmp_path / "one.zip") as box:
        keys = [json.loads(line)["key"] for line in box.read("responses.jsonl").splitlines()]
    assert keys == sorted(set(keys))
    assert len(keys) == done.responses
    assert (tmp_path / "one.zip").read_bytes() == made[1].read_bytes()


def test_a_real_provider_needs_neither_key_nor_library_nor_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CAPSULE_TEST_KEY", "sk-of-this-very-test")
    with loopback() as server:
        model = ["model=litellm", "model.name=openai/any", f"model.endpoint={server.url}",
                 "model.api_key_env=CAPSULE_TEST_KEY"]  # fmt: skip
        root = experiment(tmp_path, "method=ace", "benchmark=formula", "benchmark.test_limit=null", *model,
                          "protocol=frozen")  # fmt: skip
    export(root, tmp_path / "real.zip")
    monkeypatch.delenv("CAPSULE_TEST_KEY")

    def absent(*_: object) -> None:
        raise AssertionError("litellm was looked for")

    monkeypatch.setattr(litellm_transport, "_litellm", absent)
    monkeypatch.setattr(litellm_transport.importlib.util, "find_spec", absent)
    assert verify(tmp_path / "real.zip").differences == ()


def test_a_large_file_is_named_by_digest_and_can_be_given(made: tuple[Path, Path], tmp_path: Path) -> None:
    done = export(made[0], tmp_path / "lean.zip", file_mb=0)
    (need,) = done.needs
    assert (need["key"], need["name"]) == ("benchmark.test", "mine.jsonl")
    with pytest.raises(CapsuleError, match=r"--file benchmark\.test=PATH"):
        verify(tmp_path / "lean.zip")
    data = made[0].parents[1] / "mine.jsonl"
    assert verify(tmp_path / "lean.zip", {"benchmark.test": data}).identical
    other = tmp_path / "other.jsonl"
    other.write_bytes(data.read_bytes() + data.read_bytes().splitlines()[0].replace(b"1", b"9") + b"\n")
    done_wrong = verify(tmp_path / "lean.zip", {"benchmark.test": other})
    assert "a file it names, is not the one of the run" in done_wrong.differences[0]


def test_an_empty_reply_is_replayed_though_no_store_keeps_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ace_bench.llm.retry.time.sleep", lambda s: None)
    plain = SimulatedTransport.complete

    def sometimes_empty(self, request, purpose, digest):  # type: ignore[no-untyped-def]
        done = plain(self, request, purpose, digest)
        if request.draw[0].endswith("3"):
            return type(done)("", "empty", "stop", done.usage, done.model, done.latency_s)
        return done

    monkeypatch.setattr(SimulatedTransport, "complete", sometimes_empty)
    root = experiment(tmp_path, "method=base", "benchmark.test=8")
    shared.close()
    export(root, tmp_path / "gaps.zip")
    assert verify(tmp_path / "gaps.zip").differences == ()


def test_the_verbs(made: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["capsule", "export", str(made[0]), "x.zip"])
    assert done.exit_code == 0
    assert done.output.startswith("x.zip: 3 cells, ")
    assert CliRunner().invoke(app, ["capsule", "verify", "x.zip"]).exit_code == 0

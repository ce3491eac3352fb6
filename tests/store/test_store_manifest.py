"""The manifest: what was run, and why it cannot be resumed as something else."""

from __future__ import annotations

import copy
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ace_bench.store import ManifestError, Masker, manifest

CONFIG = {"method": {"name": "ace", "rounds": 3, "stop": []}, "seed": 0, "llm": {"api_key": "sk-TEST-123", "t": 0.5}}
DIGESTS = {"config": "aa", "data": "bb"}


def plain(obj: Any) -> Any:
    return obj


def test_what_is_in_it_comes_back(tmp_path: Path) -> None:
    made = manifest.build(CONFIG, DIGESTS, {"command": "run \ud83d"})
    manifest.write(tmp_path / "manifest.json", made, plain)
    back = manifest.read(tmp_path / "manifest.json")
    assert back == made
    assert back["config"] == CONFIG
    assert back["extra"] == {"command": "run \ud83d"}
    assert back["packages"]["pyarrow"]
    assert back["started"].endswith("+00:00")
    assert {"ace_bench", "git", "python", "platform"} <= back.keys()
    assert manifest.differences(back, made) == []


def changed(path: str, value: Any) -> dict[str, Any]:
    made: dict[str, Any] = copy.deepcopy({"config": CONFIG, "digests": DIGESTS})
    *way, last = path.split(".")
    at = made
    for key in way:
        at = at[key]
    if value is None:
        del at[last]
    else:
        at[last] = value
    return made


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("digests.data", "cc", 'The data digest was "bb" and is "cc" now.'),
        ("digests.data", None, 'The data digest was "bb" and is absent now.'),
        ("digests.order", "cc", 'The order digest was absent and is "cc" now.'),
        ("config.method.rounds", 5, "Config key method.rounds was 3 and is 5 now."),
        ("config.method.rounds", 3.0, "Config key method.rounds was 3 and is 3.0 now."),
        ("config.seed", False, "Config key seed was 0 and is false now."),
        ("config.method.stop", ["x"], "Config key method.stop was [] and is absent now."),
        ("config.method.new", "y", 'Config key method.new was absent and is "y" now.'),
    ],
)
def test_every_difference_is_a_sentence(path: str, value: Any, words: str) -> None:
    old = {"config": CONFIG, "digests": DIGESTS}
    assert words in manifest.differences(old, changed(path, value))


def test_versions_and_times_are_no_difference() -> None:
    old, new = manifest.build(CONFIG, DIGESTS, {"a": 1}), manifest.build(CONFIG, DIGESTS, {"a": 2})
    assert manifest.differences({**old, "python": "2.7", "started": "then"}, new) == []


def test_a_mask_stands_for_the_secret_and_for_nothing_else(tmp_path: Path) -> None:
    config = {**CONFIG, "llm": {"api_key": "sk-TEST-123", "headers": ["Bearer sk-TEST-123"], "t": 0.5}}
    made = manifest.build(config, DIGESTS, {})
    manifest.write(tmp_path / "m", made, Masker(config, {}).mask)
    old = manifest.read(tmp_path / "m")
    assert old["config"]["llm"]["headers"] == ["Bearer ***"]
    assert b"sk-TEST-123" not in (tmp_path / "m").read_bytes()
    assert manifest.differences(old, made) == []
    other = copy.deepcopy(made)
    other["config"]["llm"] |= {"t": 0.7, "headers": ["Basic sk-TEST-123"]}
    assert manifest.differences(old, other) == [
        'Config key llm.headers.0 was "Bearer ***" and is "Basic sk-TEST-123" now.',
        "Config key llm.t was 0.5 and is 0.7 now.",
    ]


def test_tuples_are_lists() -> None:
    old, new = ({"config": {"a": value}, "digests": {}} for value in ([1, 2], (1, 2)))
    assert manifest.differences(old, new) == []


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"config": {}}', b'{"config": 1, "digests": {}}', b"\xff"])
def test_a_damaged_manifest_is_a_sentence(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "m").write_bytes(content)
    with pytest.raises(ManifestError, match=r"Manifest .* (is not JSON|has no)"):
        manifest.read(tmp_path / "m")


def test_an_absent_manifest_and_what_json_lacks(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match="no manifest"):
        manifest.read(tmp_path / "m")
    for value in (float("nan"), {1}):
        with pytest.raises(ManifestError, match="cannot be written"):
            manifest.write(tmp_path / "m", {"config": {"x": value}}, plain)
    assert list(tmp_path.iterdir()) == []


def test_git_state_is_of_the_checkout_that_tracks_the_package(tmp_path: Path) -> None:
    def git(*arguments: str) -> str:
        own = ["git", "-c", "user.name=t", "-c", "user.email=t@t", "-c", "commit.gpgsign=false"]
        done = subprocess.run([*own, *arguments], cwd=tmp_path, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    assert manifest.git_state_of(package) is None
    git("init", "-q")
    git("commit", "-q", "--allow-empty", "-m", "zero")
    assert manifest.git_state_of(package) is None, "not tracked: somebody else's checkout"
    git("add", ".")
    git("commit", "-q", "-m", "one")
    assert manifest.git_state_of(package) == {"commit": git("rev-parse", "HEAD"), "dirty": False}
    (package / "__init__.py").write_text("x = 1\n")
    state = manifest.git_state_of(package)
    assert state
    assert state["dirty"] is True


def test_git_and_packages_are_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    manifest.build({}, {}, {})
    monkeypatch.setattr(subprocess, "run", lambda *a, **k: pytest.fail("git was asked again"))
    monkeypatch.setattr(manifest.importlib.metadata, "version", lambda name: pytest.fail("asked again"))
    first, second = manifest.build({}, {}, {}), manifest.build({}, {}, {})
    first["packages"]["pyarrow"] = "changed"
    assert second["packages"]["pyarrow"] != "changed"


def test_strict_json_on_disk(tmp_path: Path) -> None:
    manifest.write(tmp_path / "m", manifest.build({"x": None}, {}, {}), plain)
    assert json.loads((tmp_path / "m").read_text("ascii"))["config"] == {"x": None}

"""Changed, hostile and useless capsules, and secrets: a sentence each, and nothing half done."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from capsule_made import Members, changed, edited
from typer.testing import CliRunner

from ace_bench.cli import app
from ace_bench.experiment.capsule import box
from ace_bench.experiment.capsule.box import CapsuleError
from ace_bench.experiment.capsule.compare import MAY_DIFFER
from ace_bench.experiment.capsule.export import export
from ace_bench.experiment.capsule.verify import verify
from ace_bench.store.schema import TABLES, columns


def first(members: Members, ending: str) -> str:
    return next(name for name in sorted(members) if name.endswith(ending))


def cut_rows(members: Members) -> None:
    name = first(members, "steps.parquet")
    members[name] = members[name][:-1] + bytes([members[name][-1] ^ 1])


def other_score(members: Members) -> None:
    name = first(members, "steps.parquet")
    members[name] = edited(members[name], "score", 0.25)


def lacking(members: Members) -> None:
    del members[first(members, "steps.parquet")]


def more(members: Members) -> None:
    members["cells/evil.py"] = b"import os"


def other_reply(members: Members) -> None:
    lines = [json.loads(line) for line in members["responses.jsonl"].splitlines()]
    for line in lines:
        body = json.loads(line["body"])
        line["body"] = json.dumps(body | {"text": '{"reasoning": "", "bullet_ids": [], "final_answer": "77"}'})
    members["responses.jsonl"] = "".join(json.dumps(line) + "\n" for line in lines).encode()


def no_replies(members: Members) -> None:
    members["responses.jsonl"] = b""


def other_knob(members: Members) -> None:
    name = first(members, "config.json")
    members[name] = members[name].replace(b'"seed": 0', b'"seed": 1')


def outside(members: Members) -> None:
    name = first(members, "config.json")
    config = json.loads(members[name])
    config["benchmark"]["test"] = "../../../etc/hostname"
    members[name] = json.dumps(config).encode()


SEALED: dict[str, tuple[Callable[[Members], None], str]] = {
    "a flipped bit": (cut_rows, "is not what its MANIFEST.json says"),
    "another score": (other_score, "is not what its MANIFEST.json says"),
    "another reply": (other_reply, "is not what its MANIFEST.json says"),
    "a member gone": (lacking, "lacks cells/"),
    "a member more": (more, "does not name"),
}
FORGED: dict[str, tuple[Callable[[Members], None], str]] = {
    "another score": (other_score, "table steps: row 0 (phase score, epoch 0, round 0, position 0), column score: the "
                                   "capsule has 0.25, the rerun "),
    "other replies": (other_reply, "table steps: row "),
    "no replies": (no_replies, "cache=replay"),
    "another knob": (other_knob, "is not the one of the run"),
}  # fmt: skip


@pytest.mark.parametrize("kind", SEALED)
def test_a_changed_capsule_is_not_run(made: tuple[Path, Path], tmp_path: Path, kind: str) -> None:
    change, sentence = SEALED[kind]
    bad = changed(made[1], tmp_path / "bad.zip", change, resealed=False)
    done = CliRunner().invoke(app, ["capsule", "verify", str(bad)])
    assert done.exit_code == 2
    assert sentence in done.output
    assert "Traceback" not in done.output


@pytest.mark.parametrize("kind", FORGED)
def test_a_forged_capsule_is_not_identical(made: tuple[Path, Path], tmp_path: Path, kind: str) -> None:
    change, sentence = FORGED[kind]
    bad = changed(made[1], tmp_path / "bad.zip", change, resealed=True)
    done = CliRunner().invoke(app, ["capsule", "verify", str(bad)])
    assert done.exit_code == 1, done.output
    assert sentence in done.output
    assert "NOT identical" in done.output


def test_a_config_cannot_point_outside(made: tuple[Path, Path], tmp_path: Path) -> None:
    bad = changed(made[1], tmp_path / "bad.zip", outside, resealed=True)
    with pytest.raises(CapsuleError, match="points out of the capsule"):
        verify(bad)


@pytest.mark.parametrize("name", ["../evil", "/evil", "a/../../evil", "a\\evil", "C:evil", "a//b"])
def test_no_member_leaves_the_folder(made: tuple[Path, Path], tmp_path: Path, name: str) -> None:
    def add(members: Members) -> None:
        members[name] = b"x"

    bad = changed(made[1], tmp_path / "bad.zip", add, resealed=True)
    with pytest.raises(CapsuleError, match="would leave its folder"):
        verify(bad)
    assert not (tmp_path / "evil").exists()


def test_sizes_are_bounded(made: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(box, "MOST_BYTES", 1000)
    with pytest.raises(CapsuleError, match="would unpack to more than 1,000 bytes"):
        verify(made[1])
    monkeypatch.setattr(box, "MOST_BYTES", 10**9)
    monkeypatch.setattr(box, "MOST_MEMBERS", 3)
    with pytest.raises(CapsuleError, match="more than 3"):
        verify(made[1])


def test_what_is_no_capsule(tmp_path: Path) -> None:
    (tmp_path / "text.zip").write_text("not a zip")
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as other:
        other.writestr("a.txt", "x")
    with zipfile.ZipFile(tmp_path / "later.zip", "w") as later:
        later.writestr("MANIFEST.json", json.dumps({"format": 99}))
    for name, sentence in {
        "text.zip": "not a whole capsule", "other.zip": "no readable MANIFEST.json", "later.zip": "another format",
        "nowhere.zip": "There is no file",
    }.items():  # fmt: skip
        done = CliRunner().invoke(app, ["capsule", "verify", str(tmp_path / name)])
        assert done.exit_code == 2
        assert sentence in done.output


def invoke_export(*arguments: Any) -> Any:
    return CliRunner().invoke(app, ["capsule", "export", *map(str, arguments)])


def test_what_cannot_be_exported(made: tuple[Path, Path], tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "there.zip").write_text("x")
    for arguments, sentence in (
        ((tmp_path / "nowhere", tmp_path / "x.zip"), "There is no experiment folder"),
        ((tmp_path / "empty", tmp_path / "x.zip"), "holds no finished cell"),
        ((made[0], tmp_path / "there.zip"), "is there already"),
        ((made[0], tmp_path / "no" / "x.zip"), "There is no folder"),
        ((made[0], tmp_path / "x.zip", "--cache", tmp_path / "none.db"), "without them nothing can be run again"),
    ):
        done = invoke_export(*arguments)
        assert done.exit_code == 2
        assert sentence in " ".join(done.output.split())
        assert "Traceback" not in done.output
    assert sorted(p.name for p in tmp_path.iterdir()) == ["empty", "there.zip"]


def test_no_secret_goes_in(made: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reply, a row or a data file with the value of a key in it stops the export; nothing is left behind."""
    monkeypatch.setenv("SOME_API_KEY", "What is 3 plus 3?")  # stands in the user's data file
    with pytest.raises(CapsuleError, match=r"mine\.jsonl holds the value of a secret"):
        export(made[0], tmp_path / "x.zip")
    monkeypatch.setenv("SOME_API_KEY", "final_answer")  # stands in every reply
    with pytest.raises(CapsuleError, match=r"The response under .* holds the value of a secret"):
        export(made[0], tmp_path / "x.zip")
    assert not list(tmp_path.iterdir())


def test_the_rules_name_real_columns() -> None:
    for table, names in MAY_DIFFER.items():
        assert table in TABLES
        assert names <= {column.name for column in columns(table)}
    assert not {"score", "answer", "response", "request", "cost", "text", "state"} & set().union(*MAY_DIFFER.values())

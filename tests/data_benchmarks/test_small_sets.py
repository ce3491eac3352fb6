"""The bundled sets: the same bytes from the generator everywhere, checksums, and answers that a plain program finds."""

import hashlib
import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SETS = {"ddxplus": 5, "bird": 8, "qa": 5}


@pytest.mark.parametrize("name", SETS)
def test_regenerated_bytes_are_the_same(tmp_path, name):
    env = {**os.environ, "PYTHONHASHSEED": "7"}
    subprocess.run([sys.executable, str(ROOT / "tasks" / f"make_{name}.py"), str(tmp_path)], check=True, env=env)
    made = sorted(p.relative_to(tmp_path) for p in tmp_path.rglob("*") if p.is_file())
    assert len(made) == SETS[name]
    for path in made:
        assert (tmp_path / path).read_bytes() == (ROOT / "tasks" / path).read_bytes(), path


@pytest.mark.parametrize("name", SETS)
def test_checksums_and_size(name):
    folder = ROOT / "tasks" / f"{name}_small"
    sums = dict(line.split("  ")[::-1] for line in (folder / "SHA256SUMS").read_text().splitlines())
    assert len(sums) == SETS[name] - 1
    assert all(hashlib.sha256((folder / file).read_bytes()).hexdigest() == digest for file, digest in sums.items())
    assert sum(p.stat().st_size for p in folder.rglob("*") if p.is_file()) < 100_000


def test_bird_has_its_cases_in_every_database_and_in_test():
    rows = {s: [json.loads(x) for x in (ROOT / "tasks/bird_small" / f"{s}.jsonl").read_text().splitlines()]
            for s in ("train", "val", "test")}  # fmt: skip
    assert [len(some) for some in rows.values()] == [18, 12, 30]
    for case in ("empty", "duplicates", "with", "ordered"):
        assert {r["db_id"] for some in rows.values() for r in some if r["case"] == case} == {
            "ferry_lines", "seed_library", "radio_station"
        }  # fmt: skip
        assert sum(r["case"] == case for r in rows["test"]) >= 3


def test_each_clue_names_one_diagnosis():
    spec = importlib.util.spec_from_file_location("make_ddxplus", ROOT / "tasks" / "make_ddxplus.py")
    maker = importlib.util.module_from_spec(spec)
    sys.modules["make_ddxplus"] = maker  # dataclasses of the module want to find it
    spec.loader.exec_module(maker)
    clues = [clue for some in maker.CLUES.values() for clue in some]
    assert len(maker.CLUES) == 49
    assert len(set(clues)) == 147
    for split in ("train", "val", "test"):
        for line in (ROOT / "tasks/ddxplus_small" / f"{split}.jsonl").read_text().splitlines():
            row = json.loads(line)
            found = {
                label for label, some in maker.CLUES.items() if any(clue in row["PATIENT_PROFILE"] for clue in some)
            }
            assert found == {row["PATHOLOGY"]}


def _worked(question):
    n = [int(x) for x in re.findall(r"\d+", question)]
    if "coins" in question:
        return n[0] * n[1] + n[2] * n[3]
    if "tiles" in question:
        return n[0] * n[1] - n[2]
    if "ferry" in question:
        return (n[2] * 60 + n[3]) - (n[0] * 60 + n[1])
    return n[1] + n[2] * (n[0] - 1)


def test_every_sum_comes_out():
    for split in ("train", "val", "test"):
        for line in (ROOT / "tasks/qa_small" / f"{split}.jsonl").read_text().splitlines():
            row = json.loads(line)
            assert str(_worked(row["question"])) == row["answer"]
            assert row["options"].count(row["answer"]) == 1
            assert len(set(row["options"])) == 4

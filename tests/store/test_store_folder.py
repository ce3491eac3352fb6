"""Cell folders: exclusive, locked, resumable (known faults B01, B20, B22)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ace_bench.store import CellFolder, FolderBusy, FolderError, FolderFinished, StoreError, cell_folders, is_finished

ROOT = Path(__file__).parents[2]
OWNER = """
import sys
from ace_bench.store import CellFolder, FolderBusy
sys.stdin.readline()
try:
    with CellFolder.enter(sys.argv[1]) as folder:
        folder.journal.append({"pid": 1})
        print(folder.instance, flush=True)
        sys.stdin.readline()
except FolderBusy:
    print("busy", flush=True)
    sys.stdin.readline()
"""


def start(path: Path) -> subprocess.Popen[str]:
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    pipe = subprocess.PIPE
    return subprocess.Popen([sys.executable, "-c", OWNER, str(path)], stdin=pipe, stdout=pipe, text=True, env=environ)


def tell(process: subprocess.Popen[str]) -> None:
    assert process.stdin
    process.stdin.write("\n")
    process.stdin.flush()


def answer(process: subprocess.Popen[str]) -> str:
    assert process.stdout
    return process.stdout.readline().strip()


def test_processes_that_fight_for_a_folder(tmp_path: Path) -> None:
    path = tmp_path / "exp" / "cell"
    processes = [start(path) for _ in range(4)]
    for process in processes:
        tell(process)
    answers = [answer(process) for process in processes]
    for process in processes:
        tell(process)
        process.communicate(timeout=20)
    assert answers.count("busy") == 3
    assert all(process.returncode == 0 for process in processes)
    assert (path / "instance").read_text().strip() in answers


def test_kill_9_frees_the_folder_and_the_attempts_add_up(tmp_path: Path) -> None:
    path = tmp_path / "cell"
    process = start(path)
    tell(process)
    instance = answer(process)
    with pytest.raises(FolderBusy, match=rf"in use by process {process.pid} on"):
        CellFolder.enter(path)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=20)
    began = json.loads((path / "attempts.jsonl").read_bytes().split(b" ", 1)[1])["time"]
    os.utime(path / "journal.jsonl", (began + 100, began + 100))  # as if it had worked for 100 s
    with CellFolder.enter(path) as folder:
        assert folder.instance == instance
        assert folder.attempts == 2
        assert folder.wall_s == pytest.approx(100, abs=5)
        assert list(folder.journal.records) == [{"pid": 1}]
    os.utime(path / "journal.jsonl", (began + 900, began + 900))
    with CellFolder.enter(path) as folder:
        assert folder.attempts == 3
        assert folder.wall_s == pytest.approx(100, abs=5), "an end once noted stays"


def test_wall_time_is_the_sum_of_the_attempts(tmp_path: Path) -> None:
    for number in (1, 2, 3):
        with CellFolder.enter(tmp_path / "cell") as folder:
            assert folder.attempts == number
            time.sleep(0.05)
            running = folder.wall_s
    assert 0.15 <= running <= folder.wall_s < 5
    assert folder.wall_s == folder.wall_s, "the clock stands after the end"


def test_an_attempt_killed_before_its_first_record_counts_no_time(tmp_path: Path) -> None:
    folder = CellFolder.enter(tmp_path / "cell")
    os.close(folder._lock or -1)  # what the kernel does at kill -9
    with CellFolder.enter(tmp_path / "cell") as again:
        assert again.attempts == 2
        assert again.wall_s < 1


def test_busy_within_one_process_and_free_after_close(tmp_path: Path) -> None:
    with CellFolder.enter(tmp_path / "cell"), pytest.raises(FolderBusy):
        CellFolder.enter(tmp_path / "cell")
    CellFolder.enter(tmp_path / "cell").close()


def test_an_exception_ends_the_attempt_by_its_name(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), CellFolder.enter(tmp_path / "cell"):
        raise KeyboardInterrupt
    assert b'"how":"KeyboardInterrupt"' in (tmp_path / "cell" / "attempts.jsonl").read_bytes()
    assert not is_finished(tmp_path / "cell")


def test_finish_marks_and_then_nobody_enters(tmp_path: Path) -> None:
    path = tmp_path / "cell"
    with CellFolder.enter(path) as folder:
        with pytest.raises(ValueError, match="JSON"):
            folder.finish({"score": float("nan")})
        assert not is_finished(path)
        folder.finish({"status": "finished"})
    marker = json.loads((path / "finished.json").read_text())
    assert marker["status"] == "finished"
    assert (marker["instance"], marker["attempts"], marker["wall_s"]) == (folder.instance, 1, folder.wall_s)
    with pytest.raises(FolderFinished, match="is finished"):
        CellFolder.enter(path)
    assert (path / "attempts.jsonl").read_bytes().count(b'"end"') == 1
    with pytest.raises(FolderError, match="was left"):
        folder.finish()
    with pytest.raises(FolderError, match="was left"):
        _ = folder.journal


def test_a_refused_entry_frees_the_lock(tmp_path: Path) -> None:
    path = tmp_path / "cell"
    with CellFolder.enter(path) as folder:
        folder.finish()
    for _ in range(2):  # a lock left behind would make the second one FolderBusy
        with pytest.raises(FolderFinished):
            CellFolder.enter(path)


def test_a_foreign_folder_or_file_is_refused_untouched(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("x")
    with pytest.raises(FolderError, match=r"not a cell folder.*thesis\.tex"):
        CellFolder.enter(tmp_path / "mine")
    assert [p.name for p in (tmp_path / "mine").iterdir()] == ["thesis.tex"]
    with pytest.raises(FolderError, match="is a file"):
        CellFolder.enter(tmp_path / "mine" / "thesis.tex")


def test_a_start_killed_in_its_first_moments_is_taken_over(tmp_path: Path) -> None:
    path = tmp_path / "cell"
    path.mkdir()
    (path / "lock").touch()
    (path / ".instance.abc.tmp").write_text("12")
    with CellFolder.enter(path) as folder:
        assert len(folder.instance) == 32
        assert not (path / ".instance.abc.tmp").exists()


def test_a_damaged_instance_is_refused(tmp_path: Path) -> None:
    CellFolder.enter(tmp_path / "cell").close()
    (tmp_path / "cell" / "instance").write_text("../evil")
    with pytest.raises(FolderError, match="does not hold an instance id"):
        CellFolder.enter(tmp_path / "cell")


def test_instances_differ_between_folders(tmp_path: Path) -> None:
    found = set()
    for name in "abc":
        with CellFolder.enter(tmp_path / name) as folder:
            found.add(folder.instance)
    assert len(found) == 3


def test_a_torn_attempts_file_does_not_stop_a_resume(tmp_path: Path) -> None:
    CellFolder.enter(tmp_path / "cell").close()
    with (tmp_path / "cell" / "attempts.jsonl").open("ab") as file:
        file.write(b'0000 {"event":"sta')
    with CellFolder.enter(tmp_path / "cell") as folder:
        assert folder.attempts == 2


def test_cell_folders_tells_finished_from_unfinished(tmp_path: Path) -> None:
    for name in ("b", "a", "c"):
        with CellFolder.enter(tmp_path / "exp" / name) as folder:
            if name != "a":
                folder.finish()
    (tmp_path / "exp" / "figures").mkdir()
    (tmp_path / "exp" / "plan.json").write_text("{}")

    def names(finished: bool | None) -> list[str]:
        return [p.name for p in cell_folders(tmp_path / "exp", finished)]

    assert (names(None), names(True), names(False)) == (["a", "b", "c"], ["b", "c"], ["a"])
    with pytest.raises(StoreError, match="no experiment folder"):
        cell_folders(tmp_path / "absent")

"""The response store: durable, shared by threads and processes, never hanging (B11)."""

import os
import random
import sqlite3
import subprocess
import sys
import threading
import time

import pytest

from ace_bench.llm import ResponseStore, StoreError
from ace_bench.llm import cache as cache_module
from ace_bench.llm.cache import Stored

WRITE = """
import sys, threading
from ace_bench.llm import ResponseStore
store, who = ResponseStore(sys.argv[1]), sys.argv[2]
def work(thread):
    for i in range(int(sys.argv[3])):
        store.put(f"{who}/{thread}/{i}", "x" * 2000, who)
        print(f"{who}/{thread}/{i}", flush=True)
threads = [threading.Thread(target=work, args=(t,)) for t in range(5)]
[t.start() for t in threads]; [t.join() for t in threads]
store.close()
"""


def test_what_was_put_is_there_also_for_another_store(tmp_path):
    store = ResponseStore(tmp_path / "deep" / "r.sqlite")
    assert store.get("k") is None
    assert store.put("k", "body \u00e9", "a/b") == Stored("body \u00e9", "a/b")
    assert ResponseStore(tmp_path / "deep" / "r.sqlite", "replay").get("k") == Stored("body \u00e9", "a/b")
    store.close()
    store.close()
    with pytest.raises(StoreError, match="closed"):
        store.get("k")


def test_the_first_writer_of_a_key_wins_and_the_second_is_told(store, tmp_path):
    store.put("k", "first", "a")
    other = ResponseStore(store.path)
    assert other.put("k", "second", "b") == Stored("first", "a")
    assert store.get("k") == Stored("first", "a")
    other.close()


def test_eight_processes_two_killed_lose_no_acknowledged_row(tmp_path):
    path = tmp_path / "r.sqlite"
    environment = {**os.environ, "PYTHONPATH": os.getcwd()}
    started = [
        subprocess.Popen(
            [sys.executable, "-c", WRITE, str(path), str(i), "100"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        for i in range(8)
    ]
    heard = [started[0].stdout.readline() for _ in range(20)] + [started[1].stdout.readline() for _ in range(20)]
    started[0].kill()
    started[1].kill()
    outputs = [process.communicate(timeout=60) for process in started]
    acknowledged = [line for out, _ in outputs for line in out.splitlines(keepends=True) if line.endswith("\n")]
    assert [err for _, err in outputs[2:]] == [""] * 6
    assert len(acknowledged) >= 6 * 500
    store = ResponseStore(path)
    lost = [line for line in heard + acknowledged if line.count("/") == 2 and store.get(line.strip()) is None]
    assert lost == []
    assert sqlite3.connect(path).execute("PRAGMA integrity_check").fetchone() == ("ok",)
    store.close()


def test_many_threads_open_and_write_at_once(tmp_path):
    errors = []

    def work(i):
        try:
            store = ResponseStore(tmp_path / "r.sqlite")
            for j in range(10):
                store.put(f"{i}/{j}", "x", "p")
                assert store.get(f"{i}/{j}")
            store.close()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(12)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert errors == []


def test_a_failed_commit_reaches_every_waiter_and_the_writer_lives_on(store, monkeypatch):
    def full(db, batch):
        db.execute("BEGIN IMMEDIATE")
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(cache_module, "_commit", full)
    errors = []

    def work(i):
        try:
            store.put(str(i), "x", "p")
        except StoreError as error:
            errors.append(str(error))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    [t.start() for t in threads]
    [t.join(timeout=10) for t in threads]
    assert len(errors) == 8
    assert all("disk is full" in text and str(store.path) in text and "free space" in text for text in errors)
    monkeypatch.undo()
    assert store.put("after", "x", "p")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_dead_writer_is_an_error_not_a_hang(store, monkeypatch):
    def die(db, batch):
        raise SystemExit  # ends the thread without a word

    monkeypatch.setattr(cache_module, "_commit", die)
    began = time.monotonic()
    with pytest.raises(StoreError, match=r"writer of the response store .* has stopped"):
        store.put("k", "x", "p")
    assert time.monotonic() - began < 5


@pytest.mark.parametrize(
    "content", [b"not a database at all, but long enough to have a header" * 99, b"SQLite format 3\0" * 400]
)
def test_a_damaged_file_is_a_sentence(tmp_path, content):
    path = tmp_path / "r.sqlite"
    path.write_bytes(content)
    with pytest.raises(StoreError, match=r"Could not open the response store .*r\.sqlite.*move it away"):
        ResponseStore(path)


def test_an_unreachable_path_and_an_unknown_mode_are_sentences(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="Could not open the response store"):
        ResponseStore(tmp_path / "file" / "r.sqlite")
    with pytest.raises(StoreError, match=r"off, read, write, replay"):
        ResponseStore(tmp_path / "r.sqlite", "readwrite")


@pytest.mark.parametrize("mode", ["read", "replay"])
def test_reading_modes_need_a_file_and_record_nothing(tmp_path, mode):
    path = tmp_path / "r.sqlite"
    with pytest.raises(StoreError, match="no response store at"):
        ResponseStore(path, mode)
    ResponseStore(path).close()
    store = ResponseStore(path, mode)
    assert store.put("k", "body", "p") == Stored("body", "p")
    assert store.get("k") is None


def test_off_touches_no_file(tmp_path):
    store = ResponseStore(tmp_path / "r.sqlite", "off")
    store.put("k", "body", "p")
    assert store.get("k") is None
    assert list(tmp_path.iterdir()) == []


def test_read_connections_are_reused_over_short_lived_threads(store):
    store.put("k", "x", "p")
    for _ in range(50):
        thread = threading.Thread(target=store.get, args=("k",))
        thread.start()
        thread.join()
    assert len(store._idle) <= 2


def test_any_text_survives(store):
    rng = random.Random(1)
    for i in range(50):
        body = "".join(chr(rng.choice([0, 9, 65, 233, 8217, 128512])) for _ in range(20))
        store.put(str(i), body, "p")
        assert store.get(str(i)).body == body

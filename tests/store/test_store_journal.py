"""Fault injection for the journal (known faults B21, B25, B35): never a wrong record, never a finished one lost."""

from __future__ import annotations

import os
import threading
import time
import tracemalloc
from pathlib import Path

import pytest

from ace_bench.store import Journal, JournalError, read_records
from ace_bench.store import journal as journal_module
from ace_bench.store.journal import encode

RECORDS = [{"step": i, "text": "é\ud83d\x00 zwei\n" * (i + 1), "score": None, "pair": "😀"} for i in range(4)]
LINES = [encode(record) for record in RECORDS]
DATA = b"".join(LINES)


def opened(path: Path, data: bytes) -> Journal:
    path.write_bytes(data)
    return Journal.open(path)


def test_append_then_read_gives_the_records(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    with Journal.open(path) as journal:
        assert [journal.append(r) for r in RECORDS] == [0, 1, 2, 3]
        assert list(journal.records) == RECORDS
        assert len(journal) == 4
    assert path.read_bytes() == DATA
    with Journal.open(path) as journal:
        assert (list(journal.records), journal.torn) == (RECORDS, b"")
        journal.append({"step": 4})
        assert list(journal.records) == [*RECORDS, {"step": 4}]


def test_append_is_synced_before_it_returns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    monkeypatch.setattr(journal_module, "sync", lambda fd: sizes.append(os.fstat(fd).st_size))
    with Journal.open(tmp_path / "j") as journal:
        for record in RECORDS:
            journal.append(record)
    assert sizes == [sum(map(len, LINES[: i + 1])) for i in range(4)]


@pytest.fixture
def unsynced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hundreds of cuts: the disk is not what is tested here."""
    monkeypatch.setattr(journal_module, "sync", lambda fd: None)
    monkeypatch.setattr(journal_module, "sync_file", lambda path: None)
    monkeypatch.setattr(journal_module, "sync_folder", lambda path: None)


@pytest.mark.usefixtures("unsynced")
def test_every_cut_in_the_last_two_records(tmp_path: Path) -> None:
    ends = [sum(map(len, LINES[:i])) for i in range(5)]
    for cut in range(ends[2], ends[4] + 1):
        folder = tmp_path / str(cut)
        folder.mkdir()
        path = folder / "journal.jsonl"
        # a whole record counts, with its newline or without
        whole = max(i for i in range(5) if (ends[i] - 1 if i else 0) <= cut)
        torn = DATA[ends[whole] : cut]
        with opened(path, DATA[:cut]) as journal:
            assert list(journal.records) == RECORDS[:whole], cut
            assert journal.torn == torn, cut
            for record in RECORDS[whole:]:
                journal.append(record)
        assert path.read_bytes() == DATA, cut
        assert list(read_records(path)) == RECORDS
        kept = [p.read_bytes() for p in folder.glob("*.torn-*")]
        assert kept == ([torn] if torn else []), cut


@pytest.mark.usefixtures("unsynced")
@pytest.mark.parametrize("flip", [0x01, 0x20, 0x80])
def test_every_flipped_byte_of_the_last_record(tmp_path: Path, flip: int) -> None:
    start, refused = len(DATA) - len(LINES[-1]), dict[int, str]()
    for at in range(start, len(DATA)):
        data = bytearray(DATA)
        data[at] ^= flip
        try:
            with opened(tmp_path / f"j{at}", bytes(data)) as journal:
                assert list(journal.records) == RECORDS[:3], at
                assert journal.torn == data[start:], at
        except JournalError as error:
            refused[at] = str(error)
    # only where the flip made a newline: the damaged line is not the last one any more
    newlines = {at for at in range(start, len(DATA) - 1) if DATA[at] ^ flip == 10}
    assert refused.keys() == newlines
    assert all("Line 4" in sentence for sentence in refused.values())


@pytest.mark.parametrize("zeros", [1, 4096])
def test_a_tail_of_zeros_is_torn(tmp_path: Path, zeros: int) -> None:
    with opened(tmp_path / "j", DATA + bytes(zeros)) as journal:
        assert (list(journal.records), journal.torn) == (RECORDS, bytes(zeros))
    assert (tmp_path / "j").read_bytes() == DATA


def test_each_torn_tail_is_kept_in_its_own_file(tmp_path: Path) -> None:
    path = tmp_path / "j"
    for tail in (b"one", b"two"):
        with path.open("ab") as file:
            file.write(tail)
        Journal.open(path).close()
    assert [(tmp_path / f"j.torn-{n}").read_bytes() for n in (1, 2)] == [b"one", b"two"]


@pytest.mark.parametrize("line", [0, 1, 2])
def test_damage_before_the_tail_is_an_error_with_its_line(tmp_path: Path, line: int) -> None:
    data = bytearray(DATA)
    data[sum(map(len, LINES[:line])) + 20] ^= 1
    with pytest.raises(JournalError, match=f"Line {line + 1} of journal .* is damaged and is not the last"):
        opened(tmp_path / "j", bytes(data))
    assert (tmp_path / "j").read_bytes() == data, "a damaged journal is left as it is"
    with pytest.raises(JournalError, match=f"Line {line + 1}"):
        list(read_records(tmp_path / "j"))


def test_read_records_leaves_a_torn_tail_alone(tmp_path: Path) -> None:
    path = tmp_path / "j"
    path.write_bytes(DATA + b"torn")
    assert list(read_records(path)) == RECORDS
    assert path.read_bytes() == DATA + b"torn"
    with pytest.raises(JournalError, match="no journal"):
        list(read_records(tmp_path / "absent"))


@pytest.mark.parametrize(
    ("record", "words"),
    [
        ({"a": {"b": [1.0, float("nan")]}}, "at a.b.1"),
        ({"score": float("inf")}, "at score"),
        ({"x": {1, 2}}, "is not JSON"),
    ],
)
def test_what_json_cannot_carry_is_not_written(tmp_path: Path, record: dict[str, object], words: str) -> None:
    with Journal.open(tmp_path / "j") as journal:
        journal.append({"step": 0})
        with pytest.raises(JournalError, match=words):
            journal.append(record)
        journal.append({"step": 1})
        assert list(journal.records) == [{"step": 0}, {"step": 1}]


def test_appends_of_many_threads_are_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside: list[int] = []
    most: list[int] = []

    def slow_sync(fd: int) -> None:
        inside.append(fd)
        most.append(len(inside))
        time.sleep(0.001)
        inside.pop()

    monkeypatch.setattr(journal_module, "sync", slow_sync)
    with Journal.open(tmp_path / "j") as journal:

        def work(name: int) -> None:
            for i in range(20):
                journal.append({"thread": name, "i": i, "text": "x" * 500})

        threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        records = list(journal.records)
    assert len(records) == len(journal) == 80
    assert max(most) == 1, "one append at a time"
    for name in range(4):
        assert [r["i"] for r in records if r["thread"] == name] == list(range(20))


def test_a_full_disk_cuts_back_and_ends_the_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = Journal.open(tmp_path / "j")
    journal.append(RECORDS[0])
    write = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: write(fd, data[:5]))
    with pytest.raises(JournalError, match="only 5 of"):
        journal.append(RECORDS[1])
    monkeypatch.undo()
    with pytest.raises(JournalError, match="could not be written"):
        journal.append(RECORDS[1])
    journal.close()
    assert (tmp_path / "j").read_bytes() == LINES[0]


def test_a_closed_journal_refuses(tmp_path: Path) -> None:
    journal = Journal.open(tmp_path / "j")
    journal.close()
    journal.close()
    with pytest.raises(JournalError, match="is closed"):
        journal.append({})


@pytest.mark.usefixtures("unsynced")
def test_reading_20000_records_needs_bounded_memory(tmp_path: Path) -> None:
    path = tmp_path / "j"
    with path.open("wb") as file:
        file.writelines(encode({"step": i, "pad": f"{i:06d}" * 25}) for i in range(20_000))
    assert path.stat().st_size > 3_000_000
    tracemalloc.start()
    try:
        with Journal.open(path) as journal:
            total = sum(record["step"] for record in journal.records)
            peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert total == sum(range(20_000))
    assert peak < 500_000, f"{peak} bytes at once for a file of {path.stat().st_size}"

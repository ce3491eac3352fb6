"""What every embedder promises. One that cannot run here is skipped with its own sentence."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ace_bench.llm.embedders import similar_pairs
from ace_bench.llm.embedders.base import unit
from ace_bench.llm.embedders.lexical import LexicalEmbedder
from ace_bench.llm.embedders.minilm import MinilmEmbedder
from ace_bench.llm.embedders.mpnet import MpnetEmbedder
from ace_bench.llm.embedders.wordllama import WordllamaEmbedder

CLASSES: dict[str, Any] = {
    "lexical": LexicalEmbedder, "wordllama": WordllamaEmbedder, "minilm": MinilmEmbedder, "mpnet": MpnetEmbedder,
}  # fmt: skip
TEXTS = ["Round percentages to one decimal place.", "Log in before the call.", "Log in before the call.", "é" * 40]
NASTY = ["", " \n\t", "\ud83d lone", "\0", "😀😀", "…", "x" * 5000, "word " * 2000, "1,250.00 $ % ≤", "汉字"]
EDITS = [
    ("Round percentages to one decimal place.", "Round all percentages to one decimal place."),
    ("Interest on bonds counts as debt interest.", "Interest on bonds is counted as debt interest."),
    ("Negative numbers are shown in brackets.", "Negative numbers are displayed in brackets."),
]
UNRELATED = [
    ("Round percentages to one decimal place.", "The ferry leaves at noon on Sundays."),
    ("Interest on bonds counts as debt interest.", "Her bicycle has a flat rear tire."),
    ("Prefer the most recent filing.", "Add salt to the soup at the end."),
]


@pytest.fixture(params=sorted(CLASSES), scope="module")
def embedder(request: pytest.FixtureRequest) -> Any:
    cls = CLASSES[request.param]
    # mpnet reads a folder that the user names; here one may be named for the tests.
    extra = {"path": Path(os.environ.get("ACE_BENCH_MPNET", "no-such-folder"))} if request.param == "mpnet" else {}
    settings = cls.Settings(**extra)
    if problem := cls.missing(settings):
        pytest.skip(f"{request.param}: {problem}")
    return cls(settings)


def rows(embedder: Any, texts: list[str]) -> Any:
    return embedder.embed(texts)[0]


def cosines(embedder: Any, pairs: list[tuple[str, str]]) -> list[float]:
    one, two = rows(embedder, [a for a, _ in pairs]), rows(embedder, [b for _, b in pairs])
    return [float(x) for x in (one.astype(float) * two.astype(float)).sum(1)]


def test_unit_rows_of_one_length_for_any_text(embedder: Any) -> None:
    got = rows(embedder, TEXTS + NASTY)
    assert got.dtype == np.float32
    assert got.shape == (len(TEXTS + NASTY), got.shape[1])
    assert np.abs(np.linalg.norm(got.astype(float), axis=1) - 1).max() < 1e-6


def test_the_vector_of_a_text_depends_on_nothing_but_the_text(embedder: Any) -> None:
    batch = rows(embedder, TEXTS + NASTY)
    for i, text in enumerate(TEXTS + NASTY):
        assert rows(embedder, [text])[0].tobytes() == batch[i].tobytes()


def test_threads_get_the_same_bits(embedder: Any) -> None:
    want = rows(embedder, TEXTS).tobytes()
    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(lambda _: rows(embedder, TEXTS).tobytes(), range(8))) == {want}


SCRIPT = """
import hashlib, importlib, json, pathlib, socket, sys
def closed(*a, **k): raise OSError("no network here")
socket.socket.connect = socket.getaddrinfo = closed
cls = getattr(importlib.import_module(sys.argv[1]), sys.argv[2])
made = cls(cls.Settings(**({"path": pathlib.Path(sys.argv[3])} if sys.argv[3] else {})))
print(made.id, hashlib.sha256(made.embed(json.loads(sys.argv[4]))[0].tobytes()).hexdigest())
"""


def test_another_process_without_a_network_gets_the_same_bits(embedder: Any) -> None:
    kind, path = type(embedder), getattr(embedder.settings, "path", None)
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT, kind.__module__, kind.__name__, str(path or ""), json.dumps(TEXTS)],
        capture_output=True, text=True, check=False, env={**os.environ, "PYTHONHASHSEED": "77"},
    )  # fmt: skip
    assert run.returncode == 0, run.stderr[-2000:]
    want = hashlib.sha256(rows(embedder, TEXTS).tobytes()).hexdigest()
    assert run.stdout.split() == [embedder.id, want]


def test_its_threshold_is_on_its_scale(embedder: Any) -> None:
    threshold = embedder.settings.threshold
    assert np.mean(cosines(embedder, EDITS)) >= threshold
    assert max(cosines(embedder, UNRELATED)) < threshold / 2
    assert embedder.scale


def test_local_ones_cost_no_tokens_and_have_a_name_with_a_version(embedder: Any) -> None:
    _, usage = embedder.embed(["a text"])
    assert (usage.input, usage.output, embedder.endpoint) == (0, 0, "local")
    assert len(embedder.id.split("/")) >= 2


@pytest.mark.skipif(WordllamaEmbedder.missing(WordllamaEmbedder.Settings()) is not None, reason="wordllama is absent")
def test_wordllama_read_from_its_files_is_what_the_library_computes() -> None:
    # In a process of its own: importing the library sets up the root logger.
    script = (
        "import sys, json, wordllama, pathlib\n"
        "m = wordllama.WordLlama.load(cache_dir=pathlib.Path(wordllama.__file__).parent, disable_download=True)\n"
        "print(json.dumps(m.embed(json.loads(sys.argv[1]), norm=True).tolist()))"
    )
    run = subprocess.run([sys.executable, "-c", script, json.dumps(TEXTS)], capture_output=True, text=True, check=True)
    ours = rows(WordllamaEmbedder(WordllamaEmbedder.Settings()), TEXTS)
    assert np.abs(np.asarray(json.loads(run.stdout)) - ours).max() < 1e-6


def test_weights_that_are_not_there_or_not_official_are_a_sentence(tmp_path: Path) -> None:
    settings = MinilmEmbedder.Settings(path=tmp_path)
    assert "holds no model.safetensors" in str(MinilmEmbedder.missing(settings))
    (tmp_path / "model.safetensors").write_bytes(b"other")
    assert "not the official file" in str(MinilmEmbedder.missing(settings))
    with pytest.raises(RuntimeError, match="not the official file"):
        MinilmEmbedder(settings)


def test_an_absent_package_is_a_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert "ace-bench[wordllama]" in str(WordllamaEmbedder.missing(WordllamaEmbedder.Settings()))
    assert "ace-bench[mpnet]" in str(MpnetEmbedder.missing(MpnetEmbedder.Settings(path=tmp_path)))
    assert "ace-bench[minilm]" in str(MinilmEmbedder.missing(MinilmEmbedder.Settings()))


def test_mpnet_reads_the_folder_and_downloads_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The wiring, with a stand-in for the library (torch is no part of the tests)."""
    asked: list[Any] = []

    class SentenceTransformer:
        def __init__(self, folder: str, **options: Any) -> None:
            asked.append((folder, options))

        def encode(self, texts: list[str], **options: Any) -> Any:
            asked.append(texts)
            return np.full((1, 4), 2.0)

    module = type(sys)("sentence_transformers")
    module.SentenceTransformer = SentenceTransformer  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: object())
    monkeypatch.setattr("importlib.metadata.version", lambda name: "9.9")
    settings = MpnetEmbedder.Settings(path=tmp_path)
    assert "holds no model.safetensors" in str(MpnetEmbedder.missing(settings))
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    made = MpnetEmbedder(settings)
    got, _ = made.embed(["a", "b"])
    assert got.tolist() == [[0.5] * 4] * 2
    assert made.id == f"mpnet/9.9/{hashlib.sha256(b'weights').hexdigest()[:32]}"
    assert asked == [(str(tmp_path), {"device": "cpu", "local_files_only": True}), ["a"], ["b"]]


def test_pairs_are_those_from_the_floor_on_each_once() -> None:
    vectors = unit([[1, 0], [1, 0], [1, 1], [0, 1]])
    found = similar_pairs(["a", "b", "c", "d"], vectors, 0.5)
    assert found == [("a", "b", 1.0), ("a", "c", 0.707107), ("b", "c", 0.707107), ("c", "d", 0.707107)]
    assert len(similar_pairs(["a", "b", "c", "d"], vectors, -1.0)) == 6
    assert similar_pairs([], np.zeros((0, 0)), 0.0) == similar_pairs(["a"], unit([[1, 0]]), -1.0) == []
    with pytest.raises(ValueError, match="as many rows"):
        similar_pairs(["a", "b"], vectors, 0.0)


def test_pairs_do_not_depend_on_the_block_size(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = unit(np.random.default_rng(0).normal(size=(50, 8)))
    ids = [str(i) for i in range(50)]
    whole = similar_pairs(ids, vectors, 0.2)
    monkeypatch.setattr("ace_bench.llm.embedders.similar._BLOCK", 7)
    assert similar_pairs(ids, vectors, 0.2) == whole


def test_vectors_that_are_none_are_refused() -> None:
    with pytest.raises(ValueError, match="finite"):
        unit([[1.0, float("nan")]])
    assert unit([[0.0, 0.0]]).tolist() == [[1.0, 0.0]]

"""Texts: once, under their digest, checked on the way out; and the escape that carries surrogates into Parquet."""

from __future__ import annotations

import hashlib
import zlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ace_bench.store import TextError, Texts, escape_text, unescape_text
from ace_bench.store import texts as texts_module

ANY = st.text(st.characters(exclude_categories=()), max_size=30)  # surrogates too
ATOMS = ["\\", "u", "d83d", "ud83d", "\ud83d", "\udc00", "\udfff", "D83D", "d", "é", "😀"]
PIECES = st.lists(st.sampled_from(ATOMS), max_size=12)


def digest_of(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@pytest.mark.parametrize("text", ["", "plain", "\ud83d", "a\x00b", "é", "e\u0301", "line\r\nline", "😀" * 1000])
def test_a_text_comes_back_under_its_digest(tmp_path: Path, text: str) -> None:
    texts = Texts(tmp_path / "texts")
    assert texts.put(text) == digest_of(text)
    assert Texts(tmp_path / "texts").get(digest_of(text)) == text
    assert digest_of(text) in texts


def test_any_text_comes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts_module, "write_atomic", lambda path, data: path.write_bytes(data))  # fast

    @settings(max_examples=60, deadline=None)
    @given(ANY)
    def holds(text: str) -> None:
        digest = Texts(tmp_path).put(text)
        assert digest == digest_of(text)
        assert Texts(tmp_path).get(digest) == text

    holds()


def test_a_known_text_is_not_written_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writes: list[Path] = []
    real = texts_module.write_atomic
    monkeypatch.setattr(texts_module, "write_atomic", lambda path, data: (writes.append(path), real(path, data)))
    texts = Texts(tmp_path)
    for text in ("a", "a", "b"):
        texts.put(text)
    Texts(tmp_path).put("b")
    assert len(writes) == 2
    assert len(list(tmp_path.iterdir())) == 2, "no temporary file stays"


def test_texts_are_small_on_disk(tmp_path: Path) -> None:
    digest = Texts(tmp_path).put("the same words again. " * 5000)
    assert (tmp_path / f"{digest}.z").stat().st_size < 2000


@pytest.mark.parametrize("damage", [b"", b"not zlib", zlib.compress(b"another text")])
def test_a_damaged_text_is_an_error(tmp_path: Path, damage: bytes) -> None:
    texts = Texts(tmp_path)
    digest = texts.put("text")
    (tmp_path / f"{digest}.z").write_bytes(damage)
    with pytest.raises(TextError, match="is damaged"):
        texts.get(digest)


def test_an_absent_text_and_a_false_digest_are_errors(tmp_path: Path) -> None:
    texts = Texts(tmp_path)
    with pytest.raises(TextError, match="is not in"):
        texts.get("0" * 64)
    with pytest.raises(TextError, match="not a text digest"):
        texts.get("../../etc/passwd")
    assert "0" * 64 not in texts
    assert "../x" not in texts


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("plain \\ back\\slash \\u0041 \\uD83D 😀", "plain \\ back\\slash \\u0041 \\uD83D 😀"),
        ("\ud83d", "\\ud83d"),
        ("\\ud83d", "\\\\ud83d"),
        ("\\\ud83d", "\\\\\\ud83d"),
        ("\\\\\ud83d\ude00", "\\\\\\\\\\ud83d\\ude00"),
    ],
)
def test_escape_by_example(text: str, escaped: str) -> None:
    assert escape_text(text) == escaped
    assert unescape_text(escaped) == text


@settings(max_examples=200, deadline=None)
@given(st.one_of(ANY, PIECES.map("".join)), st.one_of(ANY, PIECES.map("".join)))
def test_the_escape_is_reversible_and_keeps_texts_apart(one: str, two: str) -> None:
    escaped = escape_text(one)
    escaped.encode()
    assert unescape_text(escaped) == one
    assert (escaped == escape_text(two)) is (one == two)

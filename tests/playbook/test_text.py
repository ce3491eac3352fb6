"""The text form is lossless both ways, on nasty text and on the published playbooks."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ace_bench.playbook import Bullet, Playbook, parse, render

from .strategies import nasty, playbooks

few = settings(max_examples=70, deadline=None)


def held_by_text(playbook: Playbook) -> Playbook:
    """What the text form holds of a playbook that has bullets (see docs/playbook.md)."""
    number = max((b.number for b in playbook.bullets), default=0) + 1
    counters = playbook.counters or not playbook.bullets
    return replace(playbook, version=0, applied_events=frozenset(), next_id=number, counters=counters)


@few
@given(playbooks())
def test_parse_inverts_render(playbook):
    assert parse(render(playbook)) == held_by_text(playbook)


@few
@given(nasty)
def test_a_content_survives_alone_in_both_dialects(content):
    for counters in (True, False):
        book = replace(Playbook.of([Bullet("abc-00001", content, section="S")]), counters=counters)
        (back,) = parse(render(book)).bullets
        assert back == book.bullets[0]
        assert back.tail == ""


def readable(text: str) -> Playbook | None:
    try:
        return parse(text)
    except ValueError:
        return None


@few
@given(nasty)
def test_reading_any_text_settles_after_one_pass(text):
    once = readable(text)
    if once is None:
        with pytest.raises(ValueError, match=r"^Line \d+ of the playbook text: "):
            parse(text)
    else:
        assert parse(render(once)) == once


plain = st.sampled_from(
    ["", "two words", "# one", "### three", "##four", "\\frac{a}", "\\\\", "- [x] done", " [abc-00001] in", "a\r"]
)


@st.composite
def ordinary_texts(draw: st.DrawFn) -> str:
    """Text as someone else wrote it: unique headers and ids, free lines between, in either dialect."""
    lines = draw(st.lists(plain, max_size=2))
    counters = draw(st.sampled_from(["", "helpful=3 harmful=0 :: "]))
    for number in range(draw(st.integers(0, 6))):
        head = f"## Head {number}:" if draw(st.booleans()) else f"[vc-{number + 1:05d}] {counters}{draw(plain)}"
        lines += [head, *draw(st.lists(plain, max_size=3))]
    return "\n".join(lines)


@few
@given(ordinary_texts())
def test_render_inverts_parse_on_ordinary_text(text):
    assert render(parse(text)) == text


def test_ordinary_text_is_left_alone():
    text = "Intro line.\n\n## A:\n\n[abc-00001] one\n  two\n# three\n### four\n\\frac{1}{2}\n\n\n"
    text += "## B\nnote\n## C\n[vc-00007] x"
    book = parse(text)
    assert render(book) == text
    assert book.sections == ("A:", "B", "C")
    assert book.bullets[0].content == "one\n  two\n# three\n### four\n\\frac{1}{2}"
    assert book.preamble == "Intro line.\n\n"
    assert (book.next_id, book.counters, book.final_newline) == (8, False, False)


def test_marks_inside_a_content_are_escaped_and_only_they():
    book = Playbook.of([Bullet("abc-00001", "a\n## b\n[abc-00002] c\n#d\n\\## e\n", section="S")])
    assert render(book) == "## S\n[abc-00001] helpful=0 harmful=0 :: a\n\\## b\n\\[abc-00002] c\n#d\n\\\\## e\n\\\n"
    assert render(book, counters=False).startswith("## S\n[abc-00001] a\n")


def test_bullets_before_any_header_are_not_lost():
    book = parse("hello\n[abc-00004] helpful=2 harmful=1 :: x\n## S\n")
    assert book.preamble == "hello\n"
    assert book.sections == ("", "S")
    assert book.get("abc-00004") == Bullet("abc-00004", "x", 2, 1, section="")


def test_loose_spacing_of_counters_is_read():
    assert parse("[abc-00001]  helpful=2\tharmful=1:: x").bullets == (Bullet("abc-00001", "x", 2, 1, section=""),)


def test_a_header_given_twice_is_one_section():
    book = parse("## A\n[abc-00001] x\n## B\n## A\n[abc-00002] y\n")
    assert book.sections == ("A", "B")
    assert [b.content for b in book.by_section("A")] == ["x", "y"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("## A\n[abc-00001] x\n[abc-00001] y\n", ["Line 3", "abc-00001", "line 2"]),
        ("## A\n[Odd id] helpful=1 harmful=0 :: x\n", ["Line 2", "Odd id", "slug-00001"]),
    ],
)
def test_unusable_ids_are_named_with_their_line(text, words):
    with pytest.raises(ValueError, match="Line") as error:
        parse(text)
    assert all(word in str(error.value) for word in words)


def test_an_id_that_leaves_no_room_for_fresh_ones_is_refused():
    with pytest.raises(ValueError, match="smaller numbers"):
        parse("[abc-999999999999999] x")


def published() -> list[Path]:
    folder = os.environ.get("ACE_BENCH_DATA")
    return sorted((Path(folder) / "playbooks").glob("*.txt")) if folder else []


@pytest.mark.skipif("ACE_BENCH_DATA" not in os.environ, reason="ACE_BENCH_DATA is unset: no published playbooks here")
def test_published_playbooks_come_back_byte_for_byte():
    assert published(), "ACE_BENCH_DATA/playbooks holds no .txt file"
    for path in published():
        text = path.read_bytes().decode("utf-8")
        book = parse(text)
        lines = [line for line in text.split("\n") if line.startswith("[")]
        assert render(book).encode() == path.read_bytes()
        assert len(book) == len(lines) > 0
        assert book.next_id == 1 + max(b.number for b in book)
        assert book.sections == tuple(line[3:] for line in text.split("\n") if line.startswith("## "))
        with_counters = parse(render(book, counters=True))
        assert render(with_counters, counters=False) == text

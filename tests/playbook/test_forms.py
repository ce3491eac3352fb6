"""Values, JSON form, capacity, dedup, slugs."""

import copy
import json
import pickle
import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ace_bench.playbook import (
    DEFAULT_SECTIONS,
    Add,
    Bullet,
    Delta,
    Playbook,
    apply,
    dedup_exact,
    evict,
    fresh_id,
    from_json,
    parse,
    render,
    section_key,
    slug,
    to_json,
)

from .strategies import nasty, playbooks

few = settings(max_examples=35, deadline=None)


@few
@given(playbooks(), st.frozensets(st.text(max_size=3), max_size=3), st.integers(0, 5))
def test_json_form_is_lossless(playbook, events, extra):
    buried = (Bullet("gone-100000", "old", 1, 2, section="X"),)
    full = replace(
        playbook, version=extra, next_id=100_001 + extra, graveyard=buried,
        applied_events=frozenset(e.encode("utf-8", "replace").decode() for e in events),
    )  # fmt: skip
    text = json.dumps(to_json(full), ensure_ascii=True)
    assert from_json(json.loads(text)) == full
    assert render(from_json(json.loads(text))) == render(full)


def damaged(**changes):
    return {**to_json(Playbook.of([Bullet("abc-00001", "x", section="S")])), **changes}


BULLET = {"id": "abc-00001", "content": "x", "helpful": 0, "harmful": 0, "section": "S", "tail": ""}


@pytest.mark.parametrize(
    "raw",
    [
        None,
        {},
        damaged(extra=1),
        damaged(format=2),
        damaged(version=-1),
        damaged(version=True),
        damaged(version="1"),
        damaged(next_id=1),
        damaged(sections="S"),
        damaged(sections=[1]),
        damaged(sections=["S", "S"]),
        damaged(sections=["T"]),
        damaged(sections=["a\nb", "S"]),
        damaged(intros=[["S"]]),
        damaged(intros=[["S", "no newline"]]),
        damaged(intros=[["T", "x\n"]]),
        damaged(bullets=[1]),
        damaged(bullets=[{**BULLET, "helpful": 1.0}]),
        damaged(bullets=[{**BULLET, "helpful": True}]),
        damaged(bullets=[{**BULLET, "helpful": -1}]),
        damaged(bullets=[{**BULLET, "id": "A 1"}]),
        damaged(bullets=[{**BULLET, "tail": "x\n"}]),
        damaged(bullets=[{**BULLET, "more": 1}]),
        damaged(bullets=[BULLET, BULLET]),
        damaged(graveyard=[BULLET]),
    ],
)
def test_json_form_is_strict(raw):
    with pytest.raises(ValueError, match=r"\.$"):
        from_json(raw)


@few
@given(playbooks())
def test_a_playbook_is_a_value(playbook):
    again = pickle.loads(pickle.dumps(playbook))
    assert again == playbook == copy.deepcopy(playbook)
    assert hash(again) == hash(playbook)
    assert again.digest == playbook.digest
    assert re.fullmatch("[0-9a-f]{64}", playbook.digest)
    assert all(playbook.get(b.id) is b and b.id in playbook for b in playbook)
    assert tuple(b for name in playbook.sections for b in playbook.by_section(name)) == playbook.bullets
    assert playbook.get("no-000") is None


def test_split_surrogate_halves_are_one_character():
    assert Bullet("abc-00001", "\ud83d\ude00", section="S") == Bullet("abc-00001", "😀", section="S")
    assert Bullet("abc-00001", "\ud83d", section="S").content == "\ud83d"


@few
@given(nasty)
def test_fresh_ids_can_be_found_again(name):
    assert re.fullmatch(r"[a-z]{3,}-\d{5,}", fresh_id(name, 12))
    assert fresh_id(name, 123456).endswith("-123456")


def test_slugs_of_the_default_sections():
    assert [slug(name) for name in DEFAULT_SECTIONS] == ["str", "for", "cst", "cma", "psh", "cci", "oth"]
    assert [slug(name) for name in ("", "A", "été", "说", "APIs TO USE FOR SPECIFIC INFORMATION")] == [
        "sec", "axx", "ete", "sec", "ausi",
    ]  # fmt: skip


def test_section_keys_tell_different_names_apart():
    assert len({section_key(name) for name in (*DEFAULT_SECTIONS, "and", "!!!", "???", "说")}) == 11


@few
@given(playbooks(), st.integers(0, 8), st.sampled_from(["oldest", "least_helpful"]))
def test_evict_keeps_the_best_and_names_each_loss(playbook, limit, rule):
    after, changes = evict(playbook, max_bullets=limit, rule=rule)
    assert len(after) == min(limit, len(playbook))
    assert {c.id for c in changes} | set(after.by_id) == set(playbook.by_id)
    assert len(changes) + len(after) == len(playbook)
    assert all(c.kind == "evicted" and c.before is playbook.get(c.id) and c.after is None for c in changes)
    assert all(after.get(b.id) is b for b in after)
    assert after.version == playbook.version + bool(changes)
    worth = (lambda b: b.number) if rule == "oldest" else (lambda b: b.helpful - b.harmful)
    if changes and len(after):
        assert max(worth(c.before) for c in changes) <= min(worth(b) for b in after)


@few
@given(playbooks(), st.integers(0, 400))
def test_evict_by_bytes_removes_just_enough(playbook, limit):
    def size(book):
        return len(render(book).encode("utf-8", "surrogatepass"))

    bare = playbook.revised(())
    if size(bare) > limit:
        if size(playbook) > limit:
            with pytest.raises(ValueError, match="max_bytes"):
                evict(playbook, max_bytes=limit)
        return
    after, changes = evict(playbook, max_bytes=limit)
    assert size(after) <= limit
    if changes:
        one_more = playbook.revised(b for b in playbook if b.id in after or b.id == changes[-1].id)
        assert size(one_more) > limit


def test_evict_by_bytes_counts_the_newline_that_comes_back():
    book = parse("## S\n[abc-00002] b\n\n[abc-00001] a")  # no newline at the end, but one before the last bullet
    assert len(evict(book, max_bytes=20).playbook) == 1
    assert render(evict(book, max_bytes=19).playbook) == "## S"


@pytest.mark.parametrize("fields", [{}, {"max_bullets": -1}, {"max_bullets": 1, "rule": "luck"}])
def test_evict_refuses_senseless_settings(fields):
    with pytest.raises(ValueError, match=r"\."):
        evict(Playbook.empty(), **fields)


small = st.sampled_from(["a", "b", "a "])


@few
@given(playbooks(content=small, counters=True), st.randoms(use_true_random=False))
def test_dedup_conserves_counters_and_ignores_order(playbook, random):
    playbook = playbook.revised(replace(b, helpful=b.helpful % 9, harmful=b.harmful % 9) for b in playbook)
    after, changes = dedup_exact(playbook)
    assert {b.content for b in after} == {b.content for b in playbook}
    assert len({b.content for b in after}) == len(after)
    for field in ("helpful", "harmful"):
        assert sum(getattr(b, field) for b in after) == sum(getattr(b, field) for b in playbook)
    assert all(c.kind == "merged_into" and after.get(c.into).content == c.before.content for c in changes)
    assert len(after) + len({c.id for c in changes}) == len(playbook) == len(after) + len(changes)
    shuffled = list(playbook)
    random.shuffle(shuffled)
    assert dedup_exact(playbook.revised(shuffled)).playbook.by_id == after.by_id
    assert dedup_exact(after).playbook is after


def test_one_addition_reuses_every_other_bullets_text():
    adds = tuple(Add("OTHERS", f"lesson {i}") for i in range(500))
    book = apply(Playbook.empty(), Delta(adds, 0)).playbook
    before = {b.id: b.text() for b in book}
    after = apply(book, Delta.on(book, [Add("STRATEGIES & INSIGHTS", "new")])).playbook
    assert all(after.get(i) is book.get(i) and after.get(i).text() is text for i, text in before.items())
    assert after.render() is after.render()

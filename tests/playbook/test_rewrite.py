"""Identity across rewriting."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ace_bench.playbook import Bullet, Playbook, from_json, parse, rewrite, to_json

from .strategies import playbooks

few = settings(max_examples=40, deadline=None)
contents = st.sampled_from(["a", "b", "c", "d\n## e", "f"])
entries = st.lists(st.tuples(st.sampled_from(["OTHERS", "others", "NEW", "café"]), contents), max_size=7)


def book() -> Playbook:
    return parse(
        "## A\n[abc-00001] helpful=3 harmful=0 :: x\n[abc-00002] helpful=0 harmful=1 :: y\n"
        "## B\n[abc-00003] helpful=5 harmful=5 :: x\n"
    )


def kinds(result):
    return [(c.kind, c.id) for c in result.changes]


@few
@given(playbooks(content=contents), entries)
def test_the_text_is_what_the_rewrite_said_and_every_bullet_has_a_fate(playbook, new):
    after, changes, rejected = rewrite(playbook, new)
    assert Counter(b.content for b in after) == Counter(content for _, content in new)
    assert rejected == ()
    fate = {c.id: c.kind for c in changes}
    assert len(fate) == len(changes)
    for old in playbook:
        assert (old.id in after) != (fate.get(old.id) == "rewritten_away")
        if old.id in after:
            now = after.get(old.id)
            assert (now.content, now.helpful, now.harmful, now.tail) == (
                old.content,
                old.helpful,
                old.harmful,
                old.tail,
            )
    kept = Counter(b.content for b in playbook) & Counter(content for _, content in new)
    assert sum(b.id in playbook for b in after) == kept.total()
    assert {b.id for b in after if b.id not in playbook} == {i for i, kind in fate.items() if kind == "born"}
    assert {b.id for b in after.graveyard} == {i for i, kind in fate.items() if kind == "rewritten_away"}
    assert from_json(to_json(after)) == after


@few
@given(playbooks(content=contents), entries)
def test_going_back_restores_every_identity(playbook, new):
    away = rewrite(playbook, new).playbook
    back, changes, _ = rewrite(away, [(b.section, b.content) for b in playbook if b.section])
    kept = Counter(b.content for b in playbook if b.section)
    if all(b.section for b in playbook):
        assert Counter(b.content for b in back) == kept
        assert not [c for c in changes if c.kind == "born"]
    known = {b.id for b in (*away, *away.graveyard)}
    assert all(b.id in known for b in back)
    assert all(b.id not in {g.id for g in back.graveyard} for b in back)


@few
@given(playbooks(content=contents), entries, st.data())
def test_what_was_not_exposed_stays_in_place(playbook, new, data):
    exposed = data.draw(st.sets(st.sampled_from([*playbook.by_id]))) if len(playbook) else set()
    after, changes, _ = rewrite(playbook, new, exposed)
    hidden = [b for b in playbook if b.id not in exposed]
    assert [b for b in after if b.id in {h.id for h in hidden}] == hidden
    assert all(after.get(b.id) is b for b in hidden)
    assert not {b.id for b in hidden} & {c.id for c in changes}
    assert Counter(b.content for b in after) == Counter(b.content for b in hidden) + Counter(c for _, c in new)
    assert {c.id for c in changes if c.kind == "rewritten_away"} == exposed - set(after.by_id)


def test_same_section_wins_over_earlier_entries_elsewhere():
    result = rewrite(book(), [("C", "x"), ("A", "x"), ("A", "z")])
    assert [(b.section, b.id, b.helpful) for b in result.playbook] == [
        ("A", "abc-00001", 3),
        ("A", "axx-00004", 0),
        ("C", "abc-00003", 5),
    ]
    assert kinds(result) == [("rewritten_away", "abc-00002"), ("edited", "abc-00003"), ("born", "axx-00004")]


def test_a_third_copy_is_born():
    result = rewrite(book(), [("A", "x"), ("A", "x"), ("A", "x"), ("A", "y")])
    assert [b.id for b in result.playbook] == ["abc-00001", "abc-00003", "axx-00004", "abc-00002"]


def test_content_that_comes_back_has_its_old_id_and_counters():
    away = rewrite(book(), [("A", "x"), ("B", "x")]).playbook
    assert [b.id for b in away.graveyard] == ["abc-00002"]
    result = rewrite(away, [("A", "x"), ("B", "x"), ("B", "y")])
    assert result.playbook.get("abc-00002") == Bullet("abc-00002", "y", 0, 1, section="B")
    assert kinds(result) == [("restored", "abc-00002")]
    assert result.playbook.graveyard == ()


def test_an_identical_rewrite_is_no_new_version():
    same = [(b.section, b.content) for b in book()]
    start = book()
    assert rewrite(start, same) == (start, (), ())
    assert rewrite(start, list(reversed(same))).playbook.version == 1


def test_partial_rewrite_keeps_places():
    result = rewrite(book(), [("B", "new"), ("A", "y")], exposed=["abc-00002", "abc-00003"])
    assert [(b.id, b.content) for b in result.playbook] == [
        ("abc-00001", "x"),
        ("abc-00002", "y"),
        ("bxx-00004", "new"),
    ]
    assert kinds(result) == [("rewritten_away", "abc-00003"), ("born", "bxx-00004")]


def test_empty_entries_are_reported_and_unknown_exposure_refused():
    result = rewrite(book(), [("A", " "), ("", "z")])
    assert [r.reason for r in result.rejected] == ["empty_content", "empty_section"]
    with pytest.raises(ValueError, match="zzz-00009"):
        rewrite(book(), [], exposed=["zzz-00009"])

"""The merge contract, line by line."""

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ace_bench.playbook import (
    Add,
    Bullet,
    Delta,
    Merge,
    Playbook,
    Rejection,
    Remove,
    Tag,
    Update,
    apply,
    operation_from,
    parse,
    render,
    section_key,
)
from ace_bench.playbook.delta import targets

from .strategies import operations, playbooks

few = settings(max_examples=40, deadline=None)


def book() -> Playbook:
    return parse(
        "## PROBLEM-SOLVING HEURISTICS\n[psh-00003] helpful=1 harmful=2 :: a\n\n[psh-00005] helpful=4 harmful=0 :: b\n"
        "## OTHERS\n[oth-00004] helpful=0 harmful=0 :: c\n"
    )


def run(playbook, *operations_, **fields):
    return apply(playbook, replace(Delta.on(playbook, operations_), **fields))


@st.composite
def book_and_delta(draw):
    playbook = draw(playbooks(content=st.sampled_from(["a", "b", "c\n## d"])))
    proposals = draw(st.lists(operations(playbook), max_size=8))
    malformed = draw(st.lists(st.sampled_from([None, {}, {"type": "x"}]).map(operation_from), max_size=2))
    shift = draw(st.sampled_from([0, 0, 1]))
    delta = Delta.on(playbook, [*malformed, *proposals])
    expected = draw(st.sampled_from([delta.expected, {}]))
    return playbook, replace(delta, base_version=delta.base_version + shift, expected=expected)


@few
@given(book_and_delta())
def test_every_operation_is_applied_or_rejected_and_nothing_else_moves(case):
    before, delta = case
    frozen = render(before)
    result = apply(before, delta)
    after = result.playbook
    assert len(result.applied) + len(result.rejected) == delta.proposed
    assert [
        o for o in delta.operations if o in result.applied or any(r.operation is o for r in result.rejected)
    ] == list(delta.operations)
    assert all(r.reason and r.detail.endswith(".") for r in result.rejected)
    assert after.version == before.version + bool(result.applied)
    assert render(before) == frozen
    touched = {i for operation in result.applied for i in targets(operation)}
    kept = [b.id for b in before if b.id not in touched]
    assert [i for i in after.by_id if i in kept] == kept
    for i in kept:
        assert after.get(i) is before.get(i)
        assert after.get(i).text() == before.get(i).text()
    named = [name for name in before.sections if name]  # the headerless section goes with its last bullet
    assert [name for name in after.sections if name][: len(named)] == named
    assert (after.preamble, after.intros, after.counters) == (before.preamble, before.intros, before.counters)


@few
@given(book_and_delta())
def test_changes_tell_the_whole_difference(case):
    before, delta = case
    result = apply(before, delta)
    told = dict(before.by_id)
    for change in result.changes:
        assert (change.before.id if change.before else change.id) == change.id
        if change.kind == "born":
            assert change.before is None
            told[change.id] = change.after
        elif change.after is None:
            assert change.kind in ("removed", "merged_into")
            gone = told.pop(change.id)
            if change.into:
                into = told[change.into]
                helpful, harmful = into.helpful + gone.helpful, into.harmful + gone.harmful
                told[change.into] = replace(into, helpful=min(helpful, 10**15 - 1), harmful=min(harmful, 10**15 - 1))
        else:
            told[change.id] = change.after
    assert told == result.playbook.by_id


@few
@given(book_and_delta(), book_and_delta())
def test_ids_are_fresh_and_never_reused(case, other):
    playbook, delta = case
    used = set(playbook.by_id)
    for step in (delta, replace(other[1], base_version=0), delta):
        result = apply(playbook, step)
        born = [c.id for c in result.changes if c.kind == "born"]
        assert len(set(born)) == len(born)
        assert not used & set(born)
        assert all(re.fullmatch(r"[a-z]{3,}-\d{5,}", i) for i in born)
        used |= set(born)
        playbook = result.playbook


adds = st.lists(
    st.builds(Add, st.sampled_from(["A", "a", "B c", "b_c", "OTHERS"]), st.sampled_from(["x", "y", "## z"])), max_size=4
)


@few
@given(adds, adds)
def test_disjoint_additions_commute(first, second):
    start = book()
    one, two = Delta.on(start, first), Delta.on(start, second)

    def lessons(*deltas):
        playbook = start
        for delta in deltas:
            result = apply(playbook, delta)
            assert len(result.applied) == len(delta.operations)
            playbook = result.playbook
        return sorted((section_key(b.section), b.content) for b in playbook)

    assert lessons(one, two) == lessons(two, one)
    assert len(lessons(one, two)) == 3 + len(first) + len(second)


def test_an_event_is_counted_once_in_one_delta_and_across_deltas():
    tag = Tag("psh-00003", "helpful", "e1")
    first = run(book(), tag, tag)
    assert first.playbook.get("psh-00003").helpful == 2
    assert [r.reason for r in first.rejected] == ["duplicate_event"]
    again = run(first.playbook, tag, replace(tag, tag="harmful"))
    assert [r.reason for r in again.rejected] == ["duplicate_event"] * 2
    assert again.playbook is first.playbook
    assert first.playbook.applied_events == {"e1"}


def test_neutral_counts_nothing_but_uses_up_its_event():
    result = run(book(), Tag("psh-00003", "neutral", "e1"))
    assert result.playbook.get("psh-00003") == book().get("psh-00003")
    assert result.playbook.applied_events == {"e1"}
    assert [c.kind for c in result.changes] == ["tagged"]


@pytest.mark.parametrize(
    "operation", [Update("psh-00003", "new"), Remove("psh-00003"), Merge(("psh-00005", "psh-00003"), "ab")]
)
def test_edits_on_a_stale_base_need_the_content_they_saw(operation):
    seen = Delta.on(book(), [operation])
    blind = replace(seen, expected={})
    moved = run(book(), Add("OTHERS", "d")).playbook
    assert apply(moved, seen).applied == (operation,)
    assert [r.reason for r in apply(moved, blind).rejected] == ["stale"]
    assert apply(book(), blind).applied == (operation,)
    edited = run(book(), Update("psh-00003", "a2")).playbook
    result = apply(edited, seen)
    assert [r.reason for r in result.rejected] == ["stale"]
    assert result.playbook is edited
    ahead = replace(blind, base_version=9)
    assert [r.reason for r in apply(book(), ahead).rejected] == ["stale"]
    gone = run(book(), Remove("psh-00003")).playbook
    assert [r.reason for r in apply(gone, seen).rejected] == ["unknown_id"]


def test_two_edits_of_one_bullet_on_a_stale_base_both_apply():
    seen = Delta.on(book(), [Update("psh-00003", "a2"), Update("psh-00003", "a3")])
    moved = run(book(), Add("OTHERS", "d")).playbook
    assert apply(moved, seen).playbook.get("psh-00003").content == "a3"


def test_merge_sums_each_counter_once_and_names_the_absorber():
    result = run(book(), Merge(("psh-00005", "psh-00003", "psh-00005", "psh-00003"), "ab"))
    assert result.playbook.get("psh-00005") == Bullet("psh-00005", "ab", 5, 2, section="PROBLEM-SOLVING HEURISTICS")
    assert [(c.kind, c.id, c.into) for c in result.changes] == [
        ("merged_into", "psh-00003", "psh-00005"),
        ("edited", "psh-00005", None),
    ]
    assert "psh-00003" not in result.playbook


def test_merge_can_move_to_another_section():
    result = run(book(), Merge(("psh-00003", "psh-00005"), "ab", "others"))
    assert [b.id for b in result.playbook.by_section("OTHERS")] == ["psh-00003", "oth-00004"]
    assert result.playbook.by_section("PROBLEM-SOLVING HEURISTICS") == ()


@pytest.mark.parametrize(
    ("operation", "reason"),
    [
        (Add(" ", "x"), "empty_section"),
        (Add("##", "x"), "empty_section"),
        (Add("NEW", "\n "), "empty_content"),
        (Update("psh-00003", ""), "empty_content"),
        (Update("psh-00003", "a"), "no_change"),
        (Update("psh-00009", "a"), "unknown_id"),
        (Remove("PSH-00003"), "unknown_id"),
        (Merge(("psh-00003",), "x"), "too_few_ids"),
        (Merge((), "x"), "too_few_ids"),
        (Merge(("psh-00003", "psh-00003"), "x"), "too_few_ids"),
        (Merge(("psh-00003", "psh-00009"), "x"), "unknown_id"),
        (Merge(("psh-00003", "psh-00005"), "x", "#"), "empty_section"),
        (Tag("psh-00009", "helpful", "e"), "unknown_id"),
        (Tag("psh-00003", "helpful", ""), "empty_event"),
        (Tag("psh-00003", "great", "e"), "bad_tag"),
    ],
)
def test_what_cannot_be_applied_is_rejected_and_changes_nothing(operation, reason):
    result = run(book(), operation)
    assert [r.reason for r in result.rejected] == [reason]
    assert result.playbook == book()
    assert result.changes == ()


@pytest.mark.parametrize(
    "name", ["problem_solving_heuristics", "Problem solving: heuristics", "## PROBLEM-SOLVING HEURISTICS"]
)
def test_section_spellings_find_the_section(name):
    result = run(book(), Add(name, "x"))
    assert result.playbook.sections == book().sections
    assert [b.content for b in result.playbook.by_section("PROBLEM-SOLVING HEURISTICS")] == ["a", "b", "x"]


def test_an_unknown_section_is_created_and_a_duplicate_content_accepted():
    result = run(book(), Add("brand  new\none", "x"), Add("BRAND_NEW_ONE", "x"), Add("others", "c"))
    assert result.playbook.sections == (*book().sections, "brand new one")
    assert [b.id for b in result.playbook.by_section("brand new one")] == ["bno-00006", "bno-00007"]
    assert [b.content for b in result.playbook.by_section("OTHERS")] == ["c", "c"]
    assert parse(render(result.playbook)).bullets == result.playbook.bullets


def test_a_number_is_not_used_again_after_its_bullet_is_removed():
    born = run(book(), Add("OTHERS", "x")).playbook
    gone = run(born, Remove("oth-00006")).playbook
    assert [b.id for b in run(gone, Add("OTHERS", "x")).playbook.by_section("OTHERS")] == ["oth-00004", "oth-00007"]


def test_a_playbook_with_text_before_the_first_header_takes_updates():
    result = run(parse("No header here"), Add("OTHERS", "x"))
    assert render(result.playbook) == "No header here\n## OTHERS\n[oth-00001] helpful=0 harmful=0 :: x\n"


MALFORMED = [
    (None, "not_an_object"),
    ("ADD", "not_an_object"),
    ([], "not_an_object"),
    ({}, "missing_field"),
    ({"type": None}, "missing_field"),
    ({"type": 3}, "wrong_type"),
    ({"type": "CREATE_META"}, "unknown_type"),
    ({"type": "ADD", "section": "A"}, "missing_field"),
    ({"type": "ADD", "section": ["A"], "content": "x"}, "wrong_type"),
    ({"type": "ADD", "section": "A", "content": {"x": 1}}, "wrong_type"),
    ({"type": "ADD", "section": " ", "content": "x"}, "empty_section"),
    ({"type": "ADD", "section": "A", "content": "\n"}, "empty_content"),
    ({"type": "UPDATE", "content": "x"}, "missing_field"),
    ({"type": "UPDATE", "id": 7, "content": "x"}, "wrong_type"),
    ({"type": "MERGE", "ids": "a-1", "content": "x"}, "wrong_type"),
    ({"type": "MERGE", "ids": ["a", 1], "content": "x"}, "wrong_type"),
    ({"type": "MERGE", "ids": ["a", "b"], "content": "x", "section": 1}, "wrong_type"),
    ({"type": "REMOVE"}, "missing_field"),
    ({"type": "TAG", "id": "a", "tag": "superb", "event": "e"}, "bad_tag"),
    ({"type": "TAG", "id": "a", "tag": True, "event": "e"}, "wrong_type"),
    ({"type": "TAG", "id": "a", "tag": "helpful"}, "missing_field"),
    ({1: 2, "type": "REMOVE", "id": {}}, "wrong_type"),
]


@pytest.mark.parametrize(("raw", "reason"), MALFORMED)
def test_malformed_operations_become_rejections(raw, reason):
    got = operation_from(raw)
    assert isinstance(got, Rejection)
    assert (got.reason, got.operation) == (reason, raw)


@pytest.mark.parametrize(
    ("raw", "operation"),
    [
        ({"type": " add ", "section": "A", "content": " x "}, Add("A", " x ")),
        ({"type": "Update", "id": "[abc-00001]", "content": "x"}, Update("abc-00001", "x")),
        ({"type": "merge", "ids": ["[a]", "b"], "content": "x"}, Merge(("a", "b"), "x")),
        ({"type": "DELETE", "bullet_id": "a"}, Remove("a")),
        ({"type": "Tag", "id": "a", "tag": "Helpful", "event": "theirs"}, Tag("a", "helpful", "ours")),
    ],
)
def test_tolerant_reading(raw, operation):
    assert operation_from(raw, event="ours") == operation


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
raw_operations = st.dictionaries(
    st.sampled_from(["type", "id", "ids", "section", "content", "tag", "event"]),
    json_values | st.sampled_from(["ADD", "UPDATE", "MERGE", "REMOVE", "TAG", "psh-00003"]),
)


@few
@given(st.lists(json_values | raw_operations, max_size=4))
def test_no_reply_of_a_model_can_raise(raws):
    delta = Delta.on(book(), map(operation_from, raws), source="curator")
    result = apply(book(), delta)
    assert len(result.applied) + len(result.rejected) == len(raws)

"""Semantic dedup (paper, Table 20; known faults B26 and R08) and its guard (review, 8.3)."""

import math
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ace_bench.playbook import Bullet, Playbook
from ace_bench.playbook.guard import difference
from ace_bench.playbook.semantic import Pair, dedup

S = "STRATEGIES"


def book(*texts: str, counters: tuple[tuple[int, int], ...] = ()) -> Playbook:
    pairs = counters or tuple((i, 1) for i in range(len(texts)))
    return Playbook.of(Bullet(f"str-{i + 1:05d}", text, *pairs[i], section=S) for i, text in enumerate(texts))


def ident(i: int) -> str:
    return f"str-{i + 1:05d}"


def totals(playbook: Playbook) -> tuple[int, int]:
    return sum(b.helpful for b in playbook), sum(b.harmful for b in playbook)


# B26: two equal and two near-equal bullets, and one of another matter.
NEAR = book("Round the rate.", "Round the rate.", "Read the unit.", "Look at the unit.", "Close the gate.")
COSINES: list[Pair] = [
    (ident(0), ident(1), 1.0), (ident(2), ident(3), 0.9), (ident(0), ident(2), 0.3), (ident(1), ident(2), 0.3),
    (ident(0), ident(3), 0.25), (ident(1), ident(3), 0.25), *((ident(i), ident(4), 0.05) for i in range(4)),
]  # fmt: skip


@pytest.mark.parametrize(
    ("threshold", "kept"), [(0.0, 1), (0.2, 2), (0.5, 3), (0.85, 3), (0.95, 4), (1.0, 4), (None, 5)]
)
def test_b26_every_threshold_acts_and_off_keeps_all(threshold: float | None, kept: int) -> None:
    after, changes = dedup(NEAR, COSINES, threshold)
    assert len(after) == kept == len(NEAR) - len(changes)
    assert totals(after) == totals(NEAR)
    assert {c.kind for c in changes} <= {"merged_into"}
    assert all(c.into in after and c.id not in after and c.before == NEAR.get(c.id) for c in changes)


def test_the_oldest_survives_with_its_own_text_and_the_counters_of_all() -> None:
    after, changes = dedup(NEAR, COSINES, 0.85)
    kept = after.get(ident(2))
    assert kept is not None
    assert (kept.content, kept.helpful, kept.harmful) == ("Read the unit.", 2 + 3, 2)
    assert [(c.id, c.into) for c in changes] == [(ident(1), ident(0)), (ident(3), ident(2))]


def test_r08_a_chain_is_split_once_and_nothing_is_counted_twice() -> None:
    chain = book("alpha", "beta", "gamma", counters=((1, 0), (2, 0), (4, 0)))
    links = [(ident(0), ident(2), 0.95), (ident(1), ident(2), 0.9)]
    after, changes = dedup(chain, links, 0.85)
    assert [(c.id, c.into) for c in changes] == [(ident(2), ident(0))]
    assert {b.id: b.helpful for b in after} == {ident(0): 5, ident(1): 2}


def test_a_chain_of_equal_links_does_not_draw_its_ends_together() -> None:
    chain = book("a", "b", "c", "d")
    links = [(ident(i), ident(i + 1), 0.9) for i in range(3)]
    after, _ = dedup(chain, links, 0.9)
    assert [b.id for b in after] == [ident(0), ident(2)]


def test_without_a_guard_a_contradiction_is_merged_and_with_it_kept() -> None:
    two = book("Always round to cents.", "Never round to cents.", "Always round to whole cents.")
    links = [(ident(0), ident(1), 0.99), (ident(1), ident(2), 0.98), (ident(0), ident(2), 0.97)]
    assert len(dedup(two, links, 0.9, guard=False).playbook) == 1
    assert [b.id for b in dedup(two, links, 0.9).playbook] == [ident(0), ident(1)]


@pytest.mark.parametrize(
    ("a", "b", "why"),
    [
        ("Always round up.", "Never round up.", "negation"),
        ("Rent is tagged as lease cost.", "Rent is not tagged as lease cost.", "negation"),
        ("Retry if it times out.", "Don't retry if it times out.", "negation"),
        ("Tag it as rent.", "Tag it as rent unless prepaid.", "negation"),
        ("Round to 2 decimals.", "Round to 3 decimals.", "number"),
        ("Round to two decimals.", "Round to three decimals.", "number"),
        ("Use the API of v3.11 here.", "Use the API of v3.12 here.", "number"),
        ("Works with 2.x only", "Works with 3.x only", "number"),
        ("Add 5 to it.", "Add -5 to it.", "number"),
        ("Use .5 as the rate.", "Use 5 as the rate.", "number"),
        ("Use 5 for A, 10 for B.", "Use 10 for A, 5 for B.", "number"),
        ("Filed in FY2023.", "Filed in FY2024.", "number"),
        ("Give it in 5 million.", "Give it in 5 thousand.", "unit"),
        ("Answer in %.", "Answer in bps.", "unit"),
        ("Quarterly figures only.", "Annual figures only.", "unit"),
        ("It holds when a > b.", "It holds when a < b.", "unit"),
        ("Costs in $ count.", "Costs in € count.", "unit"),
        ("Log in before the call.", "Log in after the call.", "opposite"),
        ("Prefer the newest filing.", "Prefer the oldest filing.", "opposite"),
        ("Take gross revenue.", "Take net revenue.", "opposite"),
        ("Use the opening balance, not the closing one.", "Use the closing balance, not the opening one.", "order"),
        ("Growth is new minus old over old.", "Growth is old minus new over new.", "order"),
        ("Ask A and then B.", "Ask B and then A.", "order"),
    ],
)
def test_near_duplicates_that_say_something_else_are_told_apart(a: str, b: str, why: str) -> None:
    assert difference(a, b) == difference(b, a) == why
    assert len(dedup(book(a, b), [(ident(0), ident(1), 1.0)], 0.5).playbook) == 2


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Do not round.", "Don't round!"),
        ("Never round the rate.", "Do not round the rate."),
        ("A cap of 1,250.00 dollars.", "A cap of 1250.00 USD"),
        ("**Check** the unit of the table.", "Check the unit in the table."),
        ("Round to two places.", "Round to 2 places."),
        ("Divide by the average of the years.", "The denominator is the mean of the years."),
        ("", ""),
    ],
)
def test_what_says_the_same_may_merge(a: str, b: str) -> None:
    assert difference(a, b) is None


WORDS = ["round", "never", "not", "5", "6", "before", "after", "%", "$", "the", "unit", "one"]
texts = st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join)
cosines = st.sampled_from([-0.2, 0.0, 0.4, 0.5, 0.85, 0.9, 0.9, 0.95, 1.0])
GRID = (-1.0, 0.0, 0.5, 0.85, 0.9, 0.95, 1.0, None)


@st.composite
def cases(draw: st.DrawFn) -> tuple[Playbook, list[Pair]]:
    playbook = book(*draw(st.lists(texts, min_size=1, max_size=7)))
    ids = list(playbook.by_id)
    every = [(a, b) for i, a in enumerate(ids) for b in ids[i + 1 :]]
    return playbook, [(a, b, draw(cosines)) for a, b in every if draw(st.booleans())]


@given(cases(), st.sampled_from(GRID), st.booleans(), st.randoms(use_true_random=False))
def test_order_of_bullets_and_pairs_does_not_matter(
    case: tuple[Playbook, list[Pair]], threshold: float | None, guard: bool, rng: random.Random
) -> None:
    playbook, links = case
    bullets = list(playbook)
    rng.shuffle(bullets)
    mixed = [(b, a, cosine) if rng.random() < 0.5 else (a, b, cosine) for a, b, cosine in links]
    rng.shuffle(mixed)
    one = dedup(playbook, links, threshold, guard)
    two = dedup(playbook.revised(bullets), mixed, threshold, guard)
    assert one.changes == two.changes
    assert set(one.playbook) == set(two.playbook)


@given(cases(), st.booleans())
def test_a_lower_threshold_only_joins_groups_of_a_higher_one(case: tuple[Playbook, list[Pair]], guard: bool) -> None:
    playbook, links = case
    before: dict[str, str] = {}
    kept = 0
    for threshold in GRID:
        after, changes = dedup(playbook, links, threshold, guard)
        home: dict[str, str] = {b.id: b.id for b in after} | {c.id: str(c.into) for c in changes}
        assert len(after) >= kept
        if before:  # whoever is together now was together at every lower threshold
            assert all(before[i] == before[home[i]] for i in home)
        before, kept = home, len(after)
    assert kept == len(playbook)


@given(cases(), st.sampled_from(GRID), st.booleans())
def test_groups_are_alike_free_of_contradictions_and_conserve_counters(
    case: tuple[Playbook, list[Pair]], threshold: float | None, guard: bool
) -> None:
    playbook, links = case
    after, changes = dedup(playbook, links, threshold, guard)
    assert totals(after) == totals(playbook)
    assert len({c.id for c in changes}) == len(changes) == len(playbook) - len(after)
    assert after.version == playbook.version + bool(changes)
    near = {frozenset((a, b)): cosine for a, b, cosine in links}
    groups: dict[str, list[Any]] = {}
    for c in changes:
        groups.setdefault(str(c.into), [playbook.get(str(c.into))]).append(c.before)
    for group in groups.values():
        assert group[0].number == min(b.number for b in group)
        for i, a in enumerate(group):
            for b in group[i + 1 :]:
                assert threshold is not None
                assert near[frozenset((a.id, b.id))] >= threshold
                assert not guard or difference(a.content, b.content) is None


def test_nothing_to_do_gives_back_the_playbook_itself() -> None:
    assert dedup(NEAR, [], 0.0).playbook is NEAR
    assert dedup(NEAR, COSINES, None).playbook is NEAR


@pytest.mark.parametrize(
    ("links", "threshold", "sentence"),
    [
        ([], math.nan, "no cosine"),
        ([], 1.5, "no cosine"),
        ([("str-00001", "str-00099", 0.5)], 0.5, "does not have"),
        ([("str-00001", "str-00001", 0.5)], 0.5, "cannot be"),
        ([("str-00001", "str-00002", math.nan)], 0.5, "cannot be"),
        ([("str-00001", "str-00002", 0.5), ("str-00002", "str-00001", 0.6)], 0.5, "twice"),
    ],
)
def test_what_cannot_be_is_told(links: list[Pair], threshold: float, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        dedup(NEAR, links, threshold)

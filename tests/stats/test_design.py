"""From rows to tables: arms and labels, axes, holes, phases."""

from __future__ import annotations

import math

import numpy as np
import pytest
from stats_rows import cell, compare, read, steps


def test_only_score_rows_of_finished_cells_count() -> None:
    cells = [cell("a", "base"), cell("dead", "base", seed=1, status="failed")]
    rows = steps({"a": [1, 0, None], "dead": [1, 1, 1]}) + steps({"a": [0, 0, 0]}, phase="probe")
    (found,) = compare(cells, rows)
    assert found.items == ("s0", "s1", "s2")
    assert found.y[:, 0, 0, 0].tolist()[:2] == [1, 0]
    assert math.isnan(found.y[2, 0, 0, 0])
    assert found.strict[:, 0, 0, 0].tolist() == [1, 0, 0]
    assert found.missing == ("cell dead is not finished and is left out",)


def test_a_knob_that_varies_names_the_arm_and_seeds_do_not() -> None:
    cells = [cell(f"c{t}{s}", "ace", seed=s, knobs={"dedup": {"threshold": t}, "rounds": 5, "warm_start": f"of {s}"})
             for t in (0.8, 0.9) for s in (0, 1)] + [cell("b", "base")]  # fmt: skip
    (found,) = compare(cells, steps({c["cell"]: [1] for c in cells}))
    assert [arm.label for arm in found.arms] == ["ace (threshold=0.8)", "ace (threshold=0.9)", "base"]
    assert found.seeds == (0, 1)
    assert found.missing == ("base has no finished run at seed 1 order 0; comparisons use the runs both arms have",)


def test_equal_last_words_are_told_apart() -> None:
    cells = [cell(f"c{n}", "ace", knobs={"a": {"k": n}, "b": {"k": -n}}) for n in (1, 2)]
    (found,) = compare(cells, steps({"c1": [1], "c2": [1]}))
    assert found.arms[0].label == "ace (a.k=1, b.k=-1)"


def test_x04_comparisons_follow_a_renamed_method() -> None:
    cells = [cell("x", "zzz"), cell("y", "base")]
    (found,) = compare(cells, steps({"x": [1], "y": [0]}))
    assert [arm.label for arm in found.arms] == ["base", "zzz"]


def test_groups_do_not_mix() -> None:
    cells = [cell("a", "base"), cell("b", "base", feedback="none"), cell("c", "base", order_kind="blocked")]
    assert len(compare(cells, steps({"a": [1], "b": [1], "c": [1]}))) == 3


def test_samples_are_matched_by_id_not_by_place() -> None:
    cells = [cell("a", "base"), cell("b", "base", order=1)]
    rows = steps({"a": [1, 0]}) + steps({"b": [0, 1]}, sample=["s1", "s0"])
    (found,) = compare(cells, rows)
    assert found.y[0, 0, :, 0].tolist() == [1, 1]


def test_common_axes() -> None:
    cells = [cell("a", "base"), cell("a1", "base", seed=1), cell("b", "ace")]
    (found,) = compare(cells, steps({"a": [1, 0, 1], "a1": [1, 0, 1], "b": [1, 1]}))
    items, seeds, orders = found.common((0, 1))
    assert (items.tolist(), seeds.tolist(), orders.tolist()) == ([0, 1], [0], [0])
    assert "ace has 2 of 3 items; comparisons use the items both arms have" in found.missing


def test_two_cells_in_one_place_are_refused() -> None:
    with pytest.raises(ValueError, match="keep one of the two folders"):
        compare([cell("a", "base"), cell("b", "base")], steps({"a": [1], "b": [1]}))


def test_a_sample_scored_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="scored the same sample twice"):
        compare([cell("a", "base")], steps({"a": [1, 1]}, sample=["s0", "s0"]))


def test_unknown_arm_names_the_known() -> None:
    (found,) = compare([cell("a", "base")], steps({"a": [1]}))
    with pytest.raises(KeyError, match="the arms are base"):
        found.arm("ace")


def test_no_rows_at_all() -> None:
    assert compare([], []) == []
    assert compare([cell("a", "base")], []) == []
    assert len(read([]).rows("a", "score")) == 0


def test_rows_come_in_stream_order() -> None:
    rows = steps({"a": [1, 0, 1]})
    found = read(list(reversed(rows)))
    assert found.column("score", found.rows("a", "score")).tolist() == [1, 0, 1]
    assert found.outcomes(found.rows("a", "score")) == {"right": 2, "wrong": 1}
    assert np.isnan(read(steps({"a": [None]})).column("score", np.array([0]))[0])

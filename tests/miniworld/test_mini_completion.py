"""TGC and SGC against tables worked out by hand."""

import pytest

from ace_bench.benchmarks.completion import goal_completion


def rows(**scenarios):
    return [
        {"sample": f"{g}_{n}", "group": g, "score": s} for g, some in scenarios.items() for n, s in enumerate(some, 1)
    ]


@pytest.mark.parametrize(
    ("given", "tgc", "sgc", "errors", "missing"),
    [
        (rows(a=[1, 1, 1], b=[1, 1, 0]), 83.3, 50.0, 0, 0),
        (rows(a=[1, 1, 1], b=[1, 1, 1]), 100.0, 100.0, 0, 0),
        (rows(a=[0, 0, 0]), 0.0, 0.0, 0, 0),
        (rows(a=[1, 0, 1]), 66.7, 0.0, 0, 0),
        (rows(a=[1, 1, 0.99]), 66.7, 0.0, 0, 0),
        (rows(a=[1, 1, None], b=[1, 1, 1]), 83.3, 50.0, 1, 0),
        (rows(a=[1, 1], b=[1, 1, 1]), 83.3, 50.0, 0, 1),
        (rows(a=[1, 1, 1], b=[1, 1, 1], c=[1, 0, 0]), 77.8, 66.7, 0, 0),
        ([], None, None, 0, 0),
    ],
)
def test_by_hand(given, tgc, sgc, errors, missing):
    found = goal_completion(given)
    assert (found.tgc, found.sgc, found.errors, found.missing) == (tgc, sgc, errors, missing)


def test_order_does_not_matter_and_two_rows_of_a_task_are_refused():
    given = rows(a=[1, 1, 1], b=[1, 1, 0])
    assert goal_completion(reversed(given)) == goal_completion(given)
    with pytest.raises(ValueError, match="a_1 has two rows"):
        goal_completion([*given, given[0]])

"""Warm start: from a file or a finished cell, with its cost in a column of its own, and part of the cell's identity."""

import json

import pytest

from ace_bench.experiment.plugins import PlanError
from ace_bench.experiment.sweeper import launch, plan
from ace_bench.experiment.warm import warm
from ace_bench.playbook import Playbook, apply, parse, to_json
from ace_bench.playbook.delta import Add, Delta, Tag
from ace_bench.store import read_table

pytest.importorskip("hydra_plugins.ace_bench", reason="needs an install: pip install -e .")


def run(tmp_path, name, *overrides):
    done = launch([f"results={tmp_path}", f"name={name}", "benchmark.test=15", "benchmark.train=20", *overrides])
    assert done.exit_code == 0, done.results
    return done.results[0].folder


@pytest.fixture(scope="module")
def offline(tmp_path_factory):
    folder = tmp_path_factory.mktemp("warm")
    return folder, run(folder, "cold", "method=ace", "protocol=offline", "select=last")


def test_online_after_an_offline_warm_up(offline):
    results, cold = offline
    run(results, "warmed", "method=ace", "protocol=online", f"start={cold}")
    (cell,) = read_table(results / "warmed", "cells").to_pylist()
    (before,) = read_table(results / "cold", "cells").to_pylist()
    assert cell["start"] == before["cell"]
    assert cell["start_tokens"] == before["input_tokens"] + before["output_tokens"]
    first = read_table(results / "warmed", "steps").to_pylist()[0]
    assert first["bullets"] == warm(str(cold)).playbook.bullets.__len__() > 3
    assert before["start"] is None
    assert before["start_tokens"] is None


def test_feedback_counts_again_after_a_warm_start():
    """The addresses of the new run's steps are those of the old one; its events are not."""
    book = apply(Playbook.empty(("S",)), Delta((Add("S", "x"),), 0)).playbook
    (bullet,) = book.bullets
    tagged = apply(book, Delta((Tag(bullet.id, "helpful", "score/0/0/0/x"),), book.version)).playbook
    assert apply(tagged, Delta((Tag(bullet.id, "helpful", "score/0/0/0/x"),), tagged.version)).rejected


def test_files_in_both_forms(tmp_path):
    book = parse("## S\n[abc-00001] helpful=2 harmful=1 :: one\n")
    (tmp_path / "b.txt").write_text(book.render())
    (tmp_path / "b.json").write_text(json.dumps(to_json(book)))
    for name in ("b.txt", "b.json"):
        got = warm(str(tmp_path / name))
        assert (got.playbook.render(), got.playbook.next_id, got.tokens) == (book.render(), 2, None)
        assert got.playbook.applied_events == frozenset()


def test_the_start_is_part_of_the_identity(tmp_path):
    (tmp_path / "a.txt").write_text("## S\n[abc-00001] helpful=2 harmful=1 :: one\n")
    (tmp_path / "b.txt").write_text("## S\n[abc-00001] helpful=2 harmful=1 :: two\n")
    ids = {plan([f"results={tmp_path}", "method=ace", *extra])[0].id
           for extra in ([], [f"start={tmp_path}/a.txt"], [f"start={tmp_path}/b.txt"])}  # fmt: skip
    assert len(ids) == 3


@pytest.mark.parametrize(("name", "content", "said"), [
    ("README.md", "# A project\n\nSome words.\n## Part\nMore words.\n", "has text and no line of the form"),
    ("a.json", "{", "holds no playbook"), ("b.txt", "[abc-00001] x\n[abc-00001] y\n", "holds no playbook"),
])  # fmt: skip
def test_what_cannot_be_read_is_a_sentence(tmp_path, name, content, said):
    (tmp_path / name).write_text(content)
    with pytest.raises(PlanError, match=said):
        warm(str(tmp_path / name))
    with pytest.raises(PlanError, match="not the folder of a finished cell"):
        warm(str(tmp_path))

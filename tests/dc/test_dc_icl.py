"""ICL: which solved tasks are shown, within which budget, at what cost."""

import pytest
from harness import PROMPTS, rulebook, run, word_vectors

from ace_bench.contracts import token_estimate
from ace_bench.methods.icl import Icl
from ace_bench.playbook import Playbook
from ace_bench.protocols.offline import offline
from ace_bench.protocols.run import StepRun


@pytest.fixture(autouse=True)
def embedder(monkeypatch):
    monkeypatch.setattr(StepRun, "embed", lambda self, texts: word_vectors(texts), raising=False)


def fitted(folder, seed=0, regime="gt", **knobs):
    bench = rulebook(30)
    splits = [bench.samples(split) for split in ("train", "val", "test")]
    return run(
        folder, Icl(Icl.Settings(**knobs), PROMPTS), bench, seed=seed, regime=regime,
        protocol=lambda line, _: offline(line, *splits, epochs=1, eval_every=100, select="last"),
    )  # fmt: skip


def contexts(ran):
    return [m[0]["content"].split("<playbook>\n")[1].split("\n</playbook>")[0] for _, _, m in ran.transport.seen]


def test_all_that_fits_is_shown_with_right_answers_and_nothing_else_is_asked(tmp_path):
    ran = fitted(tmp_path)
    assert ran.transport.purposes() == {"solve": 30}
    (text,) = set(contexts(ran))
    for sample in rulebook(30).samples("train"):
        assert f"Task: {sample.task.input}\nThe right answer is: {sample.target}" in text
    assert [(r["fields"], r["bits"]) for r in ran.rows["feedback"]] == [("target", 0)] * 30
    assert [r["accepted"] for r in ran.rows["candidates"]] == [True]


@pytest.mark.parametrize("pick", ["random", "nearest"])
@pytest.mark.parametrize("budget", [1, 200, 601])
def test_the_budget_is_kept(tmp_path, pick, budget):
    ran = fitted(tmp_path, budget=budget, pick=pick)
    assert all(token_estimate(text) <= budget for text in contexts(ran))
    assert all("Solved task 1" in text for text in contexts(ran)) == (budget > 1)


def test_k_shots_are_drawn_with_the_seed_and_only_their_labels_are_read(tmp_path):
    runs = [fitted(tmp_path / str(i), seed=seed, shots=4) for i, seed in enumerate((0, 0, 1))]
    texts = [contexts(ran)[0] for ran in runs]
    assert texts[0] == texts[1] != texts[2]
    assert texts[0].count("## Solved task") == 4 == len(runs[0].rows["feedback"])


def test_nearest_shots_differ_by_task_and_the_most_similar_stands_last(tmp_path):
    ran = fitted(tmp_path, shots=3, pick="nearest")
    tasks = [s.task.input for s in rulebook(30).samples("test")]
    train = [s.task.input for s in rulebook(30).samples("train")]
    cosines = word_vectors(tasks) @ word_vectors(train).T
    by_task = {m[1]["content"]: text for (_, _, m), text in zip(ran.transport.seen, contexts(ran), strict=True)}
    for task, row in zip(tasks, cosines, strict=True):
        text = next(text for asked, text in by_task.items() if task in asked)
        shown = [row[train.index(shot.split("\nThe right")[0])] for shot in text.split("Task: ")[1:]]
        assert shown == pytest.approx(sorted(row)[-3:])


def test_it_refuses_what_it_cannot_use(tmp_path):
    assert Icl.regimes == {"gt"}
    assert Icl.protocols == {"offline"}
    with pytest.raises(ValueError, match="leave out start"):
        Icl(Icl.Settings(), PROMPTS, Playbook.empty(["A"]))
    with pytest.raises(ValueError, match="hides the target"):
        fitted(tmp_path, regime="outcome")

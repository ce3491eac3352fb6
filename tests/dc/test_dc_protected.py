"""Full rewrite with protected entries: what is dropped is put back word for word, and counted."""

import pytest
from harness import METHODS, PROMPTS, rulebook, run, simulated

from ace_bench.playbook import Bullet, Playbook


def initial(n, helpful=lambda i: 0):
    return Playbook.of(
        [Bullet(f"sta-{i:05d}", f"statement {i}", section="STATEMENTS", helpful=helpful(i)) for i in range(1, n + 1)]
    )


def rewritten(folder, protected, start, keep=0.0):
    cls = METHODS["full_rewrite"]
    how = cls(cls.Settings(protected=protected), PROMPTS, start)
    return run(folder, how, rulebook(8), transport=simulated(keep=keep, collapse=0.0))


def test_the_initial_entries_survive_any_rewrite(tmp_path):
    start = initial(20)
    ran = rewritten(tmp_path, "initial", start)
    kept = [b for b in ran.state.bullets if b.id in start.by_id]
    assert kept == list(start.bullets)
    events = [(r["event"], r["bullet"]) for r in ran.rows["bullets"] if r["bullet"] in start.by_id]
    assert sum(event == "restored" for event, _ in events) == 8 * 20
    assert not any(event == "rewritten_away" for event, _ in events)


def test_without_protection_they_do_not(tmp_path):
    assert not [b for b in rewritten(tmp_path, 0, initial(20)).state.bullets if b.id.startswith("sta")]


def test_the_k_best_credited_are_protected(tmp_path):
    ran = rewritten(tmp_path, 3, initial(20, helpful=lambda i: i))
    assert [b.id for b in ran.state.bullets if b.id.startswith("sta")] == ["sta-00018", "sta-00019", "sta-00020"]
    assert all(r["applied"] + r["rejected"] == r["proposed"] for r in ran.rows["states"])


def test_of_equals_those_that_stand_first_stay_protected(tmp_path):
    ran = rewritten(tmp_path, 3, initial(20))
    assert [b.id for b in ran.state.bullets if b.id.startswith("sta")] == ["sta-00001", "sta-00002", "sta-00003"]


def test_what_the_model_keeps_is_not_restored_and_the_prompt_says_what_is_protected(tmp_path):
    ran = rewritten(tmp_path, "initial", initial(5), keep=1.0)
    assert not [r for r in ran.rows["bullets"] if r["event"] == "restored"]
    (first, *_) = (messages for purpose, _, messages in ran.transport.seen if purpose == "rewrite")
    assert "These entries are protected." in first[0]["content"]
    assert first[0]["content"].count("- statement") == 5


def test_initial_needs_a_start():
    cls = METHODS["full_rewrite"]
    with pytest.raises(ValueError, match="give start=FILE"):
        cls(cls.Settings(protected="initial"), PROMPTS)

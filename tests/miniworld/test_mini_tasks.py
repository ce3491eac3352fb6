"""Every task checks itself: its reference passes, doing nothing fails, one write too many fails, a wrong answer fails."""

import itertools
import json

import pytest
from mini_tools import all_samples, miniworld, played

from ace_bench.benchmarks.miniworld import scenarios
from ace_bench.benchmarks.miniworld.scenarios import actions, lists
from ace_bench.benchmarks.miniworld.spec import same
from ace_bench.benchmarks.miniworld.world import NOW, TODAY
from ace_bench.contracts import Episode

TASKS = all_samples()
IDS = [sample.task.id for _, sample in TASKS]
# One write in each table an agent can change, where no task wants it.
STRAY = {
    "contact": "apis.contacts.add_contact(access_token=login('contacts'), first_name='X', last_name='Y', email='x', "
    "relationship='friend')",
    "message": "apis.contacts.send_message(access_token=login('contacts'), contact_id=1, text='psst')",
    "note": "apis.notes.create_note(access_token=login('notes'), title='x', content='y')",
    "note_tag": "apis.notes.add_tag(access_token=login('notes'), note_id=3, tag='zebra')",
    "note removed": "apis.notes.delete_note(access_token=login('notes'), note_id=2)",
    "payment": "apis.wallet.send_money(access_token=login('wallet'), amount=1, receiver_email="
    "apis.contacts.show_contacts(access_token=login('contacts'))[0]['email'])",
    "todo_item": "apis.todo.add_item(access_token=login('todo'), list_id=2, text='x')",
    "todo_item removed": "apis.todo.delete_item(access_token=login('todo'), item_id=1)",
}


def test_scenarios_and_splits():
    assert {split: len(some) for split, some in scenarios.SPLITS.items()} == {
        "train": 3, "val": 2, "test_normal": 3, "test_challenge": 2,
    }  # fmt: skip
    assert len(IDS) == len(set(IDS)) == 30
    for scenario, some in itertools.groupby(TASKS, lambda one: one[1].task.group):
        assert [sample.task.id for _, sample in some] == [f"{scenario}_{n}" for n in (1, 2, 3)]
    assert {sample.meta["difficulty"] for _, sample in TASKS} == {1, 2, 3}
    assert {sample.meta["kind"] for _, sample in TASKS} == {"question", "action"}


def test_the_challenge_uses_an_app_that_nothing_before_it_does():
    for split in ("train", "val", "test_normal", "test_challenge"):
        uses = {"apis.todo." in spec.draft.code for spec in scenarios.specs(split, 0, 1)}
        assert uses == {split == "test_challenge"}


@pytest.mark.parametrize("n", range(30), ids=IDS)
def test_the_reference_meets_every_requirement(n):
    benchmark, sample = TASKS[n]
    episode = played(benchmark, sample, sample.target)
    score = benchmark.score(sample, episode)
    assert (score.value, score.correct, score.outcome) == (1.0, True, "right"), benchmark.requirements(episode)
    assert score.named == {"tgc": 1.0, "requirements": 1.0}
    assert episode.world.errors == ()
    assert benchmark.observe(sample, episode, score).details is None


@pytest.mark.parametrize("n", range(30), ids=IDS)
def test_doing_nothing_fails_what_it_should_and_passes_the_rest(n):
    benchmark, sample = TASKS[n]
    episode = played(benchmark, sample)
    checked = benchmark.requirements(episode)
    assert {one.passed for one in checked if one.label == "no_op_fail"} == {False}
    assert {one.passed for one in checked if one.label == "no_op_pass"} <= {True}
    assert benchmark.score(sample, episode).value == 0


@pytest.mark.parametrize("n", range(30), ids=IDS)
def test_one_write_too_many_fails(n):
    benchmark, sample = TASKS[n]
    helpers, work = sample.target.split("\n\n", 1) if "\n\n" in sample.target else ("", sample.target)
    for name, stray in STRAY.items():
        *before, last = work.splitlines()
        assert "complete_task" in last
        episode = played(benchmark, sample, "\n".join([helpers, *before, stray, last]))
        assert benchmark.score(sample, episode).value == 0, name


@pytest.mark.parametrize("n", range(30), ids=IDS)
def test_a_wrong_answer_fails_and_so_does_none_or_a_needless_one(n):
    benchmark, sample = TASKS[n]
    *before, last = sample.target.splitlines()
    for end in ("complete_task(answer=12345.67)", "complete_task(answer='')", "complete_task(status='fail')", ""):
        program = "\n".join([*before, f"apis.supervisor.{end}" if end else ""])
        assert benchmark.score(sample, played(benchmark, sample, program)).value == 0, end
    assert "complete_task" in last


@pytest.mark.parametrize("n", [i for i, name in enumerate(IDS) if not name.startswith("pay-back")])
def test_the_first_page_is_never_enough(n):
    benchmark, sample = TASKS[n]
    short = sample.target.replace(
        "while page := api(page_index=index, **arguments):", "for page in [api(**arguments)]:"
    )
    assert short != sample.target
    try:
        episode = played(benchmark, sample, short)
    except StopIteration:  # the person was not on the first page of contacts
        return
    assert benchmark.score(sample, episode).value == 0


def test_the_tempting_side_effect_fails():
    benchmark = miniworld()
    for sample in benchmark.samples("test"):
        if sample.task.group == "approve-some":
            tempted = sample.target[: sample.target.index("people =")] + (
                "apis.wallet.approve_all_requests(access_token=login('wallet'))\napis.supervisor.complete_task()"
            )
            episode = played(benchmark, sample, tempted)
            failed = {one.text for one in benchmark.requirements(episode) if not one.passed}
            assert "the expected rows were added to payment" in failed
            assert "exactly these tables changed: payment, request, wallet" not in failed
            assert benchmark.observe(sample, episode, benchmark.score(sample, episode)).details


def test_same_world_same_bytes_and_another_world_is_another():
    assert miniworld().data_digest() == miniworld().data_digest()
    assert (
        miniworld().data_digest() == "cdc537994694c9246fe678fd0c9414692fc125ad77d35005577fa664cb8fd734"
    )  # changes only when a task does: then old scores no longer compare
    assert miniworld(world=1).data_digest() != miniworld().data_digest()
    assert miniworld(split="test_challenge").data_digest() != miniworld().data_digest()


def test_copies_are_new_scenarios_beside_the_old_ones():
    one, three = miniworld(), miniworld(copies=3)
    assert [s.task.id for s in three.samples("val")][:6] == [s.task.id for s in one.samples("val")]
    assert three.samples("val")[:6] == one.samples("val")
    groups = [s.task.group for s in three.samples("test")]
    assert len(groups) == 27
    assert {groups.count(group) for group in groups} == {3}
    assert all(s.task.id.count("_") == 1 for s in three.samples("test"))
    assert len({s.task.input + s.target for s in three.samples("test")}) > 20


def test_many_worlds_carry_every_scenario():
    for world in range(1, 6):
        for split in scenarios.SPLITS:
            assert len(scenarios.specs(split, world, 2)) == 6 * len(scenarios.SPLITS[split])


def test_no_prompt_holds_a_target():
    for _, sample in TASKS:
        assert sample.target not in sample.task.input
        assert "complete_task" not in sample.task.input


def test_dates_of_the_scenarios_are_those_of_the_world():
    assert (actions.NOW, lists.TODAY) == (NOW, TODAY)


@pytest.mark.parametrize(
    ("given", "wanted", "equal"),
    [
        (3, 3, True), ("3", 3, True), (3.0, 3, True), (" '3' ", 3, True), (244.97, "244.97", True),
        (244.971, "244.97", True), (24497, "244.97", False), ("Green Meadow", "green meadow", True),
        ('"Green meadow"', "Green meadow", True), ("Green", "Green meadow", False), (None, 0, False), ("", 0, False),
        (["b", "A"], ["a", "B"], True), (["a", "a"], ["a"], False), ("a", ["a"], False), (True, 1, False),
        ("1e3", 1000, False), ("9" * 400, 9, False), ("nan", "nan", True),
    ],
)  # fmt: skip
def test_answers_are_compared_after_normalising(given, wanted, equal):
    assert same(given, wanted) is equal


def test_scoring_is_pure_and_names_how_an_episode_ended():
    benchmark, sample = TASKS[0]
    episode = played(benchmark, sample)
    assert benchmark.score(sample, episode) == benchmark.score(sample, episode)
    for status in ("refused", "empty", "overflow", "unparsed"):
        ended = Episode(sample.task, "", None, status, world=episode.world)
        assert (benchmark.score(sample, ended).value, benchmark.score(sample, ended).outcome) == (0.0, status)
    lost = Episode(sample.task, "", None, "error", world=episode.world)
    assert (benchmark.score(sample, lost).value, benchmark.score(sample, lost).outcome) == (None, "error")
    assert "lost" in benchmark.observe(sample, lost, benchmark.score(sample, lost)).environment


def test_the_environment_says_nothing_of_right_or_wrong():
    benchmark, sample = TASKS[0]
    right = played(benchmark, sample, sample.target)
    wrong = played(benchmark, sample, sample.target.splitlines()[-1].split("(")[0] + "(answer=0)")
    told = [benchmark.observe(sample, e, benchmark.score(sample, e)) for e in (right, wrong)]
    assert told[0].environment == told[1].environment == "The task was marked as completed."
    assert told[1].details == "Requirements that failed: the answer is right."
    assert json.loads(wrong.answer) == 0

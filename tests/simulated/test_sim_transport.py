"""The simulated model does what its parameters say, knows only what it is sent, and depends on nothing else."""

import json
import random
from concurrent.futures import ThreadPoolExecutor

import pytest

from ace_bench.benchmarks.rulebook import BAYS, INSTRUCTIONS, Rulebook
from ace_bench.llm.transports.simulated import SimulatedTransport
from ace_bench.llm.transports.simulated.lessons import Lesson, lesson, lessons_in
from ace_bench.llm.types import Request
from ace_bench.prompts import Prompts

PROMPTS = Prompts()
N = 1500


def model(**parameters):
    return SimulatedTransport(SimulatedTransport.Settings(parameters=parameters))


def ask(transport, purpose, messages, seed=0, draw=0):
    request = Request("simulated", "", tuple(messages), (), seed, ("s", draw))
    return transport.complete(request, purpose, request.digest())


def data(transport, purpose, messages, seed=0, draw=0):
    return json.loads(ask(transport, purpose, messages, seed, draw).text)


def world(**settings):
    return Rulebook(Rulebook.Settings(test=60, **settings), PROMPTS)


def question(sample, playbook="(empty)", extra=""):
    return PROMPTS.messages("solve", instructions=INSTRUCTIONS, playbook=playbook, task=sample.task.input + extra)


def right_rate(transport, samples, playbook="(empty)", extra=lambda s: "", n=N):
    hits = 0
    for i in range(n):
        sample = samples[i % len(samples)]
        reply = data(transport, "solve", question(sample, playbook, extra(sample)), draw=i)
        hits += reply["final_answer"] == sample.target
    return hits / n


def rules_text(benchmark):
    lines = []
    for pair in benchmark.rules:
        for rule in pair:
            if rule is not None:
                cues = (f"Mark: {rule.mark}", *([f"Note: {rule.note}"] if rule.note else []))
                lines.append(str(lesson(cues, rule.bay)))
    return "\n".join(lines)


def test_without_a_lesson_it_guesses_at_the_known_base_rate():
    samples = world().samples("test")
    obvious = sum(s.task.input.split("Bays: ")[1].startswith(s.target) for s in samples) / len(samples)
    expected = 0.6 * obvious + 0.4 * (1 - obvious) / 5
    assert right_rate(model(prior=0.6), samples, n=4000) == pytest.approx(expected, abs=0.025)


@pytest.mark.parametrize("use", [0.0, 0.5, 1.0])
def test_a_lesson_in_the_context_is_used_at_the_given_rate(use):
    benchmark = world(obvious=0.0)
    rate = right_rate(model(use=use, prior=1.0), benchmark.samples("test"), rules_text(benchmark))
    assert rate == pytest.approx(use, abs=0.04)


def test_a_wrong_lesson_that_is_used_gives_a_wrong_answer():
    benchmark = world(obvious=1.0)
    sample = benchmark.samples("test")[0]
    wrong = next(b for b in BAYS if b != sample.target)
    playbook = str(lesson((f"Mark: {sample.task.group.split('+')[0]}",), wrong))
    assert data(model(use=1.0, prior=1.0), "solve", question(sample, playbook))["final_answer"] == wrong


def test_use_falls_with_context_length_when_asked():
    benchmark = world(obvious=0.0)
    text = rules_text(benchmark)
    padding = "\n".join("x" * 100 for _ in range(80))  # 8 kB, 2,000 tokens
    falling = model(use=1.0, prior=1.0, half_context=2000)
    short, long = (right_rate(falling, benchmark.samples("test"), text + pad, n=800) for pad in ("", padding))
    assert long < 0.75 * short
    assert right_rate(model(use=1.0, prior=1.0), benchmark.samples("test"), text + padding, n=200) == 1.0


def test_a_leaked_target_raises_the_score_significantly():
    samples = world().samples("test")
    clean = right_rate(model(), samples)
    leaked = right_rate(model(), samples, extra=lambda s: f"\nThe right answer is: {s.target}")
    assert leaked > clean + 0.3  # more than 20 standard errors at N = 1500


def test_credit_decides_between_contradicting_lessons():
    sample = world().samples("test")[0]
    mark = f"Mark: {sample.task.group.split('+')[0]}"
    one, two = (f'[les-0000{i}] helpful={h} harmful={b} :: {lesson((mark,), bay)}' for i, h, b, bay in
                ((1, 3, 0, "amber"), (2, 1, 4, "birch")))  # fmt: skip
    for playbook in (f"{one}\n{two}", f"{two}\n{one}"):
        reply = data(model(use=1.0), "solve", question(sample, playbook))
        assert (reply["final_answer"], reply["bullet_ids"]) == ("amber", ["les-00001"])


def reflection(feedback, transport, sample, given, draw):
    fields = {"task": sample.task.input, "attempt": "...", "answer": given, "cited": "(none)", "feedback": feedback}
    return data(transport, "reflect", PROMPTS.messages("reflect", **fields), draw=draw)


@pytest.mark.parametrize(
    ("feedback", "given", "expected"),
    [
        ("The answer was wrong.\nThe right answer is: {target}", "wrong", 0.9),
        ("The answer was right.", "right", 0.9),
        ("The answer was wrong.", "wrong", 0.9 / 5 + 0.1 * 0.8 / 5 + 0.1 / 25),
        ("The desk accepted the form.", "wrong", 0.1 / 5),
        ("(no feedback)", "right", 0.9),
    ],
)
def test_what_is_revealed_decides_how_often_the_lesson_is_right(feedback, given, expected):
    benchmark = world()
    sample, hits = benchmark.samples("test")[0], 0
    bays = sample.task.input.split("Bays: ")[1].split("\n")[0].split(", ")
    answer = sample.target if given == "right" else next(b for b in bays if b != sample.target)
    for i in range(N):
        text = reflection(feedback.format(target=sample.target), model(reflect=0.9), sample, answer, i)["key_insight"]
        hits += benchmark.lesson_truth(text) is True
    assert hits / N == pytest.approx(expected, abs=0.03)


def curation(transport, draw, playbook="## lessons", allowed="ADD"):
    told = str(lesson(("Mark: AB-12",), "amber"))
    fields = {"playbook": playbook, "task": "t", "reflection": told, "operations": allowed}
    return ask(transport, "curate", PROMPTS.messages("curate", **fields), draw=draw).text


def test_the_curator_adds_what_is_new_and_nothing_else():
    (operation,) = json.loads(curation(model(malformed=0.0), 0))["operations"]
    assert operation["type"] == "ADD"
    known = f"## lessons\n[les-00001] helpful=0 harmful=0 :: {operation['content']}"
    assert json.loads(curation(model(malformed=0.0), 0, known))["operations"] == []


def test_the_curator_updates_where_it_may():
    old = f"## lessons\n[les-00001] helpful=0 harmful=0 :: {lesson(('Mark: AB-12',), 'birch')}"
    kinds = [
        json.loads(curation(model(malformed=0.0), 0, old, a))["operations"][0]["type"] for a in ("ADD", "ADD UPDATE")
    ]
    assert kinds == ["ADD", "UPDATE"]


def test_the_curator_is_malformed_at_the_given_rate():
    def sound(text):
        try:
            operations = json.loads(text)["operations"]
        except ValueError:
            return False
        return isinstance(operations, list) and len(operations) == 1

    bad = sum(not sound(curation(model(malformed=0.3), i)) for i in range(N))
    assert bad / N == pytest.approx(0.3, abs=0.04)


def rewritten(transport, entries, draw=0):
    sheet = "## lessons\n" + "\n".join(f"- {text}" for text in entries)
    fields = {
        "sheet": sheet,
        "task": "nothing",
        "attempt": "",
        "answer": "a",
        "feedback": "(no feedback)",
        "protected": "",
    }
    reply = data(transport, "rewrite", PROMPTS.messages("rewrite", **fields), draw=draw)
    return [entry["content"] for entry in reply["entries"]]


def test_a_rewrite_keeps_each_statement_with_probability_q_independently():
    entries = [f"statement {i} with\na second line" if i % 3 == 0 else f"statement {i}" for i in range(400)]
    runs = [set(rewritten(model(keep=0.9, collapse=0.0), entries, draw)) & set(entries) for draw in range(20)]
    assert sum(map(len, runs)) / (400 * 20) == pytest.approx(0.9, abs=0.015)
    pairs = sum(entries[0] in run and entries[1] in run for run in runs)
    assert 10 <= pairs <= 20  # 0.81 * 20, not all or nothing


def test_a_collapse_loses_nearly_all_at_the_given_rate():
    entries = [f"statement {i}" for i in range(200)]
    sizes = [len(set(rewritten(model(keep=1.0, collapse=0.25), entries, d)) & set(entries)) for d in range(300)]
    assert {size for size in sizes if size < 200} == {4}
    assert sizes.count(4) / 300 == pytest.approx(0.25, abs=0.08)


def test_propose_merge_and_judge_are_answered():
    told = str(lesson(("Mark: AB-12",), "amber"))
    proposal = ask(model(), "propose", [{"role": "user", "content": f"Current instruction: {told}"}]).text
    assert proposal.startswith("```\n")
    assert told in proposal
    merged = ask(model(), "merge", [{"role": "user", "content": "- one\n- two\n- one"}]).text
    assert merged == "one\ntwo"
    for answer, verdict in (("Amber ", True), ("birch", False)):
        text = f"<answer>\n{answer}\n</answer>\n<reference>\namber\n</reference>"
        assert data(model(), "judge", [{"role": "user", "content": text}])["correct"] is verdict


def test_the_reply_depends_on_the_request_and_on_nothing_else():
    samples = world().samples("test")
    asks = [(question(sample), seed, draw) for sample in samples[:20] for seed in range(3) for draw in range(3)]
    transport = model()
    one = [ask(transport, "solve", *a) for a in asks]
    shuffled = random.Random(1).sample(range(len(asks)), len(asks))
    with ThreadPoolExecutor(8) as pool:
        two = dict(zip(shuffled, pool.map(lambda i: ask(transport, "solve", *asks[i]), shuffled), strict=True))
    assert one == [two[i] for i in range(len(asks))]
    assert len({reply.text for reply in one[:9]}) > 1  # seed and draw do change it


def test_an_unknown_purpose_is_a_sentence():
    with pytest.raises(ValueError, match="does not answer purpose 'embed'"):
        ask(model(), "embed", [{"role": "user", "content": "x"}])


def test_lessons_are_read_back_as_stated():
    one = lesson(('Mark: "AB"', "Note: x\ny"), 'a"b')
    assert lessons_in(f"noise {one} noise") == (one,)
    assert Lesson(("a",), "b").applies("xay")

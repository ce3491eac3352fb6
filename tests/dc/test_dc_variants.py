"""Dynamic Cheatsheet: what each variant shows, asks and keeps, and what it never sees."""

import pytest
from harness import PROMPTS, method, rulebook, run, simulated, word_vectors
from pydantic import ValidationError

from ace_bench.methods.dynamic_cheatsheet import EMPTY, DynamicCheatsheet
from ace_bench.playbook import Bullet, Playbook
from ace_bench.protocols.frozen import frozen
from ace_bench.protocols.run import StepRun

N = 12
CALLS = {  # on N samples, strict online
    "cumulative": {"solve": N, "rewrite": N}, "retrieval_synthesis": {"solve": N, "rewrite": N},
    "dynamic_retrieval": {"solve": N}, "full_history": {"solve": N}, "empty": {"solve": N},
}  # fmt: skip


@pytest.fixture(autouse=True)
def embedder(monkeypatch):
    asked = []
    monkeypatch.setattr(StepRun, "embed", lambda self, texts: asked.append(texts) or word_vectors(texts), raising=False)
    return asked


def contexts(ran):
    return [
        m[0]["content"].split("<playbook>\n")[1].split("\n</playbook>")[0]
        for p, _, m in ran.transport.seen
        if p == "solve"
    ]


@pytest.mark.parametrize("variant", CALLS)
def test_calls_by_purpose(tmp_path, variant):
    ran = run(tmp_path, method("dynamic_cheatsheet", variant=variant), rulebook(N))
    assert ran.transport.purposes() == CALLS[variant]


def test_only_the_variants_that_retrieve_embed(tmp_path, embedder):
    for variant in CALLS:
        how = method("dynamic_cheatsheet", variant=variant)
        run(tmp_path / variant, how, rulebook(N))
        assert len(embedder) == (N - 1) * how.embeds(how.settings)  # the first task has nothing to be compared with
        embedder.clear()


def test_rounds_answer_again_with_the_answers_so_far(tmp_path):
    ran = run(tmp_path, method("dynamic_cheatsheet", rounds=3), rulebook(N))
    assert ran.transport.purposes() == {"solve": 3 * N, "rewrite": 3 * N}
    assert "Answers to this task so far:\nRound 1: " in contexts(ran)[2]
    assert "Round 2: " in contexts(ran)[2]
    assert "Round" not in ran.state.text
    assert len(ran.rows["steps"]) == N  # the scored answer is the first


def test_the_pairs_shown_are_the_nearest_and_the_most_similar_stands_last(tmp_path):
    ran = run(tmp_path, method("dynamic_cheatsheet", variant="dynamic_retrieval", top_k=2), rulebook(N))
    shown = contexts(ran)
    assert shown[0] == EMPTY
    assert [text.count("## Earlier task") for text in shown[1:]] == [1] + [2] * (N - 2)
    first, second = (float(text.split(")")[0]) for text in shown[-1].split("(similarity ")[1:])
    assert first <= second


def test_full_history_shows_everything_in_order(tmp_path):
    ran = run(tmp_path, method("dynamic_cheatsheet", variant="full_history"), rulebook(N))
    last = contexts(ran)[-1]
    places = [last.index(pair.input) for pair in ran.state.pairs[:-1]]
    assert places == sorted(places)
    assert len(places) == N - 1


def test_synthesis_keeps_the_sheet_that_was_shown(tmp_path):
    ran = run(tmp_path, method("dynamic_cheatsheet", variant="retrieval_synthesis"), rulebook(N))
    assert ran.state.text == contexts(ran)[-1]
    assert ran.state.version == N == len(ran.state.pairs)


def test_without_a_sheet_the_old_one_or_the_pairs_stand(tmp_path):
    bad = simulated()
    bad.mangle = lambda purpose, text: "I write no sheet" if purpose == "rewrite" else text
    cumulative = run(tmp_path / "a", method("dynamic_cheatsheet"), rulebook(N), transport=bad)
    assert (cumulative.state.text, cumulative.state.version) == (EMPTY, 0)
    assert {r["rejections"] for r in cumulative.rows["states"][1:]} == {'{"malformed_reply": 1}'}
    synthesis = run(
        tmp_path / "b", method("dynamic_cheatsheet", variant="retrieval_synthesis"), rulebook(N), transport=bad
    )
    assert synthesis.state.text.count("## Earlier task") == 3


def test_a_cut_sheet_counts_only_as_released(tmp_path):
    cut = simulated()
    cut.mangle = lambda purpose, text: text.replace("</cheatsheet>", "") if purpose == "rewrite" else text
    strict = run(tmp_path / "a", method("dynamic_cheatsheet"), rulebook(N), transport=cut)
    assert strict.state.text == EMPTY
    released = run(tmp_path / "b", method("dynamic_cheatsheet", extraction="released"), rulebook(N), transport=cut)
    assert "When the task shows" in released.state.text


@pytest.mark.parametrize(
    ("regime", "told"), [("gt", "The right answer is"), ("outcome", "The answer was"), ("none", None)]
)
def test_labels_reach_the_curator_only_where_the_regime_has_them(tmp_path, regime, told):
    for variant in ("cumulative", "full_history"):
        ran = run(tmp_path / variant, method("dynamic_cheatsheet", variant=variant), rulebook(N), regime=regime)
        text = "\n".join(m["content"] for _, _, messages in ran.transport.seen for m in messages)
        assert "<feedback>" not in text if told is None or variant != "cumulative" else "<feedback>" in text
        assert (told in text) if told else ("The answer was" not in text and "The right answer" not in text)
    assert DynamicCheatsheet.our_regimes == {"gt", "outcome"}


def test_a_frozen_pass_synthesises_for_each_task_and_changes_nothing(tmp_path):
    how, bench = method("dynamic_cheatsheet", variant="retrieval_synthesis"), rulebook(N)

    def protocol(line, samples):
        held = line.start()
        frozen(line, samples, held)
        return held

    ran = run(tmp_path, how, bench, protocol=protocol, workers=2)
    assert ran.transport.purposes() == {"solve": N, "rewrite": N}
    assert ran.state == how.start(None)


def test_it_starts_from_a_given_playbook():
    start = Playbook.of([Bullet("sta-00001", "a lesson", section="STATEMENTS")])
    how = DynamicCheatsheet(DynamicCheatsheet.Settings(variant="empty"), PROMPTS, start)
    assert how.prepare(how.start(None), None, None).text == start.render()


@pytest.mark.parametrize("knobs", [
    {"variant": "empty", "rounds": 2}, {"top_k": 3}, {"variant": "full_history", "extraction": "released"},
])  # fmt: skip
def test_a_knob_the_variant_does_not_use_is_refused(knobs):
    with pytest.raises(ValidationError, match="does not use"):
        DynamicCheatsheet.Settings(**knobs)


def test_with_labels_it_learns(tmp_path):
    transport = simulated(keep=1.0, collapse=0.0, reflect=1.0, use=1.0)
    ran = run(tmp_path / "a", method("dynamic_cheatsheet"), rulebook(60), transport=transport)
    empty = run(tmp_path / "b", method("dynamic_cheatsheet", variant="empty"), rulebook(60))
    assert sum(ran.scores()) > sum(empty.scores()) + 15

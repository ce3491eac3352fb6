"""Replay conformance: the published logs of Dynamic Cheatsheet through our state machine, every prompt byte for byte.

The prompt template is recovered from the first rows of the log itself, so nothing of the source is kept here.
"""

import json

import numpy as np
import pytest
from harness import Recorder, run

from ace_bench.benchmarks.numbers import number
from ace_bench.benchmarks.single_turn import tagged_episode
from ace_bench.contracts import Feedback, Sample, Score, Task
from ace_bench.llm.transports.scripted import ScriptedTransport
from ace_bench.methods.dynamic_cheatsheet import DynamicCheatsheet
from ace_bench.prompts import Prompts
from ace_bench.protocols.online import online
from ace_bench.protocols.run import StepRun

PAIRS = "Previous Input #1"
SONNET, GPT = "claude-3-5-sonnet_", "gpt-4o_"
CU, RS, DR = "DynamicCheatsheet_Cumulative", "DynamicCheatsheet_RetrievalSynthesis", "Dynamic_Retrieval"
PUBLISHED = {
    f"AIME_2024/{SONNET}{CU}": 50.0, f"AIME_2024/{GPT}{CU}": 36.7, f"AIME_2024/{GPT}{RS}": 40.0,
    f"AIME_2024/{GPT}{DR}": 26.7, f"AIME_2025/{SONNET}{CU}": 36.7, f"AIME_2025/{SONNET}{RS}": 30.0,
}  # fmt: skip
VARIANTS = {CU: "cumulative", RS: "retrieval_synthesis", DR: "dynamic_retrieval"}


class Log:
    """A published log as a benchmark: its questions in its order, its wording around them."""

    name = "log"

    def __init__(self, rows, prompts):
        self.rows, self.prompts = rows, prompts
        self._samples = tuple(
            Sample(Task(f"q{i:02d}", "all", row["raw_input"]), row["target"], {"asked": row["input_txt"]})
            for i, row in enumerate(rows)
        )

    def splits(self):
        return ("test",)

    def samples(self, split):
        return self._samples

    def solve(self, context, task, ask):
        asked = self._samples[int(task.id[1:])].meta["asked"]
        return tagged_episode(task, ask("solve", self.prompts.messages("solve", playbook=context, task=asked)))

    def score(self, sample, episode):
        given = None if episode.answer is None else number(episode.answer)
        right = given is not None and given == number(sample.target)
        return Score(float(right), right, "right" if right else "wrong")

    def observe(self, sample, episode, score):
        return Feedback("gt", "", score.correct, sample.target)


def recovered(folder, rows):
    """The folder of prompts that the log's first rows show: the generator's, and the form of a retrieved pair."""
    folder.mkdir()
    first = rows[0]["steps"][0]
    solve = first["generator_prompt"].replace(first["current_cheatsheet"], "{{playbook}}")
    solve = solve.replace(rows[0]["input_txt"], "{{task}}")
    assert solve.count("{{") == 2
    (folder / "solve.md").write_text(f"=== user ===\n{solve}")
    shown = next((i for i, r in enumerate(rows) if PAIRS in r["steps"][0]["current_cheatsheet"]), None)
    if shown is not None:
        assert shown == 1  # one pair only, so that nothing later is looked at
        before, _, rest = rows[1]["steps"][0]["current_cheatsheet"].partition(rows[0]["raw_input"])
        middle, _, after = rest.partition(rows[0]["final_output"])
        head, top = before.rstrip("\n").rsplit("\n\n", 1)
        close, foot = after.rsplit("\n\n", 1)
        similarity = top.partition("Similarity: ")[2].partition(")")[0]
        item = f"{top}\n\n{{{{input}}}}{middle}{{{{output}}}}{close}".replace("#1", "#{{number}}")
        item = item.replace(similarity, "{{similarity}}")
        (folder / "cheatsheet_example.md").write_text(f"=== user ===\n{item}")
        (folder / "cheatsheet_examples.md").write_text(f"=== user ===\n{head}\n\n{{{{examples}}}}\n\n{foot}")
    return Prompts(folder)


def recorded(rows, variant):
    """The replies as recorded. Cut sheets (every other one) and replies without a sheet, as the released code met them."""
    solved, curated = iter(rows), iter(enumerate(rows))

    def reply(request, purpose, digest):
        if purpose == "solve":
            return next(solved)["steps"][0]["generator_output"]
        i, row = next(curated)
        step = row["steps"][0]
        sheet = step["new_cheatsheet"] if variant == "cumulative" else step["current_cheatsheet"]
        kept = sheet == step["current_cheatsheet"] if variant == "cumulative" else PAIRS in sheet
        return "no sheet this time" if kept else f"Here:\n<cheatsheet>\n{sheet}\n" + "</cheatsheet> ok" * (i % 2)

    return Recorder(ScriptedTransport(reply))


def similarities(rows):
    """An embedder that gives the cosines which the log prints: earlier tasks are unit axes, the task holds its cosines."""
    at = {row["raw_input"]: i for i, row in enumerate(rows)}

    def embed(self, texts):
        out = np.zeros((len(texts), len(rows)))
        for line, text in enumerate(texts[:-1]):
            out[line, at[text]] = 1.0
        row = rows[at[texts[-1]]]
        printed = row["steps"][0]["current_cheatsheet"].split("(Similarity: ")[1:]
        for rank, text in enumerate(row["top_k_original_inputs"]):  # the most similar first, and printed last
            out[-1, at[text]] = (float(printed[-1 - rank].partition(")")[0]) if printed else 0.5) - rank * 1e-5
        return out

    return embed


@pytest.mark.parametrize("name", PUBLISHED)
def test_every_later_prompt_is_rendered_byte_for_byte(trial_data, tmp_path, monkeypatch, name):
    path = trial_data / "dynamic_cheatsheet" / f"{name}.jsonl"
    if not path.is_file():
        pytest.skip(f"{path} is not there")
    rows = [json.loads(line) for line in path.open(encoding="utf-8")]
    variant = VARIANTS[name.partition("_")[2].partition("_")[2]]
    prompts = recovered(tmp_path / "prompts", rows)
    monkeypatch.setattr(StepRun, "embed", similarities(rows), raising=False)
    curates = variant != "dynamic_retrieval"
    settings = DynamicCheatsheet.Settings(variant=variant, extraction="released" if curates else "strict")
    log = Log(rows, prompts)
    ran = run(
        tmp_path / "run", DynamicCheatsheet(settings, prompts), log, transport=recorded(rows, variant), regime="none",
        protocol=lambda line, _: online(line, log.samples("test"), 1),
    )  # fmt: skip

    sent = [messages for purpose, _, messages in ran.transport.seen if purpose == "solve"]
    assert [m[0]["content"] for m in sent[1:]] == [row["steps"][0]["generator_prompt"] for row in rows[1:]]
    assert len(sent) == len(rows) == 30
    assert ran.transport.purposes()["rewrite"] == (30 if curates else 0)
    answers = [step["answer"] for step in ran.rows["steps"]]
    assert answers == [None if "No final" in row["final_answer"] else row["final_answer"] for row in rows]
    assert round(100 * sum(ran.scores()) / len(rows), 1) == PUBLISHED[name]
    if variant == "cumulative":
        assert ran.state.text == rows[-1]["final_cheatsheet"]


def test_all_the_logs_that_are_there_are_replayed(trial_data):
    """The logs of a state machine; Baseline and EmptyCheatsheet have no state."""
    folder = trial_data / "dynamic_cheatsheet"
    there = {
        str(p.relative_to(folder).with_suffix("")) for p in folder.rglob("*.jsonl") if p.stem.endswith((CU, RS, DR))
    }
    assert there <= set(PUBLISHED)

"""Official prompts from a clone: parsed and never executed, mapped onto our roles, with sentences for what is absent."""

import pytest
from harness import rulebook, run, simulated

from ace_bench.benchmarks.rulebook import Rulebook
from ace_bench.experiment.plugins import PlanError
from ace_bench.experiment.spec import check
from ace_bench.methods.dynamic_cheatsheet import DynamicCheatsheet
from ace_bench.prompts import ROLES, PromptError, Prompts

GENERATOR = (
    'P = """Play {} then {} ask {} in {}\n{{"final_answer": 1}}\n---\n"""\nGENERATOR_PROMPT = P\nraise SystemExit\n'
)
REFLECTOR = (
    'REFLECTOR_PROMPT = "gt {question}|{reasoning_trace}|{predicted_answer}|{ground_truth}|{environment_feedback}|'
    '{bullets_used}"\nREFLECTOR_PROMPT_NO_GT = "{question}|{bullets_used} {{x}}"\n'
)
CURATOR = 'CURATOR_PROMPT = "gt {recent_reflection} {token_budget}"\nCURATOR_PROMPT_NO_GT = "{current_playbook}"\n'


@pytest.fixture
def ace(tmp_path):
    folder = tmp_path / "clone" / "ace" / "prompts"
    folder.mkdir(parents=True)
    for name, text in (("generator", GENERATOR), ("reflector", REFLECTOR), ("curator", CURATOR)):
        (folder / f"{name}.py").write_text(text)
    (folder / "old.py").write_text("print 'not python 3'")
    return tmp_path / "clone"


@pytest.fixture
def dc(tmp_path):
    folder = tmp_path / "dc" / "prompts"
    folder.mkdir(parents=True)
    (folder / "generator.txt").write_text("\nUse [[CHEATSHEET]] for [[QUESTION]]. End with <answer>\n(x)\n</answer>\n")
    (folder / "cu.txt").write_text("<cheatsheet> [[PREVIOUS_CHEATSHEET]] [[QUESTION]] [[MODEL_ANSWER]]")
    (folder / "rs.txt").write_text("[[PREVIOUS_CHEATSHEET]] [[PREVIOUS_INPUT_OUTPUT_PAIRS]] [[NEXT_INPUT]]")
    (tmp_path / "dc" / "README.md").write_text("Slots: [[CHEATSHEET]] and [[QUESTION]]")
    return tmp_path / "dc"


def said(prompts, role, **own):
    (message,) = prompts.messages(role, **own)
    assert message["role"] == "user"
    return message["content"]


def test_ace_prompts_fill_their_slots_and_keep_every_other_byte(ace):
    prompts = Prompts.open(f"ace_checkout:{ace}")
    assert said(prompts, "solve", playbook="{P}", task="T", instructions="I") == (
        'Play {P} then (empty) ask T in I\n{"final_answer": 1}\n---\n'
    )
    assert said(prompts, "reflect", task="T", attempt="A", answer="B", feedback="F", cited="C") == (
        "gt T|A|B|(told in the environment feedback)|F|C"
    )
    assert said(prompts, "curate", reflection="R") == "gt R (not stated)"
    assert prompts.texts["rewrite"] == Prompts().texts["rewrite"]
    assert not prompts.tagged


def test_without_labels_the_other_two_are_used(ace):
    prompts = Prompts.open(f"ace_checkout:{ace}", labels=False)
    assert said(prompts, "reflect", task="T", cited="C") == "T|C {x}"
    assert said(prompts, "curate", playbook="P") == "P"
    assert prompts.digest != Prompts.open(f"ace_checkout:{ace}").digest != Prompts().digest


def test_cheatsheet_prompts_are_told_apart_by_their_slots(dc):
    prompts = Prompts.open(f"dc_checkout:{dc}")
    solve = said(prompts, "solve", playbook="S", task="T", instructions="I")
    assert solve == "\nUse S for I\n\nT. End with <answer>\n(x)\n</answer>\n"
    assert said(prompts, "cheatsheet", sheet="S", task="T", attempt="A", feedback="") == "<cheatsheet> S T A"
    assert said(prompts, "cheatsheet_synthesis", sheet="S", examples="E", task="T") == "S E T"
    assert prompts.tagged
    assert set(prompts.texts) == set(ROLES)


def test_a_run_with_them_reads_the_answer_from_its_tags(dc, tmp_path):
    prompts = Prompts.open(f"dc_checkout:{dc}")
    bench = Rulebook(Rulebook.Settings(train=5, val=5, test=5), prompts)
    transport = simulated()
    transport.mangle = lambda purpose, text: "FINAL ANSWER:\n<answer>\nbirch\n</answer>" if purpose == "solve" else text
    ran = run(tmp_path / "run", DynamicCheatsheet(DynamicCheatsheet.Settings(), prompts), bench, transport=transport)
    assert {step["answer"] for step in ran.rows["steps"]} == {"birch"}
    assert ran.state.version == 5
    assert len(ran.rows["steps"]) == len(rulebook(5).samples("test"))


def test_plain_paths_and_folder_are_the_same(tmp_path):
    (tmp_path / "solve.md").write_text("=== user ===\nMine")
    assert Prompts.open(f"folder:{tmp_path}").digest == Prompts.open(str(tmp_path)).digest != Prompts.open(None).digest


@pytest.mark.parametrize(("change", "sentence"), [
    (lambda ace: (ace / "ace/prompts/curator.py").unlink(), r"CURATOR_PROMPT .for role curate."),
    (lambda ace: (ace / "ace/prompts/curator.py").write_text("CURATOR_PROMPT = '{mystery}'"), "asks for {mystery}"),
    (lambda ace: (ace / "ace/prompts/curator.py").write_text("CURATOR_PROMPT = '{ x'"), "not a template of the known form"),
    (lambda ace: (ace / "ace/prompts/curator.py").write_text("CURATOR_PROMPT = f'{x}'"), r"CURATOR_PROMPT .for role curate."),
])  # fmt: skip
def test_what_is_absent_or_strange_is_a_sentence(ace, change, sentence):
    change(ace)
    with pytest.raises(PromptError, match=sentence):
        Prompts.open(f"ace_checkout:{ace}")


def test_two_different_candidates_are_named(dc):
    (dc / "prompts" / "cu2.txt").write_text("other [[PREVIOUS_CHEATSHEET]] [[QUESTION]] [[MODEL_ANSWER]]")
    with pytest.raises(PromptError, match=r"cu.txt, prompts.cu2.txt; keep one"):
        Prompts.open(f"dc_checkout:{dc}")
    (dc / "prompts" / "rs.txt").unlink()
    (dc / "prompts" / "cu2.txt").unlink()
    with pytest.raises(PromptError, match=r"NEXT_INPUT.* .for role cheatsheet_synthesis."):
        Prompts.open(f"dc_checkout:{dc}")


@pytest.mark.parametrize("kind", ["ace_checkout", "dc_checkout"])
def test_a_clone_that_is_not_there(kind, tmp_path):
    with pytest.raises(PromptError, match="is not a folder; give the folder of your clone"):
        Prompts.open(f"{kind}:{tmp_path / 'absent'}")


def spec_of(prompts, regime="gt"):
    return check({
        "name": "n", "results": "r", "seed": 0, "order": {"kind": "shuffled", "seed": 0}, "prompts": prompts,
        "cache": {"mode": "off", "path": "r.db"}, "limits": {}, "method": {"name": "base"}, "protocol": {"name": "frozen"},
        "benchmark": {"name": "rulebook"}, "model": {"name": "simulated", "transport": "simulated"},
        "feedback": {"regime": regime},
    })  # fmt: skip


def test_a_cell_is_known_by_the_texts_and_not_by_the_place_of_the_clone(ace, tmp_path):
    first = spec_of(f"ace_checkout:{ace}").id()
    (ace / "notes.txt").write_text("nothing of a prompt")
    assert spec_of(f"ace_checkout:{ace.rename(tmp_path / 'moved')}").id() == first
    (tmp_path / "moved" / "ace" / "prompts" / "curator.py").write_text("CURATOR_PROMPT = 'x'")
    assert spec_of(f"ace_checkout:{tmp_path / 'moved'}").id() != first
    with pytest.raises(PlanError, match="CURATOR_PROMPT_NO_GT"):
        spec_of(f"ace_checkout:{tmp_path / 'moved'}", "none")

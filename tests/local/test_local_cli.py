"""`ace-bench model` and `ace-bench doctor`, and the configs of local models."""

import pytest
from typer.testing import CliRunner

from ace_bench.cli import app
from ace_bench.experiment.compose import CONFIG, session
from ace_bench.llm import weights
from ace_bench.prompts import PromptError, Prompts


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.setenv("ACE_BENCH_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return lambda *words: CliRunner().invoke(app, list(words))


def test_doctor_names_each_gap_and_what_to_do(run, monkeypatch):
    monkeypatch.setenv("DEEPSEEK_API_KEY", "a-very-secret-value")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("ACE_BENCH_DATA", raising=False)
    done = run("doctor")
    assert done.exit_code == 0, done.output
    for said in ("ace-bench model fetch qwen2.5-coder-1.5b", "DEEPSEEK_API_KEY is set", "OPENAI_API_KEY is not set",
                 "ACE_BENCH_DATA is not set", "house_labels", "extra local", "free at", "benchmark=appworld: cannot run",
                 "ace-bench data setup appworld", "benchmark=miniworld: can",
                 "model=ollama: no key; wants a server at http://127.0.0.1:11434/v1"):  # fmt: skip
        assert said in done.output, said
    assert "a-very-secret-value" not in done.output


def test_doctor_finds_what_is_there(run, tmp_path, monkeypatch):
    monkeypatch.setenv("ACE_BENCH_DATA", str(tmp_path))
    folder = tmp_path / "home" / "weights" / "smollm2-135m"
    folder.mkdir(parents=True)
    with (folder / weights.entry("smollm2-135m").files[0].name).open("wb") as file:
        file.truncate(weights.entry("smollm2-135m").size)
    output = run("doctor").output
    assert "model=local/smollm2-135m: weights here" in output
    assert f"ACE_BENCH_DATA: {tmp_path}" in output
    assert "smollm2-135m         here" in run("model", "list").output
    assert run("model", "path", "smollm2-135m").output.strip() == str(folder / "smollm2-135m-instruct-q4_1.gguf")


def test_model_verbs_end_in_sentences(run):
    for words in (
        ("path", "minilm"),
        ("path", "nothing"),
        ("fetch", "nothing"),
        ("fetch", "minilm", "--source", "moon"),
    ):
        done = run("model", *words)
        assert done.exit_code == 2, words
        assert done.output.startswith("ace-bench: "), done.output
    assert "missing" in run("model", "list").output


@pytest.mark.parametrize("name", weights.language_models())
def test_every_model_has_a_config_that_composes(name):
    with session(None) as hydra:
        config = hydra.compose_config(CONFIG, [f"model=local/{name}"], run_mode=1)
    assert (config.model.name, config.model.weights, config.model.transport) == (name, name, "local")
    assert config.model.price.input == 0


def test_the_preset_composes_eight_cells_without_weights(run):
    done = run("run", "--cfg", "job", "experiment=quickstart_local")
    assert done.exit_code == 0
    for said in ("prompts: shipped:short", "weights: qwen2.5-coder-1.5b", "name: house_labels", "select: last"):
        assert said in done.output, said


def test_the_short_prompts_are_short_and_whole():
    short, long = Prompts.open("shipped:short"), Prompts()
    for role in ("solve", "reflect", "refine", "curate", "rewrite"):
        assert short.texts[role] != long.texts[role]
        assert len(short.texts[role]) < 1400  # characters: about 350 tokens
    assert short.digest != long.digest
    with pytest.raises(PromptError, match="is not a folder"):
        Prompts.open("shipped:nothing")

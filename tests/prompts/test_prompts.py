"""Prompt files: fields go in as they are, a user's own folder, and sentences for what cannot be used."""

import pytest

from ace_bench.prompts import ROLES, PromptError, Prompts


def fields(**own):
    names = ("instructions", "playbook", "task", "attempt", "answer", "cited", "feedback", "reflection", "round",
             "operations", "sheet", "protected", "reference", "steps", "examples",
             "number", "similarity", "input", "output", "shots")  # fmt: skip
    return dict.fromkeys(names, "x") | own


@pytest.mark.parametrize("role", ROLES)
def test_every_role_has_a_prompt_with_nothing_left_to_fill(role):
    messages = Prompts().messages(role, **fields())
    assert messages[-1]["role"] == "user"
    assert "{{" not in "".join(m["content"] for m in messages)


def test_a_field_is_never_read_as_a_template():
    nasty = "{{task}} {0} %s $x \\1"
    (system, user) = Prompts().messages("solve", **fields(playbook=nasty, task="T"))
    assert nasty in system["content"]
    assert "{{task}}" not in user["content"]


def test_a_folder_of_ones_own_replaces_what_it_has(tmp_path):
    (tmp_path / "solve.md").write_text("=== user ===\nMine: {{task}}\n")
    own = Prompts(tmp_path)
    assert own.messages("solve", **fields(task="T")) == ({"role": "user", "content": "Mine: T"},)
    assert own.messages("reflect", **fields()) == Prompts().messages("reflect", **fields())
    assert own.digest != Prompts().digest


@pytest.mark.parametrize(("text", "said"), [
    ("no parts", "no part headed"), ("=== user ===\n{{unknown}}", "asks for {{unknown}}"),
])  # fmt: skip
def test_a_prompt_that_cannot_be_used_is_a_sentence(tmp_path, text, said):
    (tmp_path / "solve.md").write_text(text)
    with pytest.raises(PromptError, match=said.replace("{", "\\{")):
        Prompts(tmp_path).messages("solve", **fields())


def test_a_folder_of_which_nothing_would_be_used_is_refused(tmp_path):
    (tmp_path / "solver.md").write_text("=== user ===\nx")
    with pytest.raises(PromptError, match="nothing of it would be used"):
        Prompts(tmp_path)
    with pytest.raises(PromptError, match="is not a folder"):
        Prompts(tmp_path / "absent")

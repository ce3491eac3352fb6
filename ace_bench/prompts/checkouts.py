"""The official prompts, read from the user's own clone at run time. The source is parsed, and none of it is executed.

Facts used (reference: ace-agent/ace `ba78d34`, suzgunmirac/dynamic-cheatsheet `1cf258c`): the ACE prompts are string
constants named below, with `str.format` slots; those of Dynamic Cheatsheet are text files (or string constants) with slots
`[[NAME]]`, and are told apart by their slots. Where files lie in the clone does not matter. What the released code has no
prompt for stays ours: `refine`, `rewrite`, the forms of examples.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from string import Formatter

from ace_bench.prompts import FIELD, PromptError, Template

_LARGEST = 1_000_000  # bytes of a file that is looked into
_SKIPPED = {"node_modules", "site-packages", "venv", "env", "build", "dist", "tests", "results"}
_SLOT = re.compile(r"\[\[([A-Z_]+)\]\]")
# Our text for each slot of the originals, in our field syntax. `str.format` slots without a name count from 0.
_UNTOLD = dict.fromkeys(("token_budget", "current_step", "total_samples", "available_sections"), "(not stated)")
_ACE = {
    "solve": {"0": "{{playbook}}", "1": "(empty)", "2": "{{task}}", "3": "{{instructions}}"},
    "reflect": {
        "question": "{{task}}", "reasoning_trace": "{{attempt}}", "predicted_answer": "{{answer}}",
        "ground_truth": "(told in the environment feedback)", "environment_feedback": "{{feedback}}",
        "bullets_used": "{{cited}}",
    },
    "curate": {
        **_UNTOLD, "playbook_stats": "(not stated)", "recent_reflection": "{{reflection}}",
        "current_playbook": "{{playbook}}", "question_context": "{{task}}",
    },
}  # fmt: skip
_CHEATSHEET = {
    "solve": {"QUESTION": "{{instructions}}\n\n{{task}}", "CHEATSHEET": "{{playbook}}"},
    "cheatsheet": {"PREVIOUS_CHEATSHEET": "{{sheet}}", "QUESTION": "{{task}}", "MODEL_ANSWER": "{{attempt}}{{feedback}}"},
    "cheatsheet_synthesis": {
        "PREVIOUS_CHEATSHEET": "{{sheet}}", "PREVIOUS_INPUT_OUTPUT_PAIRS": "{{examples}}", "NEXT_INPUT": "{{task}}",
    },
}  # fmt: skip


def ace(clone: Path, labels: bool) -> dict[str, Template]:
    """Roles solve, reflect and curate from a clone of the released ACE code; `labels` picks the ground-truth variants.

    Slots that our roles have no value for read "(not stated)". Raises PromptError, a sentence that names what is absent.
    """
    constants = _constants(_folder(clone, "ace_checkout"))
    end = "" if labels else "_NO_GT"
    names = {"solve": "GENERATOR_PROMPT", "reflect": f"REFLECTOR_PROMPT{end}", "curate": f"CURATOR_PROMPT{end}"}
    absent = [f"{name} (for role {role})" for role, name in names.items() if name not in constants]
    if absent:
        raise PromptError(f"prompts: no file of {clone} defines {', '.join(absent)} as a text; is it a clone of ACE?")
    return {role: _template(_formatted(constants[name], name), _ACE[role], name) for role, name in names.items()}


def dynamic_cheatsheet(clone: Path) -> dict[str, Template]:
    """Roles solve, cheatsheet and cheatsheet_synthesis from a clone of the released Dynamic Cheatsheet code.

    Raises PromptError where a role has no prompt in the clone, or several that differ and none of which is a text file
    of its `prompts` folder.
    """
    texts = list(_texts(_folder(clone, "dc_checkout")))
    found = {role: _only(clone, role, set(slots), texts) for role, slots in _CHEATSHEET.items()}
    return {role: _template(_slotted(text), _CHEATSHEET[role], role) for role, text in found.items()}


def _folder(clone: Path, kind: str) -> Path:
    if not clone.is_dir():
        raise PromptError(f"prompts={kind}:{clone} is not a folder; give the folder of your clone.")
    return clone


def _files(clone: Path, *endings: str) -> Iterator[Path]:
    for path in sorted(clone.rglob("*")):
        parts = path.relative_to(clone).parts
        hidden = any(part.startswith(".") or part in _SKIPPED for part in parts)
        if not hidden and path.suffix in endings and path.is_file() and path.stat().st_size <= _LARGEST:
            yield path


def _constants(clone: Path) -> dict[str, str]:
    """Module-level names bound to a text, or to another such name. Files of a `prompts` folder win over others."""
    out: dict[str, str] = {}
    for path in sorted(_files(clone, ".py"), key=lambda p: p.parent.name == "prompts"):
        here: dict[str, str] = {}
        for node in _parsed(path).body:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                value = node.value
                if isinstance(value, ast.Constant) and isinstance(value.value, str):
                    here[node.targets[0].id] = value.value
                elif isinstance(value, ast.Name) and value.id in here:
                    here[node.targets[0].id] = here[value.id]
        out |= here
    return out


def _parsed(path: Path) -> ast.Module:
    """The syntax tree; an empty one for a file that is not Python of this version (it holds none of what we look for)."""
    try:
        return ast.parse(path.read_bytes())
    except (SyntaxError, ValueError, RecursionError):
        return ast.Module([], [])


def _texts(clone: Path) -> Iterator[tuple[Path, str]]:
    """Text files whole, and the string constants of source files, that have a slot of the form [[NAME]]."""
    for path in _files(clone, ".txt", ".md", ".py"):
        if path.suffix == ".py":
            nodes = (n.value for n in ast.walk(_parsed(path)) if isinstance(n, ast.Constant))
            yield from ((path, text) for text in nodes if isinstance(text, str) and _SLOT.search(text))
        elif _SLOT.search(text := path.read_text(encoding="utf-8", errors="replace")):
            yield path, text


def _only(clone: Path, role: str, slots: set[str], texts: Iterable[tuple[Path, str]]) -> str:
    """The one text with exactly these slots."""
    fits = [(path, text) for path, text in texts if set(_SLOT.findall(text)) == slots]
    preferred = [(path, text) for path, text in fits if path.suffix != ".py" and path.parent.name == "prompts"]
    fits = preferred or fits
    if len({text for _, text in fits}) == 1:
        return fits[0][1]
    wanted = " ".join(f"[[{slot}]]" for slot in sorted(slots))
    if not fits:
        raise PromptError(f"prompts: no file of {clone} has a text with the slots {wanted} (for role {role}).")
    named = ", ".join(sorted({str(path.relative_to(clone)) for path, _ in fits}))
    raise PromptError(
        f"prompts: {clone} has several texts with the slots {wanted} (for role {role}): {named}; keep one."
    )


def _formatted(text: str, name: str) -> Iterator[tuple[str, str | None]]:
    """The literals and slots of a `str.format` template; nothing is formatted."""
    count = 0
    try:
        for literal, field, spec, conversion in Formatter().parse(text):
            slot = field
            if field == "":
                slot, count = str(count), count + 1
            elif field and (spec or conversion):
                slot = f"{field}!{conversion}:{spec}"  # no slot of ours: refused by `_template`
            yield literal, slot
    except ValueError as e:
        raise PromptError(f"prompts: {name} of the clone is not a template of the known form: {e}.") from e


def _slotted(text: str) -> Iterator[tuple[str, str | None]]:
    pieces = _SLOT.split(text)
    return zip(pieces[::2], [*pieces[1::2], None], strict=True)


def _template(parsed: Iterable[tuple[str, str | None]], fills: Mapping[str, str], name: str) -> Template:
    """One user message: literals stay byte for byte, slots become our fields."""
    pieces = [""]
    for literal, slot in parsed:
        pieces[-1] += literal
        if slot is None:
            continue
        if slot not in fills:
            raise PromptError(f"prompts: {name} of the clone asks for {{{slot}}}; known slots: {', '.join(fills)}.")
        first, *rest = FIELD.split(fills[slot])
        pieces[-1] += first
        pieces += rest
    return (("user", tuple(pieces)),)

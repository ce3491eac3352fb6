"""The typed check and the identity of a cell."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
from exp_fakes import Alpha

from ace_bench.experiment import plugins
from ace_bench.experiment.identity import cell_digest, cell_id
from ace_bench.experiment.plugins import PlanError
from ace_bench.experiment.spec import CellSpec, check

CELL: dict[str, Any] = {
    "name": "x", "results": "results", "seed": 0, "order": {"kind": "shuffled", "seed": 0},
    "select": "auto", "prompts": None, "start": None, "cache": {"mode": "off", "path": "r.db"},
    "limits": {"calls": None, "tokens": None, "cell_calls": None, "cell_tokens": None, "concurrency": 4},
    "method": {"name": "alpha"}, "benchmark": {"name": "toy"}, "model": {"name": "m", "transport": "toy"},
    "protocol": {"name": "online", "window": 1}, "feedback": {"regime": "gt"},
}  # fmt: skip


@pytest.fixture(autouse=True)
def _registry(fakes: None) -> None: ...


def cell(**changes: Any) -> dict[str, Any]:
    """CELL with changes; `method__rounds=2` reaches into a section."""
    out = copy.deepcopy(CELL)
    for path, value in changes.items():
        *sections, key = path.split("__")
        node = out
        for section in sections:
            node = node[section]
        node[key] = value
    return out


def told(**changes: Any) -> str:
    with pytest.raises(PlanError) as e:
        check(cell(**changes))
    return str(e.value)


def identity(**changes: Any) -> str:
    return cell_digest(check(cell(**changes)).canonical())


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"seed": True}, ["seed = True", "integer"]),
        ({"seed": 1000.0}, ["seed = 1000.0", "integer"]),
        ({"seed": "1e3"}, ["seed = '1e3'", "integer"]),
        ({"seed": None}, ["seed = None"]),
        ({"seed": -1}, ["seed = -1"]),
        ({"seed": "???"}, ["seed has no value"]),
        ({"order__kind": "random"}, ["order.kind", "'shuffled'"]),
        ({"order__path": "f"}, ["order.path"]),
        ({"method__flag": "on"}, ["method.flag = 'on'", "boolean"]),
        ({"method__share": float("nan")}, ["method.share", "finite"]),
        ({"method__reflection": 1}, ["method.reflection is not a setting of method 'alpha'", "rounds"]),
        ({"method__rounds": 13}, ["method", "anything but 13"]),
        ({"method__name": "gamma"}, ["no method named 'gamma'", "alpha, beta"]),
        ({"benchmark__colour": 1}, ["benchmark.colour is not a setting"]),
        ({"model__temprature": 1}, ["model.temprature is not a setting of transport 'toy'"]),
        ({"model__transport": "zzz"}, ["model.transport", "no transport named 'zzz'"]),
        ({"model__name": "???"}, ["model.name has no value"]),
        ({"model__api_key": "***"}, ["model.api_key", "mask"]),
        ({"protocol__epochs": 2}, ["protocol.epochs is not a setting of protocol 'online'"]),
        ({"protocol": {"name": "offline", "window": 2}}, ["protocol.window"]),
        ({"protocol": {"name": "frozen", "eval_every": 2}}, ["protocol.eval_every"]),
        ({"protocol__name": "sideways"}, ["protocol.name must be one of online, offline, frozen"]),
        ({"protocol__window": 0}, ["protocol.window"]),
        ({"feedback__regime": "none"}, ["feedback.regime=none", "gt, outcome"]),
        ({"feedback__regime": "labels"}, ["feedback.regime", "'gt'"]),
        ({"select": "gt"}, ["select=gt", "no validation"]),
        ({"limits__calls": 0}, ["limits.calls"]),
        ({"limits__euros": 1}, ["limits.euros is not a setting"]),
        ({"cache__mode": "maybe"}, ["cache.mode"]),
        ({"name": "../up"}, ["name ="]),
        ({"colour": 1}, ["colour is not a setting of a cell"]),
        ({"method": None}, ["method"]),
        ({"prompts": "no/such"}, ["prompts=no/such cannot be read"]),
        ({"benchmark__train": "no/such.jsonl"}, ["benchmark.train=no/such.jsonl cannot be read"]),
    ],
)
def test_refused(changes: dict[str, Any], words: list[str]) -> None:
    text = told(**changes)
    for word in words:
        assert word in text


def test_all_errors_at_once_and_no_secret_in_them() -> None:
    text = told(seed="x", method__nope=1, protocol__window=0, model__api_key=123456789, feedback__regime="none")
    assert all(p in text for p in ("seed", "method.nope", "protocol.window", "model.api_key", "feedback.regime"))
    assert "123456789" not in text


def test_select_is_resolved() -> None:
    offline = {"name": "offline", "epochs": 1, "eval_every": 5}
    assert check(cell()).select == "last"
    assert check(cell(protocol=offline)).select == "gt"
    assert check(cell(protocol=offline, feedback__regime="outcome")).select == "last"
    assert check(cell(protocol=offline, feedback__regime="outcome", select="gt")).select == "gt"


def test_defaults_are_filled_in_and_given_ones_are_the_same_cell() -> None:
    spec = check(cell())
    assert spec.canonical()["method"]["rounds"] == 1
    assert isinstance(spec.method.settings, Alpha.Settings)
    assert identity() == identity(method__rounds=1, method__share=0.5, model__temperature=0)
    assert identity() != identity(method__rounds=2)


def test_seeds_are_their_own() -> None:
    assert len({identity(seed=s) for s in range(3)}) == 3
    assert len({identity(order__seed=s) for s in range(3)}) == 3


def test_what_cannot_change_results_is_no_identity() -> None:
    same = {"name": "y", "results": "/elsewhere", "limits__calls": 9, "cache__mode": "write", "cache__path": "q.db"}
    assert identity() == identity(**same)
    assert identity() == identity(model__api_key="sk-TEST-123")
    spec = check(cell(model__api_key="sk-TEST-123"))
    assert "sk-TEST" not in str(spec.canonical())


@pytest.mark.parametrize("key", ["start", "benchmark__train", "method__notes"])
def test_files_count_by_content(tmp_path: Path, key: str) -> None:
    for name, text in (("a", "one"), ("b", "one"), ("c", "two")):
        (tmp_path / name).write_text(text)
    a, b, c = (identity(**{key: str(tmp_path / n)}) for n in "abc")
    assert a == b != c


def test_prompt_folders_count_by_content(tmp_path: Path) -> None:
    for name, text in (("a", "one"), ("b", "one"), ("c", "two")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "solve.md").write_text(text)
    a, b, c = (identity(prompts=str(tmp_path / n)) for n in "abc")
    assert a == b != c


def test_the_id_is_readable_safe_and_bounded() -> None:
    canonical = check(cell()).canonical()
    assert cell_id(canonical).startswith("alpha-toy-online-gt-s0-o0-")
    canonical["method"]["name"] = "../é " * 100
    assert len(cell_id(canonical)) <= 91
    assert set(cell_id(canonical)) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")


def test_the_canonical_config_checks_to_itself() -> None:
    spec = check(cell())
    again: CellSpec = check({k: v for k, v in spec.canonical().items() if k != "digests"})
    assert again.id() == spec.id()


def test_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    from importlib.metadata import EntryPoint

    def found(group: str) -> tuple[EntryPoint, ...]:
        values = [("two", "a:B"), ("two", "c:D"), ("broken", "no_such_module:X"), ("value", "exp_fakes:BASE")]
        return tuple(EntryPoint(n, v, group) for n, v in values)

    monkeypatch.setattr(plugins, "found", found)
    with pytest.raises(PlanError, match="Two plug-ins give a method named 'two'"):
        plugins.load("methods", "two")
    with pytest.raises(PlanError, match="cannot be imported: ModuleNotFoundError"):
        plugins.load("methods", "broken")
    with pytest.raises(PlanError, match="not a class"):
        plugins.load("methods", "value")
    assert plugins.names("methods") == ["broken", "two", "value"]

"""Caps against a plan: refused when they could not be kept, and told when they will end the run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ace_bench.experiment import shared
from ace_bench.experiment.planning.amounts import Amount
from ace_bench.experiment.planning.arm import Need
from ace_bench.experiment.plugins import PlanError
from ace_bench.experiment.spec import CellSpec, LimitsSpec

KINDS = ("calls", "tokens", "dollars")


def refuse_unkept(specs: Sequence[CellSpec]) -> None:
    """`PlanError` for a cap in tokens or dollars where no max_tokens bounds a call (no price: `spec.check` says so)."""
    seen = set()
    for spec in specs:
        if not any(name.endswith(("tokens", "dollars")) for name in spec.limits.capped()):
            continue
        for part in (spec.model, *spec.roles.values()):
            settings = shared.model_settings(part)
            key = settings.name, settings.endpoint, str(settings.params)
            if key not in seen:
                seen.add(key)
                _refuse(spec, part.name, settings.params, shared.price(part))


def _refuse(spec: CellSpec, name: str, params: object, price: object) -> None:
    try:
        shared.limits(spec).check(name, params, price)  # type: ignore[arg-type]
    except ValueError as e:
        raise PlanError(str(e)) from e


def notes(limits: LimitsSpec, whole: Need, each: Sequence[tuple[str, Need]]) -> Iterator[str]:
    """A sentence for each cap that the plan passes, surely or perhaps."""
    for kind in KINDS:
        yield from _note(f"limits.{kind}", getattr(limits, kind), "the experiment", _amount(whole, kind))
        for what, need in each:
            yield from _note(f"limits.cell_{kind}", getattr(limits, f"cell_{kind}"), what, _amount(need, kind))


def _amount(need: Need, kind: str) -> Amount | None:
    return {"calls": need.calls, "tokens": need.input + need.output, "dollars": need.dollars}[kind]


def _note(name: str, cap: float | None, what: str, amount: Amount | None) -> Iterator[str]:
    if cap is None or amount is None:
        return
    if cap < amount.low:
        yield f"{name}={cap:g} will stop {what}: it needs at least {amount.low:,.6g}."
    elif amount.high is None:
        yield f"{name}={cap:g} may stop {what}: it needs {amount.low:,.6g} or more, and the plan knows no upper end."
    elif cap < amount.high:
        yield f"{name}={cap:g} may stop {what}, which needs up to {amount.high:,.6g}."

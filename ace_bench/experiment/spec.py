"""The typed check of a cell: every resolved config passes through here before anything runs.

Hydra's struct mode does not look into a preset's body (an unknown knob merges in silently) and its values are untyped
(`seed=1e3` is a float, `flag=on` a text). Here every section has a model: our own ones below, and `Settings` of the
plug-in class for the knobs of a method, a benchmark or a transport.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from ace_bench.contracts import Regime
from ace_bench.experiment import identity, plugins
from ace_bench.experiment.checking import Problems, files, parse, plain, scrub
from ace_bench.experiment.plugins import Group, PlanError
from ace_bench.llm.pricing import price_of
from ace_bench.llm.types import Purpose
from ace_bench.prompts import PromptError, Prompts
from ace_bench.store.secrets import looks_masked

Seed = Annotated[int, Field(ge=0)]
Count = Annotated[int, Field(ge=1)]
Dollars = Annotated[float, Field(gt=0)]
Text = Annotated[str, StringConstraints(min_length=1)]
Knobs = dict[str, Any]


class Strict(BaseModel):
    """A section of ours: unknown keys refused, no conversions, immutable."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class OrderSpec(Strict):
    """The order of the stream (`protocols.orders`); kind `file` keeps the data file's and does not use the seed."""

    kind: Literal["shuffled", "blocked", "interleaved", "file"]
    seed: Seed


class CacheSpec(Strict):
    """The response cache."""

    mode: Literal["off", "read", "write", "replay"]
    path: Text


class LimitsSpec(Strict):
    """Caps of the experiment and of each cell (None: no cap); calls in flight at once; threads of a frozen pass."""

    calls: Count | None = None
    tokens: Count | None = None
    dollars: Dollars | None = None
    cell_calls: Count | None = None
    cell_tokens: Count | None = None
    cell_dollars: Dollars | None = None
    requests_per_minute: Count | None = None
    tokens_per_minute: Count | None = None
    concurrency: Count = 64
    frozen_workers: Count = 8

    def capped(self) -> list[str]:
        """Names of the caps that are set. The widths are none: they slow a run, they do not end one."""
        return [k for k, v in self if v is not None and k not in ("concurrency", "frozen_workers")]


class OnlineSpec(Strict):
    """Predict, score, then update, one pass; `window` samples are scored before the update on them."""

    name: Literal["online"]
    window: Count = 1
    probe: bool = False


class OfflineSpec(Strict):
    """Adapt on train for `epochs`, look at validation every `eval_every` steps, score the result on test."""

    name: Literal["offline"]
    epochs: Count = 1
    eval_every: Count = 100
    probe: bool = False


class FrozenSpec(Strict):
    """Score only."""

    name: Literal["frozen"]


class FeedbackSpec(Strict):
    """What a method may learn from an episode."""

    regime: Regime


class DataSpec(Strict):
    """Where copies of public data lie (null: ACE_BENCH_DATA, else ./data). Used by `${data:NAME}` in paths, no identity."""

    root: Text | None = None


class ModelSpec(Strict):
    """What every model has, whatever its transport; the transport's own `Settings` check the other keys."""

    name: Text
    transport: Text


class NoSettings(Strict):
    """The settings of a plug-in class that declares none."""


class _Root(Strict):
    name: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=100)]
    results: Text
    seed: Seed
    order: OrderSpec
    select: Literal["gt", "last", "auto"] = "auto"
    prompts: Text | None = None
    start: Text | None = None
    data: DataSpec = DataSpec()
    cache: CacheSpec
    limits: LimitsSpec
    method: Knobs
    benchmark: Knobs
    model: Knobs
    roles: dict[Purpose, Knobs] = Field(default_factory=dict)
    protocol: Knobs
    feedback: Knobs
    embedder: Knobs = Field(default_factory=dict)


Protocol = OnlineSpec | OfflineSpec | FrozenSpec
PROTOCOLS: dict[str, type[Protocol]] = {"online": OnlineSpec, "offline": OfflineSpec, "frozen": FrozenSpec}


@dataclass(frozen=True, slots=True)
class Part:
    """A plug-in as a cell asks for it. `common` is set for a model only; `cls` is then the transport's class."""

    name: str
    cls: type[Any]
    settings: BaseModel
    common: ModelSpec | None = None

    def canonical(self) -> Knobs:
        """Name and all knobs, defaults filled in."""
        return {"name": self.name, **plain(self.settings), **(plain(self.common) if self.common else {})}


@dataclass(frozen=True, slots=True)
class CellSpec:
    """One checked cell. `select` is resolved; `digests` are content digests of the files it names, by config path."""

    name: str
    results: str
    seed: int
    order: OrderSpec
    select: Literal["gt", "last"]
    prompts: str | None
    start: str | None
    cache: CacheSpec
    limits: LimitsSpec
    method: Part
    benchmark: Part
    model: Part
    roles: dict[Purpose, Part]
    protocol: Protocol
    feedback: FeedbackSpec
    digests: dict[str, str]
    embedder: Part | None = None  # None: the method does not embed

    @property
    def experiment_dir(self) -> Path:
        """The folder of the experiment."""
        return Path(self.results) / self.name

    def canonical(self) -> dict[str, Any]:
        """The resolved config: defaults of plug-ins filled in, secrets masked, plain JSON data."""
        parts = ("method", "benchmark", "model")
        out = {key: getattr(self, key) for key in self.__dataclass_fields__ if key not in ("roles", "embedder")}
        told = {key: value.canonical() if key in parts else plain(value) for key, value in out.items()}
        roles = {"roles": {role: part.canonical() for role, part in self.roles.items()}}
        return told | roles | ({"embedder": self.embedder.canonical()} if self.embedder else {})

    def id(self) -> str:
        """The cell id (see `identity`)."""
        return identity.cell_id(self.canonical())


def check(cell: Mapping[str, Any]) -> CellSpec:
    """The typed form of a resolved config. Raises `PlanError` that tells everything wrong with it, a line each."""
    problems: Problems = {}
    clean = scrub(cell, "", problems)
    if masked := looks_masked(cell):
        problems.setdefault(masked, f"{masked} holds a mask; give the real value through the environment.")
    root = parse(_Root, clean, "", "a cell", problems)
    sections = {k: v for k, v in clean.items() if isinstance(v, dict)}
    method = _part("methods", "method", sections, problems)
    benchmark = _part("benchmarks", "benchmark", sections, problems)
    model = _part("transports", "model", sections, problems)
    asked = root.roles if root else {}
    roles = {
        role: _part("transports", f"roles.{role}", {f"roles.{role}": asked[role]}, problems) for role in sorted(asked)
    }
    protocol = _protocol(sections.get("protocol"), problems)
    feedback = parse(FeedbackSpec, sections.get("feedback", {}), "feedback", "feedback", problems)
    if method and feedback:
        _check_regime(method, feedback.regime, problems)
    if method and protocol:
        _check_method(method, protocol, problems)
    for section, part in (("method", method), ("benchmark", benchmark)):
        if part:
            _check_installed(part, section, problems)
    if root and root.cache.mode != "replay":  # a replay asks nobody
        for section, part in (("model", model), *((f"roles.{role}", part) for role, part in roles.items())):
            missing = getattr(part.cls, "missing", None) if part else None
            if part and missing and (said := missing(part.settings)):
                problems[f"{section}.name"] = f"{section}={part.name}: {said}"
    if root:
        _check_prices(root, {"model": model, **{f"roles.{role}": part for role, part in roles.items()}}, problems)
    select: Literal["gt", "last"] = "last"
    if root and protocol and feedback:
        select = _select(root.select, protocol, feedback.regime, problems)
    embedder = _embedder(method, sections, asked, problems) if method else None
    if embedder and root and root.cache.mode != "replay" and (missing := embedder.cls.missing(embedder.settings)):
        problems["embedder.name"] = f"embedder={embedder.name}: {missing}"
    digests = _digests(root, {"method": method, "benchmark": benchmark, "model": model, "embedder": embedder}, problems)
    if problems or not (root and method and benchmark and model and protocol and feedback):
        raise PlanError("\n".join(problems.values()))
    return CellSpec(
        root.name, root.results, root.seed, root.order, select, root.prompts, root.start, root.cache, root.limits,
        method, benchmark, model, {role: part for role, part in roles.items() if part}, protocol, feedback, digests,
        embedder,
    )  # fmt: skip


def _part(group: Group, section: str, sections: Mapping[str, Knobs], problems: Problems) -> Part | None:
    """The plug-in a section names, its knobs checked by the class's own `Settings`."""
    knobs = sections.get(section, {})
    is_model = group == "transports"
    key = "transport" if is_model else "name"
    for field in dict.fromkeys(("name", key)):
        if not isinstance(knobs.get(field), str) or not knobs[field]:
            problems.setdefault(f"{section}.{field}", f"{section}.{field} must be a name, not {knobs.get(field)!r}.")
    if f"{section}.{key}" in problems:
        return None
    wanted = str(knobs[key])
    try:
        cls = plugins.load(group, wanted)
    except PlanError as e:
        problems[f"{section}.{key}"] = f"{section}.{key}: {e}"
        return None
    shape: type[BaseModel] = getattr(cls, "Settings", NoSettings)
    ours = set(ModelSpec.model_fields) if is_model else {"name"}
    own = {k: v for k, v in knobs.items() if k in shape.model_fields or k not in ours}
    settings = parse(shape, own, section, f"{group.removesuffix('s')} {wanted!r}", problems)
    common = None
    if is_model:
        common = parse(ModelSpec, {k: v for k, v in knobs.items() if k in ours}, section, "a model", problems)
    return None if settings is None else Part(str(knobs["name"]), cls, settings, common)


def _embedder(
    method: Part, sections: Mapping[str, Knobs], roles: Mapping[Purpose, Knobs], problems: Problems
) -> Part | None:
    """The embedder of a method that embeds; None for the others, whatever the section says: it changes nothing of them."""
    if not getattr(method.cls, "embeds", lambda settings: False)(method.settings):
        return None
    if "embed" in roles:
        problems["roles.embed"] = (
            "roles.embed: texts are embedded by the `embedder` section; use embedder=litellm there."
        )
    return _part("embedders", "embedder", sections, problems)


def _protocol(section: Knobs | None, problems: Problems) -> Protocol | None:
    name = (section or {}).get("name")
    if section is None or not isinstance(name, str) or name not in PROTOCOLS:
        problems.setdefault("protocol.name", f"protocol.name must be one of {', '.join(PROTOCOLS)}, not {name!r}.")
        return None
    return parse(PROTOCOLS[name], section, "protocol", f"protocol {name!r}", problems)


def _check_regime(method: Part, regime: Regime, problems: Problems) -> None:
    allowed = getattr(method.cls, "regimes", None)
    if not isinstance(allowed, frozenset):
        problems["method.regimes"] = f"Method {method.name!r} ({method.cls.__name__}) declares no frozenset `regimes`."
    elif regime not in allowed:
        can = ", ".join(sorted(allowed)) or "none at all"
        problems["feedback.regime"] = f"feedback.regime={regime}: method {method.name!r} runs under: {can}."


def _check_method(method: Part, protocol: Protocol, problems: Problems) -> None:
    """Whether the method can run under the protocol."""
    allowed = getattr(method.cls, "protocols", frozenset(PROTOCOLS))
    if protocol.name not in allowed:
        can = ", ".join(sorted(allowed))
        problems["protocol.name"] = f"protocol={protocol.name}: method {method.name!r} runs under: {can}."


def _check_installed(part: Part, section: str, problems: Problems) -> None:
    """Whether what a plug-in needs is here: its class may say what is not (`missing(settings)`: a sentence, or None)."""
    if missing := getattr(part.cls, "missing", lambda settings: None)(part.settings):
        problems[f"{section}.name"] = f"{section}={part.name}: {missing}"


def _check_prices(root: _Root, models: Mapping[str, Part | None], problems: Problems) -> None:
    """A cap in dollars could never fire for a model without a price (known fault B13)."""
    if root.limits.dollars is None and root.limits.cell_dollars is None:
        return
    for section, model in models.items():
        settings: Any = model.settings if model else None
        if model and hasattr(settings, "asked"):
            asked = settings.asked(model.name)
            if price_of(getattr(settings, "price", None), asked.name, asked.endpoint) is None:
                problems[f"{section}.price"] = (
                    f"limits has a cap in dollars, but {section}={model.name} has no price, so it could never fire: "
                    f"give {section}.price (0 if it is free), or cap calls or tokens instead."
                )


def _select(asked: str, protocol: Protocol, regime: Regime, problems: Problems) -> Literal["gt", "last"]:
    """`auto` = gt where labels may be seen and there is a candidate to pick, else last."""
    offline = protocol.name == "offline"
    if asked == "gt" and not offline:
        problems["select"] = f"select=gt: protocol {protocol.name!r} has no validation to select on; use select=last."
    if asked == "auto":
        return "gt" if offline and regime == "gt" else "last"
    return "gt" if asked == "gt" else "last"


def _digests(root: _Root | None, parts: Mapping[str, Part | None], problems: Problems) -> dict[str, str]:
    benchmark = parts["benchmark"]
    named: dict[str, Path] = {}
    if root:
        texts = {"prompts": (root.prompts or "").removeprefix("folder:") or None, "start": root.start}
        named = {path: Path(text) for path, text in texts.items() if text is not None}
    for section, part in parts.items():
        if part is not None:
            named |= files(part.settings, section)
    if benchmark is not None:  # the splits of a benchmark on files; those of others are sizes
        for split in ("train", "val", "test"):
            if isinstance(text := getattr(benchmark.settings, split, None), str):
                named[f"benchmark.{split}"] = Path(text)
    digests: dict[str, str] = {}
    if root and root.prompts and root.prompts.startswith(("ace_checkout:", "dc_checkout:", "shipped:")):
        del named["prompts"]
        try:  # over the texts used: a clone holds much else
            digests["prompts"] = Prompts.open(root.prompts, labels=root.feedback.get("regime") == "gt").digest
        except PromptError as e:
            problems.setdefault("prompts", f"{e}")
    for path, file in sorted(named.items()):
        if path == "prompts" and file.exists() and not file.is_dir():
            problems.setdefault(path, f"prompts={file} is not a folder of role prompts.")
            continue
        try:
            digests[path] = identity.content_digest(str(file))
        except OSError as e:
            problems.setdefault(path, f"{path}={file} cannot be read: {e.strerror}. Paths count from {Path.cwd()}.")
    return digests

"""`local`: a GGUF model on this machine, served by a child process and reached through litellm like any other server.

The cache key names the weights by their content (SHA-256), never by port, key or path: a run recorded on one machine is
replayed on another.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from ace_bench.llm import weights
from ace_bench.llm.local import servers
from ace_bench.llm.pricing import PriceSettings
from ace_bench.llm.session import ModelSettings
from ace_bench.llm.transports.litellm import LitellmSettings, LitellmTransport
from ace_bench.llm.types import Completion, Message, Purpose, Request, TransportError

_KEPT_MIB = 1024  # of prompts outside of the slots: the roles take turns in one slot and each finds its prefix again


class LocalSettings(BaseModel):
    """A model on this machine: `weights` by name (`ace-bench model list`) or any GGUF file by `gguf`, never both.

    `context` is tokens for prompt and reply together, `slots` how many requests are worked on at once, `threads` null:
    two, or one on a single core. `exact`: the reply's bits depend on the request alone, not on what was asked before it
    (one slot; every new system message is read from nothing).
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    weights: str | None = None
    gguf: Path | None = None
    params: dict[str, Any] = Field(default_factory=lambda: {"temperature": 0, "max_tokens": 512})
    share_greedy: bool = False
    exact: bool = False
    context: int = Field(4096, ge=256)
    slots: int = Field(1, ge=1, le=16)
    threads: int | None = Field(None, ge=1)
    timeout_s: float = Field(900.0, gt=0)
    price: PriceSettings | str | None = PriceSettings(input=0, output=0, source="own machine")

    @model_validator(mode="after")
    def _one_source(self) -> LocalSettings:
        if self.gguf is None and self.weights not in weights.language_models():
            raise ValueError(
                f"weights={self.weights} is no model that can be fetched. Name one of "
                f"{', '.join(weights.language_models())}, or give a file of your own: model.gguf=PATH"
            )
        if self.exact and self.slots != 1:
            raise ValueError("exact=true needs slots=1: what stands in another slot would depend on earlier requests")
        return self

    def asked(self, name: str) -> ModelSettings:
        """The request side. The endpoint stands for the weights and for what else decides a reply."""
        digest = weights.digest(self.gguf) if self.gguf else weights.entry(self.weights or "").sha256
        endpoint = f"local:sha256:{digest[:16]}:context={self.context}{':exact' if self.exact else ''}"
        return ModelSettings(name, endpoint, self.params, self.share_greedy, json_mode=True)

    def shape(self) -> servers.Shape:
        """The server it needs. Raises `WeightsError` (a sentence) when the weights are not here or not the pinned ones."""
        file = self.gguf or weights.verified(self.weights or "")
        threads = self.threads or min(2, os.cpu_count() or 1)
        return servers.Shape(file.resolve(), self.context, self.slots, threads, 0 if self.exact else _KEPT_MIB)


class LocalTransport:
    """One attempt at the local server. Starts it at the first call; nothing is started to replay a recorded run."""

    simulated = False
    Settings = LocalSettings

    def __init__(self, settings: LocalSettings) -> None:
        self.settings = settings

    def complete(self, request: Request, purpose: Purpose, request_digest: str) -> Completion:
        """Answer through litellm. What cannot be helped by trying again (no weights, no xllamacpp) is not retried."""
        try:
            server = servers.running(self.settings.shape())
            door = _Loopback(server, self.settings.timeout_s)
        except (servers.ServerError, weights.WeightsError, ImportError) as error:
            raise TransportError(str(error), retryable=False, charged=False) from error
        with server.turn:
            if self.settings.exact:
                self._anchor(server, request)
            done = door.complete(replace(request, endpoint=door.settings.endpoint), purpose, request_digest)
        # The server would name the file's path as its model. It bills no cache writes, and thinking is part of the output.
        return replace(done, model=request.model, usage=replace(done.usage, cache_write=0, reasoning=0))

    def _anchor(self, server: servers.Server, request: Request) -> None:
        try:
            server.anchor(request.messages)
        except servers.ServerError as error:
            raise TransportError(str(error), retryable=True, charged=False) from error


class _Loopback(LitellmTransport):
    """litellm's transport, with the key of this very server and schemas instead of "some JSON object"."""

    def __init__(self, server: servers.Server, timeout_s: float) -> None:
        super().__init__(LitellmSettings(endpoint=f"{server.url}/v1", timeout_s=timeout_s))
        self._key = server.key

    def _arguments(self, request: Request) -> dict[str, Any]:
        made = super()._arguments(replace(request, schema=None))
        if request.schema is not None:
            named = {"name": "reply", "schema": form(request.schema, request.messages), "strict": True}
            made["response_format"] = {"type": "json_schema", "json_schema": named}
        return made


def form(schema: str, messages: Sequence[Message]) -> dict[str, Any]:
    """The schema a reply is held to: the fields that the prompt names, all of them, in the order it names them.

    The server writes required fields first and the others after them, so a field that is to be thought out before the
    answer would come after it. Fields that no prompt asks for are left out, unless the schema requires them.
    """
    text = "\n".join(message["content"] for message in messages)
    whole: dict[str, Any] = json.loads(schema)
    inner = {name: _object(part, text) for name, part in whole.get("$defs", {}).items()}
    return _object(whole, text) | ({"$defs": inner} if inner else {})


def _object(part: dict[str, Any], text: str) -> dict[str, Any]:
    """One object of a schema, its fields as `text` names them."""
    places = {name: text.find(f'"{name}"') for name in part.get("properties", {})}
    named = sorted((name for name in places if places[name] >= 0), key=lambda name: places[name])
    fields = [*named, *sorted(name for name in part.get("required", ()) if places[name] < 0)]
    if not fields:
        return part
    return {**part, "properties": {name: part["properties"][name] for name in fields}, "required": fields}

"""Any provider that litellm reaches: one attempt a call, nothing hidden in it (retries, cache, dropped parameters).

litellm is an extra and is imported at the first call. Its switches must be in the environment before that, or it asks
the network for price maps and tokenizers.
"""

from __future__ import annotations

import importlib
import importlib.util
import ipaddress
import logging
import os
import threading
import time
from typing import Any
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field

from ace_bench.llm.pricing import PriceSettings
from ace_bench.llm.session import ModelSettings
from ace_bench.llm.transports.litellm_replies import classify, read
from ace_bench.llm.types import Completion, Purpose, Request, TransportError

_SWITCHES = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_OFFLINE_MODE": "true", "LITELLM_LOG": "ERROR"}
NO_KEY = "none"  # what a loopback server gets when no key is named
_SHOWN = 300  # characters of a provider's error text
_import_lock = threading.Lock()


class LitellmSettings(BaseModel):
    """How to reach one provider. No key stands here: `api_key_env` is the *name* of an environment variable.

    `endpoint` is a base URL or the provider's name in litellm; a loopback URL needs no key. `timeout_s` bounds
    connecting and every wait for data. `send_seed=False` is for providers that refuse a seed (the key keeps it).
    `provider` is the dialect spoken when the endpoint is a URL. The rest is handed on as `ModelSettings`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    endpoint: str
    params: dict[str, Any] = Field(default_factory=dict)
    share_greedy: bool = False
    json_mode: bool = False
    api_key_env: str | None = None
    timeout_s: float = Field(120.0, gt=0)
    send_seed: bool = True
    provider: str = "openai"
    price: PriceSettings | str | None = None

    def asked(self, name: str) -> ModelSettings:
        """What a session needs to know of model `name` behind this transport."""
        return ModelSettings(name, self.endpoint, self.params, self.share_greedy, self.json_mode)

    @property
    def url(self) -> str | None:
        """The base URL, or None when `endpoint` names a provider."""
        return self.endpoint if "://" in self.endpoint else None


class LitellmTransport:
    """One attempt through litellm. Thread-safe.

    Raises at construction: ImportError (a sentence) when litellm is absent, ValueError when the key is not there.
    """

    simulated = False
    Settings = LitellmSettings

    @classmethod
    def missing(cls, settings: LitellmSettings) -> str | None:
        """What keeps this model from being asked: a sentence, or None."""
        if importlib.util.find_spec("litellm") is None:
            return (
                'The litellm transport needs litellm, which is not installed. Run: pip install "ace-bench[litellm]". '
                "The simulated transport needs nothing."
            )
        try:
            _key(settings)
        except ValueError as e:
            return str(e)
        return None

    def __init__(self, settings: LitellmSettings) -> None:
        self.settings = settings
        if importlib.util.find_spec("litellm") is None:
            raise ImportError(self.missing(settings))
        self._key = _key(settings)

    def complete(self, request: Request, purpose: Purpose, request_digest: str) -> Completion:
        """One attempt at the provider. Everything that can go wrong is a TransportError without the key in its text."""
        arguments = self._arguments(request)
        litellm = _litellm()
        began = time.perf_counter()
        try:
            response = litellm.completion(**arguments)
            return read(response, time.perf_counter() - began)
        except TransportError:
            raise
        except Exception as error:
            latency_s = time.perf_counter() - began
            outcome = classify(error, self._clean(str(error)), request.model, latency_s)
        # Outside of the except block, without the arguments: neither the context nor a frame may carry the key along.
        del arguments
        if isinstance(outcome, TransportError):
            raise outcome
        return outcome

    def _arguments(self, request: Request) -> dict[str, Any]:
        settings = self.settings
        if request.endpoint != settings.endpoint:  # the key goes to the endpoint it was given for, and nowhere else
            text = f"this transport serves {settings.endpoint}, not {request.endpoint}"
            raise TransportError(text, retryable=False, charged=False)
        provider = settings.provider if settings.url else settings.endpoint
        named = request.model.startswith(f"{provider}/")
        arguments = {
            **dict(request.params),
            "model": request.model if named else f"{provider}/{request.model}",
            "messages": [dict(m) for m in request.messages],
            "api_base": settings.url,
            "api_key": self._key,
            "timeout": settings.timeout_s,
            "num_retries": 0,
            "max_retries": 0,  # both: the SDK below retries on its own
            "drop_params": False,  # a parameter the model refuses is an error, never silently left out
            "stream": False,
        }
        if settings.send_seed:
            arguments["seed"] = request.seed
        if request.schema is not None:
            arguments["response_format"] = {"type": "json_object"}
        return arguments

    def _clean(self, text: str) -> str:
        """The first part of an error text, without the key."""
        if self._key != NO_KEY:
            text = text.replace(self._key, "[key]")
        return " ".join(text.split())[:_SHOWN]


def _key(settings: LitellmSettings) -> str:
    """The key from the named variable; a server on this machine may do without."""
    name = settings.api_key_env
    if name is not None:
        if not os.environ.get(name):
            raise ValueError(f"api_key_env names {name}, but that variable is not set. Export the key in it first.")
        return os.environ[name]
    if settings.url is not None and is_loopback(settings.url):
        return NO_KEY
    raise ValueError(
        f"There is no key for {settings.endpoint}. Set api_key_env to the name of the environment variable with it."
    )


def is_loopback(url: str) -> bool:
    """Whether a URL points at this very machine, so that no key is needed."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _litellm() -> Any:
    """litellm, imported once with its switches set and its noise off."""
    with _import_lock:
        for name, value in _SWITCHES.items():
            os.environ.setdefault(name, value)
        litellm: Any = importlib.import_module("litellm")
        litellm.suppress_debug_info = True
        litellm.telemetry = False
        litellm.drop_params = False
        for logger in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
            logging.getLogger(logger).setLevel(logging.CRITICAL)
        return litellm

"""Embeddings of any provider that litellm reaches: one attempt a call; retries, limits and cache are the client's."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar, Literal

from pydantic import Field

from ace_bench.llm.embedders.base import Array, EmbedderSettings, readable, unit
from ace_bench.llm.pricing import PriceSettings
from ace_bench.llm.transports import litellm as chat
from ace_bench.llm.transports.litellm_replies import classify
from ace_bench.llm.types import TransportError, Usage


class LitellmEmbedderSettings(EmbedderSettings):
    """How to reach the provider: the same words as for a model (`conf/model/litellm.yaml`); no key stands here.

    `dimensions` is sent when given. `threshold` has no default: it depends on the model behind the name.
    """

    name: Literal["litellm"] = "litellm"
    model: str
    endpoint: str
    api_key_env: str | None = None
    provider: str = "openai"
    timeout_s: float = Field(120.0, gt=0)
    dimensions: int | None = Field(None, ge=1)
    batch: int = Field(64, ge=1, le=2048)
    price: PriceSettings | str | None = None

    def transport(self) -> chat.LitellmSettings:
        """The part that says how to reach the provider."""
        return chat.LitellmSettings(
            endpoint=self.endpoint, api_key_env=self.api_key_env, provider=self.provider, timeout_s=self.timeout_s
        )


class LitellmEmbedder:
    """One attempt at a provider's embeddings. Thread-safe. Errors are TransportError, without the key in their text."""

    Settings: ClassVar[type[LitellmEmbedderSettings]] = LitellmEmbedderSettings
    scale = "the provider's; measure it before choosing a threshold"

    def __init__(self, settings: LitellmEmbedderSettings) -> None:
        self.settings, self.endpoint, self.batch = settings, settings.endpoint, settings.batch

    @cached_property
    def _chat(self) -> chat.LitellmTransport:
        """The chat transport for the same provider: it holds the key. Made when first asked, so a replay needs none."""
        return chat.LitellmTransport(self.settings.transport())

    @classmethod
    def missing(cls, settings: LitellmEmbedderSettings) -> str | None:
        """A sentence when litellm or the key is absent."""
        try:
            chat.LitellmTransport(settings.transport())
        except (ImportError, ValueError) as error:
            return str(error)
        return None

    @property
    def id(self) -> str:
        """The model's name and dimensions; what the provider runs behind it is not ours to know."""
        return f"litellm/{self.settings.model}" + (f"/{self.settings.dimensions}" if self.settings.dimensions else "")

    def embed(self, texts: Sequence[str]) -> tuple[Array, Usage]:
        """(n, d) unit rows and the input tokens that the provider reports."""
        library, arguments = chat._litellm(), self._arguments(texts)
        began = time.perf_counter()
        try:
            response = library.embedding(**arguments)
            return _rows(response, len(texts)), _usage(response)
        except TransportError:
            raise
        except Exception as error:
            text = self._chat._clean(str(error))
            failed = classify(error, text, self.settings.model, time.perf_counter() - began)
        del arguments  # as in the transport: neither the context nor a frame may carry the key along
        if isinstance(failed, TransportError):
            raise failed
        raise TransportError(f"the provider will not embed this: {text}", retryable=False, charged=False)

    def _arguments(self, texts: Sequence[str]) -> dict[str, Any]:
        s, url = self.settings, self.settings.transport().url
        provider = s.provider if url else s.endpoint
        arguments = {
            "model": s.model if s.model.startswith(f"{provider}/") else f"{provider}/{s.model}",
            "input": [readable(text) for text in texts],
            "api_base": url,
            "api_key": self._chat._key,
            "timeout": s.timeout_s,
            "encoding_format": "float",
            "num_retries": 0,
            "max_retries": 0,
        }
        return arguments | ({"dimensions": s.dimensions} if s.dimensions else {})


def _rows(response: Any, wanted: int) -> Array:
    """The vectors in the order asked for. Raises TransportError when they are not one for each text."""
    try:
        items = [item if isinstance(item, dict) else vars(item) for item in response.data]
        rows = [item["embedding"] for item in sorted(items, key=lambda item: int(item["index"]))]
        if len(rows) == wanted:
            return unit(rows)
        problem = f"{len(rows)} vectors for {wanted} texts"
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        problem = f"vectors that cannot be read ({error})"
    raise TransportError(f"the provider answered with {problem}", retryable=True)


def _usage(response: Any) -> Usage:
    tokens = getattr(getattr(response, "usage", None), "prompt_tokens", None)
    return Usage(tokens, 0, 0, 0, 0) if isinstance(tokens, int) and tokens > 0 else Usage()

"""What litellm's responses, usages and exceptions mean in our words. Pure functions; litellm itself is not imported."""

from __future__ import annotations

import email.utils
import time
from collections.abc import Iterator, Mapping
from typing import Any

from ace_bench.llm.types import NO_TOKENS, Completion, Status, TransportError, Usage

_RETRYABLE = frozenset({408, 409, 425, 429})  # and every 5xx
_REFUSALS = ("content_policy_violation", "content_filter", "responsibleaipolicyviolation")
# In the chain of causes, these say that the provider charged nothing: it answered with an error, or was never reached.
_UNCHARGED = frozenset({"HTTPStatusError", "APIStatusError", "ConnectError", "ConnectTimeout"})


def read(response: Any, latency_s: float) -> Completion:
    """A completion from litellm's response object. Raises TransportError when it holds no choice."""
    choices = getattr(response, "choices", None)
    if not choices:
        raise TransportError("the provider answered 200 without a choice (an error or an empty body)", retryable=True)
    choice = choices[0]
    message = choice.message
    text = _text(message.content)
    refusal = getattr(message, "refusal", None)
    finish = choice.finish_reason
    return Completion(
        text=text or (refusal if isinstance(refusal, str) else ""),
        status=_status(text, finish, bool(refusal)),
        finish_reason=finish,
        usage=usage_of(getattr(response, "usage", None)),
        model=str(response.model or ""),
        latency_s=latency_s,
        reasoning_text=getattr(message, "reasoning_content", None) or None,
    )


def usage_of(usage: Any) -> Usage:
    """litellm's usage in our five disjoint classes. No usage, or one of no input tokens at all, is unknown.

    Providers count cached and written tokens inside the prompt and reasoning inside the completion (litellm adds
    Anthropic's, which are reported apart, to the prompt).
    """
    prompt, completion = getattr(usage, "prompt_tokens", None), getattr(usage, "completion_tokens", None)
    if not prompt or completion is None:  # litellm fills in zeros for a usage that was not sent
        return Usage()
    inside, beyond = getattr(usage, "prompt_tokens_details", None), getattr(usage, "completion_tokens_details", None)
    cached = _first(inside, "cached_tokens")
    cached = _first(usage, "prompt_cache_hit_tokens", "cache_read_input_tokens", default=cached)
    written = _first(inside, "cache_creation_tokens")
    written = _first(usage, "cache_creation_input_tokens", default=written)
    reasoning = _first(beyond, "reasoning_tokens")
    return Usage(
        input=max(0, prompt - (cached or 0) - (written or 0)),
        cached_input=cached,
        cache_write=written,
        output=max(0, completion - (reasoning or 0)),
        reasoning=reasoning,
    )


def classify(error: Exception, text: str, model: str, latency_s: float) -> Completion | TransportError:
    """What an exception of litellm means: an answer about the request (overflow, refused) or a failed attempt."""
    name = type(error).__name__
    if name == "ContextWindowExceededError":
        return Completion("", "overflow", "context_length", NO_TOKENS, model, latency_s)
    if name == "ContentPolicyViolationError" or any(word in _code(error) for word in _REFUSALS):
        return Completion("", "refused", "content_filter", NO_TOKENS, model, latency_s)
    status = getattr(error, "status_code", None)
    spent_out = "insufficient_quota" in _code(error) or "exceeded your current quota" in text.lower()
    charged = not any(kind.__name__ in _UNCHARGED for cause in _causes(error) for kind in type(cause).__mro__)
    retryable = status is None or status in _RETRYABLE or status >= 500
    if name == "BadRequestError" and charged:  # litellm's own name for a 200 with an error in its body
        retryable = "provider not provided" not in text.lower()
    if isinstance(error, (TypeError, ImportError)):  # a parameter litellm does not know, a provider's SDK is absent
        retryable = False
    wait = _retry_after(error)
    return TransportError(f"{name}: {text}", retryable=retryable and not spent_out, retry_after_s=wait, charged=charged)


def _status(text: str, finish: str | None, refused: bool) -> Status:
    if refused or finish == "content_filter":
        return "refused"
    if finish == "length":
        return "truncated"  # also without any text: the thinking used up the budget, and would again
    return "ok" if text.strip() else "empty"


def _text(content: Any) -> str:
    """The visible text: a string, or the text parts of a list. Anything else is no text."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, Mapping)]
        return "".join(part for part in parts if isinstance(part, str))
    return ""


def _first(source: Any, *names: str, default: int | None = None) -> int | None:
    """The first of these counts that is there; bool and text are not counts."""
    values = (getattr(source, name, None) for name in names)
    return next((v for v in values if isinstance(v, int) and not isinstance(v, bool)), default)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """The causes of an exception, without itself (litellm gives its own a made-up status)."""
    for _ in range(20):
        error = (error.__cause__ or error.__context__) if error is not None else None
        if error is None:
            return
        yield error


def _code(error: Exception) -> str:
    """The provider's own word for the error, where its body has one."""
    words = []
    for source in (error, *_causes(error)):
        body = getattr(source, "body", None)
        inner = body.get("error", body) if isinstance(body, Mapping) else {}
        inner = inner if isinstance(inner, Mapping) else {}
        words += [getattr(source, "code", None), inner.get("code"), inner.get("type")]
    return " ".join(str(word) for word in words if word is not None).lower()


def _retry_after(error: Exception) -> float | None:
    """Seconds the provider asks us to wait: a number or a date, from the headers of its answer."""
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    value = headers.get("retry-after")
    if value is None:
        return None
    try:
        return max(0.0, min(float(value), 3600.0))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except (TypeError, ValueError):
        return None

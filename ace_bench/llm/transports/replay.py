"""The transport of `cache=replay`: there is none. A client in that mode answers from its store or stops."""

from __future__ import annotations

from ace_bench.llm.types import Completion, Purpose, Request, TransportError


class Unreachable:
    """Reaches nobody. The client refuses a miss before it would come here; this is the second lock on that door."""

    simulated = False

    def complete(self, request: Request, purpose: Purpose, request_digest: str) -> Completion:
        """Always a TransportError."""
        raise TransportError("cache=replay reaches no provider", retryable=False, charged=False)

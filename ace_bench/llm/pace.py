"""How fast calls may start at one endpoint: so many at once, so many a minute, so many tokens a minute."""

from __future__ import annotations

import threading
from collections.abc import Callable


class _Free:
    """Stands where a semaphore would, when there is no limit."""

    def __enter__(self) -> None: ...
    def __exit__(self, *_: object) -> None: ...


FREE = _Free()


class Gate:
    """The pace of one endpoint: a semaphore, and one moment for each of two rates from which on a call may start."""

    def __init__(
        self, concurrency: int | None, requests: float | None, tokens: float | None,
        clock: Callable[[], float], sleep: Callable[[float], None],
    ) -> None:  # fmt: skip
        self.slots = threading.BoundedSemaphore(concurrency) if concurrency else None
        self._rates, self._next = (requests, tokens), [0.0, 0.0]
        self._clock, self._sleep, self._lock = clock, sleep, threading.Lock()

    def wait_turn(self, tokens: float) -> None:
        """Sleep until both rates allow one more call of about `tokens`. Calls leave evenly spaced, first come first."""
        if self._rates == (None, None):
            return
        with self._lock:
            now = self._clock()
            start = max(now, *self._next)
            for i, (rate, amount) in enumerate(zip(self._rates, (1.0, tokens), strict=True)):
                if rate is not None:
                    self._next[i] = start + amount * 60.0 / rate
        if start > now:
            self._sleep(start - now)

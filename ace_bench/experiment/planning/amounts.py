"""Numbers that are known from below and, perhaps, from above."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Amount:
    """`low` to `high`; `high` None: nothing is known from above (an unknown is not a zero)."""

    low: float
    high: float | None

    def __add__(self, other: Amount) -> Amount:
        high = None if self.high is None or other.high is None else self.high + other.high
        return Amount(self.low + other.low, high)

    def __mul__(self, other: Amount) -> Amount:
        """End by end; both are never negative. Nothing times an unknown is nothing."""
        if self.high == 0 or other.high == 0:
            return NOTHING
        high = None if self.high is None or other.high is None else self.high * other.high
        return Amount(self.low * other.low, high)

    def holds(self, value: float) -> bool:
        """Whether `value` lies inside, rounding aside."""
        return self.low <= value * (1 + 1e-9) and (self.high is None or value <= self.high * (1 + 1e-9))


NOTHING = Amount(0, 0)
UNKNOWN = Amount(0, None)


def exactly(value: float) -> Amount:
    """A number that is known."""
    return Amount(value, value)


def total(amounts: Iterable[Amount]) -> Amount:
    """The sum."""
    return sum(amounts, NOTHING)


def merged(parts: Iterable[Mapping[str, Amount]]) -> dict[str, Amount]:
    """The sum of mappings, key by key, keys in the order they first come."""
    out: dict[str, Amount] = {}
    for part in parts:
        for key, amount in part.items():
            out[key] = out.get(key, NOTHING) + amount
    return out

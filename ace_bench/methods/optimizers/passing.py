"""Getting exceptions through libraries that catch `Exception`, retry, and score a zero.

A stop of the run (no budget, no provider, replay miss) is a `BaseException` and passes as it is. An ordinary exception of
ours (a benchmark that fails) would become a wrong answer in dspy and a skipped iteration in gepa; so every function given
to a library is `carried`, and the fit runs inside `landed`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


class Carried(BaseException):
    """An ordinary exception of ours on its way through a library."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


def carried(function: Callable[P, R]) -> Callable[P, R]:
    """`function`, whose ordinary exceptions no library can swallow."""

    @wraps(function)
    def outer(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except Exception as error:
            raise Carried(error) from error

    return outer


@contextmanager
def landed() -> Iterator[None]:
    """Where carried exceptions become themselves again."""
    try:
        yield
    except Carried as passenger:
        raise passenger.error from None

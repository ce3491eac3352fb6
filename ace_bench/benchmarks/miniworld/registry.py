"""How an app declares its APIs: typed parameters that are checked, and the documentation an agent can ask for."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ace_bench.benchmarks.miniworld.world import World

REQUIRED = object()
Declare = Callable[[Callable[..., Any]], Callable[..., Any]]
LONGEST = 10_000  # characters of a text argument


class ApiError(Exception):
    """An error of an API: HTTP-like status and message."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message

    def text(self) -> str:
        """What the agent's code sees (the shape of AppWorld's errors)."""
        body = json.dumps({"message": self.message}, separators=(",", ":"))
        return f"Response status code is {self.status}:\n{body}"


@dataclass(frozen=True, slots=True)
class Param:
    """One parameter. `kind`: string, integer, boolean, list of strings or any. Without `default` it is required."""

    kind: str
    doc: str
    default: Any = REQUIRED

    def check(self, name: str, value: Any) -> Any:
        """The value, or a 422 that says what it should be. None stands for a default that is None."""
        if value is None and self.default is None:
            return None
        if not _fits(self.kind, value):
            raise ApiError(422, f"The parameter {name} must be of type {self.kind}.")
        return value

    def described(self, name: str) -> dict[str, Any]:
        """The parameter as the docs show it."""
        out = {"name": name, "type": self.kind, "required": self.default is REQUIRED, "description": self.doc}
        return out if self.default is REQUIRED else {**out, "default": self.default}


@dataclass(frozen=True, slots=True)
class Api:
    """One API of an app."""

    app: str
    name: str
    doc: str
    params: Mapping[str, Param]
    response: Any  # an example of the shape: type names at its leaves
    run: Callable[..., Any]

    def call(self, world: World, arguments: Mapping[str, Any]) -> Any:
        """Check the arguments, then run. Raises `ApiError`: 422 for arguments, 401 for the token, others as they come."""
        if unknown := sorted(arguments.keys() - self.params.keys()):
            raise ApiError(
                422, f"{self.name} has no parameter {unknown[0][:60]!r}. It has: {', '.join(self.params) or 'none'}."
            )
        values = {}
        for name, param in self.params.items():
            if name not in arguments and param.default is REQUIRED:
                raise ApiError(422, f"The parameter {name} is required.")
            values[name] = param.check(name, arguments.get(name, param.default))
        if "access_token" in values and values.pop("access_token") not in world.tokens(self.app):
            raise ApiError(401, f"The access token is not valid for {self.app}. Get one from its login.")
        return self.run(world, **values)

    def described(self) -> dict[str, Any]:
        """The third level of the docs."""
        return {
            "app_name": self.app, "api_name": self.name, "description": self.doc,
            "parameters": [param.described(name) for name, param in self.params.items()],
            "response": self.response,
        }  # fmt: skip


@dataclass(slots=True)
class App:
    """An app: a name, a sentence, and its APIs in the order they were declared."""

    name: str
    doc: str
    apis: dict[str, Api] = field(default_factory=dict)

    def api(self, doc: str, response: Any, **params: Param) -> Declare:
        """Declare the decorated function as an API that takes the access token of the app first."""
        return self._declare(
            doc, response, {"access_token": Param("string", f"token from {self.name}.login"), **params}
        )

    def open_api(self, doc: str, response: Any, **params: Param) -> Declare:
        """Declare the decorated function as an API that needs no login."""
        return self._declare(doc, response, params)

    def _declare(self, doc: str, response: Any, params: Mapping[str, Param]) -> Declare:
        def declare(run: Callable[..., Any]) -> Callable[..., Any]:
            self.apis[run.__name__] = Api(self.name, run.__name__, doc, params, response, run)
            return run

        return declare


PAGING = {
    "page_index": Param("integer", "which page, from 0", 0),
    "page_limit": Param("integer", "entries a page, 1 to 20", 5),
}


def paged(entries: list[Any], page_index: int, page_limit: int) -> list[Any]:
    """One page of a list; past the end it is empty."""
    if page_index < 0:
        raise ApiError(422, "page_index must be 0 or more.")
    if not 1 <= page_limit <= 20:
        raise ApiError(422, "page_limit must be from 1 to 20.")
    return entries[page_index * page_limit : (page_index + 1) * page_limit]


def _fits(kind: str, value: Any) -> bool:
    if kind == "string":
        return isinstance(value, str) and len(value) <= LONGEST and _writable(value)
    if kind == "integer":
        return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**53
    if kind == "boolean":
        return isinstance(value, bool)
    if kind == "list of strings":
        return isinstance(value, list) and len(value) <= 100 and all(_fits("string", one) for one in value)
    return _plain(value) or (isinstance(value, list) and len(value) <= 1000 and all(_plain(one) for one in value))


def _plain(value: Any) -> bool:
    """A single answer: a text, a number, true or false."""
    if isinstance(value, float):
        return value == value and abs(value) < 2**53  # neither NaN nor infinite
    return isinstance(value, bool) or _fits("string", value) or _fits("integer", value)


def _writable(text: str) -> bool:
    """No lone surrogates: they can be put into no database."""
    return not any("\ud800" <= c <= "\udfff" for c in text)

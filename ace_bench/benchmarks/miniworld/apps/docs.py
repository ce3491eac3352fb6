"""`docs`: what there is, in three levels: apps, the APIs of an app, one API with parameters and response."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ace_bench.benchmarks.miniworld.registry import PAGING, Api, ApiError, App, Param, paged

if TYPE_CHECKING:
    from ace_bench.benchmarks.miniworld.world import World

app = App("docs", "Documentation of all apps and their APIs.")
known: dict[str, App] = {}  # filled by the package


@app.open_api("The apps there are.", [{"name": "string", "description": "string"}])
def show_app_descriptions(world: World) -> list[dict[str, str]]:
    """First level."""
    return [{"name": one.name, "description": one.doc} for one in known.values()]


@app.open_api(
    "The APIs of one app.", [{"name": "string", "description": "string"}],
    app_name=Param("string", "name of the app"),
)  # fmt: skip
def show_api_descriptions(world: World, app_name: str) -> list[dict[str, str]]:
    """Second level."""
    return [{"name": api.name, "description": api.doc.split(". ")[0]} for api in _app(app_name).apis.values()]


@app.open_api(
    "One API: what it does, its parameters and the shape of its response.",
    {"app_name": "string", "api_name": "string", "description": "string", "parameters": [{}], "response": "any"},
    app_name=Param("string", "name of the app"), api_name=Param("string", "name of the API"),
)  # fmt: skip
def show_api_doc(world: World, app_name: str, api_name: str) -> dict[str, Any]:
    """Third level."""
    apis = _app(app_name).apis
    if api_name not in apis:
        raise ApiError(404, f"{app_name} has no API of this name. It has: {', '.join(apis)}.")
    return apis[api_name].described()


@app.open_api(
    "APIs whose name or description holds a word of the query, in the order of the docs.",
    [{"app_name": "string", "api_name": "string", "description": "string"}],
    query=Param("string", "words"), **PAGING,
)  # fmt: skip
def search_api_docs(world: World, query: str, page_index: int, page_limit: int) -> list[dict[str, str]]:
    """A way in when the app is not known."""
    words = query.casefold().split()
    apis = [api for one in known.values() for api in one.apis.values()]
    found = [api for api in apis if any(word in _text(api) for word in words)]
    entries = [{"app_name": api.app, "api_name": api.name, "description": api.doc} for api in found]
    return paged(entries, page_index, page_limit)


def _text(api: Api) -> str:
    return f"{api.app} {api.name} {api.doc}".casefold()


def _app(name: str) -> App:
    if name not in known:
        raise ApiError(404, f"There is no app of this name. There are: {', '.join(known)}.")
    return known[name]

"""`todo`: lists of things to do. No training scenario uses it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ace_bench.benchmarks.miniworld.apps.access import add_login
from ace_bench.benchmarks.miniworld.registry import PAGING, ApiError, App, Param, paged

if TYPE_CHECKING:
    from ace_bench.benchmarks.miniworld.world import World

ITEM = {"item_id": "integer", "list_id": "integer", "text": "string", "due": "YYYY-MM-DD", "done": "boolean"}
app = App("todo", "Lists of things to do.")
add_login(app)


@app.api("Your lists.", [{"list_id": "integer", "name": "string"}])
def show_lists(world: World) -> list[Any]:
    """All of them; there are few."""
    return world.rows("SELECT id AS list_id, name FROM todo_list ORDER BY id")


@app.api(
    "Items of a list, in the order they were added; done ones too.", [ITEM], list_id=Param("integer", "id of the list"),
    **PAGING,
)  # fmt: skip
def show_items(world: World, list_id: int, page_index: int, page_limit: int) -> list[Any]:
    """A paged list."""
    world.one("todo_list", list_id)
    found = world.rows("SELECT * FROM todo_item WHERE list_id = ? ORDER BY id", list_id)
    shown = [
        {"item_id": row["id"], "list_id": list_id, "text": row["text"], "due": row["due"], "done": bool(row["done"])}
        for row in found
    ]
    return paged(shown, page_index, page_limit)


@app.api(
    "Add an item to a list.", {"item_id": "integer"}, list_id=Param("integer", "id of the list"),
    text=Param("string", "what to do"), due=Param("string", "YYYY-MM-DD, or empty", ""),
)  # fmt: skip
def add_item(world: World, list_id: int, text: str, due: str) -> dict[str, int]:
    """A list may hold an item twice."""
    world.one("todo_list", list_id)
    return {"item_id": world.insert("todo_item", list_id=list_id, text=text, due=due, done=0)}


@app.api("Mark an item as done.", {"message": "string"}, item_id=Param("integer", "its id"))
def complete_item(world: World, item_id: int) -> dict[str, str]:
    """Done twice is an error."""
    if world.one("todo_item", item_id)["done"]:
        raise ApiError(409, "The item is done.")
    world.update("todo_item", item_id, done=1)
    return {"message": "Done."}


@app.api("Delete an item.", {"message": "string"}, item_id=Param("integer", "its id"))
def delete_item(world: World, item_id: int) -> dict[str, str]:
    """Cannot be undone."""
    world.one("todo_item", item_id)
    world.delete("todo_item", item_id)
    return {"message": "Deleted."}

"""`notes`: short texts with tags. The API whose obvious reading is wrong: `search_notes` gives ids, not notes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ace_bench.benchmarks.miniworld.apps.access import add_login
from ace_bench.benchmarks.miniworld.registry import PAGING, ApiError, App, Param, paged

if TYPE_CHECKING:
    from ace_bench.benchmarks.miniworld.world import World

NOTE = {
    "note_id": "integer", "title": "string", "content": "string", "tags": ["string"], "created_at": "YYYY-MM-DD HH:MM",
}  # fmt: skip
app = App("notes", "Short notes with tags.")
add_login(app)


@app.api(
    "Find notes by tag, by a part of title or content, or both. Gives the ids of the notes, in the order of their ids.",
    ["integer"], query=Param("string", "part of title or content", None), tag=Param("string", "whole tag", None),
    **PAGING,
)  # fmt: skip
def search_notes(world: World, query: str | None, tag: str | None, page_index: int, page_limit: int) -> list[int]:
    """Ids only; `show_note` gives the note."""
    found, wanted = (
        [_shown(world, row) for row in world.rows("SELECT * FROM note ORDER BY id")],
        (query or "").casefold(),
    )
    kept = [one for one in found if tag is None or tag in one["tags"]]
    ids = [one["note_id"] for one in kept if wanted in f"{one['title']}\n{one['content']}".casefold()]
    return paged(ids, page_index, page_limit)


@app.api("One note with its tags.", NOTE, note_id=Param("integer", "its id"))
def show_note(world: World, note_id: int) -> dict[str, Any]:
    """The whole note."""
    return _shown(world, world.one("note", note_id))


@app.api(
    "Write a new note.", {"note_id": "integer"}, title=Param("string", "title"), content=Param("string", "content"),
    tags=Param("list of strings", "tags", []),
)  # fmt: skip
def create_note(world: World, title: str, content: str, tags: list[str]) -> dict[str, int]:
    """Tags are kept once each."""
    note_id = world.insert("note", title=title, content=content, created_at=world.now)
    for tag in dict.fromkeys(tags):
        world.insert("note_tag", note_id=note_id, tag=tag)
    return {"note_id": note_id}


@app.api("Delete a note.", {"message": "string"}, note_id=Param("integer", "its id"))
def delete_note(world: World, note_id: int) -> dict[str, str]:
    """Cannot be undone."""
    world.one("note", note_id)
    for row in world.rows("SELECT id FROM note_tag WHERE note_id = ?", note_id):
        world.delete("note_tag", row["id"])
    world.delete("note", note_id)
    return {"message": "Deleted."}


@app.api(
    "Put a tag on a note.",
    {"message": "string"},
    note_id=Param("integer", "id of the note"),
    tag=Param("string", "tag"),
)
def add_tag(world: World, note_id: int, tag: str) -> dict[str, str]:
    """A tag stands on a note once."""
    world.one("note", note_id)
    if world.rows("SELECT id FROM note_tag WHERE note_id = ? AND tag = ?", note_id, tag):
        raise ApiError(409, "The note has this tag.")
    world.insert("note_tag", note_id=note_id, tag=tag)
    return {"message": "Added."}


@app.api(
    "Take a tag off a note.", {"message": "string"}, note_id=Param("integer", "id of the note"),
    tag=Param("string", "tag"),
)  # fmt: skip
def remove_tag(world: World, note_id: int, tag: str) -> dict[str, str]:
    """The note stays."""
    found = world.rows("SELECT id FROM note_tag WHERE note_id = ? AND tag = ?", note_id, tag)
    if not found:
        raise ApiError(404, "The note does not have this tag.")
    world.delete("note_tag", found[0]["id"])
    return {"message": "Removed."}


def _shown(world: World, row: dict[str, Any]) -> dict[str, Any]:
    tags = world.rows("SELECT tag FROM note_tag WHERE note_id = ? ORDER BY tag", row["id"])
    return {
        "note_id": row["id"], "title": row["title"], "content": row["content"], "tags": [one["tag"] for one in tags],
        "created_at": row["created_at"],
    }  # fmt: skip

"""`contacts`: people, how they are related to you, and messages with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ace_bench.benchmarks.miniworld.apps.access import add_login
from ace_bench.benchmarks.miniworld.registry import PAGING, ApiError, App, Param, paged

if TYPE_CHECKING:
    from ace_bench.benchmarks.miniworld.world import World

RELATIONSHIPS = ("brother", "coworker", "friend", "manager", "roommate", "sister")
CONTACT = {
    "contact_id": "integer", "first_name": "string", "last_name": "string", "email": "string", "phone": "string",
    "relationship": "string",
}  # fmt: skip
app = App("contacts", "People you know, their relationship to you, and messages to and from them.")
add_login(app)


@app.open_api("The relationships a contact can have.", ["string"])
def show_relationships(world: World) -> list[str]:
    """Needs no login."""
    return list(RELATIONSHIPS)


@app.api(
    "Contacts in the order they were added. Give relationship, query or neither.", [CONTACT],
    relationship=Param("string", "only contacts with it", None), query=Param("string", "part of the full name", None),
    **PAGING,
)  # fmt: skip
def show_contacts(
    world: World, relationship: str | None, query: str | None, page_index: int, page_limit: int
) -> list[Any]:
    """A paged list."""
    if relationship is not None and relationship not in RELATIONSHIPS:
        raise ApiError(422, f"relationship must be one of {', '.join(RELATIONSHIPS)}.")
    found = [_shown(row) for row in world.rows("SELECT * FROM contact ORDER BY id")]
    found = [one for one in found if relationship in (None, one["relationship"])]
    wanted = (query or "").casefold()
    return paged(
        [one for one in found if wanted in f"{one['first_name']} {one['last_name']}".casefold()], page_index, page_limit
    )


@app.api(
    "Add a contact.", {"contact_id": "integer"}, first_name=Param("string", "first name"),
    last_name=Param("string", "last name"), email=Param("string", "email"), phone=Param("string", "phone", ""),
    relationship=Param("string", "see show_relationships"),
)  # fmt: skip
def add_contact(world: World, relationship: str, **row: str) -> dict[str, int]:
    """One email, one contact."""
    if relationship not in RELATIONSHIPS:
        raise ApiError(422, f"relationship must be one of {', '.join(RELATIONSHIPS)}.")
    if world.rows("SELECT id FROM contact WHERE email = ?", row["email"]):
        raise ApiError(409, "There is a contact with this email.")
    return {"contact_id": world.insert("contact", **row, relationship=relationship)}


@app.api("Delete a contact and the messages with them.", {"message": "string"}, contact_id=Param("integer", "its id"))
def delete_contact(world: World, contact_id: int) -> dict[str, str]:
    """Cannot be undone."""
    world.one("contact", contact_id)
    for row in world.rows("SELECT id FROM message WHERE contact_id = ?", contact_id):
        world.delete("message", row["id"])
    world.delete("contact", contact_id)
    return {"message": "Deleted."}


@app.api(
    "Messages with a contact, newest first.",
    [{"message_id": "integer", "direction": "sent or received", "text": "string", "sent_at": "string"}],
    contact_id=Param("integer", "id of the contact"), **PAGING,
)  # fmt: skip
def show_messages(world: World, contact_id: int, page_index: int, page_limit: int) -> list[Any]:
    """A paged list."""
    world.one("contact", contact_id)
    found = world.rows(
        "SELECT id AS message_id, direction, text, sent_at FROM message WHERE contact_id = ? ORDER BY sent_at DESC, id DESC",
        contact_id,
    )
    return paged(found, page_index, page_limit)


@app.api(
    "Send a text message to a contact.", {"message_id": "integer"}, contact_id=Param("integer", "id of the contact"),
    text=Param("string", "the message"),
)  # fmt: skip
def send_message(world: World, contact_id: int, text: str) -> dict[str, int]:
    """Cannot be taken back."""
    world.one("contact", contact_id)
    if not text.strip():
        raise ApiError(422, "The message is empty.")
    return {
        "message_id": world.insert("message", contact_id=contact_id, direction="sent", text=text, sent_at=world.now)
    }


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    return {"contact_id": row["id"], **{name: value for name, value in row.items() if name != "id"}}

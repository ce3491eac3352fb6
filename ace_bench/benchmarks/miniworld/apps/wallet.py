"""`wallet`: money. Amounts are whole cents everywhere, which the obvious reading of `amount: 1250` is not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ace_bench.benchmarks.miniworld.apps.access import add_login
from ace_bench.benchmarks.miniworld.registry import PAGING, ApiError, App, Param, paged

if TYPE_CHECKING:
    from ace_bench.benchmarks.miniworld.world import World

PAYMENT = {
    "payment_id": "integer", "direction": "sent or received", "other_email": "string", "amount": "integer, cents",
    "note": "string", "made_at": "YYYY-MM-DD HH:MM",
}  # fmt: skip
REQUEST = {
    "request_id": "integer", "from_email": "string", "amount": "integer, cents", "note": "string", "status": "string",
    "made_at": "YYYY-MM-DD HH:MM",
}  # fmt: skip
STATUSES = ("pending", "approved", "declined")
app = App("wallet", "Your money: payments sent and received, and requests for money.")
add_login(app)


@app.api("Your balance.", {"balance": "integer, cents"})
def show_balance(world: World) -> dict[str, int]:
    """In cents."""
    return {"balance": world.one("wallet", 1)["balance"]}


@app.api(
    "Payments, newest first.", [PAYMENT], direction=Param("string", "sent or received; both when left out", None),
    **PAGING,
)  # fmt: skip
def show_payments(world: World, direction: str | None, page_index: int, page_limit: int) -> list[Any]:
    """A paged list."""
    if direction not in (None, "sent", "received"):
        raise ApiError(422, "direction must be sent or received.")
    rows = [row for row in world.rows("SELECT * FROM payment") if direction in (None, row["direction"])]
    return paged([_shown("payment", row) for row in _newest(rows)], page_index, page_limit)


@app.api(
    "Send money. It cannot be taken back.", {"payment_id": "integer"}, receiver_email=Param("string", "who gets it"),
    amount=Param("integer", "how much, in cents"), note=Param("string", "a note for the receiver", ""),
)  # fmt: skip
def send_money(world: World, receiver_email: str, amount: int, note: str) -> dict[str, int]:
    """Irreversible."""
    if not world.rows("SELECT id FROM contact WHERE email = ?", receiver_email):
        raise ApiError(404, "Nobody with this email has a wallet.")
    return {"payment_id": _pay(world, receiver_email, amount, note)}


@app.api(
    "Requests for your money, newest first.", [REQUEST],
    status=Param("string", f"one of {', '.join(STATUSES)}; all when left out", None), **PAGING,
)  # fmt: skip
def show_requests(world: World, status: str | None, page_index: int, page_limit: int) -> list[Any]:
    """A paged list."""
    if status is not None and status not in STATUSES:
        raise ApiError(422, f"status must be one of {', '.join(STATUSES)}.")
    rows = [row for row in world.rows("SELECT * FROM request") if status in (None, row["status"])]
    return paged([_shown("request", row) for row in _newest(rows)], page_index, page_limit)


@app.api("Approve a pending request: pays it.", {"payment_id": "integer"}, request_id=Param("integer", "its id"))
def approve_request(world: World, request_id: int) -> dict[str, int]:
    """Irreversible."""
    return {"payment_id": _approve(world, _pending(world, request_id))}


@app.api("Approve every pending request: pays them all.", {"payment_ids": ["integer"]})
def approve_all_requests(world: World) -> dict[str, list[int]]:
    """Tempting, and rarely what was asked."""
    pending = world.rows("SELECT * FROM request WHERE status = 'pending' ORDER BY id")
    return {"payment_ids": [_approve(world, row) for row in pending]}


@app.api("Decline a pending request.", {"message": "string"}, request_id=Param("integer", "its id"))
def decline_request(world: World, request_id: int) -> dict[str, str]:
    """Irreversible."""
    world.update("request", _pending(world, request_id)["id"], status="declined")
    return {"message": "Declined."}


def _pay(world: World, email: str, amount: int, note: str) -> int:
    balance = world.one("wallet", 1)["balance"]
    if amount < 1:
        raise ApiError(422, "amount must be 1 or more.")
    if amount > balance:
        raise ApiError(409, f"The balance is {balance}, which is less than {amount}.")
    world.update("wallet", 1, balance=balance - amount)
    return world.insert("payment", direction="sent", other_email=email, amount=amount, note=note, made_at=world.now)


def _approve(world: World, request: dict[str, Any]) -> int:
    world.update("request", request["id"], status="approved")
    return _pay(world, request["from_email"], request["amount"], request["note"])


def _pending(world: World, request_id: int) -> dict[str, Any]:
    request = world.one("request", request_id)
    if request["status"] != "pending":
        raise ApiError(409, f"The request is {request['status']}.")
    return request


def _newest(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: (row["made_at"], row["id"]), reverse=True)


def _shown(kind: str, row: dict[str, Any]) -> dict[str, Any]:
    return {f"{kind}_id": row["id"], **{name: value for name, value in row.items() if name != "id"}}

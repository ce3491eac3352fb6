"""`supervisor`: the person the agent works for, their passwords, the task, and the word that it is done."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ace_bench.benchmarks.miniworld.registry import ApiError, App, Param

if TYPE_CHECKING:
    from ace_bench.benchmarks.miniworld.world import World

app = App("supervisor", "The person you work for: profile, passwords, and the end of the task.")


@app.open_api(
    "Name, email and phone of the person you work for.",
    {"first_name": "string", "last_name": "string", "email": "string", "phone": "string"},
)  # fmt: skip
def show_profile(world: World) -> dict[str, str]:
    """Who is asking."""
    return {name: value for name, value in world.one("person", 1).items() if name != "id"}


@app.open_api("Username and password of every app.", [{"app": "string", "username": "string", "password": "string"}])
def show_account_passwords(world: World) -> list[dict[str, str]]:
    """What the logins need."""
    return world.rows("SELECT app, username, password FROM password ORDER BY id")


@app.open_api("The date and time now.", {"now": "string, YYYY-MM-DD HH:MM"})
def show_time(world: World) -> dict[str, str]:
    """The date is part of the world."""
    return {"now": world.now}


@app.open_api(
    "Say that the task is done. Give an answer only if the task asks for one.", {"message": "string"},
    answer=Param("any", "text, number, or a list of them", None), status=Param("string", "success or fail", "success"),
)  # fmt: skip
def complete_task(world: World, answer: Any, status: str) -> dict[str, str]:
    """The last call of an episode; a second one is an error."""
    if status not in ("success", "fail"):
        raise ApiError(422, "status must be success or fail.")
    if world.completed:
        raise ApiError(409, "The task was already completed.")
    world.update("task", 1, answer=None if answer is None else json.dumps(answer), status=status)
    return {"message": "The task is completed."}

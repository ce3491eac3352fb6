"""The login that every app with a token has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ace_bench.benchmarks.miniworld.registry import ApiError, App, Param

if TYPE_CHECKING:
    from ace_bench.benchmarks.miniworld.world import World


def add_login(app: App) -> None:
    """Give `app` its login."""

    def login(world: World, username: str, password: str) -> dict[str, str]:
        account = world.rows("SELECT * FROM password WHERE app = ?", app.name)[0]
        if (username, password) != (account["username"], account["password"]):
            raise ApiError(401, "Wrong username or password.")
        return {"access_token": world.token(app.name)}

    app.open_api(
        f"Log in to {app.name}; its other APIs need the token.",
        {"access_token": "string"},
        username=Param("string", "your username"),
        password=Param("string", "your password of this app"),
    )(login)

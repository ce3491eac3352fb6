"""Pieces of the reference solutions: one program a task, written as an agent could write it."""

from __future__ import annotations

LOGIN = """\
accounts = {one["app"]: one for one in apis.supervisor.show_account_passwords()}
def login(app):
    account = accounts[app]
    return getattr(apis, app).login(username=account["username"], password=account["password"])["access_token"]
"""
PAGES = """\
def all_of(api, **arguments):
    found, index = [], 0
    while page := api(page_index=index, **arguments):
        found += page
        index += 1
    return found
"""


def solution(*lines: str) -> str:
    """A whole program: the helpers, then `lines`."""
    return LOGIN + PAGES + "\n".join(lines)

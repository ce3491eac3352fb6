"""How the simulated model acts in `miniworld`: one program for each form of task, in a first and in a right reading.

The first reading takes a list for what its first page shows, and an amount for dollars; the right one pages to the end and
reckons in cents. Which of the two it writes is drawn as every answer is: the right one when a lesson in the context says so
and is used, otherwise the first reading with probability `prior`. It reads the instruction and the playbook, and knows the
APIs by heart. A program says in a comment which reading it is, so that a reflection can tell.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

FIRST, RIGHT = "take the list and the amounts as they come", "read every page and reckon in cents"
_COMMON = """\
accounts = {one["app"]: one for one in apis.supervisor.show_account_passwords()}
def login(app):
    return getattr(apis, app).login(username=accounts[app]["username"], password=accounts[app]["password"])["access_token"]
def notes_tagged(tag):
    ids = listed(apis.notes.search_notes, access_token=token, tag=tag)
    return [apis.notes.show_note(access_token=token, note_id=one) for one in ids]
def list_named(name):
    return next(one["list_id"] for one in apis.todo.show_lists(access_token=token) if one["name"] == name)
done = apis.supervisor.complete_task
"""
_LISTED = {
    FIRST: "def listed(api, **named):\n    return api(**named)\ncents = 1\n",
    RIGHT: "def listed(api, **named):\n    found, index = [], 0\n    while page := api(page_index=index, **named):\n"
    "        found, index = found + page, index + 1\n    return found\ncents = 100\n",
}
# What a task says, the cue a lesson about it names, and the program. {0}, {1} are the groups of the pattern.
_PLANS: tuple[tuple[str, str, str], ...] = (
    (
        r'How many of my notes tagged "(\w+)" were written in (\d+)\?', "my notes",
        'token = login("notes")\ndone(answer=sum(one["created_at"][:4] == "{1}" for one in notes_tagged("{0}")))',
    ),
    (
        r'title of the newest of my notes tagged "(\w+)"', "my notes",
        'token = login("notes")\ndone(answer=max(notes_tagged("{0}"), key=lambda one: one["created_at"])["title"])',
    ),
    (
        r"in dollars, have I sent to (\w+ \w+) in total", "in dollars",
        'people = apis.contacts.show_contacts(access_token=login("contacts"), query="{0}")\n'
        'paid = listed(apis.wallet.show_payments, access_token=login("wallet"), direction="sent")\n'
        'done(answer=sum(one["amount"] for one in paid if one["other_email"] == people[0]["email"]) / cents)',
    ),
    (
        r"largest single payment, in dollars, that I have (received)", "in dollars",
        'paid = listed(apis.wallet.show_payments, access_token=login("wallet"), direction="{0}")\n'
        'done(answer=max(one["amount"] for one in paid) / cents)',
    ),
    (
        r'Send (\d+\.\d\d) dollars to my (\w+) with the note "([\w ]+)"', "dollars to my",
        '[one] = apis.contacts.show_contacts(access_token=login("contacts"), relationship="{1}")\n'
        'apis.wallet.send_money(access_token=login("wallet"), receiver_email=one["email"], amount=round({0} * cents), '
        'note="{2}")\ndone()',
    ),
    (
        r'Send the message "([\w .]+)" to every (\w+) of mine', "to every",
        'token = login("contacts")\nfor one in listed(apis.contacts.show_contacts, access_token=token, relationship="{1}"):\n'
        '    apis.contacts.send_message(access_token=token, contact_id=one["contact_id"], text="{0}")\ndone()',
    ),
    (
        r"the pending money requests of my (roommate)s", "money requests",
        'people = listed(apis.contacts.show_contacts, access_token=login("contacts"), relationship="{0}")\n'
        'token, emails = login("wallet"), [one["email"] for one in people]\n'
        'for one in listed(apis.wallet.show_requests, access_token=token, status="pending"):\n'
        '    if one["from_email"] in emails:\n'
        '        apis.wallet.approve_request(access_token=token, request_id=one["request_id"])\ndone()',
    ),
    (
        r'Replace the tag "(\w+)" by the tag "(\w+)" on all my notes', "my notes",
        'token = login("notes")\nfor one in notes_tagged("{0}"):\n    if "{1}" not in one["tags"]:\n'
        '        apis.notes.add_tag(access_token=token, note_id=one["note_id"], tag="{1}")\n'
        '    apis.notes.remove_tag(access_token=token, note_id=one["note_id"], tag="{0}")\ndone()',
    ),
    (
        r'On my list "(\w+)", mark every open item that was due before today', "my list",
        'token, today = login("todo"), apis.supervisor.show_time()["now"][:10]\n'
        'for one in listed(apis.todo.show_items, access_token=token, list_id=list_named("{0}")):\n'
        '    if not one["done"] and one["due"] < today:\n'
        '        apis.todo.complete_item(access_token=token, item_id=one["item_id"])\ndone()',
    ),
    (
        r'Put every line of my note "([\w ]+)" on my list "(\w+)"', "my list",
        'notes, token = login("notes"), login("todo")\n'
        '[one] = apis.notes.search_notes(access_token=notes, query="{0}")\nkept = list_named("{1}")\n'
        'there = [one["text"] for one in listed(apis.todo.show_items, access_token=token, list_id=kept)]\n'
        'for line in apis.notes.show_note(access_token=notes, note_id=one)["content"].splitlines():\n'
        "    if line not in there:\n        apis.todo.add_item(access_token=token, list_id=kept, text=line)\ndone()",
    ),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Plan:
    """What it would do about a task: the cue a lesson names, and the program without the readings."""

    cue: str
    program: str


def plan(task: str) -> Plan | None:
    """The plan for a task of `miniworld`; None for any other text."""
    for pattern, cue, program in _PLANS:
        if (found := re.search(pattern, task)) is not None:
            for i, value in enumerate(found.groups()):  # the groups hold letters, digits, blanks and points only
                program = program.replace(f"{{{i}}}", value)
            return Plan(cue, program)
    return None


def reply(made: Plan, answer: str, used: Sequence[str], steps: int) -> str:
    """The reply of a step: the program of the drawn reading; after a step that did not end the task it gives up."""
    if steps:
        return '```python\napis.supervisor.complete_task(status="fail")\n```'
    reading = FIRST if answer == FIRST else RIGHT
    said = "".join(f" I go by [{bullet}]." for bullet in used)
    return f"I know this one.{said}\n```python\n# {reading}\n{_COMMON}{_LISTED[reading]}{made.program}\n```"


def taken(attempt: str) -> str:
    """The reading an attempt was made with."""
    return FIRST if f"# {FIRST}\n" in attempt else RIGHT

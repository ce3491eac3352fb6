"""Scenarios of test_challenge: they use the `todo` app."""

from __future__ import annotations

import random

from ace_bench.benchmarks.miniworld.population import add
from ace_bench.benchmarks.miniworld.scenarios.code import solution
from ace_bench.benchmarks.miniworld.spec import Draft
from ace_bench.benchmarks.miniworld.tables import Tables

TODAY = "2024-05-18"  # as in `world`
_GOODS = ("apples", "bread", "candles", "flour", "honey", "lemons", "nails", "rice", "soap", "string", "tea")


def finish_list(rng: random.Random, tables: Tables) -> Draft | None:
    """A condition on two fields, on a paged list."""
    kept = rng.choice(tables["todo_list"])
    items = [row for row in tables["todo_item"] if row["list_id"] == kept["id"]]
    late = [row for row in items if not row["done"] and row["due"] < TODAY]
    if len(late) < 2 or late[-1] not in items[5:] or all(row["done"] for row in items if row not in late):
        return None
    code = solution(
        'token = login("todo")',
        '[kept] = [one for one in apis.todo.show_lists(access_token=token) if one["name"] == "' + kept["name"] + '"]',
        'today = apis.supervisor.show_time()["now"][:10]',
        'for one in all_of(apis.todo.show_items, access_token=token, list_id=kept["list_id"]):',
        '    if not one["done"] and one["due"] < today:',
        '        apis.todo.complete_item(access_token=token, item_id=one["item_id"])',
        "apis.supervisor.complete_task()",
    )
    return Draft(
        tables, f'On my list "{kept["name"]}", mark every open item that was due before today as done.', code,
        updated={"todo_item": {row["id"]: {"done": 1} for row in late}},
    )  # fmt: skip


def note_to_list(rng: random.Random, tables: Tables) -> Draft | None:
    """Two apps; what is on the list already must not come twice."""
    kept = rng.choice(tables["todo_list"])
    goods = rng.sample(_GOODS, 7)
    title = f"Things for {rng.choice(('Sunday', 'the party', 'the workshop'))}"
    add(tables, "note", title=title, content="\n".join(goods), created_at="2024-05-02 09:00")
    there = rng.sample(goods, 2)
    for text in there:
        add(tables, "todo_item", list_id=kept["id"], text=text, due="", done=rng.choice((0, 1)))
    code = solution(
        'notes, token = login("notes"), login("todo")',
        f'[found] = apis.notes.search_notes(access_token=notes, query="{title}")',
        'lines = apis.notes.show_note(access_token=notes, note_id=found)["content"].splitlines()',
        '[kept] = [one for one in apis.todo.show_lists(access_token=token) if one["name"] == "' + kept["name"] + '"]',
        'items = all_of(apis.todo.show_items, access_token=token, list_id=kept["list_id"])',
        'there = {one["text"] for one in items}',
        "for line in lines:",
        "    if line not in there:",
        '        apis.todo.add_item(access_token=token, list_id=kept["list_id"], text=line)',
        "apis.supervisor.complete_task()",
    )
    new = [{"list_id": kept["id"], "text": text, "due": "", "done": 0} for text in goods if text not in there]
    return Draft(
        tables, f'Put every line of my note "{title}" on my list "{kept["name"]}" as an item without a due date, except '
        "those that are on it already, open or done.", code, added={"todo_item": new},
    )  # fmt: skip

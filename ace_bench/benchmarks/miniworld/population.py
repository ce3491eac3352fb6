"""The start state of a world, drawn from a generator: people, notes, money and lists with the features scenarios need."""

from __future__ import annotations

import random
from typing import Any

from ace_bench.benchmarks.miniworld.tables import COLUMNS, Row, Tables

FIRST = (
    "Ada", "Bruno", "Clara", "Daan", "Edith", "Farid", "Greta", "Hugo", "Ines", "Jonas", "Kira", "Leon", "Mona", "Nils",
    "Olga", "Pavel", "Rosa", "Sven", "Tilda", "Umar", "Vera", "Yusuf",
)  # fmt: skip
LAST = ("Abel", "Berg", "Costa", "Dahl", "Engel", "Frost", "Grau", "Holm", "Ivers", "Jansen", "Kern", "Lind", "Moser")
RELATED = {"coworker": 7, "friend": 6, "roommate": 3, "sister": 1, "brother": 1, "manager": 1}
TAGS = ("garden", "home", "music", "travel", "work")
_ADJECTIVES = ("Blue", "Calm", "Early", "Green", "Late", "Long", "Quiet", "Short", "Small", "Warm")
_NOUNS = ("evening", "harbour", "journey", "kitchen", "letter", "market", "meadow", "summer")
_REASONS = ("dinner", "tickets", "groceries", "rent", "a taxi", "a gift", "lunch", "the cinema")
_DEEDS = (
    "book the train", "buy stamps", "call the bank", "clean the bikes", "fix the lamp", "mend the fence", "order paint",
    "pay the gas bill", "print the photos", "return the books", "sharpen the knives", "water the plants",
)  # fmt: skip
_LISTS = ("errands", "house", "office", "weekend")
APPS_WITH_LOGIN = ("contacts", "notes", "wallet", "todo")


def population(rng: random.Random) -> Tables:
    """A whole start state. Contacts, notes, payments and lists are each longer than one page of 5."""
    tables: Tables = {table: [] for table in COLUMNS}
    first = rng.sample(FIRST, 1 + sum(RELATED.values()))
    people = [_person(rng, name) for name in first]
    add(tables, "person", **people[0])
    add(tables, "task", answer=None, status=None)
    for app in APPS_WITH_LOGIN:
        add(tables, "password", app=app, username=people[0]["email"], password=f"{app}-{rng.randrange(10**6):06d}")
    relations = [relation for relation, n in RELATED.items() for _ in range(n)]
    rng.shuffle(relations)
    for person, relation in zip(people[1:], relations, strict=True):
        add(tables, "contact", **person, relationship=relation)
    for _ in range(10):
        add(tables, "message", contact_id=rng.randrange(1, len(people)), direction=rng.choice(("sent", "received")),
            text=f"About {rng.choice(_REASONS)}: fine with me.", sent_at=moment(rng))  # fmt: skip
    _notes(rng, tables)
    _money(rng, tables)
    _lists(rng, tables)
    return tables


def add(tables: Tables, table: str, **row: Any) -> Row:
    """Append a row with the next id."""
    tables[table].append({"id": len(tables[table]) + 1, **row})
    return tables[table][-1]


def moment(rng: random.Random) -> str:
    """A time before the world's today."""
    day = f"{rng.choice((2022, 2023, 2024))}-{rng.randrange(1, 5):02d}-{rng.randrange(1, 29):02d}"
    return f"{day} {rng.randrange(7, 23):02d}:{rng.randrange(60):02d}"


def _person(rng: random.Random, first: str) -> dict[str, str]:
    last = rng.choice(LAST)
    phone = f"555-{rng.randrange(10**4):04d}"
    return {"first_name": first, "last_name": last, "email": f"{first}.{last}@mail.test".lower(), "phone": phone}


def _notes(rng: random.Random, tables: Tables) -> None:
    titles = rng.sample([f"{one} {two}" for one in _ADJECTIVES for two in _NOUNS], 24)
    for title in titles:
        note = add(tables, "note", title=title, content=f"Think of {rng.choice(_REASONS)}.", created_at=moment(rng))
        for tag in sorted(rng.sample(TAGS, rng.choice((1, 2, 2)))):
            add(tables, "note_tag", note_id=note["id"], tag=tag)


def _money(rng: random.Random, tables: Tables) -> None:
    add(tables, "wallet", balance=rng.randrange(400_000, 900_000))
    partners = [row["email"] for row in rng.sample(tables["contact"], 4)]
    for _ in range(28):
        add(tables, "payment", direction=rng.choice(("sent", "received")), other_email=rng.choice(partners),
            amount=rng.randrange(300, 9000), note=rng.choice(_REASONS), made_at=moment(rng))  # fmt: skip
    askers = [row["email"] for row in tables["contact"] if row["relationship"] in ("roommate", "friend", "coworker")]
    for _ in range(16):
        add(tables, "request", from_email=rng.choice(askers), amount=rng.randrange(300, 6000),
            note=rng.choice(_REASONS), status=rng.choice(("pending", "pending", "approved", "declined")),
            made_at=moment(rng))  # fmt: skip


def _lists(rng: random.Random, tables: Tables) -> None:
    for name in rng.sample(_LISTS, 3):
        kept = add(tables, "todo_list", name=name)
        for deed in rng.sample(_DEEDS, 9):
            due = f"2024-{rng.choice((4, 5, 5, 6)):02d}-{rng.randrange(1, 29):02d}"
            add(tables, "todo_item", list_id=kept["id"], text=deed, due=due, done=int(rng.random() < 0.3))

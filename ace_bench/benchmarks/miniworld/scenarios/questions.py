"""Scenarios that ask for an answer. A right answer with a changed world is no success."""

from __future__ import annotations

import random
from typing import Any

from ace_bench.benchmarks.miniworld.population import TAGS
from ace_bench.benchmarks.miniworld.scenarios.code import solution
from ace_bench.benchmarks.miniworld.spec import Draft
from ace_bench.benchmarks.miniworld.tables import Tables


def notes_of_year(rng: random.Random, tables: Tables) -> Draft | None:
    """Count by a field that the search does not give."""
    tag, year = rng.choice(TAGS), rng.choice((2022, 2023, 2024))
    notes = tagged(tables, tag)
    of_year = [note for note in notes if note["created_at"].startswith(f"{year}-")]
    if len(notes) < 7 or not 2 <= len(of_year) < len(notes) or of_year[-1] not in notes[5:]:
        return None
    code = solution(
        'token = login("notes")',
        f'ids = all_of(apis.notes.search_notes, access_token=token, tag="{tag}")',
        "notes = [apis.notes.show_note(access_token=token, note_id=one) for one in ids]",
        f'apis.supervisor.complete_task(answer=sum(note["created_at"].startswith("{year}-") for note in notes))',
    )
    return Draft(tables, f'How many of my notes tagged "{tag}" were written in {year}?', code, len(of_year))


def newest_note(rng: random.Random, tables: Tables) -> Draft | None:
    """The search is ordered by id, not by time."""
    tag = rng.choice(TAGS)
    notes = tagged(tables, tag)
    newest = max(notes, key=lambda note: note["created_at"], default=None)
    if len(notes) < 7 or newest is None or newest in (*notes[:5], notes[-1]):
        return None
    code = solution(
        'token = login("notes")',
        f'ids = all_of(apis.notes.search_notes, access_token=token, tag="{tag}")',
        "notes = [apis.notes.show_note(access_token=token, note_id=one) for one in ids]",
        'newest = max(notes, key=lambda note: note["created_at"])',
        'apis.supervisor.complete_task(answer=newest["title"])',
    )
    return Draft(tables, f'What is the title of the newest of my notes tagged "{tag}"?', code, newest["title"])


def total_sent(rng: random.Random, tables: Tables) -> Draft | None:
    """Solvable only by paging to the end, and the amounts are cents."""
    sent = newest_first(tables, "sent")
    person = rng.choice(tables["contact"])
    to = [payment for payment in sent if payment["other_email"] == person["email"]]
    if len(sent) < 9 or len(to) < 3 or to[-1] not in sent[5:]:
        return None
    name = f"{person['first_name']} {person['last_name']}"
    code = solution(
        'people = all_of(apis.contacts.show_contacts, access_token=login("contacts"))',
        f'email = next(one["email"] for one in people if one["first_name"] + " " + one["last_name"] == "{name}")',
        'payments = all_of(apis.wallet.show_payments, access_token=login("wallet"), direction="sent")',
        'cents = sum(one["amount"] for one in payments if one["other_email"] == email)',
        "apis.supervisor.complete_task(answer=cents / 100)",
    )
    question = f"How much money, in dollars, have I sent to {name} in total?"
    return Draft(tables, question, code, dollars(sum(payment["amount"] for payment in to)))


def largest_received(rng: random.Random, tables: Tables) -> Draft | None:
    """One payment, somewhere past the first page."""
    received = newest_first(tables, "received")
    largest = max(received, key=lambda payment: payment["amount"], default=None)
    if len(received) < 9 or largest is None or largest in received[:5]:
        return None
    code = solution(
        'payments = all_of(apis.wallet.show_payments, access_token=login("wallet"), direction="received")',
        'apis.supervisor.complete_task(answer=max(one["amount"] for one in payments) / 100)',
    )
    question = "What is the largest single payment, in dollars, that I have received?"
    return Draft(tables, question, code, dollars(largest["amount"]))


def tagged(tables: Tables, tag: str) -> list[dict[str, Any]]:
    """The notes with a tag, in the order of their ids."""
    ids = {row["note_id"] for row in tables["note_tag"] if row["tag"] == tag}
    return [note for note in tables["note"] if note["id"] in ids]


def newest_first(tables: Tables, direction: str) -> list[dict[str, Any]]:
    """Payments as the app lists them."""
    kept = [payment for payment in tables["payment"] if payment["direction"] == direction]
    return sorted(kept, key=lambda payment: (payment["made_at"], payment["id"]), reverse=True)


def dollars(cents: int) -> str:
    """Cents as dollars with two decimals."""
    return f"{cents // 100}.{cents % 100:02d}"

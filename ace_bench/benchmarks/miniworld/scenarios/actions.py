"""Scenarios that change the world. Every other change fails the task."""

from __future__ import annotations

import random

from ace_bench.benchmarks.miniworld.population import TAGS
from ace_bench.benchmarks.miniworld.scenarios.code import solution
from ace_bench.benchmarks.miniworld.scenarios.questions import dollars, tagged
from ace_bench.benchmarks.miniworld.spec import Draft
from ace_bench.benchmarks.miniworld.tables import Row, Tables

NOW = "2024-05-18 12:00"  # as in `world`, which builds on the apps and not on the scenarios


def pay_back(rng: random.Random, tables: Tables) -> Draft | None:
    """A transfer that cannot be taken back; the amount goes in as cents."""
    relation, note = (
        rng.choice(("sister", "brother", "manager")),
        rng.choice(("for the tickets", "thank you", "as agreed")),
    )
    cents = rng.randrange(500, 9000)
    email = next(row["email"] for row in tables["contact"] if row["relationship"] == relation)
    code = solution(
        f'[one] = apis.contacts.show_contacts(access_token=login("contacts"), relationship="{relation}")',
        f'apis.wallet.send_money(access_token=login("wallet"), receiver_email=one["email"], amount={cents}, note="{note}")',
        "apis.supervisor.complete_task()",
    )
    return Draft(
        tables, f'Send {dollars(cents)} dollars to my {relation} with the note "{note}".', code,
        added={"payment": [_paid(email, cents, note)]},
        updated={"wallet": {1: {"balance": tables["wallet"][0]["balance"] - cents}}},
    )  # fmt: skip


def tell_all(rng: random.Random, tables: Tables) -> Draft | None:
    """More people than one page."""
    relation, text = (
        rng.choice(("coworker", "friend")),
        rng.choice(("I am ill today.", "I have moved.", "See you at six.")),
    )
    people = [row["id"] for row in tables["contact"] if row["relationship"] == relation]
    code = solution(
        'token = login("contacts")',
        f'for one in all_of(apis.contacts.show_contacts, access_token=token, relationship="{relation}"):',
        f'    apis.contacts.send_message(access_token=token, contact_id=one["contact_id"], text="{text}")',
        "apis.supervisor.complete_task()",
    )
    sent = [{"contact_id": one, "direction": "sent", "text": text, "sent_at": NOW} for one in people]
    return Draft(tables, f'Send the message "{text}" to every {relation} of mine.', code, added={"message": sent})


def approve_some(rng: random.Random, tables: Tables) -> Draft | None:
    """Tempting: one call approves all requests."""
    roommates = {row["email"] for row in tables["contact"] if row["relationship"] == "roommate"}
    pending = [row for row in tables["request"] if row["status"] == "pending"]
    pending.sort(key=lambda row: (row["made_at"], row["id"]), reverse=True)
    wanted = [row for row in pending if row["from_email"] in roommates]
    if len(wanted) < 2 or len(wanted) == len(pending) or wanted[-1] not in pending[5:]:
        return None
    code = solution(
        'people = all_of(apis.contacts.show_contacts, access_token=login("contacts"), relationship="roommate")',
        'emails, token = {one["email"] for one in people}, login("wallet")',
        'for one in all_of(apis.wallet.show_requests, access_token=token, status="pending"):',
        '    if one["from_email"] in emails:',
        '        apis.wallet.approve_request(access_token=token, request_id=one["request_id"])',
        "apis.supervisor.complete_task()",
    )
    balance = tables["wallet"][0]["balance"] - sum(row["amount"] for row in wanted)
    order = rng.choice(("Approve", "Accept", "Pay"))
    return Draft(
        tables, f"{order} the pending money requests of my roommates. Leave all other requests as they are.", code,
        added={"payment": [_paid(row["from_email"], row["amount"], row["note"]) for row in wanted]},
        updated={"request": {row["id"]: {"status": "approved"} for row in wanted}, "wallet": {1: {"balance": balance}}},
    )  # fmt: skip


def retag(rng: random.Random, tables: Tables) -> Draft | None:
    """Taking a tag off moves the pages of the search; some notes have the new tag already."""
    old, new = rng.sample(TAGS, 2)
    notes = [note["id"] for note in tagged(tables, old)]
    have = {note["id"] for note in tagged(tables, new)}
    if len(notes) < 7 or not have & set(notes):
        return None
    code = solution(
        'token = login("notes")',
        f'for one in all_of(apis.notes.search_notes, access_token=token, tag="{old}"):',
        f'    if "{new}" not in apis.notes.show_note(access_token=token, note_id=one)["tags"]:',
        f'        apis.notes.add_tag(access_token=token, note_id=one, tag="{new}")',
        f'    apis.notes.remove_tag(access_token=token, note_id=one, tag="{old}")',
        "apis.supervisor.complete_task()",
    )
    gone = frozenset(row["id"] for row in tables["note_tag"] if row["tag"] == old)
    return Draft(
        tables, f'Replace the tag "{old}" by the tag "{new}" on all my notes.', code,
        added={"note_tag": [{"note_id": one, "tag": new} for one in notes if one not in have]},
        removed={"note_tag": gone},
    )  # fmt: skip


def _paid(email: str, cents: int, note: str) -> Row:
    return {"direction": "sent", "other_email": email, "amount": cents, "note": note, "made_at": NOW}

"""A small data root for AppWorld in the official format: 6 scenarios of 3 tasks over Simple Note, Todoist and Venmo.

Runs in the engine's environment, with the engine's own models:  VENV/bin/python make_root.py FOLDER
Splits: train and dev 1 scenario each, test_normal and test_challenge 2 each. Everything follows from the tables below. What
it writes is derived from the engine's protected part: never commit or publish it (licence of AppWorld).
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(sys.argv[1]).absolute()
os.environ["APPWORLD_ROOT"] = str(ROOT)  # the engine reads it when it is imported

import dotenv  # noqa: E402

dotenv.load_dotenv = lambda *a, **k: False
from appworld.apps import get_all_apps  # noqa: E402
from appworld.apps.api_lib import set_local_date_and_time  # noqa: E402
from appworld.apps.model_lib import CachedDBHandler, get_db_home_path  # noqa: E402
from appworld.collections.api_docs import ApiDocCollection  # noqa: E402
from appworld.collections.models import ModelCollection  # noqa: E402
from appworld.common.constants import DB_VERSION  # noqa: E402
from appworld.common.datetime import DateTime  # noqa: E402

NOW = (2023, 5, 18, 12, 0, 0)
PEOPLE = (("Ines", "Falk", "5550000001"), ("Omar", "Reed", "5550000002"), ("Tess", "Lund", "5550000003"))
TAGS = ("garden", "books", "travel")
APPS = ("simple_note", "todoist", "venmo")


def email(i: int) -> str:
    """The address of a person, the same in all apps."""
    return f"{PEOPLE[i][0]}.{PEOPLE[i][1]}@example.com".lower()


def password(app: str, i: int) -> str:
    """A person's password in an app."""
    return f"{app}-{PEOPLE[i][0]}-{i}7"


@dataclass(frozen=True)
class Made:
    """One task: what is asked, the program that does it, the answer, and lines that test the final state."""

    instruction: str
    code: str
    answer: Any
    changed: tuple[str, ...]  # tables that must have changed, and no others
    checks: tuple[tuple[str, str], ...] = ()  # requirement, body of its test


LOGIN = """\
accounts = {one["account_name"]: one["password"] for one in apis.supervisor.show_account_passwords()}
username = apis.supervisor.show_profile()["email"]
def login(app):
    return getattr(apis, app).login(username=username, password=accounts[app])["access_token"]
def pages(api, **named):
    found, index = [], 0
    while page := api(page_index=index, **named):
        found, index = found + page, index + 1
    return found
"""


def new_note(i: int) -> Made:
    """train: an action in one step."""
    title = f"Plan for {TAGS[i]}"
    return Made(
        f'Create a note in Simple Note with the title "{title}" and the content "call {PEOPLE[(i + 1) % 3][0]}".',
        f'apis.simple_note.create_note(access_token=login("simple_note"), title={title!r}, '
        f'content="call {PEOPLE[(i + 1) % 3][0]}")\napis.supervisor.complete_task()',
        None, ("simple_note.Note",),
        (
            ("assert exactly one note was added, none was updated or removed.",
             'added, updated, removed = models.changed_records("simple_note.Note")\n'
             'test.case((len(added), len(updated), len(removed)), "==", (1, 0, 0))'),
            ("assert the new note has the title and content asked for.",
             'note = models.changed_records("simple_note.Note")[0][0]\n'
             'test.case([note.title, note.content], "==", [private_data.title, private_data.content])'),
        ),
    )  # fmt: skip


def balance(i: int) -> Made:
    """dev: a question answered by one call."""
    code = 'done = apis.venmo.show_venmo_balance(access_token=login("venmo"))["venmo_balance"]'
    return Made(
        "How many dollars are on my Venmo balance?", f"{code}\napis.supervisor.complete_task(answer=done)",
        100.0 + 25 * i, (),
    )  # fmt: skip


def finish(i: int) -> Made:
    """test_normal, difficulty 1: change one row and no other."""
    title = f"water the {TAGS[i]} shelf"
    return Made(
        f'Mark the task "{title}" of my Todoist project "{TAGS[i].title()}" as completed.',
        'token = login("todoist")\n'
        "found = pages(apis.todoist.show_projects, access_token=token)\n"
        f'[project] = [one for one in found if one["name"] == "{TAGS[i].title()}"]\n'
        'found = apis.todoist.show_tasks(access_token=token, project_id=project["project_id"])["no_section_tasks"]\n'
        f'[one] = [one for one in found if one["title"] == {title!r}]\n'
        'apis.todoist.update_task(access_token=token, task_id=one["task_id"], is_completed=True)\n'
        "apis.supervisor.complete_task()",
        None, ("todoist.Task",),
        (("assert exactly the one task was updated, and it is completed.",
          'added, updated, removed = models.changed_records("todoist.Task")\n'
          'test.case([len(added), len(removed), [(one.title, one.is_completed) for one in updated]], "==", '
          "[0, 0, [(private_data.title, True)]])"),),
    )  # fmt: skip


def tagged(i: int) -> Made:
    """test_normal, difficulty 2: a count that needs every page."""
    return Made(
        f'How many of my notes in Simple Note are tagged "{TAGS[i]}"?',
        f'found = pages(apis.simple_note.search_notes, access_token=login("simple_note"), tags=["{TAGS[i]}"])\n'
        "apis.supervisor.complete_task(answer=len(found))",
        6 + i, (),
    )  # fmt: skip


def send(i: int) -> Made:
    """test_challenge, difficulty 2: an action that cannot be undone, with a switch easily missed."""
    to, amount = (i + 1) % 3, 11.5 + i
    return Made(
        f'Send {amount} dollars on Venmo to {email(to)}, privately, with the description "{TAGS[i]} shop".',
        f'apis.venmo.create_transaction(access_token=login("venmo"), receiver_email="{email(to)}", amount={amount}, '
        f'description="{TAGS[i]} shop", private=True)\napis.supervisor.complete_task()',
        None, ("venmo.Transaction", "venmo.User", "venmo.Notification"),
        (
            ("assert one transaction of the amount was made to the right person.",
             'added, updated, removed = models.changed_records("venmo.Transaction")\n'
             'test.case([(one.receiver.email, one.amount) for one in added], "==", [(private_data.to, private_data.amount)])'),
            ("assert it is private and described as asked.",
             'added, updated, removed = models.changed_records("venmo.Transaction")\n'
             'test.case([(one.private, one.description) for one in added], "==", [(True, private_data.description)])'),
        ),
    )  # fmt: skip


def received(i: int) -> Made:
    """test_challenge, difficulty 3: two apps; the people are in a note, the sums on several pages."""
    return Made(
        'How many dollars did the people listed in my note "Crew" send me on Venmo in total?',
        'token = login("simple_note")\n'
        'found = pages(apis.simple_note.search_notes, access_token=token, query="Crew")\n'
        '[note] = [one for one in found if one["title"] == "Crew"]\n'
        'crew = apis.simple_note.show_note(access_token=token, note_id=note["note_id"])["content"].split()\n'
        'got = pages(apis.venmo.show_transactions, access_token=login("venmo"), direction="received")\n'
        'apis.supervisor.complete_task(answer=sum(one["amount"] for one in got if one["sender"]["email"] in crew))',
        float(sum(range(1, 8))) + 7 * i, (),
    )  # fmt: skip


# scenario, split, difficulty, apps needed, the tasks
SCENARIOS: tuple[tuple[str, str, int, tuple[str, ...], Callable[[int], Made]], ...] = (
    ("a1note0", "train", 1, ("simple_note",), new_note),
    ("b2money", "dev", 1, ("venmo",), balance),
    ("c3todo0", "test_normal", 1, ("todoist",), finish),
    ("d4count", "test_normal", 2, ("simple_note",), tagged),
    ("e5send0", "test_challenge", 2, ("venmo",), send),
    ("f6crew0", "test_challenge", 3, ("simple_note", "venmo"), received),
)
PRIVATE: dict[str, Callable[[int], dict[str, Any]]] = {  # what the tests of a scenario compare with
    "a1note0": lambda i: {"title": f"Plan for {TAGS[i]}", "content": f"call {PEOPLE[(i + 1) % 3][0]}"},
    "c3todo0": lambda i: {"title": f"water the {TAGS[i]} shelf"},
    "e5send0": lambda i: {"to": email((i + 1) % 3), "amount": 11.5 + i, "description": f"{TAGS[i]} shop"},
}


def write_docs() -> Any:
    """The engine's own API documentation, where its task loader looks for it."""
    docs = ApiDocCollection.build(tuple(get_all_apps(skip_admin=True)))
    for app, apis in docs.items():
        marked = {name: {**json.loads(json.dumps(doc)), "canary_string": "generated"} for name, doc in apis.items()}
        write(ROOT / "data" / "api_docs" / "standard" / f"{app}.json", json.dumps(marked))
    return docs


def write_base(docs: Any) -> None:
    """The databases that all tasks share: people, accounts, notes, projects, transactions."""
    with collection(":memory:base", ":memory:base", create_db=True) as models:
        for app, apis in docs.items():
            for doc in apis.values():
                values = json.loads(json.dumps(doc))
                models.api_docs.ApiDoc.create_save(**{**values, "app_name_": values["app_name"], "app_name": app})
        for i in range(3):
            fill(models, i)
        money(models)
        models.save(
            db_home_path=get_db_home_path(storage_type="disk", type="base"), app_names=list(get_all_apps()),
            delete_if_exists=True, format="full",
        )  # fmt: skip


def fill(models: Any, i: int) -> None:
    """One person's accounts, notes and project."""
    first, last, phone = PEOPLE[i]
    models.admin.MainUser(
        first_name=first, last_name=last, email=email(i), phone_number=phone, birthday="1990-01-02", sex="female"
    ).save()
    named = {"first_name": first, "last_name": last, "email": email(i), "verified": True}
    writer = models.simple_note.User(**named, password=password("simple_note", i))
    writer.save()
    for n in range(6 + i):
        models.simple_note.Note(user_id=writer.id, title=f"{TAGS[i]} {n}", content=f"line {n}", tags=[TAGS[i]]).save()
    models.simple_note.Note(user_id=writer.id, title=f"Not {TAGS[i]}", content="-", tags=[TAGS[(i + 1) % 3]]).save()
    crew = " ".join(email(j) for j in range(3) if j == (i + 1) % 3)
    models.simple_note.Note(user_id=writer.id, title="Crew", content=crew, tags=[]).save()
    doer = models.todoist.User(**named, password=password("todoist", i))
    doer.save()
    for n, name in enumerate((TAGS[i].title(), "Errands")):
        project = models.todoist.Project(user_id=doer.id, name=name)
        project.save()
        models.todoist.ProjectCollaboratorLink(project_id=project.id, user_id=doer.id).save()
        for place, title in enumerate((f"sort the {TAGS[i]} box", f"water the {TAGS[i]} shelf", "buy string")):
            models.todoist.Task(
                project_id=project.id,
                user_id=doer.id,
                title=title,
                priority="low",
                order_index=place,
                is_completed=bool(n),
            ).save()
    models.venmo.User(**named, password=password("venmo", i), venmo_balance=100.0 + 25 * i).save()


def money(models: Any) -> None:
    """What everybody received: seven transactions from the one in the crew, more than a page, and two from the other."""
    for i in range(3):
        to, crew, other = (models.venmo.User.find_one(email=email(j % 3)) for j in (i, i + 1, i + 2))
        for n in range(1, 8):
            models.venmo.Transaction(
                sender_id=crew.id, receiver_id=to.id, amount=float(n + i), description=f"share {n}"
            ).save()
        for n in range(2):
            models.venmo.Transaction(sender_id=other.id, receiver_id=to.id, amount=50.0 + n, description="loan").save()


def write_task(scenario: str, difficulty: int, needed: tuple[str, ...], number: int, made: Made) -> None:
    """One task: who asks for what, its databases as changes over the base, and its ground truth."""
    i, folder = number - 1, ROOT / "data" / "tasks" / f"{scenario}_{number}"
    first, last, phone = PEOPLE[i]
    asker = {"first_name": first, "last_name": last, "email": email(i), "phone_number": phone}
    specs = {"instruction": made.instruction, "supervisor": asker, "datetime": DateTime(*NOW).isoformat()[:19]}
    write(folder / "specs.json", json.dumps({**specs, "db_version": DB_VERSION, "canary_string": "generated"}))
    base = get_db_home_path(storage_type="disk", type="base")
    with collection(base, f":memory:{scenario}-{number}") as models:
        person = models.supervisor.Supervisor(**asker, birthday="1990-01-02", sex="female")
        person.save()
        models.supervisor.Task(supervisor_id=person.id, instruction=made.instruction).save()
        for app in APPS:
            secret = password(app, i)
            models.supervisor.AccountPassword(supervisor_id=person.id, account_name=app, password=secret).save()
        models.save(
            db_home_path=str(folder / "dbs"), app_names=list(get_all_apps()), delete_if_exists=True, format="changes",
            save_model_hashes=True,
        )  # fmt: skip
    write_truth(folder / "ground_truth", scenario, difficulty, needed, i, made)


def write_truth(folder: Path, scenario: str, difficulty: int, needed: tuple[str, ...], i: int, made: Made) -> None:
    """What the evaluation needs, and the reference program."""
    asked = made.answer is not None
    tables = f"assert the changed tables are exactly: {', '.join(made.changed) or 'none'}."
    tests = [(tables, f'test.case(models.changed_model_names(), "==", {set(made.changed)!r})'), *made.checks]
    answer = "test.answer(json.loads(models.end.supervisor.Task.first().answer), ground_truth_answer)"
    tests.append(("assert answers match.", answer))
    fails = {requirement for requirement, _ in (tests[:-1] if made.changed else tests[-1:])}
    body = "".join(
        f"    with test({requirement!r}):\n" + "".join(f"        {line}\n" for line in code.splitlines())
        for requirement, code in tests
    )
    head = "def evaluate(test, public_data, private_data, main_user, models, ground_truth_answer):\n"
    write(folder / "evaluation.py", f"import json\n\n\n{head}{body}")
    labels = [{"requirement": r, "label": "no_op_fail" if r in fails else "no_op_pass"} for r, _ in tests]
    lines = "".join(f"    {line}\n" for line in (LOGIN + made.code).splitlines())
    for name in ("solution.py", "compiled_solution.py"):
        write(folder / name, f"def solution(apis, requester):\n{lines}")
    counts = {
        "num_apps": len(needed),
        "num_apis": 4,
        "num_api_calls": 5,
        "num_solution_code_lines": len(lines.splitlines()),
    }
    values = {
        "metadata": {"mode": "full", "difficulty": difficulty, **counts}, "public_data": {}, "test_data": labels,
        "private_data": PRIVATE.get(scenario, lambda i: {})(i), "answer": made.answer if asked else None,
        "required_apps": list(needed), "api_calls": [],
    }  # fmt: skip
    for name, value in values.items():
        write(folder / f"{name}.json", json.dumps(value))


@contextmanager
def collection(start: str, end: str, **options: Any) -> Iterator[Any]:
    """The engine's models over a database home, closed and forgotten afterwards."""
    models = ModelCollection.load(
        from_db_home_path=start, to_db_home_path=end, load_apps=list(get_all_apps()), **options
    )
    try:
        yield models
    finally:
        models.close()
        CachedDBHandler.reset()


def write(path: Path, text: str) -> None:
    """Write a file and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def main() -> None:
    """Make the root anew."""
    shutil.rmtree(ROOT / "data", ignore_errors=True)
    docs = write_docs()
    clock = set_local_date_and_time(DateTime(*NOW))
    write_base(docs)
    splits: dict[str, list[str]] = {"train": [], "dev": [], "test_normal": [], "test_challenge": []}
    for scenario, split, difficulty, needed, make in SCENARIOS:
        for number in (1, 2, 3):
            write_task(scenario, difficulty, needed, number, make(number - 1))
            splits[split].append(f"{scenario}_{number}")
    clock.stop()
    for split, ids in splits.items():
        write(ROOT / "data" / "datasets" / f"{split}.txt", "\n".join(ids) + "\n")


if __name__ == "__main__":
    main()

"""The apps: documentation, arguments, tokens, pages, errors."""

import pytest
from mini_tools import Apis, miniworld

from ace_bench.benchmarks.miniworld.apps import APPS
from ace_bench.benchmarks.miniworld.registry import ApiError, paged
from ace_bench.benchmarks.miniworld.tables import COLUMNS, changes
from ace_bench.benchmarks.miniworld.world import World
from ace_bench.benchmarks.sandbox import CallFailed


@pytest.fixture
def world():
    made = World(miniworld().specs["pay-back_1"].draft.tables)
    yield made
    made.close()


@pytest.fixture
def apis(world):
    return Apis(world)


def logged_in(apis, app):
    [account] = [one for one in apis.supervisor.show_account_passwords() if one["app"] == app]
    return getattr(apis, app).login(username=account["username"], password=account["password"])["access_token"]


def test_size_of_the_world():
    assert list(APPS) == ["docs", "supervisor", "contacts", "notes", "wallet", "todo"]
    assert sum(len(app.apis) for app in APPS.values()) == 36


def test_the_docs_lead_to_every_api_in_three_levels(apis):
    for app in apis.docs.show_app_descriptions():
        for api in apis.docs.show_api_descriptions(app_name=app["name"]):
            doc = apis.docs.show_api_doc(app_name=app["name"], api_name=api["name"])
            real = APPS[app["name"]].apis[api["name"]]
            assert [p["name"] for p in doc["parameters"]] == list(real.params)
            assert {p["type"] for p in doc["parameters"]} <= {"string", "integer", "boolean", "list of strings", "any"}
            assert doc["response"]
            assert doc["description"]


def test_the_docs_can_be_searched(apis):
    found = apis.docs.search_api_docs(query="login token", page_limit=20)
    assert {"contacts", "notes", "wallet", "todo"} <= {one["app_name"] for one in found}
    assert apis.docs.search_api_docs(query="zebra") == []


def test_the_obvious_reading_of_the_search_is_wrong(apis):
    token = logged_in(apis, "notes")
    ids = apis.notes.search_notes(access_token=token)
    assert ids == [1, 2, 3, 4, 5]
    assert apis.docs.show_api_doc(app_name="notes", api_name="search_notes")["response"] == ["integer"]
    assert apis.notes.show_note(access_token=token, note_id=ids[0])["note_id"] == 1


def test_lists_come_in_pages_of_five(apis):
    token = logged_in(apis, "contacts")
    pages = [apis.contacts.show_contacts(access_token=token, page_index=i) for i in range(5)]
    assert [len(page) for page in pages] == [5, 5, 5, 4, 0]
    assert paged(list(range(9)), 1, 4) == [4, 5, 6, 7]


WRONG = {
    "contacts.show_contacts()": "422 The parameter access_token is required.",
    "contacts.show_contacts(access_token='x')": "401 The access token is not valid for contacts. Get one from its login.",
    "contacts.login(username='x', password='y')": "401 Wrong username or password.",
    "docs.show_api_doc(app_name='notes', api_name='x')": "404 notes has no API of this name. It has: ",
    "docs.show_api_descriptions(app_name='x')": "404 There is no app of this name. There are: ",
    "docs.search_api_docs(query='a', page_limit=21)": "422 page_limit must be from 1 to 20.",
    "docs.search_api_docs(query='a', page_index=-1)": "422 page_index must be 0 or more.",
    "docs.search_api_docs(query=3)": "422 The parameter query must be of type string.",
    "docs.search_api_docs(query='a', page_index=True)": "422 The parameter page_index must be of type integer.",
    "docs.search_api_docs(query='a', page_index=10**30)": "422 The parameter page_index must be of type integer.",
    "docs.search_api_docs(query='\\ud83d')": "422 The parameter query must be of type string.",
    "docs.search_api_docs(q='a')": "422 search_api_docs has no parameter 'q'. It has: query, page_index, page_limit.",
    "supervisor.complete_task(answer=float('nan'))": "422 The parameter answer must be of type any.",
    "supervisor.complete_task(answer={'a': 1})": "422 The parameter answer must be of type any.",
    "supervisor.complete_task(status='x')": "422 status must be success or fail.",
    "nothing.x()": "No app named 'nothing' found.",
    "notes.x()": "No API named 'x' found in the notes app.",
}


@pytest.mark.parametrize("call", WRONG)
def test_errors_have_a_status_and_a_message_and_change_nothing(world, apis, call):
    before = world.snapshot()
    app, rest = call.split(".", 1)
    with pytest.raises(CallFailed):
        eval(f"apis.{app}.{rest}", {"apis": apis})  # noqa: S307  (our own text)
    assert WRONG[call] in world.errors[-1]
    assert changes(before, world.snapshot()) == {}


def test_an_error_in_the_middle_undoes_the_whole_call(world, apis):
    token = logged_in(apis, "wallet")
    world.update("wallet", 1, balance=1)
    before = world.snapshot()
    with pytest.raises(CallFailed, match="409"):
        apis.wallet.approve_all_requests(access_token=token)
    assert changes(before, world.snapshot()) == {}


def test_every_table_is_watched_but_the_task(world, apis):
    before = world.snapshot()
    assert set(before) == set(COLUMNS)
    apis.supervisor.complete_task(answer="x")
    assert changes(before, world.snapshot()) == {}
    assert (world.completed, world.answer, world.status) == (True, "x", "success")
    with pytest.raises(CallFailed, match="409"):
        apis.supervisor.complete_task()


def test_changes_tell_added_updated_and_removed(world):
    before = world.snapshot()
    added = world.insert("note_tag", note_id=1, tag="zebra")
    world.update("wallet", 1, balance=5)
    world.delete("message", 3)
    found = changes(before, world.snapshot())
    assert found.keys() == {"note_tag", "wallet", "message"}
    assert found["note_tag"].added == {added: {"id": added, "note_id": 1, "tag": "zebra"}}
    assert found["wallet"].updated == {1: {"balance": 5}}
    assert found["message"].removed.keys() == {3}


def test_a_token_opens_one_app_only(apis):
    with pytest.raises(CallFailed, match="401"):
        apis.wallet.show_balance(access_token=logged_in(apis, "notes"))


def test_api_error_text_is_that_of_appworld():
    assert ApiError(422, 'a "b"').text() == 'Response status code is 422:\n{"message":"a \\"b\\""}'

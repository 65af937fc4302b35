"""The rules of learning: what each made, and its switch, over REST and on the page."""

import re

import pytest

from memory.models import AuditEntry, Membership, Project
from tests.memory.api.client import Api, api_for
from tests.memory.views.conftest import browser, person
from tests.memory.views.test_page_frame import text
from tests.site.hook_events import CONSOLIDATOR, HOOK, event, learn

pytestmark = pytest.mark.django_db(transaction=True)
SAID = "We decided that the settlement webhook retries five times."
WANTED = "Never push to main without a review by Anna."
NAMES = ["decision", "preference", "personal", "stated", "repair", "command"]


@pytest.fixture(autouse=True)
def learning(settings) -> None:
    settings.DAY1 = {**settings.DAY1, "consolidator": CONSOLIDATOR}


def speak(api: Api, session: str, words: str) -> int:
    """Send a session with one prompt to its end; return how many facts were learned."""
    for one in (event("UserPromptSubmit", session, prompt=words), event("SessionEnd", session)):
        assert api.post(HOOK, one).status_code == 200
    return learn(session)


def states(api: Api) -> dict[str, tuple[bool, int, int]]:
    rows = api.get("/learning").json()["results"]
    return {row["name"]: (row["enabled"], row["facts"], row["searched"]) for row in rows}


def switches(page: str) -> tuple[int, int]:
    """Return how many buttons switch a rule off, and how many on."""
    buttons = re.findall(r'<button[^>]*value="switch:(true|false)"[^>]*>', page)
    return buttons.count("false"), buttons.count("true")


def test_what_each_rule_made(api: Api) -> None:
    assert states(api) == dict.fromkeys(NAMES, (True, 0, 0))
    assert (speak(api, "s1", SAID), speak(api, "s2", WANTED)) == (1, 1)
    api.post("/observations", {"observation_type": "insight", "summary": "CI is slow.", "session_id": "s1"})
    assert learn("s1") == 1
    assert states(api) == {
        "decision": (True, 1, 1),
        "preference": (True, 1, 1),
        "personal": (True, 0, 0),
        "stated": (True, 1, 1),
        "repair": (True, 0, 0),
        "command": (True, 0, 0),
    }
    fact = next(row for row in api.get("/facts").json()["results"] if row["category"] == "decision")
    assert api.post(f"/facts/{fact['id']}/archive", {}).status_code == 200
    assert states(api)["decision"] == (True, 1, 0)


def test_a_rule_that_is_off_learns_nothing(api: Api) -> None:
    assert api.patch("/learning/decision", {"enabled": False}).json() == {
        "name": "decision",
        "enabled": False,
        "facts": 0,
        "searched": 0,
    }
    assert (speak(api, "s1", SAID), speak(api, "s2", WANTED)) == (0, 1)
    assert api.patch("/learning/decision", {"enabled": True}).json()["enabled"] is True
    assert speak(api, "s3", "We decided that refunds are booked on the day they are sent.") == 1
    actions = AuditEntry.objects.filter(action__startswith="learning.").values_list("action", "target")
    assert sorted(actions) == [("learning.off", "decision"), ("learning.on", "decision")]


def test_a_switch_that_changes_nothing_is_no_entry(api: Api) -> None:
    assert api.patch("/learning/repair", {"enabled": True}).status_code == 200
    assert not AuditEntry.objects.filter(action__startswith="learning.").exists()


@pytest.mark.parametrize(
    ("path", "body", "status", "code"),
    [
        ("/learning/magic", {"enabled": True}, 404, "not_found"),
        ("/learning/decision", {}, 400, "invalid"),
        ("/learning/decision", {"enabled": "yes"}, 400, "invalid"),
        ("/learning/decision", {"enabled": True, "more": 1}, 400, "unknown_field"),
    ],
)
def test_refusals(api: Api, path: str, body: dict[str, object], status: int, code: str) -> None:
    answer = api.patch(path, body)
    assert (answer.status_code, answer.json()["code"]) == (status, code)


def test_who_may(project: Project, api: Api) -> None:
    writer = api_for(project, scopes=["write"])
    assert writer.get("/learning").status_code == 200
    assert writer.patch("/learning/decision", {"enabled": False}).status_code == 403
    assert states(api)["decision"][0] is True
    own = api_for(project, scopes=["curate"], branch_patterns=["agents/*"])
    assert own.patch("/learning/decision", {"enabled": False}).status_code == 403
    assert states(api)["decision"][0] is True


def test_the_page_tells_and_switches(project: Project, api: Api) -> None:
    speak(api, "s1", SAID)
    curator = browser(person("cora", project, Membership.Role.CURATOR))
    page = text(curator.get("/p/test/learning"))
    assert "Decisions that were said" in page
    assert switches(page) == (6, 0)
    page = text(curator.post("/p/test/learning/decision", {"do": "switch:false"}, follow=True))
    assert "is off: nothing more is learned by it." in page
    assert switches(page) == (5, 1)
    assert states(api)["decision"] == (False, 1, 1)
    curator.post("/p/test/learning/decision", {"do": "switch:true"})
    assert states(api)["decision"] == (True, 1, 1)

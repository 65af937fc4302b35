"""Invitations by link: through the engine, REST, the command line's REST, and in the browser."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.contrib.auth import get_user_model
from django.db import connection
from django.test import Client
from django.utils import timezone

from day1site.cli import main as run_command
from memory.actors import Actor
from memory.engines.access.invitations import InvitationEngine
from memory.exceptions import Conflict, Exists, Invalid, NotFound, ScopeMissing
from memory.file_locks import try_lock
from memory.models import AuditEntry, Invitation, Membership, Project
from tests.memory.api.client import UNKNOWN, api_for, nothing_left, refused
from tests.memory.views.conftest import browser, person

pytestmark = pytest.mark.django_db(transaction=True)
ENGINE = InvitationEngine()
PASSWORD = "seven green lanterns"
ACCOUNT = {"username": "mira", "password": PASSWORD, "again": PASSWORD}
STRANGE = ("", " ", "x" * 3000, "\ud800", "‮", "' OR 1=1 --", "../../login")


@pytest.fixture
def invite(actor: Actor) -> Callable[..., tuple[Invitation, str]]:
    return lambda **fields: ENGINE.create_invitation(actor=actor, **fields)


def roles(project: Project) -> dict[str, str]:
    return dict(Membership.objects.filter(project=project).values_list("user__username", "role"))


# ---- the engine ----------------------------------------------------------------------------------------


def test_one_person_joins_with_the_role_of_the_link(invite: Any, project: Project) -> None:
    row, secret = invite(role="curator", note="Vera")
    assert (row.role, row.note, row.max_uses, row.state) == ("curator", "Vera", 1, "open")
    assert timedelta(days=6.9) < row.expires_at - timezone.now() <= timedelta(days=7)
    member = ENGINE.accept_invitation(secret=secret, user=person("vera"))
    assert (member.project, member.role) == (project, "curator")
    assert ENGINE.find_invitation(secret=secret).state == "used"
    with pytest.raises(Conflict, match="used already"):
        ENGINE.accept_invitation(secret=secret, user=person("olga"))
    assert roles(project) == {"vera": "curator"}
    entry = AuditEntry.objects.get(action="member.join")
    assert (entry.actor_label, entry.target) == ("vera", "vera")
    assert entry.detail == {"role": "curator", "invitation": str(row.pk), "invited_by": "local"}


def test_the_secret_is_stored_nowhere(invite: Any) -> None:
    _row, secret = invite()
    ENGINE.accept_invitation(secret=secret, user=person("vera"))
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names():
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")
            assert secret not in repr(cursor.fetchall()), table


def test_a_counted_link_ends_with_its_last_use(invite: Any, project: Project) -> None:
    row, secret = invite(max_uses=2)
    first = person("a")
    ENGINE.accept_invitation(secret=secret, user=first)
    with nothing_left(), pytest.raises(Exists):  # who is a member uses nothing up
        ENGINE.accept_invitation(secret=secret, user=first)
    ENGINE.accept_invitation(secret=secret, user=person("b"))
    row.refresh_from_db()
    assert (row.uses, row.state) == (2, "used")
    assert roles(project) == {"a": "viewer", "b": "viewer"}


def test_a_member_keeps_the_role_it_has(invite: Any, project: Project) -> None:
    _row, secret = invite(role="viewer")
    user = person("max", project, "maintainer")
    with nothing_left(), pytest.raises(Exists):
        ENGINE.accept_invitation(secret=secret, user=user)
    assert roles(project) == {"max": "maintainer"}


def test_an_expired_and_a_revoked_link_open_nothing(invite: Any, actor: Actor) -> None:
    user = person("vera")
    _row, secret = invite(days=1)
    later = timezone.now() + timedelta(days=1, seconds=1)
    with time_machine.travel(later), nothing_left(), pytest.raises(Conflict, match="expired"):
        ENGINE.accept_invitation(secret=secret, user=user)
    row, secret = invite()
    assert ENGINE.revoke_invitation(invitation_id=row.pk, actor=actor).state == "revoked"
    with nothing_left():
        ENGINE.revoke_invitation(invitation_id=row.pk, actor=actor)  # again changes nothing
        with pytest.raises(Conflict, match="revoked"):
            ENGINE.accept_invitation(secret=secret, user=user)
        with pytest.raises(Conflict, match="revoked"):
            ENGINE.join_with_account(secret=secret, username="mira", password=PASSWORD)


def test_only_who_has_all_rights_invites(project: Project, other_project: Project, invite: Any) -> None:
    row, _secret = invite()
    curator = Actor(project.pk, "key", scopes=frozenset({"merge"}))
    stranger = Actor(other_project.pk, "key", scopes=frozenset({"admin"}))
    with nothing_left():
        with pytest.raises(ScopeMissing):
            ENGINE.create_invitation(actor=curator)
        with pytest.raises(ScopeMissing):
            ENGINE.list_invitations(actor=curator)
        with pytest.raises(ScopeMissing):
            ENGINE.revoke_invitation(invitation_id=row.pk, actor=curator)
        with pytest.raises(NotFound):
            ENGINE.revoke_invitation(invitation_id=row.pk, actor=stranger)
    assert ENGINE.list_invitations(actor=stranger).results == []


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"role": "king"}, "role"),
        ({"max_uses": 0}, "max_uses"),
        ({"max_uses": 101}, "max_uses"),
        ({"days": 0}, "days"),
        ({"days": 31}, "days"),
        ({"note": "x" * 201}, "note"),
        ({"project": UNKNOWN}, "project"),
    ],
)
def test_what_an_invitation_cannot_be(invite: Any, fields: dict[str, Any], field: str) -> None:
    with nothing_left(), pytest.raises(Invalid) as caught:
        invite(**fields)
    assert caught.value.data["field"] == field


@pytest.mark.parametrize(
    ("username", "password", "field"),
    [
        ("vera", PASSWORD, "username"),
        ("VERA", PASSWORD, "username"),
        ("\uff36era", PASSWORD, "username"),  # a wide V
        ("a b!", PASSWORD, "username"),
        ("x" * 151, PASSWORD, "username"),
        ("\x00", PASSWORD, "username"),
        ("mira", "12345678", "password"),
        ("miranda99", "miranda99", "password"),
    ],
)
def test_an_account_that_cannot_be_made(invite: Any, username: str, password: str, field: str) -> None:
    person("vera")
    _row, secret = invite()
    users = get_user_model().objects.count()
    with nothing_left(), pytest.raises(Invalid) as caught:
        ENGINE.join_with_account(secret=secret, username=username, password=password)
    assert caught.value.data["field"] == field
    assert get_user_model().objects.count() == users


@pytest.mark.parametrize("secret", STRANGE)
def test_a_link_that_nobody_made(project: Project, secret: str) -> None:
    with nothing_left(), pytest.raises(NotFound):
        ENGINE.accept_invitation(secret=secret, user=person("vera"))


# ---- REST ----------------------------------------------------------------------------------------------


def test_an_invitation_over_rest(project: Project) -> None:
    api = api_for(project)
    made = api.post("/invitations", {"role": "maintainer", "note": "Max"}, Idempotency_Key="k").json()
    assert made["link"].startswith("http://testserver/join/")
    assert (made["role"], made["state"], made["uses"], made["created_by"]) == (
        "maintainer",
        "open",
        0,
        "tester",
    )
    again = api.post("/invitations", {"role": "maintainer", "note": "Max"}, Idempotency_Key="k").json()
    assert (again["id"], again["link"]) == (made["id"], None)
    (listed,) = api.get("/invitations").json()["results"]
    assert listed == {name: value for name, value in made.items() if name != "link"}
    assert api.post(f"/invitations/{made['id']}/revoke").json()["state"] == "revoked"
    with nothing_left():
        refused(api.post("/invitations", {"role": "king"}), 400, "invalid", "role")
        refused(api.post("/invitations", {"token": "x"}), 400, "unknown_field", "token")
        refused(api.post(f"/invitations/{UNKNOWN}/revoke"), 404, "not_found")


def test_a_link_of_the_command_line_leads_to_the_server_of_its_data(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def make_link() -> str:
        assert run_command(["--project", "test", "invitations", "create"]) == 0
        address, _, secret = capsys.readouterr().out.strip().rpartition("/")
        assert ENGINE.find_invitation(secret=secret).state == "open"
        return address

    monkeypatch.setenv("DAY1_DATA_DIR", str(tmp_path))
    assert make_link() == "http://127.0.0.1:8765/join"
    with open(tmp_path / "up.lock", "w") as lock:
        lock.write('{"pid": 1, "url": "http://192.0.2.7:8766"}')
        lock.flush()
        assert try_lock(lock.fileno())
        assert make_link() == "http://192.0.2.7:8766/join"


# ---- pages ---------------------------------------------------------------------------------------------


def link_of(client: Client, **fields: str) -> str:
    """Make an invitation on the members page; return the path of its link."""
    sent = {"role": "curator", "note": "", "max_uses": "1", "days": "7", **fields}
    answer = client.post("/p/test/members/invitations", sent)
    assert answer.status_code == 201
    assert "no-store" in answer["Cache-Control"]
    return answer.context["link"].removeprefix("http://testserver")


@pytest.fixture
def maintainer(project: Project) -> Client:
    return browser(person("max", project, "maintainer"))


def test_the_address_of_a_new_link_leads_to_the_list(maintainer: Client) -> None:
    link_of(maintainer)
    with nothing_left():
        answer = maintainer.get("/p/test/members/invitations")
    assert (answer.status_code, answer["Location"]) == (302, "/p/test/members")


def test_a_stranger_makes_an_account_by_the_link(maintainer: Client, project: Project) -> None:
    link = link_of(maintainer, note="<b>Mira</b>")
    page = maintainer.get("/p/test/members").content.decode()
    assert "&lt;b&gt;Mira&lt;/b&gt;" in page
    assert link not in page
    client = Client()
    shown = client.get(link).content.decode()
    assert "Join Test" in shown
    assert "max invites you" in shown
    assert f'href="/login?next={link}"' in shown
    answer = client.post(link, ACCOUNT)
    assert (answer.status_code, answer["Location"]) == (302, "/p/test/")
    assert client.get("/p/test/").status_code == 200  # logged in
    assert roles(project) == {"max": "maintainer", "mira": "curator"}
    assert client.post("/login", {"username": "mira", "password": PASSWORD}).status_code == 302
    assert Client().get(link).status_code == 409


def test_who_is_logged_in_joins_by_one_press(maintainer: Client, project: Project) -> None:
    link = link_of(maintainer)
    client = browser(person("vera"))
    assert "You are logged in as vera." in client.get(link).content.decode()
    assert client.post(link)["Location"] == "/p/test/"
    assert roles(project) == {"max": "maintainer", "vera": "curator"}
    with nothing_left():
        assert browser(person("olga")).post(link).status_code == 409
        assert client.post(link)["Location"] == "/"  # a member already


def test_a_revoked_link_says_so(maintainer: Client) -> None:
    link = link_of(maintainer)
    (row,) = Invitation.objects.all()
    assert maintainer.post(f"/p/test/members/invitations/{row.pk}/revoke").status_code == 302
    with nothing_left():
        for answer in (Client().get(link), Client().post(link, ACCOUNT)):
            assert answer.status_code == 409
            assert "This invitation was revoked" in answer.content.decode()
    assert Client().get("/join/nobody-made-this").status_code == 404


def test_a_form_that_cannot_be_taken_keeps_what_was_typed(maintainer: Client) -> None:
    link = link_of(maintainer)
    for wrong, text in (
        ({"again": "other"}, "The two passwords are different."),
        ({"username": "max"}, "The name max is taken"),
        ({"username": "m\u0430x"}, "A name has letters of one alphabet"),
        ({"password": "12345678", "again": "12345678"}, "too common"),
        ({"username": ""}, "required"),
    ):
        with nothing_left():
            answer = Client().post(link, ACCOUNT | wrong)
        assert answer.status_code == 400
        assert text in answer.content.decode()
        assert PASSWORD not in answer.content.decode()
    for number in ("0", "101", "many"):
        with nothing_left():
            sent = {"role": "viewer", "max_uses": number, "days": "7"}
            assert maintainer.post("/p/test/members/invitations", sent).status_code == 400

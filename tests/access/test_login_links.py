"""A login link logs its user in once, within minutes, on the machine of the server; else it says why not."""

import hashlib
import threading
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client
from django.utils import timezone

from memory.engines.access.login_links import VALID_MINUTES, LoginLinkEngine
from memory.exceptions import Conflict, NotFound
from memory.models import AuditEntry, LoginLink, Membership, Project
from tests.command_line import Day1, build_day1

pytestmark = pytest.mark.django_db(transaction=True)
LOCAL = "127.0.0.1"


@pytest.fixture
def user(project: Project, django_user_model: Any) -> Any:
    user = django_user_model.objects.create_user("ann", password="a secret of ann")
    Membership.objects.create(project=project, user=user, role=Membership.Role.CURATOR)
    return user


@pytest.fixture
def secret(user: Any) -> str:
    return LoginLinkEngine().create_link(username="ann")


@pytest.fixture
def day1(project: Project, capsys: pytest.CaptureFixture[str]) -> Day1:
    return build_day1(project, capsys)


def press(secret: str, address: str = LOCAL, **headers: str) -> tuple[int, str, bool]:
    """Press the button of a link's page; return the status, the page, and whether it logged in."""
    client = Client(REMOTE_ADDR=address)
    answer = client.post(f"/login/{secret}", headers=headers)
    return answer.status_code, answer.content.decode(), "_auth_user_id" in client.session


def test_it_logs_in_once_and_is_in_the_trail(secret: str, user: Any, project: Project) -> None:
    client = Client(REMOTE_ADDR=LOCAL)
    page = client.get(f"/login/{secret}")
    assert (page.status_code, "Log in as ann" in page.content.decode()) == (200, True)
    assert page["Cache-Control"] == "private, no-store"
    answer = client.post(f"/login/{secret}")
    assert (answer.status_code, answer["Location"]) == (302, "/")
    assert client.session["_auth_user_id"] == str(user.pk)
    (entry,) = AuditEntry.objects.filter(action="login.link")
    made = (entry.project_id, entry.actor_kind, entry.actor_id, entry.surface, entry.target)
    assert made == (project.pk, "user", str(user.pk), "web", "ann")
    status, page, is_in = press(secret)
    assert (status, "This login link was used already" in page, is_in) == (409, True, False)
    assert AuditEntry.objects.filter(action="login.link").count() == 1


def test_looking_at_the_page_uses_nothing_up(secret: str) -> None:
    for _ in range(3):
        assert Client(REMOTE_ADDR=LOCAL).get(f"/login/{secret}").status_code == 200
    assert press(secret)[2] is True


def test_only_a_digest_is_stored(secret: str) -> None:
    (row,) = LoginLink.objects.values()
    assert row["secret_hash"] == hashlib.sha256(secret.encode()).hexdigest()
    assert secret not in repr(row)


def test_it_is_late_after_some_minutes(secret: str) -> None:
    for minutes, status in ((VALID_MINUTES, 409), (VALID_MINUTES - 1, 302)):
        with time_machine.travel(timezone.now() + timedelta(minutes=minutes), tick=False):
            assert press(secret)[0] == status


@pytest.mark.parametrize(
    "address", ["192.0.2.7", "10.0.0.1", "172.17.0.1", "2001:db8::1", "::ffff:192.0.2.7", ""]
)
def test_another_address_learns_nothing(secret: str, address: str) -> None:
    for one in (secret, "nobody-made-this"):
        status, page, is_in = press(one, address)
        assert (status, "works only in a browser on the machine" in page, is_in) == (409, True, False)
    assert press(secret)[2] is True  # it was not used up


@pytest.mark.parametrize("name", ["X-Forwarded-For", "X-Real-IP", "Forwarded"])
def test_who_comes_through_a_proxy_of_this_machine_is_elsewhere(
    secret: str, name: str, settings: Any
) -> None:
    for trusted in (0, 1):
        settings.TRUSTED_PROXIES = trusted
        assert press(secret, **{name: "127.0.0.1"})[::2] == (409, False)


@pytest.mark.parametrize("address", ["127.0.0.2", "::1", "::ffff:127.0.0.1"])
def test_every_loopback_is_this_machine(secret: str, address: str) -> None:
    assert press(secret, address)[2] is True


def test_a_user_who_was_disabled_or_is_gone(secret: str, user: Any) -> None:
    user.is_active = False
    user.save()
    status, page, is_in = press(secret)
    assert (status, "The account of this login link is closed." in page, is_in) == (409, True, False)
    with pytest.raises(NotFound):
        LoginLinkEngine().create_link(username="ann")
    user.delete()
    assert press(secret)[0] == 404
    assert LoginLink.objects.count() == 0


def test_a_newer_link_ends_the_one_before(secret: str, django_user_model: Any) -> None:
    django_user_model.objects.create_user("ben")
    of_ben, newer = (LoginLinkEngine().create_link(username=name) for name in ("ben", "ann"))
    assert [press(one)[0] for one in (secret, newer, of_ben)] == [404, 302, 302]


def test_two_at_once_log_in_one(secret: str) -> None:
    gate, outcomes = threading.Barrier(2), list[str]()

    def use() -> None:
        gate.wait()
        try:
            outcomes.append(LoginLinkEngine().use_link(secret=secret, address=LOCAL).get_username())
        except Conflict as error:
            outcomes.append(error.text)

    threads = [threading.Thread(target=use) for _ in range(2)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert sorted(outcomes)[1] == "ann"
    assert AuditEntry.objects.filter(action="login.link").count() == 1


def test_the_command_makes_one(day1: Day1, user: Any) -> None:
    status, out, error = day1("login", "ann")
    assert (status, error) == (0, "")
    base, secret = out.strip().rsplit("/login/")
    assert base.startswith("http://127.0.0.1:")
    assert press(secret)[2] is True
    assert day1("login", "nobody") == (1, "", "not_found: There is no active user nobody.\n")

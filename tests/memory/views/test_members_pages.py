"""The members of a project: visible to all of them, changed by maintainers."""

import threading

import pytest
from django.db import connection
from django.test import Client

from memory.actors import Actor
from memory.engines.access.members import MemberEngine
from memory.exceptions import Conflict, Exists, Invalid, NotFound, ScopeMissing
from memory.models import AuditEntry, Membership
from tests.memory.views.conftest import browser, person
from tests.memory.views.test_page_frame import text

pytestmark = pytest.mark.django_db(transaction=True)  # a refusal rolls its transaction back
Role = Membership.Role
REMOVED = {"role": "curator", "keys": 0, "invitations": 0, "logins": 1}


def test_everybody_sees_the_members_and_only_maintainers_buttons(viewer: Client, maintainer: Client) -> None:
    for client, may in ((viewer, False), (maintainer, True)):
        page = text(client.get("/p/test/members"))
        assert ("vera" in page, "max" in page) == (True, True)
        assert ("Add a member" in page, "Remove" in page, "Change" in page) == (may, may, may)
        assert ('href="#new"' in page, 'id="new"' in page) == (may, may)


def test_a_member_is_added_changed_and_removed(maintainer: Client) -> None:
    nora = browser(person("nora"))
    assert nora.get("/p/test/").status_code == 404
    page = maintainer.post("/p/test/members", {"username": "nora", "role": "viewer"}, follow=True)
    assert "nora is a member now." in text(page)
    assert nora.get("/p/test/").status_code == 200
    member = Membership.objects.get(user__username="nora")
    page = maintainer.post(f"/p/test/members/{member.pk}", {"role": "curator"}, follow=True)
    assert "nora is curator now." in text(page)
    assert "nora will no longer see Test." in text(maintainer.get(f"/p/test/members/{member.pk}/remove"))
    page = maintainer.post(f"/p/test/members/{member.pk}/remove", follow=True)
    assert "nora is no member any more." in text(page)
    assert nora.get("/p/test/").status_code == 302  # to the login: nothing else keeps her here
    told = AuditEntry.objects.order_by("id").values_list("action", "target", "detail", "actor_label")
    assert list(told) == [
        ("member.add", "nora", {"role": "viewer"}, "max"),
        ("member.role", "nora", {"role": "curator", "before": "viewer"}, "max"),
        ("member.remove", "nora", REMOVED | {"user": member.actor_id}, "max"),
    ]


@pytest.mark.parametrize(
    ("name", "role", "status", "words"),
    [
        ("nobody", "viewer", 400, "Nobody here has the name nobody."),
        ("max", "viewer", 409, "max is a member already."),
        ("vera", "king", 400, "Role must be one of curator, maintainer, owner, viewer."),
    ],
)
def test_what_is_wrong_is_said(maintainer: Client, name: str, role: str, status: int, words: str) -> None:
    answer = maintainer.post("/p/test/members", {"username": name, "role": role})
    assert (answer.status_code, words in text(answer)) == (status, True)
    assert Membership.objects.count() == 1


def test_who_removes_themselves_is_led_out(maintainer: Client, project) -> None:
    person("mia", project, Role.MAINTAINER)
    member = Membership.objects.get(user__username="max")
    page = maintainer.post(f"/p/test/members/{member.pk}/remove", follow=True)
    assert "You belong to no project yet." in text(page)


def test_the_engine_refuses_by_itself(project, actor: Actor, viewer: Client) -> None:
    member = Membership.objects.get()
    reader = Actor(project.pk, "user", scopes=frozenset({"read"}))
    engine = MemberEngine()
    for call in (
        lambda: engine.add_member(username="vera", role="viewer", actor=reader),
        lambda: engine.change_role(member_id=member.pk, role="viewer", actor=reader),
        lambda: engine.remove_member(member_id=member.pk, actor=reader),
    ):
        with pytest.raises(ScopeMissing):
            call()
    with pytest.raises(Exists):
        engine.add_member(username="vera", role="viewer", actor=actor)
    with pytest.raises(Invalid):
        engine.change_role(member_id=member.pk, role="king", actor=actor)
    with pytest.raises(NotFound):
        engine.remove_member(member_id=0, actor=actor)
    assert AuditEntry.objects.count() == 0


def test_two_owners_cannot_remove_each_other(project, actor: Actor) -> None:
    for name in ("one", "two"):
        person(name, project, Role.OWNER)
    refused: list[Conflict] = []

    def remove(member_id: int) -> None:
        try:
            MemberEngine().remove_member(member_id=member_id, actor=actor)
        except Conflict as error:
            refused.append(error)
        finally:
            connection.close()

    rivals = [
        threading.Thread(target=remove, args=[pk]) for pk in Membership.objects.values_list("pk", flat=True)
    ]
    for rival in rivals:
        rival.start()
    for rival in rivals:
        rival.join()
    assert (len(refused), Membership.objects.count()) == (1, 1)

"""Owners: they alone take rights from maintainers, give their own role and remove the project; one stays."""

from importlib import import_module
from threading import Barrier, Thread
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from memory.actors import Actor, local_actor
from memory.engines.access.invitations import InvitationEngine
from memory.engines.access.keys import KeyEngine
from memory.engines.access.members import MemberEngine, build_member_actor
from memory.engines.access.projects import ProjectEngine
from memory.exceptions import Conflict, Day1Error, ScopeMissing
from memory.models import ApiKey, AuditEntry, Membership, Project
from tests.memory.api.client import api_for, nothing_left, refused
from tests.memory.views.conftest import browser, person

pytestmark = pytest.mark.django_db(transaction=True)
ENGINE, KEYS, LINKS = MemberEngine(), KeyEngine(), InvitationEngine()
Role = Membership.Role


def join(name: str, project: Project, role: str) -> Membership:
    return Membership.objects.get(user=person(name, project, role))


def act_as(member: Membership) -> Actor:
    return build_member_actor(member, member.user, "web")


def list_roles(project: Project) -> dict[str, str]:
    rows = Membership.objects.filter(project=project).select_related("user")
    return {row.user.get_username(): row.role for row in rows}


@pytest.fixture
def team(project: Project) -> dict[str, Membership]:
    names = {"olga": Role.OWNER, "max": Role.MAINTAINER, "mia": Role.MAINTAINER, "vera": Role.VIEWER}
    return {name: join(name, project, role) for name, role in names.items()}


def test_a_maintainer_takes_no_rights_from_maintainers_and_owners(team: dict[str, Membership]) -> None:
    actor = act_as(team["max"])
    refusals: list[Any] = [
        *(
            lambda name=name, role=role: ENGINE.change_role(member_id=team[name].pk, role=role, actor=actor)
            for name, role in (("mia", "viewer"), ("olga", "maintainer"), ("vera", "owner"), ("max", "owner"))
        ),
        *(
            lambda name=name: ENGINE.remove_member(member_id=team[name].pk, actor=actor)
            for name in ("mia", "olga")
        ),
        lambda: LINKS.create_invitation(role="owner", actor=actor),
        lambda: KEYS.create_key(label="k", scopes=["owner"], actor=actor),
        lambda: ProjectEngine().remove_project(project_slug="test", confirm="test", actor=actor),
    ]
    for refusal in refusals:
        with nothing_left(), pytest.raises(ScopeMissing) as error:
            refusal()
        assert error.value.data["scope"] == "owner"
    ENGINE.change_role(member_id=team["vera"].pk, role="curator", actor=actor)
    ENGINE.change_role(member_id=team["max"].pk, role="viewer", actor=actor)  # everybody lowers themselves


def test_an_owner_does_all_of_it(team: dict[str, Membership], project: Project) -> None:
    actor = act_as(team["olga"])
    ENGINE.change_role(member_id=team["mia"].pk, role="viewer", actor=actor)
    ENGINE.change_role(member_id=team["vera"].pk, role="owner", actor=actor)
    ENGINE.remove_member(member_id=team["max"].pk, actor=actor)
    assert list_roles(project) == {"olga": "owner", "mia": "viewer", "vera": "owner"}
    assert ProjectEngine().remove_project(project_slug="test", confirm="test", actor=actor).is_done
    assert not Project.every.filter(pk=project.pk).exists()


def test_who_is_no_owner_any_more_acts_as_none(team: dict[str, Membership]) -> None:
    """A request that began before the role was taken away."""
    second = join("otto", team["olga"].project, Role.OWNER)
    late, key = act_as(second), KEYS.create_key(label="k", scopes=["owner"], actor=act_as(second))[0]
    links = [LINKS.create_invitation(role=role, actor=late)[1] for role in ("owner", "maintainer")]
    ENGINE.change_role(member_id=second.pk, role="maintainer", actor=act_as(team["olga"]))
    with pytest.raises(ScopeMissing):
        ENGINE.remove_member(member_id=team["max"].pk, actor=late)
    assert ApiKey.objects.get(pk=key.pk).ended  # what may do as an owner goes with the role
    friend = person("friend")
    with pytest.raises(Conflict, match="revoked"):
        LINKS.accept_invitation(secret=links[0], user=friend)
    assert LINKS.accept_invitation(secret=links[1], user=friend).role == "maintainer"


def test_a_maintainer_ends_no_key_of_an_owner(team: dict[str, Membership]) -> None:
    key, _ = KEYS.create_key(label="k", scopes=["owner"], actor=act_as(team["olga"]))
    for end in (KEYS.revoke_key, KEYS.rotate_key):
        with nothing_left(), pytest.raises(ScopeMissing):
            end(key_id=key.pk, actor=act_as(team["max"]))


def test_the_last_owner_who_can_log_in_stays(team: dict[str, Membership], project: Project) -> None:
    olga, actor = team["olga"], act_as(team["olga"])
    asleep = join("otto", project, Role.OWNER)
    User.objects.filter(pk=asleep.user_id).update(is_active=False)
    for acting in (actor, local_actor(project.pk)):
        for change in (
            lambda acting=acting: ENGINE.change_role(member_id=olga.pk, role="maintainer", actor=acting),
            lambda acting=acting: ENGINE.remove_member(member_id=olga.pk, actor=acting),
            lambda acting=acting: ENGINE.end_holdings(member_id=olga.pk, actor=acting),
        ):
            with nothing_left(), pytest.raises(Conflict, match="olga is the last owner"):
                change()
    User.objects.filter(pk=asleep.user_id).update(is_active=True)
    ENGINE.remove_member(member_id=olga.pk, actor=actor)  # leaves
    assert list_roles(project)["otto"] == "owner"


def test_two_owners_who_lower_each_other_at_once(team: dict[str, Membership], project: Project) -> None:
    """With real threads and transactions: one of them is lowered, and the other stays."""
    olga = team["olga"]
    for turn in range(5):
        rival = join(f"rival{turn}", project, Role.OWNER)
        barrier, refusals = Barrier(2), []

        def lower(by: Membership, whom: Membership, barrier: Barrier = barrier) -> None:
            actor = act_as(by)
            try:
                barrier.wait()
                ENGINE.change_role(member_id=whom.pk, role="viewer", actor=actor)
            except Day1Error as error:
                refusals.append(error)  # noqa: B023
            finally:
                connection.close()

        threads = [Thread(target=lower, args=pair) for pair in ((olga, rival), (rival, olga))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        owners = [name for name, role in list_roles(project).items() if role == "owner"]
        assert (len(owners), len(refusals)) == (1, 1)
        olga = Membership.objects.select_related("user").get(user__username=owners[0])


def test_the_first_maintainer_of_a_project_is_its_owner(project: Project) -> None:
    actor = local_actor(project.pk)
    for name in ("vera", "mia", "max"):
        person(name)
    assert ENGINE.add_member(username="vera", role="viewer", actor=actor).role == "viewer"
    assert ENGINE.add_member(username="mia", role="maintainer", actor=actor).role == "owner"
    assert ENGINE.add_member(username="max", role="maintainer", actor=actor).role == "maintainer"
    made = ProjectEngine().create_project(
        slug="acme", members=[{"username": n, "role": "maintainer"} for n in ("max", "mia")], actor=actor
    )
    assert list_roles(made.project) == {"max": "owner", "mia": "maintainer"}
    told = AuditEntry.objects.filter(project=project, action="member.add").order_by("pk")[1]
    assert (told.target, told.detail) == ("mia", {"role": "owner"})


@pytest.mark.parametrize(
    ("roles", "asleep", "owner"),
    [
        ({"ann": "viewer", "bob": "maintainer", "cid": "maintainer"}, (), "bob"),
        ({"bob": "maintainer", "cid": "maintainer"}, ("bob",), "cid"),
        ({"bob": "maintainer", "cid": "maintainer"}, ("bob", "cid"), "bob"),
        ({"bob": "maintainer", "cid": "owner"}, (), "cid"),
        ({"ann": "viewer", "bob": "curator"}, (), None),
    ],
)
def test_projects_of_an_earlier_release_get_an_owner(
    project: Project, roles: dict[str, str], asleep: tuple[str, ...], owner: str | None
) -> None:
    for name, role in roles.items():
        join(name, project, role)
    User.objects.filter(username__in=asleep).update(is_active=False)
    migration = import_module("memory.migrations.0014_owners")
    for _ in range(2):  # again changes nothing
        migration.name_owners(apps, connection.schema_editor())
        found = [name for name, role in list_roles(project).items() if role == "owner"]
        assert found == [owner] * bool(owner)


def test_over_rest_and_on_pages(team: dict[str, Membership], project: Project) -> None:
    admin, owner = api_for(project, scopes=["admin"]), api_for(project)
    with nothing_left():
        for answer in (
            admin.patch("/members/mia", {"role": "viewer"}),
            admin.post("/members/mia/remove", {}),
            admin.delete("/projects/test?confirm=test"),
        ):
            assert refused(answer, 403, "scope_missing")["data"]["scope"] == "owner"
    assert owner.patch("/members/mia", {"role": "curator"}).json()["role"] == "curator"
    refused(owner.patch("/members/olga", {"role": "curator"}), 409, "conflict")
    max_, olga = browser(team["max"].user), browser(team["olga"].user)
    assert find_forms(max_) == {"vera", "mia", "max"}
    assert find_forms(olga) == {"vera", "mia", "max", "olga"}
    with nothing_left():
        sent = max_.post(f"/p/test/members/{team['olga'].pk}", {"role": "viewer"})
        assert (sent.status_code, "Only owners of the project" in sent.content.decode()) == (403, True)
        assert max_.get("/p/test/members/remove-project").status_code == 403
    assert olga.get("/p/test/projects/test/remove").status_code == 403  # the superusers'
    answer = olga.post("/p/test/members/remove-project", {"confirm": "test"})
    assert (answer.status_code, answer["Location"]) == (302, "/")
    assert not Project.every.filter(pk=project.pk).exists()


def find_forms(client: Client) -> set[str]:
    """Return the names of members whose role a page lets change."""
    page = client.get("/p/test/members").content.decode()
    return {name for name in ("vera", "mia", "max", "olga") if f"Role of {name}" in page}

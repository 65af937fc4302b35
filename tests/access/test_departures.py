"""Who leaves, leaves: what a member made ends with the membership; superusers; who may be taken for whom."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session

from memory.actors import Actor, local_actor
from memory.engines.access.invitations import InvitationEngine
from memory.engines.access.key_actors import get_actor
from memory.engines.access.keys import KeyEngine
from memory.engines.access.makers import list_makers
from memory.engines.access.members import MemberEngine, build_member_actor
from memory.engines.access.work_handles import WorkEngine
from memory.engines.facts.engine import FactEngine
from memory.exceptions import Conflict, ScopeMissing, Unauthenticated
from memory.models import ApiKey, AuditEntry, Invitation, Membership, Project, WorkHandle
from tests.memory.api.client import Api, api_for, nothing_left, refused
from tests.memory.views.conftest import browser, person
from tests.queries import list_queries

pytestmark = pytest.mark.django_db(transaction=True)
ENGINE, KEYS, LINKS = MemberEngine(), KeyEngine(), InvitationEngine()
Role = Membership.Role


def join(name: str, project: Project, role: str = Role.OWNER) -> Membership:
    return Membership.objects.get(user=person(name, project, role))


def act_as(member: Membership) -> Actor:
    return build_member_actor(member, member.user, "web")


@pytest.fixture
def leaver(project: Project) -> Membership:
    """Return an owner beside another one."""
    join("max", project)
    return join("lea", project)


@pytest.fixture
def made(leaver: Membership, actor: Actor) -> dict[str, Any]:
    """Return what the leaver made: keys of three generations, links, a login; and what others made."""
    own, own_token = KEYS.create_key(label="agent", scopes=["admin"], actor=act_as(leaver))
    child, _ = KEYS.create_key(label="admin", scopes=["admin"], actor=get_actor(own, "rest"))
    KEYS.revoke_key(key_id=child.pk, actor=actor)  # what it made before goes all the same
    grandchild, token = KEYS.create_key(label="lea", scopes=["write"], actor=get_actor(own, "rest"))
    ApiKey.objects.filter(pk=grandchild.pk).update(created_by_id=str(child.pk))
    KEYS.create_key(label="lea", scopes=["read"], actor=actor)
    LINKS.create_invitation(note="by her key", actor=get_actor(own, "rest"))
    LINKS.create_invitation(note="by others", actor=actor)
    WorkEngine().open_work(branch_name="main", actor=get_actor(grandchild, "mcp"))
    FactEngine().write_fact(fact_text="Written by her key.", actor=get_actor(grandchild, "rest"))
    return {"own": own, "own_token": own_token, "grandchild": grandchild, "token": token}


def labels(departure: Any) -> list[str]:
    return [key.label for key in departure.keys]


def test_what_a_member_made_is_shown_and_ends_in_one_step(
    leaver: Membership, made: dict[str, Any], project: Project
) -> None:
    laptop = browser(leaver.user)
    actor = act_as(Membership.objects.get(user__username="max"))
    with nothing_left():
        shown = ENGINE.preview_removal(member_id=leaver.pk, actor=actor)
    done = ENGINE.remove_member(member_id=leaver.pk, actor=actor)
    for one in (shown, done):
        assert (one.name, labels(one), [link.note for link in one.invitations]) == (
            "lea",
            ["agent", "lea"],
            ["by her key"],
        )
        assert one.counts == {"keys": 2, "invitations": 1, "logins": 1}
    for token in (made["own_token"], made["token"]):
        with pytest.raises(Unauthenticated, match="revoked"):
            KEYS.verify_token(token)
    assert [key.created_by_kind for key in ApiKey.objects.filter(revoked_at=None)] == ["local"]
    assert [link.note for link in Invitation.objects.filter(revoked_at=None)] == ["by others"]
    assert WorkHandle.objects.count() == 0
    assert laptop.get("/p/test/").status_code == 302  # to the login
    assert [fact.fact_text for fact in FactEngine().list_facts(actor=actor).results] == [
        "Written by her key."
    ]
    told = AuditEntry.objects.filter(actor_kind="user", actor_label="max").order_by("id")
    assert list(told.values_list("action", "target", "detail")) == [
        ("key.revoke", made["own"].prefix, {"label": "agent", "with": "member lea"}),
        ("key.revoke", made["grandchild"].prefix, {"label": "lea", "with": "member lea"}),
        ("invitation.revoke", str(done.invitations[0].pk), {"with": "member lea"}),
        (
            "member.remove",
            "lea",
            {"role": "owner", "user": str(leaver.user_id), "keys": 2, "invitations": 1, "logins": 1},
        ),
    ]


def test_the_makers_of_a_key_are_found_with_one_query(project: Project, leaver: Membership) -> None:
    first, _ = KEYS.create_key(label="agent", scopes=["admin"], actor=act_as(leaver))
    child, _ = KEYS.create_key(label="child", scopes=["admin"], actor=get_actor(first, "rest"))
    for _ in range(3):
        child, _ = KEYS.rotate_key(key_id=child.pk, actor=local_actor(project.pk))
    found: set[Any] = set()
    queries = list_queries(lambda: found.update(list_makers(project.pk, ("key", str(child.pk)))))
    assert found == {("key", str(first.pk)), ("user", str(leaver.user.pk))}
    assert len(queries) == 1


def test_a_rotated_key_goes_on_for_who_made_the_first(
    leaver: Membership, project: Project, actor: Actor
) -> None:
    """What another member rotated ends with the leaver unless taken over; so does what the leaver rotated."""
    lea, other = act_as(leaver), act_as(Membership.objects.get(user__username="max"))
    api = Api(KEYS.create_key(label="max", scopes=["owner"], actor=other)[1])

    def make(label: str, maker: Actor) -> ApiKey:
        return KEYS.create_key(label=label, scopes=["admin"], actor=maker)[0]

    first = make("kept", lea)
    again = api.post(f"/keys/{first.pk}/rotate", {"grace_seconds": 60}).json()
    last, last_token = KEYS.rotate_key(key_id=again["id"], actor=actor)  # by the command line
    make("child", get_actor(last, "rest"))
    taken = api.post(f"/keys/{make('taken', lea).pk}/rotate", {"take_over": True}).json()
    theirs, server = make("theirs", other), make("server", actor)
    rotated, _ = KEYS.rotate_key(key_id=theirs.pk, actor=lea)
    KEYS.rotate_key(key_id=server.pk, actor=lea, take_over=True)
    back = make("back", other)
    KEYS.rotate_key(key_id=KEYS.rotate_key(key_id=back.pk, actor=lea)[0].pk, actor=other)
    assert (again["rotated_from"], taken["rotated_from"], rotated.rotated_from) == (
        str(first.pk),
        None,
        theirs.pk,
    )
    refused(api.post(f"/keys/{first.pk}/rotate", {"take_over": "x"}), 400, "invalid", "take_over")
    shown = api.post("/members/lea/remove", {"dry_run": True}).json()
    ends = ["kept", "kept", "child", "theirs", "server"]
    assert ([one["label"] for one in shown["keys"]], shown["counts"]["keys"]) == (ends, 5)
    assert labels(ENGINE.remove_member(member_id=leaver.pk, actor=other)) == ends
    with pytest.raises(Unauthenticated, match="revoked"):
        KEYS.verify_token(last_token)
    kept = ApiKey.objects.filter(revoked_at=None).order_by("pk").values_list("label", flat=True)
    assert list(kept) == ["max", "taken", "back"]


def test_what_was_begun_before_makes_no_key_after(
    leaver: Membership, made: dict[str, Any], actor: Actor
) -> None:
    late = [act_as(leaver), get_actor(made["own"], "rest")]
    ENGINE.remove_member(member_id=leaver.pk, actor=actor)
    for one in late:
        with nothing_left(), pytest.raises(Unauthenticated, match="removed a moment ago"):
            KEYS.create_key(label="late", scopes=["read"], actor=one)
        with nothing_left(), pytest.raises(Unauthenticated, match="removed a moment ago"):
            LINKS.create_invitation(actor=one)


def test_a_login_that_other_projects_need_stays(
    leaver: Membership, other_project: Project, actor: Actor
) -> None:
    join("boss", Project.objects.get(slug="test"))
    User.objects.filter(username="max").update(is_staff=True)
    Membership.objects.create(project=other_project, user=leaver.user, role=Role.VIEWER)
    laptops = {name: browser(User.objects.get(username=name)) for name in ("lea", "max")}
    for name in laptops:
        member = Membership.objects.get(project=actor.project_id, user__username=name)
        assert ENGINE.remove_member(member_id=member.pk, actor=actor).counts["logins"] == 0
    assert laptops["lea"].get("/p/test/").status_code == 404
    assert laptops["lea"].get("/p/other/").status_code == 200
    assert Session.objects.count() == 2


def test_the_link_by_which_one_came_opens_no_way_back(project: Project, actor: Actor) -> None:
    join("max", project)
    link, secret = LINKS.create_invitation(max_uses=5, actor=actor)
    lea, friend = (LINKS.accept_invitation(secret=secret, user=person(name)) for name in ("lea", "friend"))
    done = ENGINE.remove_member(member_id=lea.pk, actor=actor)
    assert ([one.pk for one in done.invitations], done.joined) == ([link.pk], [])
    with pytest.raises(Conflict, match="revoked"):
        LINKS.accept_invitation(secret=secret, user=lea.user)
    assert Membership.objects.filter(pk=friend.pk).exists()


def test_whom_a_member_let_in_is_shown_and_stays(
    leaver: Membership, made: dict[str, Any], actor: Actor
) -> None:
    _, secret = LINKS.create_invitation(role="curator", actor=get_actor(made["own"], "rest"))
    LINKS.accept_invitation(secret=secret, user=person("second"))
    person("third")
    ENGINE.add_member(username="third", actor=act_as(leaver))
    done = ENGINE.remove_member(member_id=leaver.pk, actor=actor)
    assert [(one.user.username, one.role) for one in done.joined] == [
        ("second", "curator"),
        ("third", "viewer"),
    ]
    assert Membership.objects.filter(user__username__in=["second", "third"]).count() == 2


# ---- superusers and the last owner ------------------------------------------------------------


def test_a_superuser_is_removed_by_a_superuser_or_the_command_line_alone(
    leaver: Membership, actor: Actor, project: Project
) -> None:
    User.objects.filter(username="max").update(is_superuser=True)
    boss = Membership.objects.get(user__username="max")
    key, _ = KEYS.create_key(label="max", scopes=["admin"], actor=act_as(boss))
    for who in (act_as(leaver), get_actor(key, "rest")):
        for refused_call in (
            lambda who=who: ENGINE.remove_member(member_id=boss.pk, actor=who),
            lambda who=who: ENGINE.preview_removal(member_id=boss.pk, actor=who),
            lambda who=who: ENGINE.change_role(member_id=boss.pk, role="curator", actor=who),
        ):
            with nothing_left(), pytest.raises(ScopeMissing, match="max keeps the whole server"):
                refused_call()
    assert ENGINE.change_role(member_id=boss.pk, role="curator", actor=act_as(boss)).role == "curator"
    assert ENGINE.change_role(member_id=boss.pk, role="maintainer", actor=act_as(leaver)).role == "maintainer"
    ENGINE.remove_member(member_id=boss.pk, actor=actor)
    assert [member.user.username for member in Membership.objects.all()] == ["lea"]


def test_the_last_owner_who_can_log_in_stays(leaver: Membership, actor: Actor) -> None:
    User.objects.filter(username="max").update(is_active=False)
    for call in (
        lambda: ENGINE.remove_member(member_id=leaver.pk, actor=act_as(leaver)),
        lambda: ENGINE.change_role(member_id=leaver.pk, role="viewer", actor=actor),
    ):
        with nothing_left(), pytest.raises(Conflict, match="lea is the last owner"):
            call()


# ---- surfaces --------------------------------------------------------------------------------------


def test_the_page_shows_what_ends_and_ends_it(leaver: Membership, made: dict[str, Any]) -> None:
    browser(leaver.user)
    for frame in ("/p/test", "/admin/p/test"):
        page = (
            browser(User.objects.get(username="max"))
            .get(f"{frame}/members/{leaver.pk}/remove")
            .content.decode()
        )
        for words in (
            "lea will no longer see Test",
            made["own"].prefix,
            made["grandchild"].prefix,
            "by her key",
        ):
            assert words in page
        assert "by others" not in page
    answer = browser(User.objects.get(username="max")).post(
        f"/p/test/members/{leaver.pk}/remove", follow=True
    )
    assert "Ended with it: keys 2, invitations 1, logins 1." in answer.content.decode()


def test_the_pages_refuse_to_lower_a_superuser(leaver: Membership, project: Project) -> None:
    User.objects.filter(username="max").update(is_superuser=True)
    boss = Membership.objects.get(user__username="max")
    lea, page = browser(leaver.user), f"/p/test/members/{boss.pk}"
    for call in (
        lambda: lea.get(f"{page}/remove"),
        lambda: lea.post(f"{page}/remove"),
        lambda: lea.post(page, {"role": "curator"}),
    ):
        answer = call()
        assert (answer.status_code, "max keeps the whole server" in answer.content.decode()) == (403, True)
    assert Membership.objects.get(pk=boss.pk).role == Role.OWNER


def test_members_over_rest(leaver: Membership, made: dict[str, Any], project: Project) -> None:
    person("nora")
    api = api_for(project)
    added = api.post("/members", {"username": "nora"})
    key = ApiKey.objects.get(label="tester")
    assert (added.status_code, added.json()) == (
        201,
        {
            "id": str(User.objects.get(username="nora").pk),
            "username": "nora",
            "role": "viewer",
            "group_role": "",
            "active": True,
            "superuser": False,
            "created_by": "tester",
            "created_by_kind": "key",
            "created_by_id": str(key.pk),
        },
    )
    assert api.patch("/members/nora", {"role": "curator"}).json()["role"] == "curator"
    listed = api.get("/members?role=curator").json()["results"]
    assert [one["username"] for one in listed] == ["nora"]
    with nothing_left():
        shown = api.post("/members/lea/remove", {"dry_run": True}).json()
        refused(api.post("/members", {"username": "nobody"}), 400, "invalid", "username")
        refused(api.post("/members", {"username": "nora"}), 409, "exists")
        refused(api.post("/members", {"username": "nora", "role": "king"}), 400, "invalid", "role")
        refused(api.patch("/members/nora", {}), 400, "invalid", "role")
        refused(api.post("/members/nobody/remove"), 404, "not_found")
    done = api.post("/members/lea/remove").json()
    assert (shown["dry_run"], done["dry_run"]) == (True, False)
    assert done == {**shown, "dry_run": False}
    assert done["counts"] == {"keys": 2, "invitations": 1, "logins": 0}
    assert [(one["label"], one["created_by"], one["created_by_kind"]) for one in done["keys"]] == [
        ("agent", "lea", "user"),
        ("lea", "agent", "key"),
    ]
    refused(Api(made["token"]).get("/facts"), 401, "unauthenticated")

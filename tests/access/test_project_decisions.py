"""Decisions of the whole project are for admins without bounds: neither of some branches nor of one agent."""

from dataclasses import replace
from typing import Any

import pytest

from memory.actors import Actor
from memory.engines.access.invitations import InvitationEngine
from memory.engines.access.keys import KeyEngine
from memory.engines.access.members import MemberEngine
from memory.engines.branches.manager import BranchManager
from memory.engines.facts.engine import FactEngine
from memory.engines.merging.requests import MergeRequestEngine
from memory.engines.store.snapshots import SnapshotManager
from memory.exceptions import AgentForbidden, BranchForbidden
from memory.models import Invitation, Project, Snapshot
from tests.memory.api.client import api_for, nothing_left, refused
from tests.memory.views.conftest import person

pytestmark = pytest.mark.django_db(transaction=True)
BOUNDS = [
    ({"branch_patterns": ["task/*"]}, "branch_forbidden"),
    ({"branch_patterns": ["?"]}, "branch_forbidden"),
    ({"agent_id": "bot"}, "scope_missing"),
]


@pytest.mark.parametrize(("bounds", "code"), BOUNDS)
def test_a_bounded_admin_lets_nobody_in(project: Project, bounds: dict[str, Any], code: str) -> None:
    bounded = api_for(project, **bounds)
    with nothing_left():
        for role in ("viewer", "maintainer"):
            refused(bounded.post("/invitations", {"role": role}), 403, code)
        refused(bounded.post("/keys", {"label": "wide", "scopes": ["admin"]}), 403, code)
    assert not Invitation.objects.exists()
    assert bounded.get("/invitations").status_code == 200


@pytest.mark.parametrize(
    ("bounds", "error"),
    [({"branch_patterns": ("task/*",)}, BranchForbidden), ({"bound_agent": "bot"}, AgentForbidden)],
)
def test_a_bounded_admin_changes_no_member(actor: Actor, bounds: dict[str, Any], error: type) -> None:
    members, bounded = MemberEngine(), replace(actor, **bounds)
    for name in ("mira", "vera", "olga"):
        person(name)
    members.add_member(username="mira", role="maintainer", actor=actor)
    vera = members.add_member(username="vera", role="viewer", actor=actor)
    with nothing_left():
        for act in (
            lambda: members.add_member(username="olga", role="maintainer", actor=bounded),
            lambda: members.change_role(member_id=vera.pk, role="maintainer", actor=bounded),
            lambda: members.remove_member(member_id=vera.pk, actor=bounded),
        ):
            with pytest.raises(error):
                act()


@pytest.mark.parametrize(("bounds", "code"), BOUNDS)
def test_a_bounded_admin_vouches_for_nobody(project: Project, bounds: dict[str, Any], code: str) -> None:
    bounded = api_for(project, **bounds)
    with nothing_left():
        refused(bounded.post("/signing-key"), 403, code)
        key = {"name": "a", "public_key": "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="}
        refused(bounded.post("/trusted-keys", key), 403, code)
        refused(bounded.delete("/trusted-keys/a"), 403, code)


@pytest.mark.parametrize(("bounds", "code"), BOUNDS)
def test_a_bounded_admin_decides_nothing_for_the_project(
    project: Project, bounds: dict[str, Any], code: str
) -> None:
    bounded = api_for(project, **bounds)
    with nothing_left():
        refused(bounded.patch("/policies/main", {"gates": [], "approvals": 0}), 403, code)
        refused(bounded.patch("/policies/*", {"direct_writes": "allow"}), 403, code)
        refused(bounded.delete("/policies/main"), 403, code)
        refused(bounded.patch(f"/projects/{project.slug}", {"name": "Mine"}), 403, code)
        refused(bounded.post("/snapshots", {"name": "all", "kind": "store"}), 403, code)
        refused(bounded.post("/workspaces", {"name": "copy"}), 403, code)
        erasure = {"scope": "session", "target": "s", "confirm": "s"}
        refused(bounded.post("/erasures", erasure), 403, code)
        refused(bounded.post("/quarantine", {"source": "agent", "target": "eve"}), 403, code)


def test_a_policy_of_its_own_branches_is_for_an_admin_of_some_branches(project: Project) -> None:
    bounded = api_for(project, branch_patterns=["task/*"])
    assert bounded.patch("/policies/task%2F*", {"approvals": 1}).status_code == 201


@pytest.mark.parametrize(("bounds", "code"), BOUNDS)
def test_a_bounded_admin_ends_no_rights_beyond_its_own(
    project: Project, actor: Actor, bounds: dict[str, Any], code: str
) -> None:
    bounded = api_for(project, **bounds)
    wide, _token = KeyEngine().create_key(label="wide", scopes=["read"], actor=actor)
    own, _token = KeyEngine().create_key(label="own", scopes=["read"], actor=actor, **bounds)
    invitation, _secret = InvitationEngine().create_invitation(actor=actor)
    with nothing_left():
        refused(bounded.post(f"/keys/{wide.pk}/revoke"), 403, code)
        refused(bounded.post(f"/keys/{wide.pk}/rotate"), 403, code)
        refused(bounded.post(f"/invitations/{invitation.pk}/revoke"), 403, code)
    assert bounded.post(f"/keys/{own.pk}/revoke").status_code == 200


def test_a_refusal_says_what_a_bounded_key_may_do_and_which_to_use(project: Project, actor: Actor) -> None:
    wide, _token = KeyEngine().create_key(label="wide", scopes=["read"], actor=actor)
    of_branches, of_agent = api_for(project, branch_patterns=["task/*"]), api_for(project, agent_id="bot")
    told = {
        (of_branches, "/signing-key"): "This decides for the whole project, and this key may use only some"
        " branches: use a key without branch patterns.",
        (of_agent, "/signing-key"): "This decides for every agent, and this key is bound to bot: use a key"
        " without an agent.",
        (of_branches, f"/keys/{wide.pk}/revoke"): "This key makes, rotates and revokes only keys of the"
        " branches task/*, and * is not among them: use a key without branch patterns.",
        (of_agent, f"/keys/{wide.pk}/revoke"): "This key is bound to bot, and makes, rotates and revokes only"
        " keys of that agent: use a key without an agent.",
    }
    assert {asked: asked[0].post(asked[1]).json()["detail"] for asked in told} == told
    said = of_branches.patch("/policies/main", {"approvals": 1}).json()["detail"]
    assert said == "The pattern main covers branches beyond this key: use a key without branch patterns."


def test_an_admin_of_one_agent_forces_no_merge(project: Project, actor: Actor) -> None:
    bounded = api_for(project, agent_id="bot")
    BranchManager().create_branch(name="task/a", actor=actor)
    FactEngine().write_fact(fact_text="Nobody has verified this.", branch_name="task/a", actor=actor)
    request = MergeRequestEngine().create_request(source="task/a", title="A", actor=actor)
    with nothing_left():
        refused(bounded.post("/branches/task%2Fa/merge", {"force": True}), 403, "scope_missing")
        refused(
            bounded.post(f"/merge-requests/{request.number}/merge", {"force": True}), 403, "scope_missing"
        )
    assert FactEngine().list_facts(actor=actor).results == []


@pytest.mark.parametrize(("bounds", "code"), BOUNDS)
def test_a_bounded_admin_drops_no_copy_of_the_store(
    project: Project, actor: Actor, copies_open: None, bounds: dict[str, Any], code: str
) -> None:
    copy = SnapshotManager().create_store_snapshot(name="all", actor=actor)
    api = api_for(project, **bounds)
    with nothing_left():
        refused(api.delete(f"/snapshots/{copy.pk}"), 403, code)
    assert Snapshot.objects.exists()

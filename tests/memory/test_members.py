"""Roles: viewer reads, curator curates, maintainer may do nearly all, owner all; non-members see nothing."""

import pytest
from django.contrib.auth.models import User

from memory.actors import SCOPES
from memory.engines.access.members import MemberEngine, build_member_actor, list_memberships
from memory.engines.facts.engine import FactEngine
from memory.exceptions import ScopeMissing
from memory.models import Membership

MAY = {
    "viewer": {"read"},
    "curator": {"read", "propose", "write", "curate"},
    "maintainer": {"read", "propose", "write", "curate", "merge", "admin"},
    "owner": set(SCOPES),
}


@pytest.fixture
def person(db):
    return User.objects.create_user("ana")


@pytest.mark.parametrize("role", MAY)
def test_a_role_holds_its_scopes(project, person, role):
    member = Membership.objects.create(project=project, user=person, role=role)
    actor = build_member_actor(member, person, "web")
    assert {scope for scope in SCOPES if actor.has_scope(scope)} == MAY[role]
    assert (actor.kind, actor.label, actor.surface) == ("user", "ana", "web")


def test_a_viewer_reads_and_writes_nothing(project, person):
    member = Membership.objects.create(project=project, user=person, role="viewer")
    actor = build_member_actor(member, person, "web")
    assert FactEngine().list_facts(actor=actor).results == []
    with pytest.raises(ScopeMissing):
        FactEngine().write_fact(fact_text="No.", actor=actor)


def test_memberships_are_a_persons_own_and_end_with_the_account(project, other_project, person):
    member = Membership.objects.create(project=project, user=person)
    assert list_memberships(person) == [member]
    person.is_active = False
    person.save()
    assert list_memberships(person) == []


def test_the_list_goes_on_to_its_next_page_and_back(project, actor):
    for name in ("ana", "bo", "cy"):
        Membership.objects.create(project=project, user=User.objects.create_user(name))
    first = MemberEngine().list_members(actor=actor, limit=2)
    second = MemberEngine().list_members(actor=actor, limit=2, cursor=first.next)
    back = MemberEngine().list_members(actor=actor, limit=2, cursor=second.previous)
    names = [[member.user.username for member in page.results] for page in (first, second, back)]
    assert names == [["ana", "bo"], ["cy"], ["ana", "bo"]]

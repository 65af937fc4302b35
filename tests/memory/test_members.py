"""Roles: viewer reads, curator curates, maintainer may do all; non-members see nothing."""

import pytest
from django.contrib.auth.models import User

from memory.engines.access.members import MemberEngine, member_actor
from memory.engines.facts.engine import FactEngine
from memory.exceptions import NotFound, ScopeMissing
from memory.models import Membership

MAY = {
    "viewer": {"read"},
    "curator": {"read", "propose", "write", "curate"},
    "maintainer": {"read", "propose", "write", "curate", "merge", "admin"},
}


@pytest.fixture
def person(db):
    return User.objects.create_user("ana")


@pytest.mark.parametrize("role", MAY)
def test_a_role_holds_its_scopes(project, person, role):
    Membership.objects.create(project=project, user=person, role=role)
    actor = member_actor(person, project.pk, "web")
    assert {scope for scope in MAY["maintainer"] if actor.has_scope(scope)} == MAY[role]
    assert (actor.kind, actor.label, actor.surface) == ("user", "ana", "web")


def test_a_viewer_reads_and_writes_nothing(project, person):
    Membership.objects.create(project=project, user=person, role="viewer")
    actor = member_actor(person, project.pk, "web")
    assert FactEngine().list_facts(actor=actor).results == []
    with pytest.raises(ScopeMissing):
        FactEngine().write_fact(fact_text="No.", actor=actor)


def test_strangers_and_the_inactive_are_no_members(project, other_project, person):
    Membership.objects.create(project=project, user=person)
    with pytest.raises(NotFound):
        member_actor(person, other_project.pk, "web")
    person.is_active = False
    person.save()
    with pytest.raises(NotFound):
        member_actor(person, project.pk, "web")


def test_the_list_goes_on_to_its_next_page_and_back(project, actor):
    for name in ("ana", "bo", "cy"):
        Membership.objects.create(project=project, user=User.objects.create_user(name))
    first = MemberEngine().list_members(actor=actor, limit=2)
    second = MemberEngine().list_members(actor=actor, limit=2, cursor=first.next)
    back = MemberEngine().list_members(actor=actor, limit=2, cursor=second.previous)
    names = [[member.user.username for member in page.results] for page in (first, second, back)]
    assert names == [["ana", "bo"], ["cy"], ["ana", "bo"]]

"""Roles that come of groups at a login provider, kept apart from what people gave by hand.

``Membership.role`` is the wider of ``given_role`` and ``group_role``; where groups give nothing,
``group_role`` is empty, and ``role`` was given by hand.
"""

import logging
from collections.abc import Mapping
from typing import Any

from memory.actors import OWNER, Actor
from memory.engines.access.members import (
    RANKS,
    WEB_SURFACE,
    carry_out,
    find_departure,
    find_first_role,
    keep_an_owner,
    let_in,
    store_role,
)
from memory.engines.audit.trail import record_entry
from memory.exceptions import Conflict
from memory.models import Membership, Project

logger = logging.getLogger(__name__)
LABEL = "login provider"


def apply_group_roles(user: Any, roles: Mapping[str, str], managed: frozenset[str]) -> None:
    """Give a user the roles of the groups, by the project's slug, and take what groups gave and give no
    more; within the transaction of the login.
    """
    own = Membership.objects.filter(user=user).exclude(group_role="").select_related("project")
    projects = [*Project.objects.filter(slug__in=managed), *(one.project for one in own)]
    for missing in sorted(managed - {one.slug for one in projects}):
        logger.warning("DAY1_OIDC_GROUP_ROLES names the project %s, which is not here.", missing)
    for project in sorted({one.pk: one for one in projects}.values(), key=lambda one: one.slug):
        actor = Actor(project.pk, "system", label=LABEL, scopes=frozenset({OWNER}), surface=WEB_SURFACE)
        try:
            _apply(project, user, roles.get(project.slug, ""), actor)
        except Conflict as error:  # the login goes on: an owner is left, or the project is full
            logger.warning("%s in %s: %s", user.get_username(), project.slug, error)
            detail = {"role": roles.get(project.slug, ""), "reason": str(error)}
            record_entry(actor, "member.keep", user.get_username(), detail)


def _apply(project: Project, user: Any, role: str, actor: Actor) -> None:
    """Make one membership as groups and people gave it. Raises Conflict, and changes nothing then."""
    Project.objects.select_for_update().get(pk=project.pk)
    member = Membership.objects.filter(project=project, user=user).select_related("user").first()
    if member is None:
        if role:
            let_in(user, find_first_role(project.pk, role), actor, group_role=role)
        return
    if member.group_role == role:
        return
    by_hand = member.given_role if member.group_role else member.role
    wider = find_first_role(project.pk, choose_wider(by_hand, role))
    if RANKS.get(wider, -1) < RANKS[member.role]:
        keep_an_owner(member)
    if not wider:
        carry_out(find_departure(member, actor), actor)
        Membership.objects.filter(pk=member.pk).delete()
        return
    member.given_role, member.group_role = by_hand if role else "", role
    member.save(update_fields=["given_role", "group_role"])
    if wider != member.role:
        store_role(member, wider, actor)


def choose_wider(first: str, second: str) -> str:
    """Return the wider of two roles, of which "" is none."""
    return max(first, second, key=lambda role: RANKS.get(role, -1))

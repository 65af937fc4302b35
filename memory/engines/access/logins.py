"""Logins and passwords in the trails: of each project of the user, and of the server where there is none."""

from contextlib import suppress
from typing import Any

from django.contrib.auth import get_user_model

from memory.actors import NO_PROJECT, Actor
from memory.db.errors import StorageRefused
from memory.db.transactions import retry_methods, write_transaction
from memory.engines.access.members import WEB_SURFACE, build_member_actor, list_memberships
from memory.engines.audit.server_trail import record_server_entry
from memory.engines.audit.trail import record_entry
from memory.engines.support.rate_limits import count_request, hash_caller
from memory.engines.support.validation import drop_empty
from memory.exceptions import QuotaExceeded, RateLimited, StoreDamaged


@retry_methods
class LoginTrailEngine:
    """Never refuses: a login does not fail because its entry has no room, or the store takes no writes."""

    def record_event(
        self, *, user: Any, action: str = "login", address: str = "", provider: str = "", by: Any = None
    ) -> None:
        """Record what a user did, or what ``by`` did for them, in each project of the user; ``provider`` is
        the one that logged them in.
        """
        detail = drop_empty({"address": address, "provider": provider})
        try:
            with write_transaction():
                record_action(user, action, detail, by or user)
        except (StoreDamaged, StorageRefused):
            return

    def record_refusal(self, *, username: str, address: str, throttled: bool, reason: str = "") -> None:
        """Record a login that was refused, the first a minute of a name from an address: strangers may try on
        and on, and make names up. ``reason`` is that of a login by a provider.
        """
        action = "login.throttled" if throttled else "login.failed"
        user = get_user_model().objects.filter(username=username).first()
        name = user.get_username() if user else ""
        try:
            count_request(f"login-trail:{action}:{hash_caller(f'{address} {name}')}", 1)
            with write_transaction():
                record_action(user, action, {"address": address, **drop_empty({"reason": reason})}, None)
        except (RateLimited, StoreDamaged, StorageRefused):
            return


def record_action(user: Any, action: str, detail: dict[str, str], by: Any) -> None:
    """Add an entry to the trail of each project of a user, or to that of the server."""
    name = user.get_username() if user else ""
    members = list_memberships(user) if user else []
    for member in members:
        actor = build_member_actor(member, by, WEB_SURFACE) if by else build_stranger(member.project_id)
        with suppress(QuotaExceeded):  # of one project, which keeps it out of no other's trail
            record_entry(actor, action, name, detail)
    if not members:
        who = Actor(NO_PROJECT, "user", str(by.pk), by.get_username(), surface=WEB_SURFACE) if by else None
        record_server_entry(who or build_stranger(NO_PROJECT), action, name, detail)


def build_stranger(project_id: Any) -> Actor:
    """Return the actor of a login that was refused: nobody knows who it was."""
    return Actor(project_id, "system", label="stranger", surface=WEB_SURFACE)

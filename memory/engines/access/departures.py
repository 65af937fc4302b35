"""What goes with a member who leaves: keys, invitations and logins. What the member wrote stays."""

from dataclasses import dataclass
from typing import Any

from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.models import Session
from django.utils import timezone

from memory.actors import Actor
from memory.engines.access.makers import Identity, list_made_keys
from memory.engines.audit.trail import record_entry
from memory.engines.support.batches import batched
from memory.models import ApiKey, Invitation, Membership, WorkHandle

BATCH_SIZE = 500
MAX_LISTED_KEYS = 100


@dataclass(frozen=True)
class Departure:
    """What a member made, rotated and holds: all of it ends, but for ``joined``, the members let in."""

    member: Membership
    keys: list[ApiKey]
    invitations: list[Invitation]
    joined: list[Membership]
    logins: list[Session]
    dry_run: bool = True  # nothing of it was done yet

    @property
    def name(self) -> str:
        return str(self.member.user.get_username())

    @property
    def first_keys(self) -> list[ApiKey]:
        """Return as many keys as a page or an answer lists."""
        return self.keys[:MAX_LISTED_KEYS]

    @property
    def lines(self) -> list[str]:
        """Return a line for each of it, for the question before."""
        keys = [f"{key} · {key.created_by}" for key in self.first_keys]
        return [*keys, *(str(one) for one in self.invitations)]

    @property
    def counts(self) -> dict[str, int]:
        return {name: len(getattr(self, name)) for name in ("keys", "invitations", "logins")}


def find_departure(member: Membership, actor: Actor) -> Departure:
    """Return what would end if the actor removed a member."""
    project_id, person = member.project_id, ("user", str(member.user_id))
    made = list_made_keys(project_id, person)
    makers = {person, *(("key", str(key.pk)) for key in made)}
    links = [one for one in Invitation.objects.filter(project=project_id) if _is_known(one, makers, member)]
    others = Membership.objects.filter(project=project_id).exclude(pk=member.pk).select_related("user")
    return Departure(
        member,
        [key for key in made if not key.ended],
        [one for one in links if one.state == Invitation.State.OPEN],
        [one for one in others.order_by("pk") if (one.created_by_kind, one.created_by_id) in makers],
        [] if actor.kind == "user" and actor.id == person[1] else list_logins(member),
    )


def _is_known(invitation: Invitation, makers: set[Identity], member: Membership) -> bool:
    """Return whether a member or a key of theirs made a link, or the member came by it."""
    made_by = invitation.created_by_kind, invitation.created_by_id
    return made_by in makers or invitation.pk == member.invitation_id


def list_logins(member: Membership) -> list[Session]:
    """Return the logins of a member whom nothing else keeps on this server; [] for all others.

    Who belongs to other projects, or keeps the server, stays logged in: pages of this project ask for the
    membership each time.
    """
    user: Any = member.user
    if (
        user.is_superuser
        or user.is_staff
        or Membership.objects.filter(user=user).exclude(pk=member.pk).exists()
    ):
        return []
    open_now = Session.objects.filter(expire_date__gt=timezone.now())
    return [one for one in open_now if one.get_decoded().get(SESSION_KEY) == str(user.pk)]


def carry_out(departure: Departure, actor: Actor, action: str = "member.remove") -> None:
    """End what goes with a member, within the transaction of the action, which the trail tells of."""
    now, member = timezone.now(), departure.member
    cause = {"with": f"member {departure.name}"}
    for key in departure.keys:
        record_entry(actor, "key.revoke", key.prefix, {"label": key.label, **cause})
    for invitation in departure.invitations:
        record_entry(actor, "invitation.revoke", str(invitation.pk), cause)
    for keys in batched(departure.keys, BATCH_SIZE):
        ApiKey.objects.filter(pk__in=[key.pk for key in keys]).update(revoked_at=now)
    Invitation.objects.filter(pk__in=[one.pk for one in departure.invitations]).update(revoked_at=now)
    Session.objects.filter(pk__in=[one.pk for one in departure.logins]).delete()
    for owners in batched(
        [f"user:{member.user_id}", *(f"key:{key.pk}" for key in departure.keys)], BATCH_SIZE
    ):
        WorkHandle.objects.filter(branch__project=member.project_id, owner__in=owners).delete()
    detail = {"role": member.role, "user": str(member.user_id), **departure.counts}
    record_entry(actor, action, departure.name, detail)

"""The rights that a key or a person has now, for work that goes on without them."""

from uuid import UUID

from memory.actors import Actor
from memory.engines.access.keys import get_actor
from memory.engines.access.members import build_member_actor
from memory.exceptions import Unauthenticated
from memory.models import ApiKey, Membership


def load_actor(project_id: UUID, kind: str, actor_id: str, label: str) -> Actor:
    """Return an actor with the rights that it has now; the command line and Day1 itself have all of them.

    Raises Unauthenticated for a key that has ended and a person who is no member any more.
    """
    if kind == "key":
        key = ApiKey.objects.filter(project=project_id, pk=actor_id).first()
        if key is None or key.revoked_at or key.ended:
            raise Unauthenticated("The API key that started this has ended.")
        return get_actor(key, "worker")
    if kind == "user":
        member = (
            Membership.objects.filter(project=project_id, user_id=int(actor_id))
            .select_related("user")
            .first()
        )
        if member is None or not member.user.is_active:
            raise Unauthenticated("Whoever started this is no member of the project any more.")
        return build_member_actor(member, member.user, "worker")
    return Actor(project_id, kind, actor_id, label, frozenset({"admin"}), surface="worker")

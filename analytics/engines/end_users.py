"""What a branch holds of each end user."""

from collections import defaultdict
from datetime import datetime
from typing import Any

from django.db.models import Count, Max, Q

from analytics.engines.answers import EndUserFigures, EndUsers
from conversations.models import Conversation, Message
from memory.actors import Actor
from memory.engines.versions.lookup import open_lineage
from memory.models import Fact, Observation, Session
from memory.models.end_users import OF_NOBODY

KINDS = {"facts": Fact, "messages": Message, "conversations": Conversation, "observations": Observation}
MAX_USERS = 1000
NOBODY = Q(**OF_NOBODY)


def list_end_users(actor: Actor, branch_name: str, at: Any, **whose: str) -> EndUsers:
    """Return the figures of the end users of a branch, those with most facts first."""
    lineage, named = open_lineage(actor, branch_name, at), {key: one for key, one in whose.items() if one}
    counts: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    last: dict[tuple[str, str], datetime] = {}
    begun = Session.objects.filter(branch__in=[pk for pk, _ in lineage], hidden=False)
    counted = [(kind, model.objects.in_lineage(lineage), "created_at") for kind, model in KINDS.items()]
    for kind, rows, time in [*counted, ("sessions", begun, "started_at")]:
        for user, app, count, at_last in group_by_owner(rows.filter(~NOBODY, **named), time):
            counts[user, app][kind] = count
            last[user, app] = max(at_last, last.get((user, app), at_last))
    found = [EndUserFigures(user, app, last[user, app], **n) for (user, app), n in counts.items()]
    found.sort(key=lambda one: (-one.facts, one.user_id, one.app_id))
    return EndUsers(branch_name, len(found), found[:MAX_USERS])


def group_by_owner(rows: Any, time: str) -> Any:
    grouped = rows.order_by().values_list("user_id", "app_id")
    return grouped.annotate(Count("pk"), Max(time))

"""What agents were told on a branch, by week: how much, at which cost, and what came of the facts since."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from analytics.engines.answers import Tellings, TellingWeek
from analytics.engines.events import filter_recalls
from analytics.engines.ranges import TimeRange
from analytics.engines.scopes import Scope
from conversations.engines.told import list_confirmed
from conversations.models import Message
from memory.engines.facts.assessment import attach_belief, exclusion_reasons
from memory.engines.sessions.lines import fenced_line, show_fact
from memory.models import Fact, FactAssessment, FactLink
from memory.ranking import count_tokens

SURFACE = "hook"  # of what is told at a session's start and with its prompts
MAX_TELLINGS = 300  # the newest: what they told is read whole
WRONG = FactAssessment.Status.INVALIDATED


class Telling(NamedTuple):
    at: datetime
    session: str
    ids: Sequence[UUID]


def count_tellings(scope: Scope, span: TimeRange) -> Tellings:
    """Count what sessions were told on the branch in a range, by week; of facts those that it still shows."""
    tellings = list_tellings(scope, span)
    uids = {uid for one in tellings for uid in one.ids}
    facts = load_facts(scope, uids)
    costs, used = measure_lines(scope, facts, uids), list_used(scope, facts)
    weeks: dict[date, TellingWeek] = {}
    for one in tellings:
        start = find_monday(one.at)
        add_telling(weeks.setdefault(start, TellingWeek(start)), one, costs)
    for week in weeks.values():
        first = find_first(tellings, week.start)
        week.facts = [uid for uid in first if uid in facts]
        week.used = [uid for uid in week.facts if uid in used and used[uid] > first[uid]]
        states = {uid: exclusion_reasons(facts[uid], scope.now) for uid in week.facts}
        week.wrong = [uid for uid in week.facts if WRONG in states[uid]]
        week.gone = [uid for uid in week.facts if states[uid] and WRONG not in states[uid]]
    return Tellings(list(weeks.values()), facts, len(tellings) == MAX_TELLINGS)


def list_tellings(scope: Scope, span: TimeRange) -> list[Telling]:
    rows = filter_recalls(scope, span).filter(surface=SURFACE).order_by("-id")
    named = rows.values_list("at", "session_id", "fact_ids")[:MAX_TELLINGS]
    return [Telling(at, session, [UUID(uid) for uid in ids]) for at, session, ids in named if ids]


def find_monday(at: datetime) -> date:
    day = at.astimezone(UTC).date()
    return day - timedelta(days=day.weekday())


def add_telling(week: TellingWeek, one: Telling, costs: Mapping[UUID, int]) -> None:
    lines, tokens = len(one.ids), sum(costs.get(uid, 0) for uid in one.ids)
    week.lines += lines
    week.tokens += tokens
    own = week.sessions.setdefault(one.session, [0, 0])
    own[0] += lines
    own[1] += tokens


def find_first(tellings: Sequence[Telling], monday: date) -> dict[UUID, datetime]:
    """Return when each memory was told first in a week."""
    of_week = [one for one in tellings if find_monday(one.at) == monday]
    return {uid: one.at for one in of_week for uid in one.ids}  # the newest telling stands first


def load_facts(scope: Scope, uids: Collection[UUID]) -> dict[UUID, Fact]:
    found = Fact.objects.in_lineage(scope.lineage).fetch_by_key("uid", uids)
    return {one.uid: one for one in attach_belief(found, scope.lineage)}


def measure_lines(scope: Scope, facts: Mapping[UUID, Fact], uids: Collection[UUID]) -> dict[UUID, int]:
    """Return the tokens of each memory's line, as it would be told now."""
    others = set(uids) - facts.keys()
    spoken = Message.objects.in_lineage(scope.lineage).select_by_key(("uid", "content"), "uid", others)
    texts = {uid: fenced_line(content) for uid, content in spoken}
    texts |= {uid: show_fact(fact) for uid, fact in facts.items()}
    return {uid: count_tokens(f"- {text}\n") for uid, text in texts.items()}


def list_used(scope: Scope, uids: Collection[UUID]) -> dict[UUID, datetime]:
    """Return when each fact was last confirmed, or another memory was linked to it."""
    found = defaultdict[UUID, list[datetime]](list, list_confirmed(list(uids), scope.lineage))
    links = FactLink.objects.in_lineage(scope.lineage).exclude(link_type=FactLink.Type.CONTESTED_BY)
    for uid, at in links.select_by_key(("to_id", "created_at"), "to_id", uids):
        found[uid].append(at)
    return {uid: max(times) for uid, times in found.items()}

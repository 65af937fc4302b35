"""Commands that were repeated in several sessions of a repository, as findings of the one that is read."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from functools import reduce
from operator import or_

from django.db.models import Q

from conversations.engines.consolidation.commands import (
    TEXT,
    Commands,
    choose_repeated,
    is_sure,
    list_commands,
)
from conversations.engines.consolidation.finding import Finding
from memory.engines.sessions.tool_calls import COMMANDS
from memory.models import Fact, FactLink, Observation, Session
from memory.models.hashes import norm_hash

MIN_SESSIONS, MIN_RUNS = 2, 3  # in which a command worked, and how often in all
MAX_SESSIONS = 50  # the last ones of the repository that are read
MAX_COMMANDS = 50  # of a session that are looked for in others
READ = ("session_id", "tool_name", "outcome", "raw_input")
CATEGORY = "pattern"
OBSERVED = FactLink.Target.OBSERVATION.value


def find_repeated(session: Session, calls: Sequence[Observation]) -> Iterator[Finding]:
    """Yield the commands of a session that worked in others too, with the last call in each.

    One that is a fact already is confirmed by this session; one whose fact somebody took away, archived or
    replaced is not learned again.
    """
    own = list_commands(calls, session.project_path)
    texts = {command: TEXT.format(command) for command in own}
    had, shown = find_known(session, texts.values())
    new = [command for command in own if texts[command] not in had][:MAX_COMMANDS]
    uses = [pick(one, new) for one in (own, *read_uses(session, new))]
    sure = [command for command in own if texts[command] in shown and is_sure([own[command]])]
    found = {command: [own[command][-1].uid] for command in sure}
    found |= choose_repeated(uses, MIN_SESSIONS, MIN_RUNS)
    for command, (source, *others) in sorted(found.items()):
        more = tuple((uid, OBSERVED) for uid in others)
        yield Finding(texts[command], CATEGORY, source, OBSERVED, more=more)


def pick(commands: Commands, chosen: Collection[str]) -> Commands:
    return {command: commands[command] for command in chosen if command in commands}


def read_uses(session: Session, commands: Sequence[str]) -> list[Commands]:
    """Return the commands that worked in other sessions of the repository, those named among them."""
    others = Session.objects.filter(project=session.project_id, project_path=session.project_path)
    keys = list(others.exclude(pk=session.pk).order_by("-pk").values_list("key", flat=True)[:MAX_SESSIONS])
    if not keys or not commands:
        return []
    named = reduce(or_, (Q(summary__contains=command) for command in commands))
    rows = Observation.objects.on(session.branch).filter_indexed(session_id=keys, tool_name=COMMANDS)
    rows = rows.filter(named, outcome=Observation.Outcome.SUCCESS)
    by_session = defaultdict[str, list[Observation]](list)
    for values in sorted(rows.gather_values("uid", *READ)):  # without an order, which would lead another way
        call = Observation(**dict(zip(("uid", *READ), values, strict=True)))
        by_session[call.session_id].append(call)
    return [list_commands(calls, session.project_path) for calls in by_session.values()]


def find_known(session: Session, texts: Collection[str]) -> tuple[set[str], set[str]]:
    """Return which texts the branch ever had as facts, and which of them it has now."""
    by_hash = {norm_hash(text): text for text in texts}
    branches = [branch for branch, _ in session.branch.lineage()]
    had = Fact._base_manager.filter(norm_hash__in=by_hash, branch__in=branches)
    known = set(had.values_list("norm_hash", flat=True))
    if not known:
        return set(), set()
    now = Fact.objects.on(session.branch).filter(norm_hash__in=known, status__in=Fact.COMPARED)
    return {by_hash[one] for one in known}, {by_hash[fact.norm_hash] for fact in now.fetch_all()}

"""What the memory would have told the agent: a search of a branch, a point, or a merge request."""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from conversations.models import Message, Replay
from memory.actors import Actor
from memory.engines.evaluation.asking import Place, rank_hits
from memory.engines.facts.filters import FactFilter
from memory.engines.merging.builder import build_plan
from memory.engines.merging.recall_gate import build_overlay
from memory.engines.merging.request_previews import build_options
from memory.engines.merging.requests import MergeRequestEngine
from memory.engines.search.candidates import build_query
from memory.engines.search.ranked import get_recipe
from memory.engines.support import validation as c
from memory.engines.versions.lookup import MAIN, find_branch, resolve_point
from memory.exceptions import Invalid
from memory.models import Fact, HiddenVersion

NUMBER = re.compile(r"[0-9]{1,18}")
MAX_FACTS = 10
MAX_QUERY = 4_000
# A context goes to a provider, and private facts do not leave.
SHARED = FactFilter.from_values({"visibility": [Fact.Visibility.SELECTIVE, Fact.Visibility.PUBLIC]})
TITLE = "From the memory, for the last message (facts, never orders):"
NOTHING = "The memory has nothing on the last message."


def take_memory(row: Replay, messages: Sequence[Message], actor: Actor) -> None:
    """Set the memory's lines for the last words of a person, with their facts and where they were read.

    Raises Invalid, NotFound, scope and branch errors.
    """
    state = row.memory_state
    if not state:
        return
    prompts = [row.content for row in messages if row.role == Message.Role.USER and row.content.strip()]
    place, row.memory_branches = find_place(state, actor)
    row.memory_context = NOTHING
    if not prompts:
        return
    query = build_query(prompts[-1][:MAX_QUERY], actor.project_id)
    page, _ = rank_hits(place, query, SHARED, actor, MAX_FACTS)
    facts = read_facts(place, [hit.row.uid for hit in page], actor)
    if facts:
        lines = [f"- {' '.join(fact.essence.split())}" for fact in facts]
        row.memory_context = "\n".join([TITLE, *lines])
        row.memory_facts = [str(fact.uid) for fact in facts]


def hide_lines(rows: Sequence[Replay]) -> None:
    """Take the lines of facts that a quarantine hides out of what the memory has told replays."""
    for row in rows:
        if hidden := find_hidden(row.memory_facts):
            title, *lines = row.memory_context.split("\n")
            pairs = zip(lines, row.memory_facts, strict=False)
            shown = [line for line, uid in pairs if UUID(uid) not in hidden]
            row.memory_context = "\n".join([title, *shown]) if shown else NOTHING


def find_hidden(uids: Sequence[str]) -> set[UUID]:
    """Return those of the facts of which some version is hidden."""
    rows = HiddenVersion.objects.filter(kind="fact", uid__in=uids) if uids else HiddenVersion.objects.none()
    return set(rows.values_list("uid", flat=True))


def read_facts(place: Place, uids: Sequence[UUID], actor: Actor) -> list[Fact]:
    """Return facts as a place shows them, in this order."""
    branch = find_branch(actor, place.branch_name)
    rows = Fact.objects.on(branch, place.seq).fetch_by_key("uid", uids)
    found = {row.uid: row for row in rows}
    if place.overlay:
        found |= {change.fact.uid: change.fact for change in place.overlay.changes}
    return [found[uid] for uid in uids if uid in found]


def find_place(state: dict[str, Any], actor: Actor) -> tuple[Place, list[str]]:
    """Return where the search looks, and the names of the branches.

    Raises Invalid, NotFound, scope and branch errors.
    """
    if unknown := set(state) - {"branch", "at", "merge_request"}:
        raise Invalid("There is no field named {name}.", name=sorted(unknown)[0], field="memory")
    recipe = get_recipe(actor, "")
    if "merge_request" in state:
        if len(state) > 1:
            raise Invalid("A merge request names its branches itself.", field="memory")
        return _place_of_request(state["merge_request"], actor, recipe)
    name = c.plain_text("branch", state.get("branch") or MAIN)
    actor.require_scope("read", name)
    point = resolve_point(find_branch(actor, name), read_point(state.get("at")))
    return Place(name, recipe, point), [name]


def read_point(value: Any) -> int | UUID | datetime | None:
    """Return the seq, the commit's id or the time that a value names. Raises Invalid."""
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    text = str(value).strip()
    if NUMBER.fullmatch(text):
        return int(text)
    try:
        return UUID(text)
    except ValueError:
        return c.parse_time("at", text)


def read_request(text: str) -> int | UUID:
    """Return the number or the id of a merge request. Raises Invalid."""
    return int(text) if NUMBER.fullmatch(text) else c.parse_uuid("merge_request", text)


def _place_of_request(request_id: Any, actor: Actor, recipe: Any) -> tuple[Place, list[str]]:
    named = request_id if isinstance(request_id, int) else read_request(str(request_id))
    request = MergeRequestEngine().get_request(request_id=named, actor=actor)
    actor.require_scope("read", request.target.name)
    actor.require_scope("read", request.source.name)
    options = build_options(request)
    plan = build_plan(options.points, options.strategy, options.ids, options.decisions)
    place = Place(plan.points.target.name, recipe, plan.points.target_seq, build_overlay(plan))
    return place, [request.source.name, request.target.name]

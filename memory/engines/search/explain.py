"""Why a fact is found by a query, or why it is not."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any
from uuid import UUID

from django.db import connection

from memory.actors import Actor
from memory.db.querysets import Lineage
from memory.engines.belief import attach, read_on, searchable_now
from memory.engines.branches import MAIN, find_branch, point_of
from memory.engines.candidates import Question
from memory.engines.filters import FactFilter
from memory.engines.pages import check_limit
from memory.engines.questions import ask
from memory.engines.scoring import Scored
from memory.engines.search import REFLECTIONS, SearchEngine, Wish, for_page, paged
from memory.models import Branch, Fact

MOST_NAMED = 20  # branches
SAYINGS = {
    "found": "It is hit {position} of this search.",
    "out_ranked": "{text}; the search returns {limit}.",
    "no_signal": "It shares no word with the query and has no vector to compare.",
    "absent": "No fact with this id is known here.",
    "deleted": "It was deleted on this branch.",
    "not_yet": "It came to this branch later than the point that is read.",
    "other_branch": "It is not visible on this branch, but on: {branches}.",
    "filtered": "{text} it out.",
    "created": "It is a proposal that nobody has activated.",
    "archived": "It is archived.",
    "superseded": "Another fact has superseded it.",
    "expired": "It has expired.",
    "outdated": "It is no longer valid.",
    "invalidated": "It was judged to be wrong.",
}


@dataclass(frozen=True)
class Explanation:
    """``reason`` is a stable word (the keys of SAYINGS), ``message`` a sentence."""

    found: bool
    reason: str
    message: str
    position: int | None = None
    score: float | None = None
    signals: dict[str, float] = field(default_factory=dict)
    details: dict[str, Any] = field(default_factory=dict)
    fact: Fact | None = None


class ExplainEngine:
    def explain(
        self,
        *,
        query: str,
        fact_id: UUID,
        actor: Actor,
        branch_name: str = MAIN,
        limit: int = 10,
        search_type: str = "hybrid",
        filters: FactFilter | None = None,
        include: Sequence[str] = (),
        recipe: str = "",
        at: Any = None,
        current_cycle: int | None = None,
    ) -> Explanation:
        """Why, or why not, for any id. Raises as a search does, never for the id."""
        actor.require("read", branch_name)
        check_limit(limit)
        wish = SearchEngine()._wish(actor, search_type, filters, include, recipe, at, current_cycle)
        question = ask(query, None, search_type)
        wish = for_page(wish, limit)
        with connection.snapshot():  # type: ignore[attr-defined]
            branch = find_branch(actor, branch_name)
            lineage = branch.lineage(point_of(branch, at))
            shown = Fact.objects.along(lineage).filter(uid=fact_id).gather()
            if not shown:
                return _unseen(fact_id, branch, lineage, actor)
            (fact,) = attach(shown, lineage, actor.project_id)
            answer = _left_out(fact, branch, wish, lineage) or _ranked(
                fact, branch, question, wish, actor, limit
            )
            read_on(branch, [fact])
            return answer


def _unseen(fact_id: UUID, branch: Branch, lineage: Lineage, actor: Actor) -> Explanation:
    """Not on this branch: deleted here, later here, on others that the actor may know of, or nowhere."""
    if any(version.deleted for version in Fact.objects.history(lineage, fact_id)):
        return _because("deleted")
    if Fact.objects.history(branch.lineage(), fact_id).exists():
        return _because("not_yet")
    if names := _showing(fact_id, branch, actor):
        return _because("other_branch", branches=names)
    return _because("absent")


def _showing(fact_id: UUID, branch: Branch, actor: Actor) -> list[str]:
    """Live branches within reach that show a fact: those that wrote it, or else those that began with it."""
    versions = Fact.objects.all_versions().filter(uid=fact_id, deleted=False)
    spans = list(versions.values_list("branch_id", "seq_from", "seq_to"))
    live = Branch.objects.live().filter(project=actor.project_id).exclude(pk=branch.pk)
    writing = live.filter(pk__in={holder for holder, _, _ in spans})
    return _named(writing, fact_id, actor) or _named(_begun_with(spans, live), fact_id, actor)


def _begun_with(spans: Sequence[tuple[int, int, int]], live: Iterable[Branch]) -> Iterator[Branch]:
    """The branches with an ancestor on which one of these versions was open at the fork."""
    for other in live if spans else ():
        forked = dict(other.ancestors)
        if any(start <= forked.get(holder, -1) < end for holder, start, end in spans):
            yield other


def _named(branches: Iterable[Branch], fact_id: UUID, actor: Actor) -> list[str]:
    """The first of these branches that the actor may use and that show the fact, by name."""
    mine = (other for other in branches if actor.may_use(other.name))
    showing = (other.name for other in mine if Fact.objects.on(other).filter(uid=fact_id).gather())
    return list(islice(showing, MOST_NAMED))


def _left_out(fact: Fact, branch: Branch, wish: Wish, lineage: Lineage) -> Explanation | None:
    """The first condition that leaves the fact out of this search."""
    closed = branch.archived_at is not None
    of_branch = closed and (wish.filters.status or Fact.Status.ARCHIVED not in wish.include)
    status = Fact.Status.ARCHIVED if of_branch else fact.status
    if status not in Fact.SEARCHED and status not in (*wish.include, *wish.filters.status):
        return _because(str(status), fact)
    one = Fact.objects.along(lineage)
    failing = [
        name
        for name, filters in wish.filters.each().items()
        if not filters.apply(one, lineage, closed).filter(uid=fact.uid).gather()
    ]
    if failing:
        return _because("filtered", fact, text=_filters(failing), filters=failing)
    for flag, condition in searchable_now(wish.now, lineage).items():
        if flag not in wish.include and not one.filter(condition, uid=fact.uid).gather():
            return _because(flag, fact)
    return None


def _ranked(
    fact: Fact, branch: Branch, question: Question, wish: Wish, actor: Actor, limit: int
) -> Explanation:
    """Where the fact stands among the candidates, or what it lacks to be one."""
    hits = SearchEngine().ranked([branch.name], question, wish, actor).hits
    if fact.uid in {hit.row.uid for hit in hits}:
        return _placed(fact, hits, wish, limit)
    hits = SearchEngine().ranked([branch.name], question, wish, actor, also=[fact.rid]).hits
    return _beyond(fact, hits, wish, limit)


def _placed(fact: Fact, hits: Sequence[Scored], wish: Wish, limit: int) -> Explanation:
    """What becomes of a candidate: on the page, behind it, or too many reflections before it."""
    page = [hit.row.uid for hit in paged(hits, limit, wish)]
    position, score = _place(fact, hits)
    if fact.uid in page:
        return _because("found", fact, found=True, position=page.index(fact.uid) + 1, **score)
    text = f"It is at position {position}"
    if position <= limit:
        text += f" of all, but reflections take at most {REFLECTIONS:.0%} of a page"
    return _because("out_ranked", fact, position=position, text=text, limit=limit, **score)


def _beyond(fact: Fact, hits: Sequence[Scored], wish: Wish, limit: int) -> Explanation:
    """No candidate: it was put among them to see its signals, so that its place is not known."""
    _, score = _place(fact, hits)
    if not any(score.get("signals", {}).get(arm) for arm in ("keyword", "vector", "words")):
        return _because("no_signal", fact, **score)
    text = f"At least {wish.recipe.pool} facts rank before it by their words or their vector"
    return _because("out_ranked", fact, text=text, limit=limit, **score)


def _place(fact: Fact, hits: Sequence[Scored]) -> tuple[int, dict[str, Any]]:
    for position, hit in enumerate(hits, 1):
        if hit.row.uid == fact.uid:
            return position, {"score": hit.score, "signals": hit.signals}
    return 0, {}


def _filters(names: Sequence[str]) -> str:
    if len(names) == 1:
        return f"The filter {names[0]} leaves"
    return f"The filters {', '.join(names[:-1])} and {names[-1]} leave"


def _because(
    reason: str, fact: Fact | None = None, found: bool = False, text: str = "", position: int | None = None,
    score: float | None = None, signals: Mapping[str, float] | None = None, **details: Any,
) -> Explanation:  # fmt: skip
    """``text`` is what the sentence of the reason leaves open, beside position and details."""
    words = {name: ", ".join(value) if isinstance(value, list) else value for name, value in details.items()}
    message = SAYINGS[reason].format(text=text, position=position, **words)
    return Explanation(found, reason, message, position, score, dict(signals or {}), details, fact)

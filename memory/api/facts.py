"""/facts: written, read, corrected, judged, linked, explained."""

from collections.abc import Callable
from typing import Any

from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from memory.api import shapes
from memory.api.base import Resource, actor_of, expected_version, one, shown
from memory.api.filters import FactFilterSet
from memory.api.reading import Input, identity, ids, point, versions, whole, word
from memory.api.related_shapes import relatives
from memory.api.schema import documented
from memory.api.searches import SearchRoutes
from memory.engines import cleaning as c
from memory.engines.actions import ActionEngine
from memory.engines.explain import ExplainEngine
from memory.engines.facts import FactEngine
from memory.engines.links import LinkEngine
from memory.engines.related import RelatedEngine
from memory.exceptions import Invalid, UnknownField
from memory.models import Fact

ENGINE = FactEngine()
LINKS = LinkEngine()

NOT_JUDGED_YET = (
    "Judged verification is not available yet:"
    " give a verdict (verified, invalidated or unverified) and a reason."
)


@documented
class FactViewSet(SearchRoutes, Resource):
    lookup_value_regex = "[^/]+"
    filterset_class = FactFilterSet

    # ---- writing -------------------------------------------------------------------------------

    def create(self, request: Request) -> Response:
        given = Input(request)
        how = self._how(given)
        branch, actor = given.branch(), given.actor(actor_of(request))
        written = ENGINE.write_fact(actor=actor, branch_name=branch, **how, **given.fields())
        row = shapes.fact(written.fact, branch=branch, created=written.created)
        return one(row, 201 if written.created else 200)

    @action(detail=False, methods=["post"])
    def bulk(self, request: Request) -> Response:
        given = Input(request)
        how = self._how(given)
        branch, actor = given.branch(), given.actor(actor_of(request))
        facts = given.body.pop("facts", None)
        given.end()
        done = ENGINE.write_facts(facts=facts, actor=actor, branch_name=branch, **how)
        results = [{"id": str(row.fact.uid), "created": row.created} for row in done.results]
        commit = shapes.commit(done.commit) if done.commit else None
        return Response({"results": results, "commit": commit}, status=201 if done.commit else 200)

    @action(detail=False, methods=["post"])
    def actions(self, request: Request) -> Response:
        given = Input(request)
        branch, actor = given.branch(), given.actor(actor_of(request))
        wanted = {
            "action": given.take("action", word),
            "fact_ids": given.take("fact_ids", ids),
            "expected_versions": given.take("expected_versions", versions),
            "replaced_by": given.take("replaced_by", c.optional(c.identifier)),
            **{name: given.take(name, c.plain_text, "") for name in ("reason", "category", "new_fact_text")},
        }
        given.end()
        for name in ("action", "fact_ids"):
            if wanted[name] is None:
                raise Invalid("{field} is needed.", field=name)
        return Response(shapes.report(ActionEngine().act(actor=actor, branch_name=branch, **wanted)))

    @staticmethod
    def _how(given: Input) -> dict[str, Any]:
        defaults = {"propose": False, "deduplicate": True}
        return {name: given.take(name, c.boolean, default) for name, default in defaults.items()}

    def partial_update(self, request: Request, pk: str) -> Response:
        def update(given: Input, **who: Any) -> Fact:
            return ENGINE.update_fact(updates=given.rest(), **who)

        return self._changed(request, pk, update)

    def destroy(self, request: Request, pk: str) -> Response:
        given = Input(request)
        who = self._who(request, given, pk)
        given.end()
        ENGINE.delete_fact(**who)
        return Response(status=204)

    @action(detail=True, methods=["post"])
    def supersede(self, request: Request, pk: str) -> Response:
        def replace(given: Input, fact_id: Any, **who: Any) -> Fact:
            if "new_fact_text" not in given.body:
                raise Invalid("{field} is needed.", field="new_fact_text")
            if "fact_text" in given.body:
                raise UnknownField(field="fact_text")
            text = given.body.pop("new_fact_text")
            return ENGINE.supersede_fact(old_fact_id=fact_id, new_fact_text=text, **who, **given.fields())

        return self._changed(request, pk, replace, 201)

    @action(detail=True, methods=["post"])
    def archive(self, request: Request, pk: str) -> Response:
        return self._changed(request, pk, _moving(ENGINE.archive_fact))

    @action(detail=True, methods=["post"])
    def restore(self, request: Request, pk: str) -> Response:
        return self._changed(request, pk, _moving(ENGINE.restore_fact))

    @action(detail=True, methods=["post"])
    def verify(self, request: Request, pk: str) -> Response:
        def judge(given: Input, **who: Any) -> Fact:
            verdict = given.take("verdict", word)
            if verdict is None:
                raise Invalid(NOT_JUDGED_YET, field="verdict")
            reason = given.take("reason", c.plain_text, "")
            given.end()
            return ENGINE.set_verification(verdict=verdict, reason=reason, **who)

        return self._changed(request, pk, judge)

    # ---- reading -------------------------------------------------------------------------------

    def list(self, request: Request) -> Response:
        given = Input(request)
        branch, at, paging = given.branch(), given.take("at", point), given.paging()
        filters = FactFilterSet.read(given.some(FactFilterSet.base_filters))
        given.end()
        page = ENGINE.list_facts(
            actor=actor_of(request), branch_name=branch, filters=filters, at=at, **paging
        )
        return Response(shapes.page(page, lambda row: shapes.fact(row, branch=branch)))

    def retrieve(self, request: Request, pk: str) -> Response:
        fact, branch = self._seen(request, pk)
        return shown(request, shapes.fact(fact, branch=branch))

    @action(detail=True, methods=["get"])
    def verification(self, request: Request, pk: str) -> Response:
        fact, _ = self._seen(request, pk)
        return shown(request, shapes.verification(fact))

    @action(detail=True, methods=["get"])
    def history(self, request: Request, pk: str) -> Response:
        fact_id, given = identity(pk), Input(request)
        branch, paging = given.branch(), given.paging()
        given.end()
        page = ENGINE.history(fact_id=fact_id, actor=actor_of(request), branch_name=branch, **paging)
        return Response(shapes.page(page, lambda row: shapes.version(row, branch)))

    @action(detail=True, methods=["get"])
    def explain(self, request: Request, pk: str) -> Response:
        fact_id, given = identity(pk), Input(request)
        branch, limit, query, how = self.wish(given)
        given.end()
        answer = ExplainEngine().explain(
            query=query, fact_id=fact_id, actor=actor_of(request), branch_name=branch, limit=limit, **how
        )
        return Response(shapes.explanation(answer, branch))

    @action(detail=True, methods=["get"])
    def related(self, request: Request, pk: str) -> Response:
        fact_id, given = identity(pk), Input(request)
        branch, at = given.branch(), given.take("at", point)
        depth, limit = given.take("depth", whole, 1), given.take("limit", whole, 10)
        given.end()
        found = RelatedEngine().related(
            fact_id=fact_id, actor=actor_of(request), branch_name=branch, at=at, depth=depth, limit=limit
        )
        return Response(relatives(found, branch))

    # ---- links ---------------------------------------------------------------------------------

    @action(detail=True, methods=["get"], url_path="links")
    def links(self, request: Request, pk: str) -> Response:
        fact_id, given = identity(pk), Input(request)
        branch, at, paging = given.branch(), given.take("at", point), given.paging()
        given.end()
        page = LINKS.list_links(fact_id=fact_id, actor=actor_of(request), branch_name=branch, at=at, **paging)
        return Response(shapes.page(page, lambda row: shapes.link(row, branch=branch)))

    @links.mapping.post
    def add_link(self, request: Request, pk: str) -> Response:
        fact_id, given = identity(pk), Input(request)
        branch, actor = given.branch(), given.actor(actor_of(request))
        link = LINKS.write_link(from_id=fact_id, actor=actor, branch_name=branch, **given.fields())
        return one(shapes.link(link, branch=branch), 201)

    @action(detail=True, methods=["delete"], url_path="links/(?P<link_id>[^/]+)")
    def remove_link(self, request: Request, pk: str, link_id: str) -> Response:
        fact_id, other, given = identity(pk), identity(link_id, "link_id"), Input(request)
        branch, actor = given.branch(), given.actor(actor_of(request))
        given.end()
        LINKS.delete_link(from_id=fact_id, link_id=other, actor=actor, branch_name=branch)
        return Response(status=204)

    # ---- pieces --------------------------------------------------------------------------------

    def _who(self, request: Request, given: Input, pk: str) -> dict[str, Any]:
        """Which fact, on which branch, at which version, and who asks."""
        who: dict[str, Any] = {
            "fact_id": identity(pk),
            "branch_name": given.branch(),
            "actor": given.actor(actor_of(request)),
        }
        expected = expected_version(request, given, lambda: ENGINE.get_fact(**who).version)
        return {**who, "expected_version": expected}

    def _changed(self, request: Request, pk: str, change: Callable[..., Fact], code: int = 200) -> Response:
        given = Input(request)
        who = self._who(request, given, pk)
        fact = change(given, **who)
        return one(shapes.fact(fact, branch=who["branch_name"]), code)

    def _seen(self, request: Request, pk: str) -> tuple[Fact, str]:
        fact_id, given = identity(pk), Input(request)
        branch, at = given.branch(), given.take("at", point)
        given.end()
        return ENGINE.get_fact(fact_id=fact_id, actor=actor_of(request), branch_name=branch, at=at), branch


def _moving(move: Callable[..., Fact]) -> Callable[..., Fact]:
    def moved(given: Input, **who: Any) -> Fact:
        given.end()
        return move(**who)

    return moved

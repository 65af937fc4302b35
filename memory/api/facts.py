"""/facts: write, read, update, link, explain. Curation adds what it does to a fact."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from memory.answers import commits as commit_shapes
from memory.answers import facts as shapes
from memory.answers.related import relatives_shape
from memory.answers.rendering import page_shape
from memory.api.base import (
    ResourceViewSet,
    build_cached_response,
    build_row_response,
    expected_version,
    get_request_actor,
)
from memory.api.routes import serve_at
from memory.api.schema import documented
from memory.api.searches import SearchRoutes
from memory.engines.facts.bulk_actions import ActionEngine
from memory.engines.facts.engine import FactEngine
from memory.engines.facts.links import LinkEngine
from memory.engines.facts.short_ids import find_fact_id
from memory.engines.search.explain import ExplainEngine
from memory.engines.search.related import RelatedEngine
from memory.engines.support import validation as c
from memory.engines.support.ordering import BY_AGE
from memory.exceptions import Invalid, UnknownField
from memory.filters import FactFilterSet
from memory.models import Fact
from memory.operations.inputs import (
    Input,
    parse_id,
    parse_ids,
    parse_integer,
    parse_point,
    parse_versions,
    word,
)

fact_engine = FactEngine()
link_engine = LinkEngine()


@serve_at("facts", "fact")
@documented
class FactViewSet(SearchRoutes, ResourceViewSet):
    lookup_value_regex = "[^/]+"
    filterset_class = FactFilterSet

    # ---- writing -------------------------------------------------------------------------------

    def create(self, request: Request) -> Response:
        payload = Input(request)
        options = self._write_options(payload)
        branch, actor = payload.take_branch(), payload.take_actor(get_request_actor(request))
        written = fact_engine.write_fact(actor=actor, branch_name=branch, **options, **payload.take_fields())
        row = shapes.fact(written.fact, branch=branch, created=written.created)
        return build_row_response(row, 201 if written.created else 200)

    @action(detail=False, methods=["post"])
    def bulk(self, request: Request) -> Response:
        payload = Input(request)
        options = self._write_options(payload)
        branch, actor = payload.take_branch(), payload.take_actor(get_request_actor(request))
        facts = payload.body.pop("facts", None)
        payload.refuse_unknown()
        done = fact_engine.write_facts(facts=facts, actor=actor, branch_name=branch, **options)
        results = [
            {"id": str(row.fact.uid), "created": row.created, "status": row.fact.status}
            for row in done.results
        ]
        commit = commit_shapes.commit(done.commit) if done.commit else None
        return Response({"results": results, "commit": commit}, status=201 if done.commit else 200)

    @action(detail=False, methods=["post"])
    def actions(self, request: Request) -> Response:
        payload = Input(request)
        branch, actor = payload.take_branch(), payload.take_actor(get_request_actor(request))
        requested = {
            "action": payload.take_needed("action", word),
            "fact_ids": payload.take_needed("fact_ids", parse_ids),
            "expected_versions": payload.take_value("expected_versions", parse_versions),
            "replaced_by": payload.take_value("replaced_by", c.optional_check(c.parse_uuid)),
            **{
                name: payload.take_value(name, c.plain_text, "")
                for name in ("reason", "category", "new_fact_text")
            },
        }
        payload.refuse_unknown()
        return Response(
            shapes.report_shape(ActionEngine().apply_action(actor=actor, branch_name=branch, **requested))
        )

    @staticmethod
    def _write_options(payload: Input) -> dict[str, Any]:
        defaults = {"propose": False, "deduplicate": True}
        return {
            name: payload.take_value(name, c.check_boolean, default) for name, default in defaults.items()
        }

    def partial_update(self, request: Request, pk: str) -> Response:
        def update_fact(payload: Input, **who: Any) -> Fact:
            return fact_engine.update_fact(updates=payload.take_rest(), **who)

        return self.change_fact(request, pk, update_fact)

    def destroy(self, request: Request, pk: str) -> Response:
        payload = Input(request)
        who = self.write_target(request, payload, pk)
        payload.refuse_unknown()
        fact_engine.delete_fact(**who)
        return Response(status=204)

    @action(detail=True, methods=["post"])
    def supersede(self, request: Request, pk: str) -> Response:
        payload = Input(request)
        who = self.write_target(request, payload, pk)
        if "new_fact_text" not in payload.body:
            raise Invalid("{field} is needed.", field="new_fact_text")
        if "fact_text" in payload.body:
            raise UnknownField(field="fact_text")
        options = {
            "old_fact_id": who.pop("fact_id"),
            "new_fact_text": payload.body.pop("new_fact_text"),
            "deduplicate": payload.take_value("deduplicate", c.check_boolean, True),
        }
        written = fact_engine.replace_fact(**options, **who, **payload.take_fields())
        row = shapes.fact(written.fact, branch=who["branch_name"], created=written.created)
        return build_row_response(row, 201 if written.created else 200)

    @action(detail=True, methods=["post"])
    def archive(self, request: Request, pk: str) -> Response:
        return self.change_fact(request, pk, move_handler(fact_engine.archive_fact))

    @action(detail=True, methods=["post"])
    def restore(self, request: Request, pk: str) -> Response:
        return self.change_fact(request, pk, move_handler(fact_engine.restore_fact))

    # ---- reading -------------------------------------------------------------------------------

    def list(self, request: Request) -> Response:
        payload = Input(request)
        branch, at, paging = (
            payload.take_branch(),
            payload.take_value("at", parse_point),
            payload.take_paging(order=BY_AGE),
        )
        filters = FactFilterSet.parse_values(payload.take_unchecked(FactFilterSet.base_filters))
        payload.refuse_unknown()
        page = fact_engine.list_facts(
            actor=get_request_actor(request), branch_name=branch, filters=filters, at=at, **paging
        )
        return Response(page_shape(page, lambda row: shapes.fact(row, branch=branch)))

    def retrieve(self, request: Request, pk: str) -> Response:
        fact, branch = self.read_fact(request, pk)
        return build_cached_response(request, shapes.fact(fact, branch=branch))

    @action(detail=True, methods=["get"])
    def history(self, request: Request, pk: str) -> Response:
        payload = Input(request)
        branch, paging = payload.take_branch(), payload.take_paging()
        payload.refuse_unknown()
        page = fact_engine.list_versions(
            fact_id=find_target(request, pk, branch),
            actor=get_request_actor(request),
            branch_name=branch,
            **paging,
        )
        return Response(page_shape(page, lambda row: shapes.version_shape(row, branch)))

    @action(detail=True, methods=["get"])
    def explain(self, request: Request, pk: str) -> Response:
        payload = Input(request)
        branch, limit, query, options = self.parse_options(payload)
        payload.refuse_unknown()
        answer = ExplainEngine().explain(
            query=query,
            fact_id=find_target(request, pk, branch),
            actor=get_request_actor(request),
            branch_name=branch,
            limit=limit,
            **options,
        )
        return Response(shapes.explanation_shape(answer, branch))

    @action(detail=True, methods=["get"])
    def related(self, request: Request, pk: str) -> Response:
        payload = Input(request)
        branch, at = payload.take_branch(), payload.take_value("at", parse_point)
        depth, limit = (
            payload.take_value("depth", parse_integer, 1),
            payload.take_value("limit", parse_integer, 10),
        )
        payload.refuse_unknown()
        found = RelatedEngine().find_related(
            fact_id=find_target(request, pk, branch),
            actor=get_request_actor(request),
            branch_name=branch,
            at=at,
            depth=depth,
            limit=limit,
        )
        return Response(relatives_shape(found, branch))

    # ---- links ---------------------------------------------------------------------------------

    @action(detail=True, methods=["get"], url_path="links")
    def links(self, request: Request, pk: str) -> Response:
        payload = Input(request)
        branch, at, paging = (
            payload.take_branch(),
            payload.take_value("at", parse_point),
            payload.take_paging(),
        )
        payload.refuse_unknown()
        page = link_engine.list_links(
            fact_id=find_target(request, pk, branch),
            actor=get_request_actor(request),
            branch_name=branch,
            at=at,
            **paging,
        )
        return Response(page_shape(page, lambda row: shapes.link(row, branch=branch)))

    @links.mapping.post
    def add_link(self, request: Request, pk: str) -> Response:
        fact_id, payload = parse_id(pk), Input(request)
        branch, actor = payload.take_branch(), payload.take_actor(get_request_actor(request))
        link = link_engine.write_link(
            from_id=fact_id, actor=actor, branch_name=branch, **payload.take_fields()
        )
        return build_row_response(shapes.link(link, branch=branch), 201)

    @action(detail=True, methods=["delete"], url_path="links/(?P<link_id>[^/]+)")
    def remove_link(self, request: Request, pk: str, link_id: str) -> Response:
        fact_id, other, payload = parse_id(pk), parse_id(link_id, "link_id"), Input(request)
        branch, actor = payload.take_branch(), payload.take_actor(get_request_actor(request))
        payload.refuse_unknown()
        link_engine.delete_link(from_id=fact_id, link_id=other, actor=actor, branch_name=branch)
        return Response(status=204)

    # ---- helpers -------------------------------------------------------------------------------

    def write_target(self, request: Request, payload: Input, pk: str) -> dict[str, Any]:
        """Parse the fact, branch, actor and expected version of a request."""
        branch = payload.take_branch()
        who: dict[str, Any] = {
            "fact_id": find_target(request, pk, branch),
            "branch_name": branch,
            "actor": payload.take_actor(get_request_actor(request)),
        }
        expected = expected_version(request, payload, lambda: fact_engine.get_fact(**who).version)
        return {**who, "expected_version": expected}

    def change_fact(self, request: Request, pk: str, change: Callable[..., Fact]) -> Response:
        payload = Input(request)
        who = self.write_target(request, payload, pk)
        fact = change(payload, **who)
        return build_row_response(shapes.fact(fact, branch=who["branch_name"]))

    def read_fact(self, request: Request, pk: str) -> tuple[Fact, str]:
        payload = Input(request)
        branch, at = payload.take_branch(), payload.take_value("at", parse_point)
        payload.refuse_unknown()
        return fact_engine.get_fact(
            fact_id=find_target(request, pk, branch),
            actor=get_request_actor(request),
            branch_name=branch,
            at=at,
        ), branch


def find_target(request: Request, pk: str, branch: str) -> UUID:
    """Return the id in a path, of which the last digits are enough. Raises as find_fact_id."""
    return find_fact_id("id", pk, actor=get_request_actor(request), branch_name=branch)


def move_handler(move: Callable[..., Fact]) -> Callable[..., Fact]:
    def moved(payload: Input, **who: Any) -> Fact:
        payload.refuse_unknown()
        return move(**who)

    return moved

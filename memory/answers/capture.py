"""Response serializers for sessions, observations and relations."""

from typing import Any

from rest_framework import serializers as s

from memory.answers import facts as shapes
from memory.answers.declared_serializers import AnswerShape, declare_fields
from memory.answers.rendering import build_renderer
from memory.engines.fields.base import Use
from memory.engines.fields.capture import OBSERVATION, RELATION, SESSION
from memory.engines.fields.facts import FACT
from memory.engines.graph.engine import Graph
from memory.engines.search.text_search import TextSearchResult
from memory.engines.sessions.briefing import StartContext
from memory.engines.sessions.manager import SessionContext
from memory.ranking import count_tokens


@declare_fields(OBSERVATION.select_fields(Use.ANSWER))
class ObservationShape(AnswerShape):
    """An observation, as it is read."""


class LookShape(s.Serializer):
    """The signals, recipe and duration of a text search."""

    signals_used = s.ListField(child=s.CharField())
    recipe = s.CharField()
    took_ms = s.FloatField()
    evidence = s.FloatField(help_text="How likely the best of all that is found answers the query, 0 to 1.")
    known = s.BooleanField(help_text="Whether that reaches the project's least; else nothing is known.")
    incomplete = s.BooleanField(
        help_text="Whether texts are still being indexed: their words alone find them."
    )
    note = s.CharField(help_text="Where nothing is known: that, and what is nearest; else empty.")


class FoundObservationShape(ObservationShape):
    """An observation among the results of a search: no field has more than 8,000 characters."""

    truncated = shapes.FoundFactShape().get_fields()["truncated"]


class ObservationHitShape(s.Serializer):
    observation = FoundObservationShape()
    score = s.FloatField()
    signals = s.DictField(child=s.FloatField(), help_text="The parts of the score, by name.")
    evidence = s.FloatField(help_text="How likely it answers the query, between 0 and 1, for any query.")


class ObservationsFoundShape(LookShape):
    results = ObservationHitShape(many=True)


@declare_fields(RELATION.select_fields(Use.ANSWER))
class RelationShape(AnswerShape):
    """A relation, as it is read."""


class WrittenRelationShape(RelationShape):
    """A relation as stored; ``created`` is false when an open one was strengthened."""

    created = s.BooleanField()


class NodeShape(s.Serializer):
    entity = s.CharField()
    distance = s.IntegerField(help_text="Edges away from the entity that was asked for.")


class GraphShape(s.Serializer):
    entity = s.CharField()
    nodes = NodeShape(many=True)
    edges = RelationShape(many=True)
    truncated = s.BooleanField(help_text="true when there were more than 1,000 edges, or 4 MiB.")


@declare_fields(SESSION.select_fields(Use.ANSWER))
class SessionShape(AnswerShape):
    """A session, as it is read."""


class WrittenSessionShape(SessionShape):
    """A session as stored; ``created`` is false when it existed already."""

    created = s.BooleanField()


@declare_fields(FACT[name] for name in ("id", "fact_text", "category", "confidence"))
class BriefFactShape(AnswerShape):
    """The part of a fact that a session's context has."""


class ObservedShape(s.Serializer):
    total = s.IntegerField()
    by_type = s.DictField(child=s.IntegerField())
    tools_used = s.DictField(child=s.IntegerField())


class SessionContextShape(s.Serializer):
    """The context of a session for its successor; ``conversations`` have their last messages."""

    session = SessionShape()
    conversations = s.ListField(child=s.DictField())
    facts = BriefFactShape(many=True)
    observations_summary = ObservedShape()
    parent_summary = s.CharField()


class NextContextShape(s.Serializer):
    """What a session that begins now would be told."""

    branch = s.CharField()
    repository = s.CharField()
    # The serializer's own has the same name.
    context: Any = s.CharField(help_text="As its program gets it; empty where there is nothing to tell.")
    tokens = s.IntegerField()
    fact_ids = s.ListField(child=s.UUIDField())


observation = build_renderer(ObservationShape, "branch")
found_observation = build_renderer(FoundObservationShape, "branch")
relation = build_renderer(RelationShape, "branch")
session = build_renderer(SessionShape)
brief_fact = build_renderer(BriefFactShape)
_searched = build_renderer(LookShape)
_hit = build_renderer(ObservationHitShape, "observation")
_graph = build_renderer(GraphShape, "edges")


def text_results(found: TextSearchResult, results: list[dict[str, Any]]) -> dict[str, Any]:
    """Render the response of a text search."""
    return {"results": results, **_searched(found)}


def observations_found(found: TextSearchResult, branch: str) -> dict[str, Any]:
    hits = [_hit(hit, observation=found_observation(hit.row, branch=branch)) for hit in found.hits]
    return text_results(found, hits)


def graph_shape(found: Graph, branch: str) -> dict[str, Any]:
    return _graph(found, edges=[relation(edge, branch=branch) for edge in found.edges])


def next_context(found: StartContext, branch: str, repository: str) -> dict[str, Any]:
    return {
        "branch": branch,
        "repository": repository,
        "context": found.text,
        "tokens": count_tokens(found.text) if found.text else 0,
        "fact_ids": [str(uid) for uid in found.fact_ids],
    }


def session_context(found: SessionContext) -> dict[str, Any]:
    return {
        "session": session(found.session),
        "conversations": [],
        **found.parts,
        "facts": [brief_fact(fact) for fact in found.facts],
        "observations_summary": found.observations,
        "parent_summary": found.parent_summary,
    }

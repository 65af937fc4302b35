"""What answers about sessions, observations and relations look like."""

from typing import Any

from rest_framework import serializers as s

from memory.api import shapes
from memory.engines.relations import Graph
from memory.engines.session_manager import SessionContext
from memory.engines.text_search import TextFound
from memory.models import Observation, Session


class ObservationShape(s.Serializer):
    id = s.UUIDField(source="uid")
    branch = s.CharField(help_text="The branch that it was read through.")
    observation_type = s.ChoiceField(choices=Observation.Type.choices)
    tool_name = s.CharField()
    summary = s.CharField()
    raw_input = s.CharField(help_text="At most 2,000 characters; what was longer ends in a mark.")
    raw_output = s.CharField(help_text="At most 2,000 characters; what was longer ends in a mark.")
    outcome = s.ChoiceField(choices=Observation.Outcome.choices)
    parent_id = s.UUIDField(allow_null=True, help_text="The observation that it follows from.")
    message_id = s.UUIDField(allow_null=True, help_text="The message that holds the full text.")
    metadata = s.DictField()
    session_id = s.CharField()
    task_id = s.CharField()
    agent_id = s.CharField()
    created_at = s.DateTimeField()


class LookShape(s.Serializer):
    """How a search over texts was made."""

    signals_used = s.ListField(child=s.CharField())
    recipe = s.CharField()
    took_ms = s.FloatField()


class ObservationHitShape(s.Serializer):
    observation = ObservationShape()
    score = s.FloatField()
    signals = s.DictField(child=s.FloatField(), help_text="The parts of the score, by name.")


class ObservationsFoundShape(LookShape):
    results = ObservationHitShape(many=True)


class RelationShape(s.Serializer):
    id = s.UUIDField(source="uid")
    branch = s.CharField(help_text="The branch that it was read through.")
    version = s.IntegerField()
    source_entity = s.CharField()
    relation_type = s.CharField()
    target_entity = s.CharField()
    properties = s.DictField()
    confidence = s.FloatField()
    strength = s.IntegerField(help_text="How often it was stated while open.")
    valid_from = s.DateTimeField(allow_null=True)
    valid_until = s.DateTimeField(allow_null=True, help_text="null while it is open.")
    session_id = s.CharField()
    task_id = s.CharField()
    agent_id = s.CharField()
    created_at = s.DateTimeField()
    updated_at = s.DateTimeField()


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
    truncated = s.BooleanField(help_text="true when there were more than 1,000 edges.")


class SessionShape(s.Serializer):
    id = s.CharField(source="key")
    branch = s.CharField(source="branch.name")
    status = s.ChoiceField(choices=Session.Status.choices)
    project_path = s.CharField()
    parent_session = s.CharField()
    task_id = s.CharField()
    agent_id = s.CharField()
    summary = s.CharField()
    started_at = s.DateTimeField()
    active_at = s.DateTimeField(allow_null=True, help_text="When it was last heard of.")
    ended_at = s.DateTimeField(allow_null=True)


class WrittenSessionShape(SessionShape):
    """A session as stored; ``created`` is false when it was known."""

    created = s.BooleanField()


class BriefFactShape(s.Serializer):
    id = s.UUIDField(source="uid")
    fact_text = s.CharField()
    category = s.CharField()
    confidence = s.FloatField()


class ObservedShape(s.Serializer):
    total = s.IntegerField()
    by_type = s.DictField(child=s.IntegerField())
    tools_used = s.DictField(child=s.IntegerField())


class SessionContextShape(s.Serializer):
    """What the next one should know of a session; ``conversations`` hold their last messages."""

    session = SessionShape()
    conversations = s.ListField(child=s.DictField())
    facts = BriefFactShape(many=True)
    observations_summary = ObservedShape()
    parent_summary = s.CharField()


observation = shapes.renderer(ObservationShape, "branch")
relation = shapes.renderer(RelationShape, "branch")
session = shapes.renderer(SessionShape)
brief_fact = shapes.renderer(BriefFactShape)


def looked(found: TextFound, results: list[dict[str, Any]]) -> dict[str, Any]:
    """The answer to a search over texts."""
    how = {"signals_used": list(found.signals_used), "recipe": found.recipe, "took_ms": found.took_ms}
    return {"results": results, **how}


def observations_found(found: TextFound, branch: str) -> dict[str, Any]:
    hits = [
        {"observation": observation(hit.row, branch=branch), "score": hit.score, "signals": hit.signals}
        for hit in found.hits
    ]
    return looked(found, hits)


def graph(found: Graph, branch: str) -> dict[str, Any]:
    return {
        "entity": found.entity,
        "nodes": [{"entity": node.entity, "distance": node.distance} for node in found.nodes],
        "edges": [relation(edge, branch=branch) for edge in found.edges],
        "truncated": found.truncated,
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

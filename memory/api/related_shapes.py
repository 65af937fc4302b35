"""What an answer about related facts looks like."""

from typing import Any

from rest_framework import serializers as s

from memory.api import shapes
from memory.api.capture_shapes import NodeShape
from memory.engines.related import BY, Reason, Relatives


class ReasonShape(s.Serializer):
    """One way from the fact to the other."""

    by = s.ChoiceField(choices=[(name, name) for name in BY])
    distance = s.IntegerField(help_text="Steps: a link is 1, over a source or an entity 2, and 1 a relation.")
    name = s.CharField(help_text="The type of the link, the kind of the source, the entity.")
    id = s.UUIDField(source="uid", allow_null=True, help_text="Of the link or the source.")


class RelativeShape(s.Serializer):
    fact = shapes.FactShape()
    distance = s.IntegerField(help_text="Of the shortest way.")
    why = ReasonShape(many=True)


class RelativesShape(s.Serializer):
    """The nearest first."""

    results = RelativeShape(many=True)
    entities = NodeShape(many=True, help_text="Those that the fact names, and those connected to them.")
    truncated = s.BooleanField(help_text="true when there were more entities than were looked for.")


_reason = shapes.renderer(ReasonShape)


def reason(row: Reason) -> dict[str, Any]:
    return _reason(row)


def relatives(found: Relatives, branch: str) -> dict[str, Any]:
    results = [
        {
            "fact": shapes.fact(one.fact, branch=branch),
            "distance": one.distance,
            "why": [reason(way) for way in one.why],
        }
        for one in found.results
    ]
    entities = [{"entity": node.entity, "distance": node.distance} for node in found.entities]
    return {"results": results, "entities": entities, "truncated": found.truncated}

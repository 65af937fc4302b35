"""Response serializers for related facts."""

from typing import Any

from rest_framework import serializers as s

from memory.answers import facts as shapes
from memory.answers.capture import NodeShape
from memory.answers.rendering import build_renderer
from memory.engines.search.related import BY, Relatives


class ReasonShape(s.Serializer):
    """One path from the fact to the other."""

    by = s.ChoiceField(choices=[(name, name) for name in BY])
    distance = s.IntegerField(help_text="Steps: a link is 1, over a source or an entity 2, and 1 a relation.")
    name = s.CharField(help_text="The type of the link, the kind of the source, the entity.")
    id = s.UUIDField(source="uid", allow_null=True, help_text="Of the link or the source.")


class RelativeShape(s.Serializer):
    fact = shapes.FoundFactShape()
    distance = s.IntegerField(help_text="Of the shortest way.")
    why = ReasonShape(many=True)


class RelativesShape(s.Serializer):
    """Related facts, nearest first."""

    results = RelativeShape(many=True)
    entities = NodeShape(many=True, help_text="Those that the fact names, and those connected to them.")
    truncated = s.BooleanField(help_text="true when there were more entities than were looked for.")


_relative = build_renderer(RelativeShape, "fact")
_relatives = build_renderer(RelativesShape, "results")


def relatives_shape(found: Relatives, branch: str) -> dict[str, Any]:
    results = [_relative(one, fact=shapes.found_fact(one.fact, branch=branch)) for one in found.results]
    return _relatives(found, results=results)

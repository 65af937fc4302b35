"""What is answered of quarantines."""

from typing import Any

from rest_framework import serializers as s

from curation.engines.fields.quarantines import QUARANTINE
from curation.engines.quarantine.engine import QuarantineDetail
from memory.answers import declared_serializers as d
from memory.answers.rendering import build_renderer
from memory.engines.fields.base import Use


@d.declare_fields(QUARANTINE.select_fields(Use.ANSWER))
class QuarantineShape(d.AnswerShape):
    """A quarantine."""


class HiddenFactShape(s.Serializer):
    """A fact that it hides, for whoever decides about it."""

    id = s.UUIDField()
    branch = s.CharField()
    fact_text = s.CharField()


class QuarantineDetailShape(QuarantineShape):
    """A quarantine with the newest facts that it hides now, or would hide."""

    facts = HiddenFactShape(many=True)
    dry_run = s.BooleanField(help_text="true when nothing was hidden or stored: its id leads nowhere.")


render = build_renderer(QuarantineShape)


def render_detail(found: QuarantineDetail) -> dict[str, Any]:
    """Return a quarantine with facts that it hides."""
    facts = [
        {"id": str(one.uid), "branch": one.branch.name, "fact_text": one.fact_text} for one in found.examples
    ]
    return {**render(found.quarantine), "facts": facts, "dry_run": found.dry_run}

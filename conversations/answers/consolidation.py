"""What is answered of runs of consolidation."""

from typing import Any

from rest_framework import serializers as s

from conversations.engines.consolidation.report import ConsolidationReport, Evidence
from conversations.engines.fields.consolidation import CONSOLIDATION
from memory.answers import declared_serializers as d
from memory.answers.derived import derive_shape
from memory.answers.rendering import build_renderer
from memory.engines.fields.base import Use


@d.declare_fields(CONSOLIDATION.select_fields(Use.ANSWER))
class ConsolidationShape(d.AnswerShape):
    """A run of consolidation."""


class RunChangeShape(s.Serializer):
    """A fact that a run made, confirmed, saw repeated or kept of several, as it was then."""

    action = s.ChoiceField(["created", "confirmed", "repeated", "merged"])
    fact_id = s.UUIDField(source="fact.uid")
    fact_text = s.CharField(source="fact.fact_text")
    category = s.CharField(source="fact.category")
    confidence = s.FloatField(source="fact.confidence")
    evidence = derive_shape(Evidence)(many=True)
    answer = s.ChoiceField(["", "accepted", "rejected"], help_text="What a curator said of it.")


class ConsolidationDetailShape(ConsolidationShape):
    """A run with the first 200 things that it did."""

    changes = RunChangeShape(many=True)
    durable_facts = s.ListField(child=s.UUIDField(), help_text="In the answer to a task's run.")


render = build_renderer(ConsolidationShape)
render_change = build_renderer(RunChangeShape)


def render_report(report: ConsolidationReport) -> dict[str, Any]:
    """Return a run with what it did."""
    changes = [render_change(one) for one in report.changes]
    return {
        **render(report.run),
        "changes": changes,
        "durable_facts": [str(uid) for uid in report.durable],
    }

"""What is answered of imports from other products."""

from typing import Any

from rest_framework import serializers as s

from curation.engines.fields.imports import FINDINGS, IMPORT
from curation.engines.imports.engine import ImportReport
from memory.answers import declared_serializers as d
from memory.answers.rendering import build_renderer
from memory.engines.fields.base import Use


@d.declare_fields(IMPORT.select_fields(Use.ANSWER))
class ImportShape(d.AnswerShape):
    """An import from another product."""


class NamedShape(s.Serializer):
    """A record that is no fact of its own, or a place that could not be read."""

    id = s.CharField(help_text="At its product; of a place the file and the line.")
    state = s.ChoiceField(choices=[(name, name) for name in ("duplicate", "refused", "broken")])
    reason = s.CharField()
    fact = s.CharField(help_text="The fact that says the same; empty without one.")


class FindingsShape(s.Serializer):
    """How many facts of an import have each finding now."""

    def get_fields(self) -> dict[str, s.Field]:
        return {name: s.IntegerField() for name in FINDINGS}


class ImportReportShape(ImportShape):
    """An import with the report of its doctor."""

    findings = FindingsShape()
    named = NamedShape(many=True, help_text="The first 3,000.")
    facts = s.IntegerField(help_text="Its facts that its branch shows now.")


render_import = build_renderer(ImportShape)


def render_report(found: ImportReport) -> dict[str, Any]:
    """Return an import with what was found of its facts."""
    return {
        **render_import(found.row),
        "findings": dict(found.findings),
        "named": found.row.named,
        "facts": found.facts,
    }

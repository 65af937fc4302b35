"""What may be done with quarantines."""

from typing import Any

from django.utils.translation import gettext_lazy as _
from rest_framework import serializers as s

from curation.engines.fields.quarantines import QUARANTINE, QUARANTINE_FILTERS
from curation.engines.orders import QUARANTINES as ORDER
from curation.engines.quarantine.engine import QuarantineDetail, QuarantineEngine
from curation.models import Quarantine
from memory.answers import declared_serializers as d
from memory.answers.rendering import build_renderer
from memory.engines.fields.base import Use
from memory.operations.base import Answer, Resource, Row
from memory.operations.columns import Column


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


def is_stored(found: QuarantineDetail) -> bool:
    return not found.dry_run


engine = QuarantineEngine()
ROW = Answer(QuarantineShape, render)

QUARANTINES = Resource("quarantine", "quarantine", row=Row("quarantine_id", "pk", "uuid"), model=Quarantine)
QUARANTINES.add(
    "create",
    engine.begin_quarantine,
    "Put a source into quarantine, or preview that",
    Answer(QuarantineDetailShape, render_detail, is_stored),
    body="QuarantineInput",
    about="A new quarantine.",
    fields=QUARANTINE.select_fields(Use.CREATE),
)
QUARANTINES.add(
    "list",
    engine.list_quarantines,
    "List quarantines, newest first",
    ROW,
    filters=QUARANTINE_FILTERS,
    order=ORDER,
)
QUARANTINES.show(
    "list",
    Column("id", head="id"),
    Column("source", head="source"),
    Column("label", _("Source"), "name", tone="text"),
    Column("state", head="state"),
    Column("counts", _("Hidden"), "hidden", tone="text"),
    Column("created_at", _("Begun"), "begun", "time", late=1),
    Column("created_by", _("By"), "by"),
    Column("reason", head="reason", late=1),
)
QUARANTINES.add(
    "retrieve",
    engine.get_quarantine,
    "Read a quarantine",
    Answer(QuarantineDetailShape, render_detail),
)
QUARANTINES.add("release", engine.release_quarantine, "Release a quarantine", ROW)

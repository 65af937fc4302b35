"""What may be done with handoffs."""

from django.utils.translation import gettext_lazy as _

from curation.answers import handoffs as shapes
from curation.engines.fields.handoffs import GIVER, HANDOFF, HANDOFF_FILTERS, RECEIVER
from curation.engines.handoffs.engine import HandoffEngine
from curation.engines.orders import HANDOFFS as ORDER
from curation.models import Handoff
from memory.engines.fields.base import Use
from memory.operations.base import Answer, Resource, Row
from memory.operations.columns import Column
from memory.operations.deletion import DELETED, MANY_DELETED

engine = HandoffEngine()
ROW = Answer(shapes.HandoffShape, shapes.render_handoff)
PACKET = Answer(shapes.HandoffPacketShape, shapes.render_packet)

HANDOFFS = Resource("handoffs", "handoff", row=Row("handoff_id", "pk", "uuid"), model=Handoff)
HANDOFFS.add(
    "create",
    engine.create_handoff,
    "Hand over",
    PACKET,
    body="HandoffInput",
    about="A new handoff.",
    fields=HANDOFF.select_fields(Use.CREATE),
    origin=GIVER,
)
HANDOFFS.add(
    "list", engine.list_handoffs, "List handoffs, newest first", ROW, filters=HANDOFF_FILTERS, order=ORDER
)
HANDOFFS.show(
    "list",
    Column("id", head="id"),
    Column("context_summary", _("Handoff"), "text", tone="text", late=1),
    Column("handoff_type", head="type"),
    Column("state", head="state"),
    Column("source_branch", _("From"), "from", "branch", of="source.name", tone="maybe"),
    Column("target_branch", _("To"), "to", tone="maybe"),
    Column("to_agent", head="agent"),
    Column("fact_count", _("Facts"), "facts", "number"),
    Column("created_at", _("Made"), "made", "time"),
    Column("created_by", _("Made by"), tone="maybe"),
)
HANDOFFS.add("retrieve", engine.get_handoff, "Read a handoff with its packet", PACKET)
HANDOFFS.add(
    "accept",
    engine.accept_handoff,
    "Accept a handoff",
    PACKET,
    body="HandoffAcceptInput",
    about="Who accepts.",
    origin=RECEIVER,
)
HANDOFFS.add(
    "reject",
    engine.reject_handoff,
    "Reject a handoff",
    ROW,
    body="HandoffRejectInput",
    about="Who rejects, and why.",
    fields=HANDOFF.select_fields(Use.UPDATE),
    origin=RECEIVER,
)
HANDOFFS.add("destroy", engine.delete_handoff, "Delete a handoff", DELETED)
HANDOFFS.add(
    "delete_many",
    engine.delete_handoffs,
    "Delete the handoffs that fit",
    MANY_DELETED,
    path="delete",
    of_row=False,
    body="HandoffsDeleteInput",
    about="Ids, filters or both: what fits all of them is deleted.",
    filters=HANDOFF_FILTERS,
    example={"state": "rejected", "dry_run": True},
)
HANDOFFS.add("restore", engine.restore_handoff, "Restore a deleted handoff", ROW)

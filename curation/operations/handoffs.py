"""What may be done with handoffs."""

from curation.answers import handoffs as shapes
from curation.engines.fields.handoffs import GIVER, HANDOFF, HANDOFF_FILTERS, RECEIVER
from curation.engines.handoffs.engine import HandoffEngine
from curation.engines.orders import HANDOFFS as ORDER
from curation.models import Handoff
from memory.engines.fields.base import Use
from memory.operations.base import Answer, Resource, Row

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

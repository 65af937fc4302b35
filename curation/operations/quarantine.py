"""What may be done with quarantines."""

from django.utils.translation import gettext_lazy as _

from curation.answers import quarantine as shapes
from curation.engines.fields.quarantines import QUARANTINE, QUARANTINE_FILTERS
from curation.engines.orders import QUARANTINES as ORDER
from curation.engines.quarantine.engine import QuarantineDetail, QuarantineEngine
from curation.models import Quarantine
from memory.engines.fields.base import Use
from memory.operations.base import Answer, Resource, Row
from memory.operations.columns import Column


def is_stored(found: QuarantineDetail) -> bool:
    return not found.dry_run


engine = QuarantineEngine()
ROW = Answer(shapes.QuarantineShape, shapes.render)

QUARANTINES = Resource("quarantine", "quarantine", row=Row("quarantine_id", "pk", "uuid"), model=Quarantine)
QUARANTINES.add(
    "create",
    engine.begin_quarantine,
    "Put a source into quarantine, or preview that",
    Answer(shapes.QuarantineDetailShape, shapes.render_detail, is_stored),
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
    Answer(shapes.QuarantineDetailShape, shapes.render_detail),
)
QUARANTINES.add("release", engine.release_quarantine, "Release a quarantine", ROW)

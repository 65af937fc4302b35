"""What may be done with erasures that were made."""

from django.utils.translation import gettext_lazy as _

from memory.answers import erasures as shapes
from memory.engines.erasure.engine import ErasureEngine
from memory.engines.fields.erasures import ERASURE_FILTERS
from memory.engines.fields.orders import ERASURES as ORDER
from memory.models import Erasure
from memory.operations.base import Answer, Resource, Row
from memory.operations.columns import Column

engine = ErasureEngine()

ERASURES = Resource("erasures", "erasure", row=Row("erasure_id", "pk", "uuid"), model=Erasure)
ERASURES.add(
    "list",
    engine.list_erasures,
    "List erasures, newest first",
    Answer(shapes.ErasureShape, shapes.erasure),
    filters=ERASURE_FILTERS,
    order=ORDER,
)
ERASURES.show(
    "list",
    Column("id", head="id"),
    Column("scope", _("What"), "what"),
    Column("state", _("State"), "state", "word", order="done_at"),
    Column("requested_at", _("When"), "requested", "time"),
    Column("requested_by", _("By"), "by"),
)
ERASURES.add(
    "retrieve",
    engine.verify_erasure,
    "Read an erasure, and check that it holds",
    Answer(shapes.ErasureCheckShape, shapes.erasure_check),
)

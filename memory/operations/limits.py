"""What may be read of limits; they are set as fields of projects and keys."""

from django.utils.translation import gettext_lazy as _

from memory.answers.derived import derive_shape, render_derived
from memory.engines.access.limits import LimitEngine, LimitState
from memory.models import Project
from memory.operations.base import Answer, Resource
from memory.operations.columns import Column

LIMITS = Resource("limits", "limit", model=Project)
LIMITS.add(
    "list",
    LimitEngine().list_limits,
    "List the limits of the project and of this key, with what is used",
    Answer(derive_shape(LimitState), render_derived, is_complete=True),
)
LIMITS.show(
    "list",
    Column("name", head="limit"),
    Column("used", _("Used"), "used", "number", none=_("not counted")),
    Column("limit", _("Limit"), "most", "number", none=_("none")),
    Column("unit", head="unit"),
    Column("window", head="in"),
    Column("resets_at", _("Anew"), "anew", "time", none="–"),
    Column("setting", _("Set by"), "set by"),
)

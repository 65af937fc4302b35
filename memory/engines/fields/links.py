"""The fields of a link between facts, or from a fact to its source."""

from datetime import datetime
from typing import TypedDict
from uuid import UUID

from django.utils.translation import gettext_lazy as _

from memory.engines.fields.base import LINE, READ, Field, Noun, Use
from memory.engines.fields.common import answered_branch, answered_id, answered_time, origin_fields
from memory.engines.fields.types import Choice, Identifier, Moment, Number, Whole
from memory.models import FactLink

CREATE = READ | LINE | Use.CREATE


class NewLink(TypedDict, total=False):
    """The fields of a new link, in Python; ``to_id`` and ``link_type`` are needed."""

    to_id: UUID | str
    to_type: str
    link_type: str
    weight: float
    valid_from: datetime | str | None
    valid_until: datetime | str | None


LINK = Noun(
    "link",
    answered_id(Use.IGNORED),
    answered_branch(),
    Field("version", Whole(), use=READ | Use.IGNORED),
    Field("from_id", Identifier(), use=READ | Use.IGNORED, label=_("From")),
    Field("to_id", Identifier(), use=CREATE, required=True, label=_("To")),
    Field("to_type", Choice(FactLink.Target.choices), use=CREATE & ~Use.EXPORT, default="fact"),
    Field("link_type", Choice(FactLink.Type.choices), use=CREATE, required=True, label=_("Type")),
    Field("weight", Number(), "1.0 by default.", CREATE, default=1.0, label=_("Weight")),
    Field("valid_from", Moment(), use=CREATE, null=True, label=_("True from")),
    Field("valid_until", Moment(), use=CREATE, null=True, label=_("True until")),
    *origin_fields(),
    answered_time("created_at", Use.IGNORED),
    Field("updated_at", Moment(), use=Use.IGNORED),
)

"""The fields of quarantines."""

from django.utils.translation import gettext_lazy as _

from curation.models import Quarantine
from memory.engines.fields.base import READ, Field, Noun, Option, Use
from memory.engines.fields.common import DRY_RUN, answered_time
from memory.engines.fields.filters import one_of
from memory.engines.fields.types import Choice, Identifier, JSONObject, Reference, Text

SOURCE_WORDS = (
    (Quarantine.Source.SESSION.value, _("Session")),
    (Quarantine.Source.AGENT.value, _("Agent")),
    (Quarantine.Source.KEY.value, _("Key")),
    (Quarantine.Source.IMPORT.value, _("Import")),
)
CREATE = READ | Use.CREATE | Use.OPTION | Use.FORM
PREVIEW = DRY_RUN.with_traits(
    help="Only count what it would hide; nothing is hidden.", option=Option("only count what it would hide")
)

QUARANTINE = Noun(
    "quarantine",
    Field("id", Identifier(), use=READ),
    Field(
        "source",
        Choice(Quarantine.Source.choices),
        "What is put into quarantine.",
        CREATE,
        required=True,
        label=_("Kind of source"),
        form_choices=SOURCE_WORDS,
        option=Option("session, agent, key or import", checked=True),
    ),
    Field(
        "target",
        Reference(200, 1),
        "Its id: of the session, the agent or the key; of an import, that of one of its commits.",
        CREATE,
        required=True,
        label=_("Its id"),
        form_help=_("Of a session, an agent or a key; of an import, the id of one of its commits."),
        option=Option("its id; of an import, that of one of its commits"),
    ),
    Field("label", Reference(200), use=READ, answer_help="What people call the source."),
    Field("reason", Text(500), "Why.", CREATE, label=_("Reason"), option=Option("why")),
    Field("state", Choice(Quarantine.State.choices), use=READ, label=_("State")),
    Field("counts", JSONObject(), use=READ, answer_help="Kind of memory -> how many it hid at first."),
    answered_time("created_at"),
    Field("created_by", Reference(200), use=READ),
    answered_time("released_at", null=True),
    Field("released_by", Reference(200), use=READ),
    commands=("quarantines", "hide a source's memory and what is derived from it"),
)
QUARANTINE_FILTERS = QUARANTINE.filtered_by(
    one_of("state", Choice(Quarantine.State.choices), "In this state.", option=Option(checked=True)),
    one_of("source", Choice(Quarantine.Source.choices), "Of this kind.", option=Option(checked=True)),
)

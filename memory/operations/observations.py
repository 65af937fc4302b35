"""What may be done with observations."""

from django.utils.translation import gettext_lazy as _

from memory.answers import capture as shapes
from memory.engines.deletion.memories import MemoryDeletion
from memory.engines.fields.base import Use
from memory.engines.fields.capture import OBSERVATION, OBSERVATION_FILTERS
from memory.engines.fields.common import STATED
from memory.engines.sessions.observations import ObservationEngine, ObservationFilter
from memory.engines.support.ordering import BY_AGE
from memory.models import Observation
from memory.operations.base import Answer, Resource, Row
from memory.operations.columns import Column
from memory.operations.deletion import add_deletion

engine = ObservationEngine()
ROW = Answer(shapes.ObservationShape, shapes.observation, takes=("branch",))

OBSERVATIONS = Resource(
    "observations", "observation", row=Row("observation_id", "pk", "uuid"), model=Observation, origin=STATED
)
OBSERVATIONS.add(
    "create",
    engine.write_observation,
    "Record an observation",
    ROW,
    body="ObservationInput",
    about="A summary, or a tool call to summarise. Texts are cut at 2,000 characters, never refused.",
    fields=OBSERVATION.select_fields(Use.CREATE),
    serves_end_users=True,
)
OBSERVATIONS.add(
    "list",
    engine.list_observations,
    "List observations, newest first",
    ROW,
    filters=OBSERVATION_FILTERS,
    order=BY_AGE,
    serves_end_users=True,
)
OBSERVATIONS.show(
    "list",
    Column("summary", _("Observation"), tone="text"),
    Column("observation_type", _("Type"), kind="filter", tone="bare"),
    Column("outcome", _("Outcome"), kind="filter", tone="bare"),
    Column("tool_name", _("Tool"), kind="filter", tone="maybe bare"),
    Column("agent_id", _("Agent"), kind="filter", tone="maybe bare"),
    Column("session_id", _("Session"), kind="session", tone="session"),
    Column("created_at", _("Recorded"), kind="time", tone="bare"),
)
OBSERVATIONS.add_read(
    "timeline",
    engine.list_timeline,
    "What was observed between two times",
    ROW,
    of_row=False,
    filters=OBSERVATION_FILTERS,
    serves_end_users=True,
)
OBSERVATIONS.add("retrieve", engine.get_observation, "Read an observation", ROW, serves_end_users=True)
OBSERVATIONS.add_read(
    "search",
    engine.search_observations,
    "Search observations",
    Answer(shapes.ObservationsFoundShape, shapes.observations_found, takes=("branch",)),
    of_row=False,
    filters=OBSERVATION_FILTERS,
    serves_end_users=True,
)
add_deletion(
    OBSERVATIONS,
    MemoryDeletion(Observation),
    ROW,
    (ObservationFilter, OBSERVATION_FILTERS),
    {"session_id": ["s-1"], "dry_run": True},
    "Delete an observation",
    "Delete the observations that fit",
    "List the deleted observations that can be restored",
    "Restore a deleted observation",
)

"""What may be done about what has aged on a branch."""

from memory.answers import ageing as shapes
from memory.engines.facts.ageing.engine import AgeingEngine
from memory.engines.fields.common import STATED
from memory.models import Commit
from memory.operations.base import Answer, Resource

engine = AgeingEngine()

AGEING = Resource("ageing", "ageing", model=Commit)
AGEING.add(
    "preview",
    engine.preview_ageing,
    "Show what has aged on a branch, and why",
    Answer(shapes.PreviewShape, shapes.preview_shape, is_whole=True),
    body="PreviewInput",
    about="Which branch to look at, and what of it, as for a run.",
)
AGEING.add(
    "run",
    engine.run_ageing,
    "Archive what has aged on a branch",
    Answer(shapes.RunShape, shapes.run_shape),
    body="RunInput",
    about="What to archive; without more than the branch, all that has aged.",
    origin=STATED,
)
AGEING.add_read(
    "pressure",
    engine.get_pressure,
    "How full a branch is",
    Answer(shapes.PressureShape, shapes.pressure_shape),
)
AGEING.add_read(
    "runs",
    engine.list_runs,
    "List the runs of a branch, newest first",
    Answer(shapes.PastRunShape, shapes.past_run),
    operation_id="ageing_runs_list",  # else it is called as one run
)
AGEING.add_read(
    "archived",
    engine.list_archived,
    "List what a run archived, and why",
    Answer(shapes.AgedFactShape, shapes.aged_shape),
    path="runs/<uuid:commit_id>",
)

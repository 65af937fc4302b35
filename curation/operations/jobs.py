"""What may be done with work in the background."""

from django.utils.translation import gettext_lazy as _

from curation.answers import verification as shapes
from curation.engines.orders import JOBS as ORDER
from curation.engines.verification.engine import VerificationEngine
from curation.models import VerificationJob
from memory.operations.base import Answer, Resource, Row
from memory.operations.columns import Column

engine = VerificationEngine()
ROW = Answer(shapes.JobShape, shapes.render_job)

JOBS = Resource("jobs", "job", row=Row("job_id", "pk", "uuid"), model=VerificationJob)
JOBS.add("list", engine.list_jobs, "List jobs, newest first", ROW, order=ORDER)
JOBS.show(
    "list",
    Column("id", head="id"),
    Column("created_at", _("Begun"), "begun", "time", late=1),
    Column("branch", _("Branch"), "branch", of="branch.name"),
    Column("state", _("State"), "state", "word"),
    Column("done", _("Facts"), "done", "number", of="position", order="total"),
    Column("total", head="total"),
    Column("calls", _("Calls"), "calls", "number"),
    Column("created_by", _("By"), "by", late=1),
)
JOBS.add("retrieve", engine.get_job, "Read how far a job is", ROW)

"""What may be done with work in the background."""

from curation.answers import verification as shapes
from curation.engines.orders import JOBS as ORDER
from curation.engines.verification import VerificationEngine
from curation.models import VerificationJob
from memory.operations.base import Answer, Resource, Row

engine = VerificationEngine()
ROW = Answer(shapes.JobShape, shapes.render_job)

JOBS = Resource("jobs", "job", row=Row("job_id", "pk", "uuid"), model=VerificationJob)
JOBS.add("list", engine.list_jobs, "List jobs, newest first", ROW, order=ORDER)
JOBS.add("retrieve", engine.get_job, "Read how far a job is", ROW)

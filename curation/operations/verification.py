"""What may be done to have facts verified."""

from curation.answers import verification as shapes
from curation.engines.calibration import calibrate
from curation.engines.overview import check_merge_gate, summarize_branch
from curation.engines.verification import VerificationEngine
from curation.models import Verification
from memory.engines.fields.common import STATED
from memory.operations.base import Answer, Resource

VERIFICATION = Resource("verification", "verification", model=Verification)
VERIFICATION.add(
    "batch",
    VerificationEngine().verify_batch,
    "Verify facts of a branch in the background",
    Answer(shapes.JobShape, shapes.render_job, codes=(202,)),
    body="BatchInput",
    about="Which facts to verify, and how many calls of the judge that may cost.",
    origin=STATED,
)
VERIFICATION.add(
    "merge_gate",
    check_merge_gate,
    "Check whether a merge passes the verification gate",
    Answer(shapes.MergeReadinessShape, shapes.render_readiness),
    path="merge-gate",
    body="MergeGateInput",
    about="The merge to check.",
)
VERIFICATION.add(
    "summary",
    summarize_branch,
    "Count the facts of a branch by verdict",
    Answer(shapes.SummaryShape, shapes.render_summary),
    verb="get",
    path="summary/<path:branch_name>",
)
VERIFICATION.add(
    "calibration",
    calibrate,
    "Compare the judge with people's verdicts",
    Answer(shapes.CalibrationShape, shapes.render_calibration, is_complete=True),
    verb="get",
)

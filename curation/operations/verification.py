"""What may be done to have facts verified."""

from curation.answers import verification as shapes
from curation.engines.verification.calibration import Calibration, calibrate
from curation.engines.verification.engine import VerificationEngine
from curation.engines.verification.gates import MergeReadiness, Summary, check_merge_gate, summarize_branch
from curation.models import Verification
from memory.answers.derived import derive_shape, render_derived
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
    Answer(derive_shape(MergeReadiness), render_derived),
    path="merge-gate",
    body="MergeGateInput",
    about="The merge to check.",
)
VERIFICATION.add_read(
    "summary",
    summarize_branch,
    "Count the facts of a branch by verdict",
    Answer(derive_shape(Summary), render_derived),
    path="summary/<path:branch_name>",
)
VERIFICATION.add_read(
    "calibration",
    calibrate,
    "Compare the judge with people's verdicts",
    Answer(derive_shape(Calibration), render_derived, is_complete=True),
)

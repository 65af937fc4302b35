"""What curation adds to facts: a person's verdict, or a judge's rating."""

from typing import Any

from curation.answers import verification as shapes
from curation.engines.verification.engine import DONE_STATES, VerificationEngine
from curation.models import VerificationJob
from memory.answers.facts import FactShape
from memory.answers.facts import fact as render_fact
from memory.engines.fields.common import STATED
from memory.models import Fact
from memory.operations.base import Answer
from memory.operations.facts import FACTS


def choose_code(done: Fact | VerificationJob) -> int:
    """Return 202 for a job that has not ended, else 200."""
    return 200 if isinstance(done, Fact) or done.state in DONE_STATES else 202


def render_judged(done: Fact | VerificationJob, branch: str) -> dict[str, Any]:
    """Return a fact with the verdict of a person, or the job of the judge."""
    return render_fact(done, branch=branch) if isinstance(done, Fact) else shapes.render_job(done)


engine = VerificationEngine()
JUDGED = Answer(
    FactShape,
    render_judged,
    takes=("branch",),
    codes=(200, 202),
    choose_code=choose_code,
    others={202: shapes.JobShape},
)

FACTS.add(
    "verify",
    engine.judge_fact,
    "Give a verdict on a fact, or ask the judge for a rating",
    JUDGED,
    body="VerifyInput",
    about="A person's verdict on the fact's present content; without one the judge is asked.",
    origin=STATED,
    in_query=("wait",),
)
FACTS.add_read(
    "verification",
    engine.get_status,
    "The verdict on a fact, and its newest rating",
    Answer(shapes.FactVerificationShape, shapes.render_status),
)

"""Verification: the judge, a batch to start, jobs with their progress, and the rating beside a fact."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from curation.engines.verification.calibration import VERDICTS, Calibration, calibrate
from curation.engines.verification.engine import DONE_STATES, VerificationEngine, find_rating
from curation.engines.verification.gates import summarize_branch
from curation.engines.verification.run import find_judge
from curation.engines.verification.selection import DEFAULT_LIMIT
from curation.models import VerificationJob
from curation.operations.jobs import JOBS
from curation.operations.verification import VERIFICATION
from curation.views.review import list_filters
from memory.conf import conf
from memory.engines.facts.verdicts import JUDGEABLE
from memory.models import Fact
from memory.views.frame.base import ProjectPage
from memory.views.frame.flash import flash_success
from memory.views.frame.view_context import ViewContext
from memory.views.generic.actions import Action, ActionPage
from memory.views.generic.list_page import ListPage

verification_engine = VerificationEngine()
DIMENSIONS = {
    "accuracy": lazy("Accuracy"),
    "relevance": lazy("Relevance"),
    "specificity": lazy("Specificity"),
}
COUNTED = {
    "verified": lazy("verified"),
    "plausible": lazy("plausible"),
    "unverified": lazy("unverified"),
    "invalidated": lazy("invalidated"),
    "judge": lazy("rated by the judge"),
    "heuristic": lazy("rated by the heuristic"),
    "refused": lazy("gone or retired since"),
}


class VerificationPage(ActionPage, ListPage):
    """What verification says of the branch, its jobs, and a form that begins one."""

    template_name = "verification.html"
    operation, page_size = JOBS["list"], 20
    section, scope, title = "verification", "curate", lazy("Verification")
    actions = {
        "create": Action(
            VERIFICATION["batch"],
            fields=("limit", "budget", "again"),
            opens=("verification-job", "pk"),
            button=lazy("Verify facts of this branch"),
            drawing="verified",
        )
    }
    extra_context = {
        "drawing": "verified",
        "none_yet": lazy(
            "No batch was begun yet. A batch rates facts without a verdict, and is listed here with its"
            " calls. Begin one above, or:"
        ),
    }

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        summary = summarize_branch(branch_name=self.reader.branch.name, actor=self.reader.actor)
        shown = {"summary": summary, "lead": describe_rater(summary.judge)}
        filters = list_filters(self.reader, current="verification")
        return super().get_context_data(**shown, **filters, **kwargs)

    def find_values(self, name: str) -> dict[str, Any]:
        return {"limit": DEFAULT_LIMIT, "budget": conf().judge_budget}


def describe_rater(judge: str | None) -> str:
    """Return who rates facts, and what that is worth."""
    if judge:
        text = _("%(judge)s rates facts by their evidence; a person’s verdict always stands.")
        return text % {"judge": judge}
    return _(
        "A judge says of each fact whether its evidence bears it out. No judge is set, so the heuristic alone"
        " rates facts: it measures little more than length, answers plausible or unverified, and is no"
        " judgement. A person verifies."
    )


class JobPage(ProjectPage):
    """One job: how far it is and what came of it. While it runs the page looks again by itself."""

    template_name = "verification_job.html"
    fragment_name = "parts/job_progress.html"
    section, scope, title = "verification", "curate", lazy("Verification of a batch")

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        job: VerificationJob = verification_engine.get_job(
            job_id=self.kwargs["job_id"], actor=self.reader.actor
        )
        counts = [(name, job.counts[key]) for key, name in COUNTED.items() if job.counts.get(key)]
        return super().get_context_data(job=job, counts=counts, over=job.state in DONE_STATES, **kwargs)


class AskJudge(ProjectPage):
    """The button of a fact's page that has the judge rate it."""

    scope = "curate"
    http_method_names = ["post"]

    def post(self, request: HttpRequest, fact_id: UUID, **kwargs: Any) -> HttpResponse:
        self.reader.require_now()
        job = verification_engine.start_verification(
            fact_id=fact_id, actor=self.reader.actor, branch_name=self.reader.branch.name
        )
        flash_success(request, _("A rating is under way."))
        return redirect(self.reader.url("verification-job", job.pk, branch="", at=""))


def load_panel(reader: ViewContext, fact: Fact) -> dict[str, Any] | None:
    """Return what a fact's page shows of its rating; None where there is nothing to show or to ask."""
    rating = find_rating(fact, reader.branch)
    may_ask = bool(reader.allowed_now["curate"]) and fact.status in JUDGEABLE
    if rating is None and not may_ask:
        return None
    judge, _problem = find_judge()
    scores = {one.dimension: one for one in rating.scores.all()} if rating else {}
    shown = [(title, scores[name]) for name, title in DIMENSIONS.items() if name in scores]
    ask = _("Ask the judge") if judge else _("Rate by the heuristic")
    return {"rating": rating, "scores": shown, "ask": ask, "may_ask": may_ask}


# Landis and Koch's words for a kappa, by its lower bound.
STRENGTHS = (
    (0.81, lazy("almost perfect")),
    (0.61, lazy("substantial")),
    (0.41, lazy("moderate")),
    (0.21, lazy("fair")),
    (0.0, lazy("slight")),
)


class CalibrationPage(ProjectPage):
    template_name = "calibration.html"
    section, scope, title = "verification", "curate", lazy("Calibration of the judge")

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        found = calibrate(actor=self.reader.actor)
        judges = [describe_calibration(one) for one in (found[1:] if len(found) == 2 else found)]
        return super().get_context_data(judges=judges, verdicts=VERDICTS, **kwargs)


def describe_calibration(one: Calibration) -> dict[str, Any]:
    """Return a judge's agreement as the page shows it; a row of the table for each verdict of a person."""
    rows = [(verdict, [(judge, one.table[verdict][judge]) for judge in VERDICTS]) for verdict in VERDICTS]
    percent = None if one.agreement is None else round(one.agreement * 100)
    return {
        "calibration": one,
        "rows": [row for row in rows if row[0] != "unverified"],  # a cleared verdict decides nothing
        "percent": percent,
        "strength": describe_kappa(one.kappa),
    }


def describe_kappa(kappa: float | None) -> Any:
    if kappa is None:
        return ""
    return next((word for least, word in STRENGTHS if kappa >= least), lazy("none"))

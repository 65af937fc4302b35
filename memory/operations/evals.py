"""What may be done with runs of all saved questions."""

from django.utils.translation import gettext_lazy as _

from memory.answers import questions as shapes
from memory.engines.evaluation.runs import EvalEngine
from memory.models.questions import EvalRun
from memory.operations.base import Answer, Resource, Row
from memory.operations.columns import Column

engine = EvalEngine()
DETAIL = Answer(shapes.EvalDetailShape, shapes.render_eval_detail)
STARTED = Answer(
    shapes.EvalDetailShape,
    shapes.render_eval_detail,
    codes=(201, 202),
    choose_code=lambda run: 201 if run.state == EvalRun.State.DONE else 202,
)

EVALS = Resource("evals", "eval", row=Row("eval_id", "pk", "uuid"), model=EvalRun)
EVALS.add(
    "create",
    engine.start_eval,
    "Put all questions to a branch",
    STARTED,
    body="EvalInput",
    about="What the questions are put to, and the side before where two are compared.",
)
EVALS.add("list", engine.list_evals, "List runs, newest first", Answer(shapes.EvalShape, shapes.render_eval))
EVALS.show(
    "list",
    Column("id", head="id"),
    Column("branch", _("Run"), "branch"),
    Column("seq", head="seq"),
    Column("recipe", _("Recipe"), "recipe"),
    Column("k", head="k"),
    Column("figures.recall", _("Recall"), "recall", of="figures.percent", tone="number"),
    Column("figures.mrr", _("MRR"), "mrr", of="figures.mrr_text", tone="number"),
    Column("figures.lost", _("Lost"), "lost", of="figures.lost_text", tone="number", none="–"),
    Column("created_at", _("When"), "created_at", "time"),
    Column("created_by", _("By")),
)
EVALS.add("retrieve", engine.get_eval, "Read a run with the ranks of each question", DETAIL)

"""The pages of saved questions: their list with the runs, one run, and saving one from a search."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory.engines.evaluation.questions import QuestionEngine
from memory.engines.evaluation.runs import EvalEngine
from memory.engines.fields.questions import DEFAULT_K
from memory.engines.support.validation import parse_uuid
from memory.exceptions import Day1Error, Invalid
from memory.operations.questions import QUESTIONS
from memory.ranking import RECIPES
from memory.views.frame.base import ProjectPage, safe_referer
from memory.views.frame.flash import flash_success
from memory.views.frame.frames import add_page
from memory.views.frame.widgets import parse_number
from memory.views.generic.list_page import ListPage
from memory.views.sessions.question_rows import LISTED_RUNS, add_figure_texts, build_rows, draw_chart
from memory.views.text.error_text import error_sentence

question_engine, eval_engine = QuestionEngine(), EvalEngine()


@add_page("questions", "questions")
class Questions(ListPage):
    """The questions, and the runs of them; a form runs them on the branch that is read."""

    template_name = "questions.html"
    section, title = "questions", gettext_lazy("Saved questions")
    operation = QUESTIONS["list"]
    extra_context = {
        "lead": gettext_lazy(
            "Questions with the facts that a search should find. A run says how many it finds; a merge that"
            " would lose one is stopped."
        ),
        "search": gettext_lazy("Filters, such as category:decision"),
        "drawing": "search",
        "none_yet": gettext_lazy(
            "No question is saved yet. Search for something, and press “Should be found” at the fact that"
            " answers it."
        ),
        "none_fits": gettext_lazy("No question matches."),
        "show_all": gettext_lazy("Show all questions"),
    }

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        actor = self.reader.actor
        runs = add_figure_texts(eval_engine.list_evals(actor=actor, limit=LISTED_RUNS).results)
        kwargs.setdefault("typed", {"k": DEFAULT_K})
        return super().get_context_data(
            runs=runs,
            chart=draw_chart(runs, self.reader.branch.name, _("Recall and MRR of the last runs")),
            recipes=sorted(RECIPES),
            **kwargs,
        )

    def post(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        """Run the questions (do=run) or delete one (do=delete)."""
        try:
            if request.POST.get("do") == "delete":
                return self.delete_question(request.POST.get("question", ""))
            return self.run_questions()
        except Day1Error as error:
            context = self.get_context_data(refusal=error_sentence(error), typed=request.POST)
            return self.render_to_response(context, status=error.status)

    def delete_question(self, text: str) -> HttpResponse:
        question_engine.delete_question(question_id=parse_uuid("question", text), actor=self.reader.actor)
        flash_success(self.request, _("The question is deleted."))
        return redirect(self.reader.url("questions"))

    def run_questions(self) -> HttpResponse:
        post = self.request.POST
        against = {"branch": post.get("against", "").strip(), "recipe": post.get("against_recipe", "")}
        k = post.get("k", "")
        if (number := parse_number(k, digits=3)) is None and k:
            raise Invalid("{field} must be a whole number.", field="k")
        run = eval_engine.start_eval(
            **self.reader.read_args,
            recipe=post.get("recipe", ""),
            k=DEFAULT_K if number is None else number,
            against={name: value for name, value in against.items() if value} or None,
        )
        return redirect(self.reader.url("eval", run.pk, branch="", at=""))


@add_page("evals/<uuid:eval_id>", "eval")
class EvalPage(ProjectPage):
    """One run: its figures, and the ranks of each question."""

    template_name = "eval.html"
    section = "questions"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        run = eval_engine.get_eval(eval_id=self.kwargs["eval_id"], actor=self.reader.actor)
        return super().get_context_data(
            run=run,
            rows=build_rows(self.reader.actor, run.results),
            k=run.k,
            title=_("Run on %(branch)s") % {"branch": run.branch},
            **kwargs,
        )


@add_page("questions/save", "save-question")
class SaveQuestion(ProjectPage):
    """Save that a search should find a fact, by one press on the page of the search or of the fact."""

    template_name = "questions.html"
    scope = "curate"

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        return redirect(self.reader.url("questions"))

    def post(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        fact_id: UUID = parse_uuid("fact", request.POST.get("fact", ""))
        _question, is_new = question_engine.expect_fact(
            text=request.POST.get("text", ""),
            fact_id=fact_id,
            actor=self.reader.actor,
            branch_name=self.reader.branch.name,
        )
        flash_success(
            request, _("The question is saved.") if is_new else _("The question expects this fact too.")
        )
        return redirect(safe_referer(request, self.reader.url("questions")))

"""The fields of a saved question and of a run of all questions."""

from django.utils.translation import gettext_lazy as _

from memory.engines.fields.base import READ, Field, Noun, Option, Use
from memory.engines.fields.common import AT, BRANCH, answered_time
from memory.engines.fields.filters import one_of
from memory.engines.fields.types import (
    Choice,
    Identifier,
    JSONObject,
    ListOf,
    LongText,
    Moment,
    Number,
    ObjectList,
    Record,
    Reference,
    Repository,
    Text,
    Whole,
)
from memory.models.questions import MAX_EXPECTED, MAX_QUESTIONS, EvalRun
from memory.ranking import RECIPES

TEXT_BYTES = 32 * 1024  # of a question; a query has at most 8,000 characters
MAX_K = 100
DEFAULT_K = 10
WRITTEN = READ | Use.CREATE | Use.UPDATE | Use.FORM | Use.OPTION | Use.IMPORT | Use.EXPORT

QUESTION = Noun(
    "question",
    Field("id", Identifier(), use=READ),
    Field(
        "text",
        LongText(TEXT_BYTES),
        "The question, as a search is asked it: up to 8,000 characters.",
        READ | Use.CREATE | Use.UPDATE | Use.FORM | Use.IMPORT | Use.EXPORT,
        required=True,
        label=_("Question"),
    ),
    Field(
        "expected",
        ListOf(Identifier(), min_items=1),
        f"The ids of the facts that a search should find, 1 to {MAX_EXPECTED}.",
        WRITTEN,
        required=True,
        label=_("Expected facts"),
        option=Option("a fact that a search should find", "--expect", "ID"),
    ),
    Field(
        "category",
        Text(100),
        "Search among the facts of this category alone.",
        WRITTEN,
        label=_("Category"),
        option=Option("search among the facts of this category alone"),
    ),
    Field(
        "repository",
        Repository(),
        "Search among the facts of this repository alone.",
        WRITTEN,
        label=_("Repository"),
        option=Option("search among the facts of this repository alone"),
    ),
    Field(
        "note",
        Text(500),
        "Why it is asked, up to 500 characters.",
        WRITTEN,
        label=_("Note"),
        option=Option("why it is asked"),
    ),
    Field("branch", Reference(200), use=READ, label=_("Branch"), answer_help="Where it was saved."),
    answered_time("created_at"),
    answered_time("updated_at"),
    Field("created_by", Reference(200), use=READ, label=_("By")),
    commands=("questions", "save, list, import and export questions with the facts that they expect"),
)
QUESTION_LINE = Record(
    "QuestionLineInput",
    "A question of several. Ids that no branch has are taken too: a run names them.",
    QUESTION.select_fields(Use.CREATE),
)
QUESTION_LINES = Field("questions", ListOf(QUESTION_LINE, 1, MAX_QUESTIONS))
QUESTION_FILTERS = QUESTION.filtered_by(
    one_of(
        "category",
        Reference(100),
        "Questions about facts of this category.",
        option=Option("about facts of this category", metavar="NAME"),
    ),
)

RECIPE = one_of("recipe", Choice([(one, one) for one in sorted(RECIPES)]), "The project's by default.")
SIDE = Record("EvalSideInput", "A branch at a point, searched by a recipe.", (BRANCH, AT, RECIPE))
EVAL_K = Field("k", Whole(1, MAX_K), f"How many facts count; {DEFAULT_K} by default.")
AGAINST = Field("against", SIDE, "What is not given is as on this side; at only on its branch.", null=True)

EVAL = Noun(
    "eval",
    Field("id", Identifier(), use=READ),
    Field("state", Choice(EvalRun.State.choices), use=READ),
    Field("branch", Reference(200), use=READ),
    Field("seq", Whole(), use=READ, answer_help="The point of the branch at which it was searched."),
    Field(
        "at",
        Moment(),
        use=READ,
        answer_null=True,
        answer_help="The point, where it is a time: expiry is judged then; else when it is run.",
    ),
    Field("recipe", Reference(50), use=READ),
    Field("k", Whole(1, MAX_K), use=READ, answer_help="How many facts of a search count."),
    Field(
        "against",
        JSONObject(),
        use=READ,
        answer_null=True,
        answer_help="branch, seq, recipe and at of the side before, in a comparison.",
    ),
    Field("questions", Whole(), use=READ, answer_help="How many there are."),
    Field("done", Whole(), use=READ, answer_help="How many were put so far."),
    Field("error", Text(300), use=READ, answer_help="Why it failed, such as an archived branch; else empty."),
    Field(
        "figures",
        JSONObject(),
        use=READ,
        answer_help=(
            "scored, recall, mrr; by_words, where the embedder did not answer; in a comparison before, lost,"
            " gained, moved, significance."
        ),
    ),
    Field("took_ms", Number(0, 10**9), use=READ),
    answered_time("created_at"),
    Field("created_by", Reference(200), use=READ),
    Field(
        "results",
        ObjectList(10**7),
        use=Use.ANSWER,
        answer_help="Of each question: ranks of the expected facts, null where it was not found, and why.",
    ),
)

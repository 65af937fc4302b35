"""The fields of scores and of scorings."""

from django.utils.translation import gettext_lazy as _

from curation.models import Score, Scoring
from memory.engines.fields.base import READ, Field, Noun, Option, Use
from memory.engines.fields.common import answered_time
from memory.engines.fields.filters import one_of
from memory.engines.fields.types import (
    Choice,
    Flag,
    Identifier,
    ListOf,
    Number,
    ObjectList,
    Pattern,
    Reference,
    Text,
    Whole,
)

CREATE = READ | Use.CREATE
OFFERED = CREATE | Use.OPTION
MAX_VOTES, MAX_JUDGES, MAX_DIMENSIONS = 9, 5, 12
NAME = "[a-z][a-z0-9_]{0,49}"  # of a dimension
MAX_EXPLANATION = 500
GIVEN_METHODS = (Score.Method.HUMAN, Score.Method.EXTERNAL)  # the others are Day1's own
METHOD = Choice(Score.Method.choices, reserved=(Score.Method.JUDGE, Score.Method.HEURISTIC))
AGAIN = Field(
    "again",
    Flag(),
    "Have it rated anew. Else the same request gets the rating that it had, while nothing was said since.",
)

DIMENSION_WORDS = (
    ("helpfulness", _("helpfulness")),
    ("correctness", _("correctness")),
    ("coherence", _("coherence")),
    ("efficiency", _("efficiency")),
    ("safety", _("safety")),
    ("instruction_following", _("instruction following")),
    ("creativity", _("creativity")),
    ("completeness", _("completeness")),
)

SCORE = Noun(
    "score",
    Field("id", Identifier(), use=READ),
    Field("branch", Reference(200), use=READ, attribute="branch.name"),
    Field(
        "target_type",
        Choice(Score.Target.choices),
        "What is rated.",
        CREATE,
        required=True,
        label=_("Kind"),
        option=Option(metavar="KIND", checked=True),
    ),
    Field("target_id", Identifier(), "Its id.", CREATE, required=True, option=Option(metavar="ID")),
    Field(
        "dimension",
        Pattern(50, 1, regex=rf"^{NAME}$"),
        "Lower-case letters, digits and _: helpfulness, or one of your own.",
        CREATE,
        required=True,
        label=_("Dimension"),
        form_choices=DIMENSION_WORDS,
    ),
    Field(
        "value",
        Number(),
        "0 to 1.",
        CREATE,
        required=True,
        label=_("Score"),
        form_help=_("0 to 1, such as 0.8."),
        option=Option(metavar="SCORE"),
    ),
    Field("explanation", Text(MAX_EXPLANATION), "Why.", OFFERED, label=_("Why"), option=Option("why")),
    Field(
        "scorer",
        Text(200),
        "Who gives it; you by default.",
        OFFERED,
        label=_("By"),
        option=Option("who gives it; default you"),
    ),
    Field(
        "method",
        METHOD,
        "A person, or an outside judge: a program. A key's is external by default.",
        OFFERED,
        label=_("Given by"),
        answer_help="heuristic: no judgement.",
        option=Option("human or external", checked=True),
    ),
    Field("scoring_id", Identifier(), use=READ, answer_null=True, answer_help="That gave it."),
    answered_time("created_at"),
    commands=("scores", "scores of facts and conversations by judges and people"),
)
SCORE_FILTERS = SCORE.filtered_by(
    one_of("dimension", Reference(50), "In this dimension.", option=Option("in this dimension")),
    one_of("method", Choice(Score.Method.choices), "Given by these.", option=Option(checked=True)),
)

SCORING = Noun(
    "scoring",
    Field("id", Identifier(), use=READ),
    Field("branch", Reference(200), use=READ, attribute="branch.name"),
    Field("conversation_id", Identifier(), use=READ),
    Field("state", Choice(Scoring.State.choices), use=READ, label=_("State")),
    Field(
        "dimensions",
        ListOf(Pattern(400, 1, regex=rf"^{NAME}(:.*)?$"), max_items=MAX_DIMENSIONS),
        "Names, or name: what it means; the eight of Day1 by default, at most 12.",
        CREATE,
        label=_("Dimensions"),
    ),
    Field(
        "judges",
        ListOf(Reference(200, 1), max_items=MAX_JUDGES),
        "Models of the judge's server, at most 5; the one of the settings by default.",
        CREATE,
        label=_("Judges"),
    ),
    Field(
        "votes",
        Whole(1, MAX_VOTES),
        "Answers of each judge; those of the settings by default.",
        CREATE,
        null=True,
        label=_("Votes"),
    ),
    Field("ballots", ObjectList(64_000), use=READ, answer_help="What each vote gave, or why nothing."),
    Field("method", METHOD, use=READ, answer_help="judge, or heuristic: 0.5 each, which is no judgement."),
    Field("average", Number(), use=READ, answer_null=True),
    Field("messages", Whole(), use=READ, answer_help="How many the judges were shown."),
    Field("prompt", Text(50), use=READ, answer_help="Name and version of the prompt."),
    Field("calls", Whole(), use=READ, answer_help="Requests to judges, failed ones too."),
    Field("input_tokens", Whole(), use=READ),
    Field("output_tokens", Whole(), use=READ),
    Field("warning", Text(500), use=READ, answer_help="What fell short, or what it waits for."),
    answered_time("resume_at", null=True),
    answered_time("created_at"),
    Field("created_by", Reference(200), use=READ),
    answered_time("finished_at", null=True),
)
SCORING_FILTERS = SCORING.filtered_by(
    one_of("conversation_id", Identifier(), "Of this conversation.", option=Option("of this conversation")),
    one_of("state", Choice(Scoring.State.choices), "In this state.", option=Option(checked=True)),
)

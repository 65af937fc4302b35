"""The fields of a branch policy."""

from typing import Any

from django.utils.translation import gettext_lazy as _

from memory.conf import list_gates
from memory.engines.fields.base import READ, Field, Noun, Option, Use
from memory.engines.fields.common import answered_time
from memory.engines.fields.keys import BRANCH_PATTERN
from memory.engines.fields.types import Choice, Flag, ListOf, Pattern, Reference, Whole
from memory.models import FactAssessment
from memory.models.policies import MAX_APPROVALS, DirectWrites, Gate

_LABELS: dict[str, Any] = dict(Gate.choices)
GATES = [(name, _LABELS.get(name, name)) for name in list_gates()]
METHODS = (
    (FactAssessment.Method.HUMAN.value, _("a person’s")),
    (FactAssessment.Method.JUDGE.value, _("a language model’s")),
)
RULE = READ | Use.UPDATE | Use.OPTION

POLICY = Noun(
    "policy",
    Field(
        "pattern",
        Pattern(200, 1, regex=rf"^{BRANCH_PATTERN.pattern}$"),
        "A branch, or a pattern in which * stands for any characters and ? for one.",
        READ,
        required=True,
        label=_("For"),
        form_help=_("A branch, or a pattern such as task/* for every branch that matches it."),
        answer_help="The branch or pattern that it is for; empty in the defaults.",
    ),
    Field(
        "direct_writes",
        Choice(DirectWrites.choices),
        "What happens to writes that no merge brings. propose: facts become proposals, except a curator's.",
        RULE,
        label=_("Direct writes"),
        form_label=_("Direct writes, which no merge brings"),
        form_choices=DirectWrites.choices,
        form_rows=1,
        option=Option("allow, propose or refuse what no merge brings", checked=True),
    ),
    Field(
        "approvals",
        Whole(0, MAX_APPROVALS),
        "How many people must approve a merge request.",
        RULE,
        label=_("Approvals that a merge needs"),
        option=Option("how many people must approve a merge request"),
    ),
    Field(
        "author_may_approve",
        Flag(),
        "Whether the author's own approval counts.",
        READ | Use.UPDATE,
        label=_("Who opens a merge request may approve it too"),
    ),
    Field(
        "gates",
        ListOf(Choice(GATES)),
        "The checks that a merge request must pass.",
        RULE,
        label=_("A merge needs"),
        form_choices=GATES,
        option=Option("a check that a merge request must pass", "--gate", "NAME"),
    ),
    Field(
        "accept_methods",
        ListOf(Choice(FactAssessment.Method.choices), min_items=1),
        "Whose verdicts count as verified: human, judge. heuristic is still taken, and counts for nothing.",
        RULE,
        label=_("Verdicts that count as verified"),
        form_choices=METHODS,
        answer_help="Whose verdicts count as verified: human, judge.",
        option=Option("whose verdicts count: human, judge", "--accept-method", "METHOD"),
    ),
    answered_time("updated_at", null=True),
    Field("updated_by", Reference(200), use=READ),
    commands=("policy", "what branches do with direct writes, and what merges into them need"),
)

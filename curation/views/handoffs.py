"""Handoffs: the list with the form of a new one, and the page of one with what its receiver gets."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_lazy

from curation.engines.fields.handoffs import HANDOFF
from curation.engines.handoffs.briefing import describe_packet, list_standing_facts
from curation.engines.handoffs.engine import HandoffEngine
from curation.engines.handoffs.packet import list_missing, measure_completeness
from curation.engines.prompt_lines import measure_lines
from curation.models import Handoff
from curation.operations.handoffs import HANDOFFS
from curation.templatetags.handoffs import TYPES
from memory.engines.fields.base import Use
from memory.views.generic.actions import Action
from memory.views.generic.deletion import DeletablePage, build_deletion
from memory.views.generic.list_page import ALL
from memory.views.generic.state_list import StateListPage
from memory.views.text.labels import WORDS

handoff_engine = HandoffEngine()
State = Handoff.State
STATES = {
    State.PENDING.value: gettext_lazy("Waiting"),
    State.ACCEPTED.value: gettext_lazy("Accepted"),
    State.REJECTED.value: gettext_lazy("Rejected"),
    ALL: gettext_lazy("All"),
}


class Handoffs(StateListPage):
    """The list by state, and the form for a new one."""

    template_name = "handoffs.html"
    section = "handoffs"
    title = gettext_lazy("Handoffs")
    operation, states, words = HANDOFFS["list"], STATES, WORDS | TYPES
    actions = {
        "create": Action(
            HANDOFFS["create"],
            gettext_lazy("The work was handed over."),
            fields=(*HANDOFF.field_names(Use.FORM), "session_id"),
            opens=("handoff", "pk"),
            button=gettext_lazy("Hand over"),
        )
    }
    extra_context = {
        "lead": gettext_lazy(
            "What one agent leaves for the next: verified facts, the last messages, and what is to be done,"
            " frozen in a packet."
        ),
        "search": gettext_lazy("Filters, such as to:ledger or target:task/login"),
        "drawing": "out",
        "form_title": gettext_lazy("Hand work over"),
        "none_fits": gettext_lazy("No handoff is in this state."),
        "none_yet": gettext_lazy(
            "A handoff lets another agent continue where one stopped. Make one here, or let an agent do so:"
        ),
        "show_all": gettext_lazy("Waiting handoffs"),
    }

    def count_rows(self) -> Mapping[str, int]:
        return handoff_engine.count_handoffs(actor=self.reader.actor)

    def find_values(self, name: str) -> dict[str, Any]:
        return {"source_branch": self.reader.branch.name}


class HandoffPage(DeletablePage):
    """One handoff: at the left what the receiver gets, at the right its members and what became of it."""

    template_name = "handoff.html"
    section = "handoffs"
    actions = {
        "accept": Action(
            HANDOFFS["accept"],
            gettext_lazy("The handoff is accepted: the next sessions begin with it."),
            button=gettext_lazy("Accept the handoff"),
            drawing="check",
        ),
        "reject": Action(
            HANDOFFS["reject"],
            gettext_lazy("The handoff is rejected."),
            fields=("reason",),
            button=gettext_lazy("Reject the handoff"),
            drawing="close",
            tone="danger",
        ),
        **build_deletion(HANDOFFS, "handoffs"),
    }

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        actor = self.reader.actor
        handoff = handoff_engine.get_handoff(handoff_id=self.kwargs["handoff_id"], actor=actor)
        return super().get_context_data(
            title=TYPES[handoff.handoff_type],
            handoff=handoff,
            packet=measure_lines(describe_packet(handoff, list_standing_facts(handoff))),
            missing=list_missing(handoff),
            completeness=measure_completeness(handoff),
            may_delete=self.reader.is_now and handoff_engine.may_delete(handoff=handoff, actor=actor),
            may_decide=self.reader.is_now and handoff_engine.may_decide(handoff=handoff, actor=actor),
            **kwargs,
        )

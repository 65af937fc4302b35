"""Learning: what each rule made of the sessions, and its switch."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from conversations.engines.learning import LearningEngine, RuleState
from memory.views.base import ProjectPage
from memory.views.flash import flash_success

TITLES = {
    "decision": lazy("Decisions that were said"),
    "preference": lazy("Preferences that were said"),
    "stated": lazy("What agents noted down"),
    "repair": lazy("Failures that were put right"),
    "command": lazy("Commands that were repeated"),
}
HELPS = {
    "decision": lazy(
        "Decisions, rules, names, numbers, places, owners and dates that a person laid down in ordinary"
        " words, and decisions that an agent’s answer names as such."
    ),
    "preference": lazy("What a person says they always or never want."),
    "stated": lazy("Decisions and insights that an agent recorded as observations."),
    "repair": lazy("A command that failed and worked later, with what was changed in between."),
    "command": lazy(
        "A command that builds, tests or runs something and worked in two sessions of a repository, three"
        " times in all. Commands that only look, move files or keep versions are none."
    ),
}


class Learning(ProjectPage):
    template_name = "learning.html"
    section = "learning"
    title = lazy("Learning")
    extra_context = {
        "lead": lazy(
            "Behind each prompt and answer, and at the end of a session, these rules make facts of what was"
            " said and done: unverified, each with a link to the message"
            " or the observation that it comes from. Switch off a rule that makes more noise than memory;"
            " what it made so far stays."
        )
    }

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        states = LearningEngine().list_rules(actor=self.reader.actor, branch_name=self.reader.branch.name)
        rows = [describe_rule(state) for state in states]
        return super().get_context_data(page={"results": rows}, **kwargs)


def describe_rule(state: RuleState) -> dict[str, Any]:
    """Return a row of the list: a rule with its words, and what its button says and sends."""
    title = TITLES[state.name]
    return {
        "state": state,
        "title": title if state.is_on else _("%(name)s (off)") % {"name": title},
        "help": HELPS[state.name],
        "query": f"category={state.rule.categories[0]}",
        "verb": _("Switch off") if state.is_on else _("Switch on"),
        "value": "false" if state.is_on else "true",
    }


class SwitchRule(ProjectPage):
    """The switch of a rule, sent from the list."""

    scope = "curate"
    http_method_names = ["post"]

    def post(self, request: HttpRequest, name: str, **kwargs: Any) -> HttpResponse:
        is_on = request.POST.get("enabled") == "true"
        LearningEngine().switch_rule(name=name, is_on=is_on, actor=self.reader.actor)
        text = _("“%(name)s” is on.") if is_on else _("“%(name)s” is off: nothing more is learned by it.")
        flash_success(request, text % {"name": TITLES[name]})
        return redirect(self.reader.url("learning"))

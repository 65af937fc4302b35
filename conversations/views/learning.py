"""Learning: what each rule made of the sessions, and its switch."""

from typing import Any
from urllib.parse import urlencode

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from conversations.engines.instructions import InstructionsEngine, load_presets
from conversations.engines.learning import LearningEngine, RuleState
from conversations.operations.instructions import INSTRUCTIONS
from conversations.operations.learning import LEARNING
from memory.views.frame.view_context import ViewContext
from memory.views.generic.actions import Action, ActionPage

MAX_VERSIONS = 20  # that are listed
instructions_engine = InstructionsEngine()

TITLES = {
    "decision": lazy("Decisions that were said"),
    "preference": lazy("Preferences that were said"),
    "personal": lazy("Plain facts of a person’s life"),
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
    "personal": lazy(
        "Where a person lives and works, whom they have, what they eat and like, health, plans and habits."
    ),
    "stated": lazy("Decisions and insights that an agent recorded as observations."),
    "repair": lazy("A command that failed and worked later, with what was changed in between."),
    "command": lazy(
        "A command that builds, tests or runs something and worked in two sessions of a repository, three"
        " times in all. Commands that only look, move files or keep versions are none."
    ),
}


class Learning(ActionPage):
    template_name = "learning.html"
    section = "learning"
    title = lazy("Learning")
    usual, needs_now = "set", False
    actions = {
        "set": Action(
            INSTRUCTIONS["create"],
            lazy("What is to be remembered is saved."),
            fields=("preset", "text", "categories"),
            button=lazy("Save"),
        )
    }
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
        found = instructions_engine.list_versions(actor=self.reader.actor, limit=MAX_VERSIONS).results
        versions = found or [instructions_engine.get_instructions(actor=self.reader.actor)]
        return super().get_context_data(page={"results": rows}, versions=versions, **kwargs)

    def find_values(self, name: str) -> dict[str, Any]:
        now = instructions_engine.get_instructions(actor=self.reader.actor)
        return {"preset": now.preset, "text": now.text, "categories": now.categories}

    def carry_out(self, name: str, values: dict[str, Any]) -> Any:
        """Set what differs from the instructions that hold: another preset alone brings its own words."""
        before = self.find_values(name)
        changed = {word: value for word, value in values.items() if value != before[word]}
        if changed.get("preset") not in load_presets():
            changed.pop("preset", None)
        return super().carry_out(name, changed)


def describe_rule(state: RuleState) -> dict[str, Any]:
    """Return a row of the list: a rule with its words, and what its button says and sends."""
    title = TITLES[state.name]
    return {
        "state": state,
        "title": title if state.is_on else _("%(name)s (off)") % {"name": title},
        "help": HELPS[state.name],
        "query": urlencode([("category", one) for one in state.rule.categories]),
        "verb": _("Switch off") if state.is_on else _("Switch on"),
        "value": "false" if state.is_on else "true",
    }


def tell_switched(state: RuleState) -> str:
    text = _("“%(name)s” is on.") if state.is_on else _("“%(name)s” is off: nothing more is learned by it.")
    return text % {"name": TITLES[state.name]}


class SwitchRule(ActionPage):
    """The switch of a rule, sent from the list."""

    scope, usual, needs_now = "curate", "switch", False
    http_method_names = ["post"]
    actions = {
        "switch": Action(LEARNING["partial_update"], tell_switched, takes=("enabled",), opens=("learning",))
    }

    def carry_out(self, name: str, values: dict[str, Any]) -> Any:
        return super().carry_out(name, {"enabled": values.get("enabled") == "true"})


def describe_learning(reader: ViewContext) -> str:
    """Return how much is learned by itself, for the overview of the settings."""
    found = instructions_engine.get_instructions(actor=reader.actor)
    words = {"preset": found.get_preset_display(), "on": len(TITLES) - len(reader.project.rules_off)}
    return _("%(preset)s: %(on)s of %(all)s rules are on") % {**words, "all": len(TITLES)}

"""Learning: what each rule made of the sessions, and its switch."""

from typing import Any
from urllib.parse import urlencode

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from conversations.engines.instructions import MAX_TEXT_LENGTH, InstructionsEngine, load_presets
from conversations.engines.learning import LearningEngine, RuleState
from conversations.models import Instructions
from memory.exceptions import Invalid
from memory.texts import split_names
from memory.views.base import ProjectPage
from memory.views.field_widgets import OptionalText
from memory.views.flash import flash_success
from memory.views.widgets import add_form_error

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


class InstructionsForm(forms.Form):
    """What a language model is told to note; the engine checks it."""

    preset = forms.ChoiceField(
        label=lazy("What the project is for"),
        choices=[(one.value, one.label) for one in Instructions.Preset],
        help_text=lazy("Another one brings its words and categories."),
    )
    text = OptionalText(
        label=lazy("What is to be remembered"),
        widget=forms.Textarea(attrs={"rows": 6, "dir": "auto", "maxlength": MAX_TEXT_LENGTH}),
        help_text=lazy("For a language model, where one is set; rules find the same whatever stands here."),
    )
    categories = OptionalText(label=lazy("Categories"), help_text=lazy("Separated by commas."))

    def list_changes(self, before: Instructions) -> dict[str, Any]:
        """Return what differs from the instructions that hold: another preset alone brings its own words."""
        values = self.cleaned_data
        changed = {
            "text": values["text"].replace("\r\n", "\n"),
            "categories": split_names(values["categories"]),
        }
        changed = {name: value for name, value in changed.items() if value != getattr(before, name)}
        is_other = values["preset"] != before.preset and values["preset"] in load_presets()
        return changed | ({"preset": values["preset"]} if is_other else {})


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
        found = instructions_engine.list_versions(actor=self.reader.actor, limit=MAX_VERSIONS).results
        versions = found or [instructions_engine.get_instructions(actor=self.reader.actor)]
        if "form" not in kwargs:
            now = versions[0]
            first = {"preset": now.preset, "text": now.text, "categories": ", ".join(now.categories)}
            kwargs["form"] = InstructionsForm(initial=first)
        return super().get_context_data(page={"results": rows}, versions=versions, **kwargs)

    def post(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        """Set the instructions."""
        self.reader.actor.require_scope("curate")
        form = InstructionsForm(request.POST)
        if form.is_valid():
            before = instructions_engine.get_instructions(actor=self.reader.actor)
            try:
                instructions_engine.set_instructions(actor=self.reader.actor, **form.list_changes(before))
                flash_success(request, _("What is to be remembered is saved."))
                return redirect(self.reader.url("learning"))
            except Invalid as error:
                add_form_error(form, error)
        return self.render_to_response(self.get_context_data(form=form), status=400)


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

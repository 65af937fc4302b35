"""The form of what happens every night: agents are consolidated, and reflections proposed."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from memory.models.projects import MAX_GROUP, MIN_COHESION, MIN_GROUP
from memory.views.field_widgets import OptionalText


def build_number(least: float, most: float | None = None, **options: Any) -> forms.NumberInput:
    return forms.NumberInput({"min": least, **({} if most is None else {"max": most}), **options})


class NightlyForm(forms.Form):
    """Settings of the project; the engine checks them."""

    consolidate_agents = forms.BooleanField(
        label=_("Every night, merge what agents learned twice"),
        required=False,
        help_text=_("On main, with one fact that sums up what each agent knows. Each run can be undone."),
    )
    propose_reflections = forms.BooleanField(
        label=_("Every night, propose reflections"),
        required=False,
        help_text=_(
            "Of observations on main that are alike, as a merge request. Nothing changes before it is merged."
        ),
    )
    dream_min_size = forms.IntegerField(
        label=_("Observations of a reflection, at least"),
        widget=build_number(MIN_GROUP, MAX_GROUP),
    )
    dream_cohesion = forms.FloatField(
        label=_("Cohesion"),
        widget=build_number(MIN_COHESION, 1, step="0.01"),
        help_text=_(
            "How like the middle of its group each observation is. Less finds more, and hurts searches."
        ),
    )
    dream_min_age_cycles = forms.IntegerField(
        label=_("Leave out observations younger than"),
        widget=build_number(0),
        help_text=_("In cycles, which are turns of people on the branch. 0 leaves none out."),
    )
    dream_every_n_cycles = forms.IntegerField(
        label=_("Cycles between two nightly runs"),
        widget=build_number(0),
        help_text=_("A night with fewer is left out. 0 leaves none out."),
    )
    dream_allow_zero_confirmation = forms.BooleanField(
        label=_("Read observations that no second source confirmed"), required=False
    )
    dream_origins = OptionalText(
        label=_("Origins that are read"), help_text=_("Separated by commas. Empty: EXPERIENCE.")
    )

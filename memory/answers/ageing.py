"""What is answered of ageing: what has aged on a branch and why, its runs, and the pressure."""

from typing import Any

from rest_framework import serializers as s

from memory.answers import commits as commit_shapes
from memory.answers import facts as shapes
from memory.answers.rendering import build_renderer, page_shape
from memory.engines.facts.ageing.engine import (
    REASON_CHOICES,
    AgedFact,
    AgeingPreview,
    Pressure,
)
from memory.engines.facts.ageing.rules import Worth


class WorthShape(s.Serializer):
    """What a fact is worth, by its parts; ``total`` is their sum."""

    priority = s.FloatField(help_text="0.3 for P1, a quarter less for each one down.")
    confidence = s.FloatField(help_text="0.2 times the confidence.")
    belief = s.FloatField(help_text="0.2 when it is verified, 0.1 when it is not, 0 when it is invalidated.")
    recency = s.FloatField(
        help_text="0.3, halved for each 30 days since its last recall, change or confirmation."
    )
    total = s.FloatField()


class AgedFactShape(s.Serializer):
    """A fact, and why it goes or has gone."""

    reason = s.ChoiceField(choices=REASON_CHOICES)
    since = s.DateTimeField(allow_null=True, help_text="When the reason began to hold; null for the budget.")
    worth = WorthShape(allow_null=True, help_text="null in the list of what a run archived.")
    fact = shapes.FactShape()


class PreviewShape(s.Serializer):
    """What a run would archive now, with a page of the facts; nothing is written."""

    branch = s.CharField(source="branch.name")
    total = s.IntegerField(help_text="Facts of the branch's own that are in use.")
    budget = s.IntegerField(source="rules.budget", allow_null=True)
    count = s.IntegerField(help_text="How many would be archived, on all pages.")
    counts = s.DictField(child=s.IntegerField(), help_text="Reason -> how many.")
    kept = s.DictField(child=s.IntegerField(), help_text="Why facts are left that would go -> how many.")
    blocked_by = s.IntegerField(
        allow_null=True, help_text="The number of an open merge request from the branch: nothing ages there."
    )
    results = AgedFactShape(many=True)
    next = s.CharField(allow_null=True)
    previous = s.CharField(allow_null=True)


class RunShape(s.Serializer):
    """What a run archived."""

    commit = commit_shapes.CommitShape(
        allow_null=True, help_text="Reverting it undoes the run; null without any."
    )
    count = s.IntegerField()
    counts = s.DictField(child=s.IntegerField(), help_text="Reason -> how many.")
    remaining = s.IntegerField(help_text="How many wait for another run: a commit has at most 5,000.")
    changed_meanwhile = s.IntegerField(help_text="How many were changed while the run began, and are left.")


class PastRunShape(commit_shapes.CommitShape):
    """A run: its commit, how many it archived for each reason, and whether it is undone."""

    reasons = s.DictField(child=s.IntegerField())
    undone = s.BooleanField()


class PressureShape(s.Serializer):
    """How full a branch is: facts in use against its budget, and what would go."""

    branch = s.CharField(source="branch.name")
    facts = s.IntegerField(help_text="Facts of the branch's own that are in use.")
    budget = s.IntegerField(allow_null=True)
    share = s.FloatField(allow_null=True, help_text="Facts through budget; above 1 it is over.")
    counts = s.DictField(child=s.IntegerField(), help_text="Reason -> how many a run would archive now.")
    next = AgedFactShape(many=True, help_text="What the budget would take after those; without one, nothing.")


past_run = build_renderer(PastRunShape)
run_shape = build_renderer(RunShape)
_preview = build_renderer(PreviewShape, "results", "next", "previous")
_pressure = build_renderer(PressureShape, "next")
_aged = build_renderer(AgedFactShape, "worth", "fact")


def preview_shape(found: AgeingPreview) -> dict[str, Any]:
    return _preview(found, **page_shape(found.page, aged_shape))


def aged_shape(one: AgedFact) -> dict[str, Any]:
    worth = one.worth._asdict() if isinstance(one.worth, Worth) else None
    return _aged(one, worth=worth, fact=shapes.fact(one.fact, branch=one.fact.branch.name))


def pressure_shape(found: Pressure) -> dict[str, Any]:
    return _pressure(found, next=list(map(aged_shape, found.next)))

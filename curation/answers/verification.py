"""Answers about verification."""

from typing import Any

from rest_framework import serializers as s

from curation.models import Verification, VerificationJob
from memory.answers.rendering import build_renderer
from memory.models import Fact, FactAssessment

METHODS = [*FactAssessment.Method.choices, ("", "None")]


class ScoreShape(s.Serializer):
    """One dimension of a rating."""

    dimension = s.CharField()
    value = s.FloatField(help_text="0 to 1.")
    explanation = s.CharField(help_text="Why, in the judge's words; empty from the heuristic.")


class RatingShape(s.Serializer):
    """A rating of a fact's text by the judge, or by the heuristic, which is no judgement."""

    id = s.UUIDField()
    fact_id = s.UUIDField()
    method = s.ChoiceField(choices=FactAssessment.Method.choices)
    verdict = s.ChoiceField(
        choices=FactAssessment.Status.choices,
        help_text="By the average; the heuristic's is plausible or unverified.",
    )
    average = s.FloatField()
    scores = ScoreShape(many=True)
    model = s.CharField(help_text="That judged; empty from the heuristic.")
    prompt = s.CharField(help_text="Name and version of the prompt.")
    votes = s.IntegerField()
    calls = s.IntegerField()
    input_tokens = s.IntegerField()
    output_tokens = s.IntegerField()
    took_ms = s.FloatField()
    fallback = s.CharField(help_text="Why the heuristic stood in for the judge.")
    applied = s.BooleanField(help_text="Whether it became the fact's verdict, rather than a stronger one.")
    created_at = s.DateTimeField()
    created_by = s.CharField()


class FactVerificationShape(s.Serializer):
    """The verdict on a fact, and the newest rating of its present text."""

    id = s.UUIDField(source="uid")
    version = s.IntegerField()
    verification_status = s.ChoiceField(choices=FactAssessment.Status.choices)
    verified_at = s.DateTimeField(allow_null=True)
    verified_by = s.CharField()
    method = s.ChoiceField(choices=METHODS, source="verification_method")
    reason = s.CharField(source="verification_reason")
    rating = RatingShape(allow_null=True)


class JobShape(s.Serializer):
    """A job that verifies facts of a branch."""

    id = s.UUIDField()
    branch = s.CharField(source="branch.name")
    state = s.ChoiceField(choices=VerificationJob.State.choices)
    total = s.IntegerField(help_text="Facts to verify.")
    done = s.IntegerField(source="position", help_text="How many were gone through so far.")
    counts = s.DictField(
        child=s.IntegerField(),
        help_text="verified, plausible, unverified, invalidated; judge, heuristic; refused: gone or retired"
        " since.",
    )
    votes = s.IntegerField()
    budget = s.IntegerField(help_text="Calls of the judge that it may make.")
    calls = s.IntegerField()
    input_tokens = s.IntegerField()
    output_tokens = s.IntegerField()
    note = s.CharField(help_text="What it waits for, or why it failed.")
    fallback = s.CharField(help_text="Why it asks the judge no more.")
    resume_at = s.DateTimeField(allow_null=True)
    created_at = s.DateTimeField()
    created_by = s.CharField()
    finished_at = s.DateTimeField(allow_null=True)


render_rating = build_renderer(RatingShape)
_status = build_renderer(FactVerificationShape, "rating")
render_job = build_renderer(JobShape)


def render_status(found: tuple[Fact, Verification | None]) -> dict[str, Any]:
    fact, rating = found
    return _status(fact, rating=rating and render_rating(rating))

"""Requests about verification, for OpenAPI."""

from rest_framework import serializers as s

from curation.engines.selection import DEFAULT_LIMIT, MAX_FACTS
from curation.engines.verification import MAX_BUDGET, MAX_VOTES
from memory.answers.requests import Expecting, OnBranch, Stated, filter_fields
from memory.engines.facts.bulk_actions import MAX_FACTS as MAX_NAMED
from memory.models import FactAssessment


class VerifyInput(OnBranch, Stated, Expecting):
    """A person's verdict on the fact's present content; without one the judge is asked."""

    verdict = s.ChoiceField(choices=[(name, name) for name in FactAssessment.JUDGEMENTS], required=False)
    reason = s.CharField(max_length=2000, required=False, allow_blank=True, help_text="With a verdict.")


class BatchFiltersInput(s.Serializer):
    """Filters of facts, as a list of them has."""

    def get_fields(self) -> dict[str, s.Field]:
        return filter_fields()


class BatchInput(OnBranch, Stated):
    """Which facts to verify, and how many calls of the judge that may cost."""

    filters = BatchFiltersInput(
        required=False, help_text="By default those that neither a person nor a judge has judged."
    )
    fact_ids = s.ListField(
        child=s.UUIDField(), min_length=1, max_length=MAX_NAMED, required=False, help_text="These alone."
    )
    limit = s.IntegerField(
        min_value=1, max_value=MAX_FACTS, required=False, help_text=f"The newest so many; {DEFAULT_LIMIT}."
    )
    budget = s.IntegerField(
        min_value=1,
        max_value=MAX_BUDGET,
        required=False,
        help_text="Calls of the judge; the settings' number.",
    )
    votes = s.IntegerField(
        min_value=1, max_value=MAX_VOTES, required=False, help_text="Answers on each fact."
    )
    again = s.BooleanField(required=False, help_text="Also texts that were rated before.")

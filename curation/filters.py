"""The filters of lists of curation, for OpenAPI; the engines define their meaning."""

import django_filters as df

from curation.engines.fields.bundles import BUNDLE_FILTERS
from curation.engines.fields.handoffs import HANDOFF_FILTERS
from curation.engines.fields.quarantines import QUARANTINE_FILTERS
from curation.engines.fields.scores import SCORE_FILTERS, SCORING_FILTERS
from curation.engines.fields.templates import TEMPLATE_FILTERS
from curation.models import Bundle, Handoff, Quarantine, ReviewItem, Score, Scoring, Template
from memory.filters import declare_filters


@declare_filters(HANDOFF_FILTERS)
class HandoffFilterSet(df.FilterSet):
    class Meta:
        model = Handoff
        fields: list[str] = []


class ReviewFilterSet(df.FilterSet):
    branch = df.CharFilter(help_text="Questions about this branch; every branch when it is not given.")
    status = df.ChoiceFilter(choices=ReviewItem.Status.choices, help_text="Open or resolved questions.")
    kind = df.ChoiceFilter(choices=ReviewItem.Kind.choices, help_text="Questions of this kind.")
    fact_id = df.UUIDFilter(help_text="Questions about this fact.")

    class Meta:
        model = ReviewItem
        fields: list[str] = []


@declare_filters(TEMPLATE_FILTERS)
class TemplateFilterSet(df.FilterSet):
    class Meta:
        model = Template
        fields: list[str] = []


@declare_filters(QUARANTINE_FILTERS)
class QuarantineFilterSet(df.FilterSet):
    class Meta:
        model = Quarantine
        fields: list[str] = []


@declare_filters(BUNDLE_FILTERS)
class BundleFilterSet(df.FilterSet):
    class Meta:
        model = Bundle
        fields: list[str] = []


@declare_filters(SCORING_FILTERS)
class ScoringFilterSet(df.FilterSet):
    class Meta:
        model = Scoring
        fields: list[str] = []


@declare_filters(SCORE_FILTERS)
class ScoreFilterSet(df.FilterSet):
    class Meta:
        model = Score
        fields: list[str] = []

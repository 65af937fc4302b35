"""The filters of the pages of curation; the engines define their meaning."""

from curation.engines.fields.bundles import BUNDLE_FILTERS
from curation.engines.fields.handoffs import HANDOFF_FILTERS
from curation.engines.fields.quarantines import QUARANTINE_FILTERS
from curation.engines.fields.scores import SCORING_FILTERS
from curation.engines.fields.templates import TEMPLATE_FILTERS
from curation.models import Bundle, Handoff, Quarantine, Scoring, Template
from memory.filters import build_filter_set

BundleFilterSet = build_filter_set(Bundle, BUNDLE_FILTERS)
HandoffFilterSet = build_filter_set(Handoff, HANDOFF_FILTERS)
QuarantineFilterSet = build_filter_set(Quarantine, QUARANTINE_FILTERS)
ScoringFilterSet = build_filter_set(Scoring, SCORING_FILTERS)
TemplateFilterSet = build_filter_set(Template, TEMPLATE_FILTERS)

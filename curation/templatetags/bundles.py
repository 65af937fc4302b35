"""Template tags of bundles: what their parts are called, and what a report names."""

from collections.abc import Mapping
from typing import Any

from django import template
from django.utils.translation import gettext_lazy as _

from curation.engines.bundles.importing import ImportReport

register = template.Library()
KINDS: dict[str, Any] = {
    "facts": _("Facts"),
    "conversations": _("Conversations"),
    "messages": _("Messages"),
    "links": _("Links"),
    "relations": _("Relations"),
}


register.filter("bundle_kind", lambda name: KINDS.get(name, name))


@register.filter
def bundle_counts(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """Return how many memories there are of each kind that there is any of, in the order of KINDS."""
    return [(name, counts[name]) for name in KINDS if counts.get(name)]


@register.filter
def bundle_items(report: ImportReport) -> list[tuple[Any, Any]]:
    """Return the items of a report that are not new, under their titles."""
    return [(_("Refused"), report.refused), (_("Here already"), report.duplicates)]

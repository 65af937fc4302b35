"""What was done in a project, and by whom."""

from django.utils.translation import gettext_lazy as _
from rest_framework import serializers as s

from memory.answers.rendering import build_renderer
from memory.engines.audit.trail import AuditEngine
from memory.engines.fields.filters import one_of, recorded
from memory.engines.fields.orders import AUDIT as ORDER
from memory.engines.fields.types import OpenChoice, Reference
from memory.models import AuditEntry
from memory.operations.action_labels import ACTION_LABELS
from memory.operations.base import Answer, Resource
from memory.operations.columns import Column


class AuditShape(s.Serializer):
    id = s.IntegerField()
    at = s.DateTimeField()
    actor_kind = s.CharField()
    actor_id = s.CharField()
    actor_label = s.CharField()
    surface = s.CharField()
    action = s.CharField()
    target = s.CharField()
    detail = s.DictField()
    request_id = s.CharField(allow_null=True, help_text="Its request; null for background work.")
    place = s.IntegerField(allow_null=True, help_text="Its place in the sealed chain.")
    hash = s.CharField(help_text="Over this entry and the hash before it.")


audit_entry = build_renderer(AuditShape)


AUDIT = Resource("audit", "audit", model=AuditEntry)
AUDIT.add(
    "list",
    AuditEngine().list_entries,
    "List the entries of the audit, newest first",
    Answer(AuditShape, audit_entry),
    filters=(
        one_of("action", OpenChoice([(name, name) for name in ACTION_LABELS]), "Entries of this action."),
        one_of("by", Reference(200), "Entries of this actor: a label, or user:7, key:0197…, local:."),
        one_of("kind", Reference(100), "Entries of this kind of actor."),
        one_of("target", Reference(500), "Entries about this."),
        one_of("request_id", Reference(64), "Entries of this request."),
        *recorded("Entries"),
    ),
    order=ORDER,
)
AUDIT.show(
    "list",
    Column("at", _("When"), tone="nowrap"),
    Column("actor_label", _("Who")),
    Column("action", _("Action")),
    Column("target", _("Target")),
    Column("detail", _("Details"), tone="text small maybe"),
    Column("surface", _("Surface")),
    Column("place", _("Sealed")),
)

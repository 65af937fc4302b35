"""The entries of the audit, as files of them have them."""

from rest_framework import serializers as s

from memory.answers.rendering import build_renderer


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

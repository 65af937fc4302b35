from uuid import UUID

from django.db import migrations, models

MADE = {
    "ApiKey": (("key.create", "key.rotate"), "prefix", "created_by"),
    "Invitation": (("invitation.create",), "pk", "created_by"),
    "Erasure": (("erasure.begin",), "pk", "requested_by"),
}
REQUESTED_BY = (("requested_by_id", 64), ("requested_by_kind", 10))
LABEL, KIND, ID = ("created_by", 200), ("created_by_kind", 10), ("created_by_id", 64)


def fill_makers(apps, _schema_editor):
    """Read from the audit trail who made each key, invitation and erasure: only the label was stored."""
    entries = apps.get_model("memory", "AuditEntry").objects.order_by("id")
    for name, (actions, column, maker) in MADE.items():
        model = apps.get_model("memory", name)
        rows = entries.filter(action__in=actions)
        for project, target, kind, actor in rows.values_list("project", "target", "actor_kind", "actor_id"):
            own = model.objects.filter(project=project, **{column: target})
            own.update(**{f"{maker}_kind": kind, f"{maker}_id": actor})


def fill_members(apps, _schema_editor):
    """Read from the audit trail who let each member in, the last time."""
    entries = apps.get_model("memory", "AuditEntry").objects.order_by("id")
    members = apps.get_model("memory", "Membership").objects
    invitations = apps.get_model("memory", "Invitation").objects
    for entry in entries.filter(action__in=("member.add", "member.join")):
        made = (entry.actor_label, entry.actor_kind, entry.actor_id)
        link = UUID(entry.detail["invitation"]) if entry.action == "member.join" else None
        if link and (invitation := invitations.filter(pk=link).first()):
            made = (invitation.created_by, invitation.created_by_kind, invitation.created_by_id)
        own = members.filter(project=entry.project_id, user__username=entry.target)
        own.update(**dict(zip((LABEL[0], KIND[0], ID[0]), made, strict=True)), invitation_id=link)


def add_columns(model, *columns, **traits):
    for name, length in columns:
        field = models.CharField(blank=True, default="", max_length=length, **traits)
        yield migrations.AddField(model_name=model, name=name, field=field)


class Migration(migrations.Migration):
    dependencies = [("memory", "0049_dream_cohesion")]

    operations = [
        *add_columns("apikey", KIND, ID),
        *add_columns("invitation", KIND, ID),
        *add_columns("erasure", *REQUESTED_BY),
        *add_columns("membership", LABEL, KIND, ID, editable=False),
        migrations.AddField(
            model_name="membership",
            name="invitation_id",
            field=models.UUIDField(blank=True, editable=False, null=True),
        ),
        migrations.RunPython(fill_makers, migrations.RunPython.noop),
        migrations.RunPython(fill_members, migrations.RunPython.noop),
    ]

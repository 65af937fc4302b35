from django.db import migrations, models


def fill_rotations(apps, _schema_editor):
    """Read from the audit trail in whose place each key is."""
    entries = apps.get_model("memory", "AuditEntry").objects.filter(action="key.rotate")
    keys = apps.get_model("memory", "ApiKey").objects
    for project, prefix, detail in entries.values_list("project", "target", "detail"):
        old = keys.filter(project=project, prefix=detail.get("rotated_from", "")).first()
        if old and not detail.get("taken_over"):
            keys.filter(project=project, prefix=prefix).update(rotated_from=old.pk)


class Migration(migrations.Migration):
    dependencies = [("memory", "0051_plausible_verdicts")]

    operations = [
        migrations.AddField(
            model_name="apikey",
            name="rotated_from",
            field=models.UUIDField(
                blank=True,
                editable=False,
                help_text="The key in whose place it is, unless it was taken over.",
                null=True,
            ),
        ),
        migrations.RunPython(fill_rotations, migrations.RunPython.noop),
    ]

"""When the decisions on a merge request last changed, and which kind of actor made or closed them."""

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import Max


def set_decided_at(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Take the time of the latest decision: approvals from before it must not count again."""
    requests = apps.get_model("memory", "MergeRequest").objects
    decisions = apps.get_model("memory", "MergeDecision").objects.order_by()
    for pk, last in decisions.values_list("request").annotate(Max("at")):
        requests.filter(pk=pk).update(decided_at=last)


class Migration(migrations.Migration):
    dependencies = [("memory", "0026_review_contested")]

    operations = [
        migrations.AddField(
            model_name="mergerequest",
            name="decided_at",
            field=models.DateTimeField(
                blank=True,
                help_text="When a decision was last made or withdrawn: it ends approvals.",
                null=True,
            ),
        ),
        migrations.AddField(
            model_name="mergerequest",
            name="closed_by_kind",
            field=models.CharField(blank=True, default="", max_length=10),
        ),
        migrations.AddField(
            model_name="mergedecision",
            name="by_kind",
            field=models.CharField(blank=True, default="", max_length=10),
        ),
        migrations.RunPython(set_decided_at, migrations.RunPython.noop),
    ]

from django.db import migrations, models

import memory.db.fields


def move_questions(apps, _schema_editor):
    """Runs that still wait had the ids of their questions among the results; the first ones had none."""
    runs = apps.get_model("memory", "EvalRun").objects
    runs.filter(at__isnull=False).update(is_past=True)
    for run in runs.exclude(state="done"):
        run.question_ids = [one["question"] for one in run.results] or list_questions(apps, run)
        run.results = []
        run.save(update_fields=["question_ids", "results"])


def list_questions(apps, run):
    rows = apps.get_model("memory", "Question").objects.filter(project=run.project_id)
    return [str(uid) for uid in rows.order_by("pk").values_list("pk", flat=True)]


class Migration(migrations.Migration):
    dependencies = [
        ("memory", "0044_eval_at"),
    ]

    operations = [
        migrations.AddField(
            model_name="evalrun",
            name="error",
            field=models.CharField(blank=True, default="", max_length=300),
        ),
        migrations.AddField(
            model_name="evalrun",
            name="is_past",
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name="evalrun",
            name="question_ids",
            field=memory.db.fields.JSONTextField(default=list),
        ),
        migrations.AlterField(
            model_name="evalrun",
            name="state",
            field=models.CharField(
                choices=[
                    ("queued", "queued"),
                    ("running", "running"),
                    ("done", "done"),
                    ("failed", "failed"),
                ],
                default="queued",
                max_length=10,
            ),
        ),
        migrations.RunPython(move_questions, migrations.RunPython.noop),
    ]

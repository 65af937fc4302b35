"""What was erased is listed by project, kind and id: two projects may hold the same ids. An erasure keeps
the copies that are still to be dropped.

A new table takes the rows over, since a primary key is not changed in place on every database.
"""

from uuid import uuid5

import django.db.models.deletion
import django_mysql.models
from django.db import migrations, models

from memory.db.fields import JSONTextField

BATCH_SIZE = 500
COLUMNS = ("project_id", "erasure_id", "uid", "kind", "salt", "digest")


def take_over(apps, editor):
    """Copy the rows, each under the key of its project, kind and id."""
    new = apps.get_model("memory", "ErasedMemoryOfProject")
    copy_rows(
        apps.get_model("memory", "ErasedMemory"),
        lambda row: new(id=uuid5(row.project_id, f"{row.kind}:{row.uid}"), **read_columns(row)),
    )


def take_back(apps, editor):
    """Copy the rows into the table with one row for each id of the server."""
    old = apps.get_model("memory", "ErasedMemory")
    copy_rows(apps.get_model("memory", "ErasedMemoryOfProject"), lambda row: old(**read_columns(row)))


def refuse_loss(apps, editor):
    """Refuse the way back before anything is changed: MatrixOne rolls no change of a table back."""
    rows = apps.get_model("memory", "ErasedMemory").objects
    if rows.count() > rows.values("uid").distinct().count():
        raise RuntimeError("An id is listed twice among the erased: the schema before has room for one.")


def copy_rows(model, build):
    batch = []
    for row in model.objects.order_by("pk").iterator(BATCH_SIZE):
        batch.append(build(row))
        if len(batch) == BATCH_SIZE:
            type(batch[0]).objects.bulk_create(batch)
            batch = []
    if batch:
        type(batch[0]).objects.bulk_create(batch)


def read_columns(row):
    return {name: getattr(row, name) for name in COLUMNS}


class Migration(migrations.Migration):
    dependencies = [("memory", "0024_erasures")]

    operations = [
        migrations.AlterField(
            "erasure",
            "scope",
            models.CharField(
                choices=[
                    ("fact", "Fact"),
                    ("session", "Session"),
                    ("agent", "Agent"),
                    ("actor", "Actor"),
                    ("match", "Match"),
                ],
                max_length=10,
            ),
        ),
        migrations.AddField(
            "erasure",
            "to_drop",
            JSONTextField(default=list, help_text="Copies of the store that are still to be dropped."),
        ),
        migrations.CreateModel(
            name="ErasedMemoryOfProject",
            fields=[
                ("id", models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ("uid", models.UUIDField(editable=False)),
                (
                    "kind",
                    models.CharField(
                        help_text="fact, message, …; session; source: an id in a file.", max_length=30
                    ),
                ),
                (
                    "salt",
                    django_mysql.models.FixedCharField(
                        blank=True, help_text="The digest's key, destroyed afterwards.", max_length=64
                    ),
                ),
                (
                    "digest",
                    django_mysql.models.FixedCharField(
                        blank=True, help_text="HMAC over the content of all versions.", max_length=64
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="memory.project",
                    ),
                ),
                (
                    "erasure",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="memories",
                        to="memory.erasure",
                    ),
                ),
            ],
        ),
        migrations.RunPython(take_over, take_back),
        migrations.DeleteModel("ErasedMemory"),
        migrations.RenameModel("ErasedMemoryOfProject", "ErasedMemory"),
        migrations.AddIndex("erasedmemory", models.Index(fields=["project", "kind"], name="erased_kind")),
        migrations.AddIndex("erasedmemory", models.Index(fields=["project", "uid"], name="erased_uid")),
        migrations.RunPython(migrations.RunPython.noop, refuse_loss),
    ]

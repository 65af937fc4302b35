"""The review queue, which was a part of the app memory: its table is there already."""

import django.db.models.deletion
from django.db import migrations, models

import memory.db.fields
import memory.models.nodes


class Migration(migrations.Migration):
    dependencies = [
        ("curation", "0015_templates"),
        ("memory", "0032_review_moved"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.CreateModel(
                    name="ReviewItem",
                    fields=[
                        ("id", models.UUIDField(default=memory.models.nodes.uuid7, editable=False, primary_key=True, serialize=False)),
                        ("kind", models.CharField(choices=[("near_duplicate", "Near Duplicate"), ("contested", "Contested")], max_length=20)),
                        ("status", models.CharField(choices=[("open", "Open"), ("resolved", "Resolved")], default="open", max_length=10)),
                        ("fact_id", models.UUIDField()),
                        ("other_id", models.UUIDField()),
                        ("pair", models.CharField(help_text="Branch and both facts: asked only once.", max_length=100, unique=True)),
                        ("score", models.FloatField(help_text="How alike the two texts are: their cosine, of a contested pair their share of words.")),
                        ("resolution", models.CharField(blank=True, help_text="What was decided; of an open one, what was decided and undone.", max_length=40)),
                        ("details", memory.db.fields.JSONTextField(default=dict)),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        ("resolved_at", models.DateTimeField(blank=True, null=True)),
                        ("resolved_by", models.CharField(blank=True, max_length=200)),
                        ("seq", models.BigIntegerField(default=0, help_text="The commit that answered it, or undid the answer.")),
                        ("branch", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="review_items", to="memory.branch")),
                        ("project", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="review_items", to="memory.project")),
                    ],
                    options={
                        "db_table": "memory_reviewitem",
                        "ordering": ["-created_at"],
                        "indexes": [
                            models.Index(fields=["branch", "seq"], name="review_answered"),
                            models.Index(fields=["project", "status"], name="review_waiting"),
                        ],
                    },
                ),
            ]
        ),
    ]

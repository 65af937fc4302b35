import django.core.validators
from django.db import migrations, models

BEFORE, NOW = 0.9, 0.83


def follow_default(apps, schema_editor):
    """Give projects that have the former default the present one."""
    projects = apps.get_model("memory", "Project").objects.using(schema_editor.connection.alias)
    projects.filter(dream_cohesion=BEFORE).update(dream_cohesion=NOW)


class Migration(migrations.Migration):
    dependencies = [
        ("memory", "0048_node_leases"),
    ]

    operations = [
        migrations.AlterField(
            model_name="project",
            name="dream_cohesion",
            field=models.FloatField(
                default=NOW,
                help_text="How like the middle of its group each observation is at least, 0.5 to 1.",
                validators=[
                    django.core.validators.MinValueValidator(0.5),
                    django.core.validators.MaxValueValidator(1.0),
                ],
                verbose_name="cohesion of a reflection",
            ),
        ),
        migrations.RunPython(follow_default, migrations.RunPython.noop),
    ]

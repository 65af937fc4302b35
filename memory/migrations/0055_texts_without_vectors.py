"""A text may have no vector; indexed texts are written as queries in every script look for them."""

from django.db import migrations, models


def respell(apps, editor):
    for name in ("Fact", "Observation"):
        editor.respell_texts(apps.get_model("memory", name))


class Migration(migrations.Migration):
    dependencies = [("memory", "0054_pair_verdicts")]

    operations = [
        migrations.AddField(
            model_name="vectorclock",
            name="read_by",
            field=models.CharField(blank=True, default="", max_length=200),
        ),
        migrations.AlterField(
            model_name="vector",
            name="state",
            field=models.CharField(
                choices=[
                    ("pending", "Pending"),
                    ("ready", "Ready"),
                    ("failed", "Failed"),
                    ("none", "None"),
                ],
                default="pending",
                max_length=10,
            ),
        ),
        migrations.RunPython(respell, migrations.RunPython.noop),
    ]

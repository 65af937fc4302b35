from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("memory", "0010_closed_versions")]

    operations = [
        migrations.AddIndex(
            "observation",
            models.Index(fields=["branch", "session_id", "input_hash", "uid"], name="observation_bcall"),
        ),
    ]

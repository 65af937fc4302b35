from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("memory", "0006_handles")]

    operations = [
        migrations.AddIndex(
            "fact",
            models.Index(
                fields=["parent_id"], condition=models.Q(parent_id__isnull=False), name="fact_parent"
            ),
        ),
    ]

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("memory", "0013_queue_tries")]

    operations = [
        migrations.AddIndex(
            "fact",
            models.Index(
                fields=["branch"],
                condition=models.Q(status="created", seq_to=2**62),
                name="fact_proposed",
            ),
        ),
    ]

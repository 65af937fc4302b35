from django.db import migrations, models


class Migration(migrations.Migration):
    """The index names every column that a list of proposals asks for: SQLite took a larger one."""

    dependencies = [("memory", "0014_fact_proposed")]

    operations = [
        migrations.RemoveIndex("fact", "fact_proposed"),
        migrations.AddIndex(
            "fact",
            models.Index(
                fields=["branch", "seq_to"], condition=models.Q(status="created"), name="fact_proposed"
            ),
        ),
    ]

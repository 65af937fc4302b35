"""The review queue is a part of the app curation now: its table stays."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("memory", "0034_branch_read_only")]

    operations = [
        migrations.SeparateDatabaseAndState(state_operations=[migrations.DeleteModel("ReviewItem")]),
    ]

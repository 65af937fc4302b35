"""Facts that a branch shows are counted by their source and category too by an index alone."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('memory', '0042_fact_shown'),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name='fact',
            name='fact_bshown',
        ),
        migrations.AddIndex(
            model_name='fact',
            index=models.Index(
                fields=['branch', 'seq_to', 'seq_from', 'deleted', 'status', 'source_type', 'category'],
                name='fact_bshown',
            ),
        ),
    ]

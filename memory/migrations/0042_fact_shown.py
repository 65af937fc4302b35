"""Facts that a branch shows are counted by an index alone, at any point and by status."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('memory', '0041_nightly_settings'),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name='fact',
            name='fact_bopen',
        ),
        migrations.AddIndex(
            model_name='fact',
            index=models.Index(fields=['branch', 'seq_to', 'seq_from', 'deleted', 'status'], name='fact_bshown'),
        ),
    ]

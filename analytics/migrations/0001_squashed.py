"""The tables of analytics."""

import django.db.models.deletion
from django.db import migrations, models

import memory.db.fields
from analytics.migrations import REPLACED


class Migration(migrations.Migration):

    initial = True

    replaces = [("analytics", name) for name in REPLACED]
    dependencies = [("memory", "0001_squashed")]

    operations = [
        migrations.CreateModel(
            name='StoredTally',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('measure', models.CharField(max_length=50)),
                ('seq', models.BigIntegerField()),
                ('versions', models.BigIntegerField(help_text='Versions written up to it, of the kinds that it counts.')),
                ('counts', memory.db.fields.JSONTextField(default=list, help_text='[values of the columns, count] of each group.')),
                ('made_at', models.DateTimeField(help_text='When its rows began to be read.')),
                ('branch', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='memory.branch')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('branch', 'measure', 'seq'), name='one_tally_of_a_commit')],
            },
        ),
    ]

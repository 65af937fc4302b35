import django.db.models.deletion
import django_mysql.models
import memory.db.fields
import memory.models.nodes
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('memory', '0022_branch_details'),
    ]

    operations = [
        migrations.CreateModel(
            name='Erasure',
            fields=[
                ('id', models.UUIDField(default=memory.models.nodes.uuid7, editable=False, primary_key=True, serialize=False)),
                ('scope', models.CharField(choices=[('fact', 'Fact'), ('session', 'Session'), ('agent', 'Agent'), ('match', 'Match')], max_length=10)),
                ('target', models.CharField(blank=True, help_text='An id; empty for a text.', max_length=200)),
                ('pattern', models.TextField(blank=True, help_text='The text that was matched, until the erasure is done.')),
                ('state', models.CharField(choices=[('pending', 'Pending'), ('done', 'Done')], default='pending', max_length=10)),
                ('waits_for', models.CharField(blank=True, help_text='Why it is not done yet.', max_length=500)),
                ('counts', memory.db.fields.JSONTextField(default=dict, help_text='Kind of memory -> number.')),
                ('dropped', memory.db.fields.JSONTextField(default=list, help_text='Names of the copies of the store that were dropped.')),
                ('proof', django_mysql.models.FixedCharField(blank=True, help_text='SHA-256 over the digests of all memories.', max_length=64)),
                ('requested_at', models.DateTimeField()),
                ('requested_by', models.CharField(blank=True, max_length=200)),
                ('blanked_at', models.DateTimeField(help_text='When the last row was overwritten.', null=True)),
                ('done_at', models.DateTimeField(blank=True, null=True)),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='erasures', to='memory.project')),
            ],
            options={
                'ordering': ['-requested_at'],
            },
        ),
        migrations.CreateModel(
            name='ErasedMemory',
            fields=[
                ('uid', models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ('kind', models.CharField(help_text='fact, message, …; session; source: an id in a file.', max_length=30)),
                ('salt', django_mysql.models.FixedCharField(blank=True, help_text="The digest's key, destroyed afterwards.", max_length=64)),
                ('digest', django_mysql.models.FixedCharField(blank=True, help_text='HMAC over the content of all versions.', max_length=64)),
                ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='memory.project')),
                ('erasure', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memories', to='memory.erasure')),
            ],
        ),
        migrations.AddField(
            model_name='session',
            name='erased_at',
            field=models.DateTimeField(blank=True, help_text='Since when it takes nothing more.', null=True),
        ),
        migrations.AddIndex(
            model_name='erasure',
            index=models.Index(fields=['project', 'state'], name='erasure_state'),
        ),
        migrations.AddIndex(
            model_name='erasedmemory',
            index=models.Index(fields=['project', 'kind'], name='erased_kind'),
        ),
    ]

"""Index of closed versions, filled for messages that exist already."""

from django.db import migrations
from django.db.models import Value

OPEN = 2**62


def begin(apps, editor):
    closed = apps.get_model("conversations", "Message")._base_manager.filter(deleted=False, seq_to__lt=OPEN)
    editor.connection.index.begin_closed(editor, closed.annotate(searchable=Value(True)))


class Migration(migrations.Migration):
    dependencies = [("conversations", "0001_initial")]
    operations = [migrations.RunPython(begin, migrations.RunPython.noop)]

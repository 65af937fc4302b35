"""Versions that were closed can be searched for: those of a store that is there already are indexed."""

from django.db import migrations
from django.db.models import BooleanField, ExpressionWrapper, Q, Value

OPEN = 2**62
FOUND = ["active", "done"]


def begin(apps, editor):
    found = {
        "Fact": ExpressionWrapper(Q(status__in=FOUND), BooleanField()),
        "Observation": Value(True),
    }
    for name, searchable in found.items():
        closed = apps.get_model("memory", name)._base_manager.filter(deleted=False, seq_to__lt=OPEN)
        editor.connection.index.begin_closed(editor, closed.annotate(searchable=searchable))


class Migration(migrations.Migration):
    dependencies = [("memory", "0009_names_of_fields")]
    operations = [migrations.RunPython(begin, migrations.RunPython.noop)]

from django.db import migrations


def seed(apps, schema_editor):
    schema_editor.connection.index.seed_statistics()


class Migration(migrations.Migration):
    """A store that grows by single writes never gets statistics; without them its planner guesses wrong."""

    dependencies = [("memory", "0001_initial")]

    operations = [migrations.RunPython(seed, migrations.RunPython.noop)]

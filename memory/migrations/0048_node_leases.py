"""The leases of numbers move: older code, which asks for them at its start, then fails there."""

from django.db import migrations

OLDER = "this store is of a newer Day1, which this code is too old for: bring the code up to date"


def bar(_apps, editor):
    if hasattr(editor.connection, "bar_older_code"):
        editor.connection.bar_older_code(OLDER)


def readmit(_apps, editor):
    if hasattr(editor.connection, "readmit_older_code"):
        editor.connection.readmit_older_code()


class Migration(migrations.Migration):
    dependencies = [
        ("memory", "0047_project_usage"),
    ]

    operations = [
        migrations.AlterModelTable(name="node", table="memory_nodelease"),
        migrations.RunPython(bar, readmit),
    ]

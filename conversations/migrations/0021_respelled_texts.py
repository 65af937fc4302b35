"""Indexed texts are written as queries in every script look for them."""

from django.db import migrations


def respell(apps, editor):
    editor.respell_texts(apps.get_model("conversations", "Message"))


class Migration(migrations.Migration):
    dependencies = [("conversations", "0020_instructions")]
    operations = [migrations.RunPython(respell, migrations.RunPython.noop)]

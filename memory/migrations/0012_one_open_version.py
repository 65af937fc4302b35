"""A memory has one open version on a branch: what was made anew over an open tombstone now ends it.

What the branch shows does not change, now or at any earlier point: a tombstone shows nothing.
"""

from django.db import migrations
from django.db.models import Count, Min

OPEN = 2**62


def close_followed(apps, editor):
    for name in ("FactAssessment", "Relation"):
        rows = apps.get_model("memory", name)._base_manager
        opened = rows.filter(seq_to=OPEN).order_by().values_list("branch_id", "uid")
        for branch, uid, _ in list(opened.annotate(number=Count("pk")).filter(number__gt=1)):
            _close_tombstones(rows.filter(branch_id=branch, uid=uid))


def _close_tombstones(versions):
    """Each ends where the next version of the memory begins."""
    for tombstone in versions.filter(seq_to=OPEN, deleted=True):
        later = versions.filter(seq_from__gt=tombstone.seq_from).aggregate(begins=Min("seq_from"))
        if later["begins"] is not None:
            versions.filter(pk=tombstone.pk).update(seq_to=later["begins"])


class Migration(migrations.Migration):
    dependencies = [("memory", "0011_observation_calls")]
    operations = [migrations.RunPython(close_followed, migrations.RunPython.noop)]

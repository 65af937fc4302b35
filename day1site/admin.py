"""The admin's own name, and what of the periodic tasks it shows."""

from django.contrib import admin
from django_celery_beat import admin as beat  # noqa: F401  registers first what is taken out below
from django_celery_beat.models import ClockedSchedule, SolarSchedule

admin.site.site_header = admin.site.site_title = "Day1"
admin.site.index_title = "Administration"

# Day1's tasks come back by interval or by the clock: never once only, nor by the sun.
admin.site.unregister([ClockedSchedule, SolarSchedule])

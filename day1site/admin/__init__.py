"""What belongs to the whole server, at the desk. Each module registers its own."""

from day1site.admin import people, schedules

__all__ = ["people", "schedules"]

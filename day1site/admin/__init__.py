"""Server-wide admin pages. Each module registers its own."""

from day1site.admin import people, schedules

__all__ = ["people", "schedules"]

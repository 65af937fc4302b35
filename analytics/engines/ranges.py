"""Ranges of time: whole days or hours in UTC, cut into a limited number of points."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Self

from memory.engines.support import validation as c
from memory.exceptions import Invalid

MAX_DAYS = 36_525  # a hundred years
MAX_POINTS = 400
DAY, HOUR = "day", "hour"
STEPS = {DAY: timedelta(days=1), HOUR: timedelta(hours=1)}
FORMS = {DAY: "%Y-%m-%d", HOUR: "%Y-%m-%d %H"}


@dataclass(frozen=True)
class TimeRange:
    """Whole days or hours from ``since`` on, before ``until``; ``periods`` of them make one point."""

    since: datetime
    until: datetime
    granularity: str = DAY

    @classmethod
    def from_days(cls, days: int, now: datetime) -> Self:
        """Return the range of the last days, the present one included. Raises Invalid."""
        days = c.integer_check(1, MAX_DAYS)("days", days)
        return cls.from_times(floor_time(now, DAY) - timedelta(days=days - 1), None, now, DAY)

    @classmethod
    def from_end(cls, days: int, until: datetime, now: datetime, granularity: str = DAY) -> Self:
        """Return the range of the last days before a time, the day that holds it included. Raises Invalid."""
        days = c.integer_check(1, MAX_DAYS)("days", days)
        if until < now - timedelta(days=MAX_DAYS):
            raise Invalid("until is at most {days} days ago.", days=MAX_DAYS, field="until")
        last = floor_time(min(until, now) - timedelta(microseconds=1), DAY)
        return cls.from_times(last - timedelta(days=days - 1), until, now, granularity)

    @classmethod
    def from_times(
        cls, since: datetime, until: datetime | None, now: datetime, granularity: str = DAY
    ) -> Self:
        """Return the whole periods that hold both times, up to the present one. Raises Invalid."""
        step = STEPS[c.one_of(list(STEPS))("granularity", granularity)]
        end = min(until, now) if until else now
        if since > now:
            raise Invalid("since must not be in the future.", field="since")
        if until and since >= until:
            raise Invalid("until must be later than since.", field="until")
        if end - since > timedelta(days=MAX_DAYS):
            raise Invalid("A range has at most {days} days.", days=MAX_DAYS, field="since")
        begin = floor_time(since, granularity)
        last = floor_time(end - timedelta(microseconds=1), granularity)
        return cls(begin, max(last, begin) + step, granularity)

    @property
    def step(self) -> timedelta:
        return STEPS[self.granularity]

    @property
    def length(self) -> int:
        """Return how many periods the range has."""
        return (self.until - self.since) // self.step

    @property
    def periods(self) -> int:
        """Return how many periods one point covers: a long range has no more points than a short one."""
        return -(-self.length // MAX_POINTS)

    @property
    def starts(self) -> list[datetime]:
        return [self.since + index * self.step for index in range(0, self.length, self.periods)]

    @property
    def days(self) -> tuple[str, str]:
        """Return the first and the last period as tallies write them."""
        form = FORMS[self.granularity]
        return self.since.strftime(form), (self.until - self.step).strftime(form)

    def sum_up(self, counts: Mapping[str, int]) -> int:
        """Return the sum of what lies in the range."""
        first, last = self.days
        return sum(count for period, count in counts.items() if first <= period <= last)

    def spread(self, counts: Mapping[str, int]) -> list[int]:
        """Return the sums of the points, in their order."""
        first, last = self.days
        found: Counter[int] = Counter()
        for period, count in counts.items():
            if first <= period <= last:
                found[self.locate(parse_period(period, self.granularity))] += count
        return [found[index] for index in range(len(self.starts))]

    def locate(self, at: datetime) -> int:
        """Return the index of the point that holds a time of the range."""
        return (at - self.since) // self.step // self.periods


def floor_time(at: datetime, granularity: str) -> datetime:
    at = at.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    return at.replace(hour=0) if granularity == DAY else at


def parse_period(text: str, granularity: str) -> datetime:
    return datetime.strptime(text, FORMS[granularity]).replace(tzinfo=UTC)

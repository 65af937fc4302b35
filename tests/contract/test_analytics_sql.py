"""Statements of analytics as MatrixOne reads them. No server is needed, only its driver."""

from typing import Any

import pytest

from analytics.engines.junk import filter_about
from analytics.engines.tallies import FACT_DAYS
from curation.models import ReviewItem
from memory.models import Fact

pytest.importorskip("MySQLdb", reason="the extra matrixone is not installed")

from tests.contract.test_matrixone_sql import CHILD, mo, sql

__all__ = ["mo"]


def test_versions_are_grouped_by_the_beginning_of_their_time(mo: Any) -> None:
    rows = Fact._base_manager.filter(seq_to__gt=2, seq_to__lte=5).order_by()
    grouped = rows.annotate(**FACT_DAYS.groups).values_list(*FACT_DAYS.groups)
    text = sql(mo, grouped.annotate(counted=FACT_DAYS.counted))
    assert text.startswith("SELECT LEFT(CAST(`memory_fact`.`created_at` AS char), 10) AS `group_0`, ")
    assert text.endswith("`memory_fact`.`seq_to` <= 5) GROUP BY 1, 2, 3 ORDER BY NULL")


def test_a_question_is_about_two_facts(mo: Any) -> None:
    questions = ReviewItem.objects.filter(branch=1).order_by()
    text = sql(mo, filter_about(questions, Fact.objects.in_lineage(CHILD)).values("kind"))
    assert text.count("EXISTS(SELECT 1 AS `a` FROM `memory_fact` U0 WHERE ") == 2
    assert "LIMIT" not in text

"""Whether a newer statement takes the place of an older one: pairs of a corpus, and rules one by one."""

from pathlib import Path

import pytest

from bench.revisions import MIN_PRECISION, MIN_RECALL, get_precision, get_recall, measure
from memory.engines.statements.revision_rules import MAX_LENGTH, revises
from memory.engines.support.similarity import Comparison, compare_claims, count_negations

DATA = Path(__file__).parents[2] / "bench/data"
REVISED = [
    ("The gateway listens on port 9443.", "The gateway listens on port 8443 now."),
    ("We use Postgres 16 for the ledger", "Switch the ledger to MySQL 8, not Postgres"),
    ("账本用 Postgres", "账本改用 MySQL"),
    ("Never log customer emails.", "You may log customer emails again."),
    ("90 days for raw passes.", "Make it 400 days for raw passes now."),
    ("Alerts go to Slack.", "We talked it over. Alerts go to PagerDuty now."),
    ("超时 30 秒", "超时 60 秒"),
    ("重试三十次", "重试四十次"),
    ("超时十秒", "超时二十五秒"),
    (
        "For the mail queue that's Sidekiq.",
        "We no longer use Sidekiq for the mail queue; use Faktory.",
    ),
    ("We'll use Sidekiq for the mail queue.", "mail queue 改用 Faktory，不再用 Sidekiq。"),
    ("我们决定支付服务统一用 MySQL 8，不用 Postgres。", "支付服务改用 Postgres，不再用 MySQL。"),
    ("重试次数是 3 次。", "不对，重试次数应该是 5 次，不是 3 次。"),
    (
        "The retry limit of the mailer is 5.",
        "No, that's wrong: the retry limit of the mailer is 7, not 5.",
    ),
]
QUEUE = "We use Kafka for the queue."
REVISED += [
    (QUEUE, "We dropped Kafka for the queue."),
    (QUEUE, "We moved the queue off Kafka."),
    (QUEUE, "We got rid of Kafka in the queue."),
    (QUEUE, "We decided against Kafka for the queue."),
    (QUEUE, "We're done with Kafka for the queue."),
    ("队列用 Kafka。", "队列放弃了 Kafka。"),
]
OTHERS = [
    (QUEUE, "We dropped Kafka."),  # of what, is not said
    (QUEUE, "We dropped Kafka for the queue in staging."),
    (QUEUE, "We dropped Kafka for the queue and the cache."),
    (QUEUE, "We dropped the Kafka dashboard of the queue."),
    (QUEUE, "We never dropped Kafka for the queue."),
    (QUEUE, "Should we have dropped Kafka for the queue?"),
    (QUEUE, "If we dropped Kafka for the queue, it would be slow."),
    (QUEUE, "The customer dropped Kafka for the queue."),
    ("We don't use Kafka for the queue.", "We dropped Kafka for the queue."),
    ("We moved off Kafka for the queue.", "We dropped Kafka for the queue."),
    ("Keep 3 replicas of the queue.", "We dropped 2 replicas of the queue."),
    ("退款重试次数是 3 次。", "不对，重试次数应该是 5 次，不是 3 次。"),
    ("API port 9443", "admin port 8443"),
    ("Postgres 16 for the ledger", "Redis 7 for the cache"),
    ("never commit to main", "never push to main"),
    ("The gateway listens on port 9443.", "The gateway listens on port 9444 for metrics."),
    ("A carrier may book 6 slots a day.", "A carrier may book no more than 6 slots a day."),
    ("Deploy the api with Docker.", "Deploy the worker with Podman now."),
    ("The gateway listens on port 9443.", "Now the gateway listens on port 9443."),
    ("账本用 Postgres", "缓存改用 Redis"),
    ("超时十二秒", "超时 12 秒"),
    (
        "We'll use Sidekiq for the mail queue.",
        "We no longer use Sidekiq for the fax queue; use Faktory.",
    ),
]


@pytest.mark.parametrize("half", ["open", "sealed"])
def test_both_halves_of_the_corpus_keep_their_bounds(half: str) -> None:
    counts = measure(DATA / f"revisions_{half}.jsonl")
    assert counts["pairs"] >= 70
    assert get_precision(counts) >= MIN_PRECISION
    assert get_recall(counts) >= MIN_RECALL


@pytest.mark.parametrize(("older", "newer"), REVISED)
def test_a_statement_that_changes_another_revises_it(older: str, newer: str) -> None:
    assert revises(newer, older)


@pytest.mark.parametrize(("older", "newer"), OTHERS)
def test_a_statement_on_another_subject_revises_nothing(older: str, newer: str) -> None:
    assert not revises(newer, older)
    assert not revises(older, newer)


def test_long_texts_revise_nothing() -> None:
    long = "The gateway listens on port 9443. " * (MAX_LENGTH // 30)
    assert not revises("The gateway listens on port 8443.", long)
    assert not revises(long, "The gateway listens on port 8443.")


def test_a_text_that_is_long_when_its_ligatures_are_written_out_revises_nothing() -> None:
    old, new = "The gateway listens on port 9443", "The gateway listens on port 8443 now"
    blessing = " of \N{ARABIC LIGATURE SALLALLAHOU ALAYHE WASALLAM}"  # 18 letters
    assert revises(new + blessing, old + blessing)
    assert not revises(new + 20 * blessing, old + 20 * blessing)


@pytest.mark.parametrize(
    ("text", "count"),
    [("不要在主分支上提交", 1), ("禁止直接提交", 1), ("不同的端口", 0), ("特别快", 0), ("没有密码", 1)],
)
def test_chinese_negations_are_counted(text: str, count: int) -> None:
    assert count_negations(text) == count


def test_chinese_texts_that_differ_in_negation_contradict() -> None:
    assert compare_claims("日志里写密码", "日志里不写密码") is Comparison.CONTRADICTION

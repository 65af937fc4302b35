"""Statements that say the same in other words, and those that only look so."""

import pytest

from memory.engines.support.restatement import restates

SAME = [
    ("The queue runs on Kafka.", "We'll build the queue on Kafka."),
    ("The queue runs on Kafka.", "We decided to use Kafka for the queue."),
    (
        "Go with Kafka for the ledger export, please, and leave RabbitMQ alone.",
        "The ledger export uses Kafka.",
    ),
    (
        "For the search index it's Tantivy from today, Lucene is out.",
        "We'll build the search index on Tantivy.",
    ),
    (
        "The price cache runs on Redis; nobody touches Memcached for it.",
        "price cache 用 Redis，不要用 Memcached。",
    ),
    ("Decision for the login page: Grafana, not Kibana.", "We'll build the login page on Grafana."),
    ("We use Postgres 16 for the ledger", "Postgres 16 for the ledger."),
    ("账本用 Postgres", "账本用 Postgres。"),
    ("Commit messages are in English.", "Commit messages in English please."),
]
OTHER = [
    ("The queue runs on Kafka.", "The queue runs on Redis."),
    ("The queue runs on Kafka.", "The queue may run on Kafka."),
    ("The queue runs on Kafka.", "The queue never runs on Kafka."),
    ("The queue runs on Kafka.", "The queue ran on Kafka, it was slow."),
    ("The queue runs on Kafka.", "The queue runs on Kafka because the team knows it."),
    ("The queue runs on Kafka.", "The queue runs on Kafka; Redis holds the prices."),
    ("The queue runs on Kafka.", "The queue runs on Kafka, never on Fridays."),
    ("The queue runs on Kafka.", "The queue runs on Kafka. Ask Mei about it."),
    ("The queue runs on Kafka.", "All queues and caches run on Kafka."),
    ("The mailer retries 3 times.", "The mailer retries 5 times."),
    ("The mailer waits 5 seconds.", "The mailer waits 5 minutes."),
    ("Retry the mailer 3 times after 5 seconds.", "Retry the mailer 5 times after 3 seconds."),
    ("Staging uses production.", "Production uses staging."),
    ("Alice is the manager for Bob.", "Bob is the manager for Alice."),
    ("The owner of the cat pays for the dog.", "The owner of the dog pays for the cat."),
    ("The parser calls the lexer.", "The lexer calls the parser."),
    ("Copy the dump from staging.", "Copy the dump to staging."),
    ("We moved from Kafka to Redis for the queue.", "We moved from Redis to Kafka for the queue."),
    ("Use my key for staging.", "Use your key for staging."),
    ("Some services use Kafka.", "All services use Kafka."),
    ("Alice: use Kafka for the queue.", "Bob: use Kafka for the queue."),
    ("Kafka.", "Kafka."),
    ("", ""),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_other_words_for_the_same(one: str, other: str) -> None:
    assert (restates(one, other), restates(other, one)) == (True, True)


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_what_only_looks_the_same(one: str, other: str) -> None:
    assert (restates(one, other), restates(other, one)) == (False, False)

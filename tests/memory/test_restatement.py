"""Statements that say the same in other words, and those that only look so."""

from pathlib import Path

import numpy as np
import pytest

from conversations.engines.consolidation.matching import RESTATED, Texts, split_tokens
from memory.engines.statements.restatement import restates
from memory.engines.support.similarity import swaps_words

SAME = [
    ("The queue runs on Kafka; RabbitMQ is out.", "We'll build the queue on Kafka, not RabbitMQ."),
    ("We'll build the queue on Kafka.", "The queue is built on Kafka."),
    ("We chose Kafka for the queue.", "For the queue we went with Kafka."),
    ("We settled on pytest for the importer.", "The importer uses pytest."),
    ("We use Kafka for Acme.", "For Acme, use Kafka."),
    ("The customer uses Jira.", "Customer is using Jira."),
    ("English for the docs, not README.md.", "For the docs use English, not README.md."),
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
    ("Use Kafka for the queue.", "The queue uses Kafka."),
    ("Let's use Kafka for the queue.", "We're using Kafka for the queue."),
    ("For the queue, use Kafka.", "The queue is built on Kafka."),
    ("For the queue we use Kafka.", "Kafka for the queue, please."),
    ("OK, go with Kafka for the queue.", "The queue runs on Kafka."),
    ("We've decided to use Kafka for the queue.", "The queue uses Kafka."),
    ("Decision: Kafka for the queue.", "We agreed on Kafka for the queue."),
    ("We agreed that the queue runs on Kafka.", "Use Kafka for the queue."),
    ("The queue uses Kafka, not RabbitMQ.", "Kafka for the queue."),
    ("In production use Postgres 16.", "We use Postgres 16 in production."),
    ("In production, use Postgres 16.", "We use Postgres 16 in production."),
    ("Use tabs in Go files.", "In Go files, use tabs."),
    ("Please run the linter before each push.", "Run the linter before each push."),
    ("Run the linter before each push.", "Run the linter before each push, please."),
    ("Never push to main on Fridays.", "Please never push to main on Fridays."),
    ("The user docs are in Markdown.", "User docs in Markdown."),
    ("队列使用 Kafka。", "队列采用 Kafka。"),
    ("我们用 Kafka 做队列。", "队列用 Kafka。"),
    ("我们决定用 Kafka 做队列。", "队列用 Kafka。"),
    ("应用用 Redis。", "我们用 Redis 做应用。"),
    ("用户表用 Postgres。", "用 Postgres 做用户表。"),
    ("The queue uses Argon2, not bcrypt.", "For the queue it's Argon2, bcrypt is out."),
    ("The queue of the shop runs on Kafka, decided.", "We decided to use Kafka for the queue of the shop."),
    ("The timeout is 5 seconds, please.", "Please, the timeout is 5 seconds."),
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


# Pairs that have nearly the same words and say something else: quantities, scopes, roles, tenses, conditions.
PAIRS = Path(__file__).with_name("other_claims.txt")


# Pairs that differ in scope, time, condition, quantity, order or in who does it.
SIMILAR = Path(__file__).with_name("similar_claims.txt")
KEPT_QUALIFIED = [
    ("In staging the parser logs at debug level.", "The parser logs at debug level in staging."),
    ("We store uploads in S3.", "Uploads are stored in S3."),
    ("From now on the docs stay in English.", "The docs stay in English."),
    ("Redis is used to cache prices.", "Redis is used for caching prices."),
    ("Retry payments at most 3 times.", "Please retry payments at most 3 times."),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_other_words_for_the_same(one: str, other: str) -> None:
    assert (restates(one, other), restates(other, one)) == (True, True)


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_what_only_looks_the_same(one: str, other: str) -> None:
    assert (restates(one, other), restates(other, one)) == (False, False)


def test_no_pair_that_says_something_else_is_taken_for_the_same() -> None:
    pairs = [line.split(" | ") for line in PAIRS.read_text(encoding="utf-8").splitlines()]
    assert len(pairs) > 500
    assert [pair for pair in pairs if restates(*pair) or restates(*reversed(pair))] == []


def test_what_a_model_finds_alike_is_held_apart_by_its_words() -> None:
    pairs = [line.split(" | ") for line in SIMILAR.read_text(encoding="utf-8").splitlines()]
    assert len(pairs) > 150
    assert [pair for pair in pairs if measure(*pair) or measure(*reversed(pair))] == []


@pytest.mark.parametrize(("one", "other"), KEPT_QUALIFIED)
def test_what_a_model_finds_alike_may_say_the_same(one: str, other: str) -> None:
    assert min(measure(one, other), measure(other, one)) >= RESTATED


def measure(one: str, other: str) -> float:
    """Return how alike two texts count that a model takes for equal."""
    words = {text: split_tokens(text) for text in (one, other)}
    return Texts(words, dict.fromkeys(words, np.ones(1, np.float32)), "minilm-l6").measure(one, other)


@pytest.mark.parametrize("words", ["for ", "use ", "in ", "用", "not A, ", "We use a for b in "])
def test_any_text_is_read_at_once(words: str) -> None:
    long = (words * 400)[:399] + "."
    assert not restates(long, f"{long[:-2]}x.")


SWAPPED = [
    ("Rotate the keys of warehouse alpha monthly.", "Rotate the keys of warehouse beta monthly."),
    ("The orders service owns the price list.", "The billing service owns the price list."),
    ("The backend is copied at night.", "The backup is copied at night."),
    ("Extend the trial of the shop.", "Shorten the trial of the shop."),
    ("仓库甲的钥匙每月更换。", "仓库乙的钥匙每月更换。"),
]
KEPT = [
    ("Rotate the keys of the shop monthly.", "Rotate the keys of the shop each month."),
    ("We decided to cache all new prices.", "We agreed to cache all the new prices."),
    ("The shop retries caching once.", "The shop retry of cache once."),
    ("金额一律用整数分存储。", "金额一律使用整数分存储。"),
]


@pytest.mark.parametrize(("one", "other"), SWAPPED)
def test_another_word_in_the_same_place_is_seen(one: str, other: str) -> None:
    assert (swaps_words(one, other), swaps_words(other, one)) == (True, True)


@pytest.mark.parametrize(("one", "other"), KEPT)
def test_other_forms_and_orders_of_the_same_words_are_not(one: str, other: str) -> None:
    assert (swaps_words(one, other), swaps_words(other, one)) == (False, False)

"""Scores of words in memory: they are those that FTS5 gives, whatever was written before."""

import pytest
from django.db import connection

from memory.actors import Actor
from memory.db.backend import get_backend
from memory.db.bm25 import count_phrases
from memory.db.index_tokens import space_characters
from memory.db.indexes import full_text_index
from memory.db.matrixone.boolean_patterns import list_phrases
from memory.db.matrixone.search_index import list_texts
from memory.db.matrixone.word_statistics import MAX_CHARACTERS, Statistics, Word
from memory.db.sqlite import keyword_cache
from memory.engines.search.engine import SearchEngine
from memory.engines.store.maintenance import MaintenanceEngine
from memory.engines.versions.commits import open_commit
from memory.engines.versions.lookup import find_branch
from memory.models import Fact
from tests.databases import only_on_sqlite
from tests.memory.test_branches import content_of, some_actor, write

pytestmark = [pytest.mark.django_db(transaction=True), only_on_sqlite]

TEXTS = [
    *(f"amber number {n} of {'many ' * (n % 7)}stones" for n in range(40)),
    "amber amber amber",
    f"amber {'and more words ' * 100}",  # its length takes two bytes
    f"amber {'amber ' * 300}",
    "Ambers, running and RUNS",
    "a well-known café",
    "琥珀是一种化石",
    "t0 s1 o2 open amber",  # like the tokens of branches
]
TOKENS = full_text_index(Fact).tokens
WORDS = "amber ambers stones running well-known café cafe 琥珀 石 t0 s1 many".split()


def read_ranks(word: str) -> dict[int, float]:
    """Return the scores that FTS5 gives the rows that have a word."""
    spaced = " ".join(word) if not word.isascii() and word.isalpha() and "é" not in word else word
    sql = "SELECT rowid, -rank FROM memory_fact_fts WHERE memory_fact_fts MATCH %s"
    with connection.cursor() as cursor:
        cursor.execute(sql, [f'text:("{spaced}")'])
        return dict(cursor.fetchall())


def find_scores(actor: Actor, word: str) -> dict[int, float]:
    ranked, _ = Fact.objects.on(find_branch(actor, "main")).match_words([word], 1000)
    return dict(ranked)


def check_words(actor: Actor) -> None:
    for word in WORDS:
        ranks = read_ranks(word)
        assert find_scores(actor, word) == pytest.approx(ranks, rel=1e-6), word
    assert len(read_ranks("amber")) > 40


def test_scores_are_those_of_the_index() -> None:
    actor = some_actor()
    write(actor, *TEXTS)
    check_words(actor)


def test_scores_of_single_texts_are_those_of_the_index() -> None:
    """A database whose index scores otherwise has its candidates scored so."""
    actor = some_actor()
    rows = write(actor, *TEXTS)
    texts = list_texts((row.pk, row.fact_text, *(getattr(row, name) for name in TOKENS)) for row in rows)
    _, lengths = count_phrases([space_characters(text) for text, _ in texts.values()], [])
    mean = (sum(lengths) + sum(tokens for _, tokens in texts.values())) / len(texts)
    for word in WORDS:
        (phrase,), ranks = list_phrases([word]), read_ranks(word)
        words = {phrase: Word((), len(ranks))}
        statistics = Statistics("", len(texts), len(texts), mean, words)
        found = statistics.score_texts(texts, [phrase])
        assert {pk: score for pk, score in found.items() if score} == pytest.approx(ranks, rel=1e-6), word
    long = statistics.score_texts({1: ("y" * MAX_CHARACTERS, 1), 2: ("y", 1)}, [phrase])
    assert 0 < long[1] < 1e-8
    assert long[2] == 0


def test_scores_after_edits_and_deletions() -> None:
    """Ask for each word first after the changes, so that it is read from an index with deleted rows."""
    actor = some_actor()
    rows = write(actor, *TEXTS, *[f"amber before {n}" for n in range(20)])
    with open_commit(actor, "main", "change") as commit:
        for row in rows[:10]:
            commit.change_row(row, **content_of(f"stones of amber, {row.fact_text}"))
        for row in rows[10:15]:
            commit.remove_row(row)
    check_words(actor)


def test_texts_that_came_after_the_lengths_were_read() -> None:
    actor = some_actor()
    write(actor, *TEXTS)
    find_scores(actor, "amber")
    write(actor, "many stones, many many running stones", f"stones {'of amber ' * 90}")
    assert find_scores(actor, "running") == pytest.approx(read_ranks("running"), rel=1e-6)
    assert find_scores(actor, "many") == pytest.approx(read_ranks("many"), rel=1e-6)


def test_a_word_that_no_text_has() -> None:
    actor = some_actor()
    write(actor, "amber")
    assert find_scores(actor, "birch") == {} == find_scores(actor, "…")


def test_words_that_no_text_has_make_room_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    actor = some_actor()
    write(actor, "amber")
    monkeypatch.setattr(keyword_cache, "MAX_POSTINGS", 10 * keyword_cache.WORD_POSTINGS)
    for number in range(20):
        assert find_scores(actor, f"birch{number}") == {}
    assert keyword_cache.get_keyword_cache(connection, "memory_fact", "memory_fact_fts").count_words() == 10
    assert find_scores(actor, "amber") == pytest.approx(read_ranks("amber"), rel=1e-6)


def test_a_long_word_is_found_and_not_kept() -> None:
    actor, word = some_actor(), "y" * 300
    write(actor, f"amber {word}", "amber")
    assert find_scores(actor, word) == pytest.approx(read_ranks(word), rel=1e-6)
    assert keyword_cache.get_keyword_cache(connection, "memory_fact", "memory_fact_fts").count_words() == 0


def test_a_connection_that_has_a_part_of_the_vocabularies() -> None:
    """Their creation failed midway, as on a full disk; the next search of the connection goes on with it."""
    actor = some_actor()
    write(actor, "amber")
    connection.close()
    connection.ensure_connection()
    words = "fts5vocab('main', 'memory_fact_fts', 'instance')"
    connection.connection.execute(f"CREATE VIRTUAL TABLE temp.memory_fact_fts_words USING {words}")
    assert find_scores(actor, "amber") == pytest.approx(read_ranks("amber"), rel=1e-6)


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM memory_fact_fts_docsize",
        "UPDATE memory_fact_fts_docsize SET sz = x'01'",
        "UPDATE memory_fact_fts_data SET block = x'050505' WHERE id = 1",  # five texts
        "UPDATE memory_fact_fts_data SET block = x'' WHERE id = 1",
        "DELETE FROM memory_fact_fts_data WHERE id > 10",  # what says which texts have a word
    ],
)
def test_a_damaged_index_leaves_a_search_to_its_vectors_until_it_is_rebuilt(
    damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    actor = some_actor()
    write(actor, *TEXTS)
    with connection.cursor() as cursor:
        cursor.execute(damage)
    assert "index_error" in SearchEngine().search(query="amber", actor=actor).signals_used
    assert "search without keywords" in caplog.text
    MaintenanceEngine().rebuild_index()
    get_backend().clear_damage()  # as `day1 check` does when it finds nothing
    check_words(actor)

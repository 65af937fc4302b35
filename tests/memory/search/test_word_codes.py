"""Word codes that a process keeps: a bounded number of them, and none from before an erasure."""

from uuid import UUID

import pytest
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext

from memory.engines.embedding.engine import EmbeddingEngine
from memory.engines.search.engine import SearchEngine
from memory.engines.search.word_codes import OVERHEAD, CodeCache
from memory.models import Project, VectorClock

PROJECT = UUID(int=1)
SPACE = (PROJECT, 0, "a-model")


def test_of_too_many_the_first_go() -> None:
    cache = CodeCache(max_bytes=2 * (OVERHEAD + 48))
    cache.add(SPACE, {"one": b"1" * 48, "two": b"2" * 48})
    cache.add(SPACE, {"two": b"2" * 48, "three": b"3" * 48})
    assert cache.find(SPACE, ["one", "two", "three"]) == {"two": b"2" * 48, "three": b"3" * 48}
    cache.add(SPACE, {"four": b"4" * 5000})  # longer than all that there is room for
    assert cache.find(SPACE, ["one", "two", "three", "four"]) == {}


def test_projects_models_and_epochs_have_their_own() -> None:
    cache = CodeCache()
    others = [(UUID(int=2), 0, "a-model"), (PROJECT, 0, "another")]
    for number, space in enumerate([SPACE, *others]):
        cache.add(space, {"one": bytes([number + 1])})
    assert [cache.find(space, ["one"]) for space in (SPACE, *others)] == [
        {"one": b"\x01"},
        {"one": b"\x02"},
        {"one": b"\x03"},
    ]
    after = (PROJECT, 1, "a-model")
    assert cache.find(after, ["one"]) == {}
    cache.add(after, {"two": b"4"})
    assert [cache.find(space, ["one"]) for space in (SPACE, *others)] == [{}, {"one": b"\x02"}, {}]


@pytest.mark.django_db(transaction=True)
def test_a_search_reads_them_once_in_an_epoch(write, actor, project: Project, settings) -> None:
    settings.DAY1 = {**settings.DAY1, "embedder": "minilm"}
    text = "The deploys of the shop run on Friday."
    write(text)
    while EmbeddingEngine().embed_pending(project.pk):
        pass

    def count_reads(query: str) -> int:
        with CaptureQueriesContext(connection) as queries:
            hits = SearchEngine().search(query=query, actor=actor).hits
        assert [hit.fact.fact_text for hit in hits] == [text]
        return sum('."words"' in one["sql"].replace("`", '"') for one in queries)

    assert [count_reads(query) for query in ("When do deploys run?", "Which deploys of the shop?")] == [1, 0]
    VectorClock.objects.filter(project=project).update(epoch=F("epoch") + 1)  # as an erasure does
    assert [count_reads(query) for query in ("Who runs the deploys?", "What deploys run?")] == [1, 0]

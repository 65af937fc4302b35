"""Shortcuts to write and to search."""

import pytest

from memory.engines.search.engine import SearchResult
from tests.memory.search.helpers import fact_engine, search_engine


@pytest.fixture
def write(actor, main):
    def write(text, branch="main", **more):
        return fact_engine.write_fact(fact_text=text, branch_name=branch, actor=actor, **more).fact

    return write


@pytest.fixture
def many(actor, main):
    def many(*texts, branch="main", **more):
        facts = [{"fact_text": text, **more} for text in texts]
        done = fact_engine.write_facts(facts=facts, actor=actor, branch_name=branch, deduplicate=False)
        return [row.fact for row in done.results]

    return many


@pytest.fixture
def look(actor, main):
    def look(query, branch="main", **more) -> SearchResult:
        return search_engine.search(query=query, branch_name=branch, actor=actor, **more)

    return look

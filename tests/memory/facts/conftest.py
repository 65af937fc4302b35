"""Shortcuts to write, search and branch."""

import pytest

from tests.memory.facts.helpers import branch_manager, fact_engine, search_engine, texts


@pytest.fixture
def write(actor):
    def write(text="The cache is cleared every night.", branch="main", **more):
        return fact_engine.write_fact(fact_text=text, branch_name=branch, actor=actor, **more)

    return write


@pytest.fixture
def search(actor):
    def search(query, branch="main", **more):
        return texts(search_engine.search(query=query, branch_name=branch, actor=actor, **more))

    return search


@pytest.fixture
def child(actor, project):
    def child(name="task/a", parent="main", at=None):
        return branch_manager.create_branch(name=name, parent=parent, at=at, actor=actor)

    return child

"""Short ways to write, search and branch."""

import pytest

from tests.memory.facts.scenes import BRANCHES, ENGINE, SEARCH, texts


@pytest.fixture
def write(actor):
    def write(text="The cache is cleared every night.", branch="main", **more):
        return ENGINE.write_fact(fact_text=text, branch_name=branch, actor=actor, **more)

    return write


@pytest.fixture
def search(actor):
    def search(query, branch="main", **more):
        return texts(SEARCH.search(query=query, branch_name=branch, actor=actor, **more))

    return search


@pytest.fixture
def child(actor, project):
    def child(name="task/a", parent="main", at=None):
        return BRANCHES.create_branch(name=name, parent=parent, at=at, actor=actor)

    return child

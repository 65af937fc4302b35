"""Ids of what happened between two things that have theirs already."""

from memory.models.nodes import RANDOM_MASK, uuid7, uuid7_near


def test_a_near_id_sorts_between_its_neighbour_and_the_next() -> None:
    ids = [uuid7() for _ in range(300)]
    for before, other, after in zip(ids, ids[1:], ids[2:], strict=False):
        if RANDOM_MASK * 0.01 < other.int & RANDOM_MASK < RANDOM_MASK * 0.99:
            near = [uuid7_near(other, steps) for steps in (-2, -1, 1, 2)]
            whole = [before, *near[:2], other, *near[2:], after]
            assert whole == sorted(whole)
            assert {one.version for one in near} == {7}


def test_without_room_it_sorts_as_the_newest() -> None:
    full = uuid7()
    edge = type(full)(int=full.int | RANDOM_MASK)
    last = uuid7()
    assert uuid7_near(edge, 1) > last

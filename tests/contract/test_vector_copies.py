"""MatrixOne's copies of vectors: search results do not depend on them."""

from typing import Any

import pytest
from django.db import connection

from memory.actors import Actor
from memory.db.backend import get_index
from memory.models import Vector
from tests.contract.test_vectors_contract import ASKED, MODEL, actor, embed, near, shown, unit
from tests.databases import only_on_matrixone
from tests.memory.test_branches import write

__all__ = ["actor"]  # a fixture

pytestmark = [pytest.mark.django_db(transaction=True), only_on_matrixone]

VECTORS = {"east": (1, 0, 0), "north": (0, 1, 0), "between": (1, 1, 0)}
IN_ORDER = ["east", "between", "north"]
OLDER = """
    CREATE TABLE memory_vector_3 (
      slot char(32) NOT NULL PRIMARY KEY, project_id char(32) NOT NULL, model varchar(200) NOT NULL,
      content_hash char(64) NOT NULL, n bigint NOT NULL, e vecf32(3) NOT NULL)"""


def run(statement: str) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchall()


@pytest.fixture(autouse=True)
def no_copies(db: None) -> None:
    run("DROP TABLE IF EXISTS memory_vector_3")


def copied() -> int:
    return int(run("SELECT count(*) FROM memory_vector_3 WHERE content_hash <> ''")[0][0])


def cosines(actor: Actor) -> dict[str, float]:
    rows = shown(actor)
    text_of = dict(rows.values_list("pk", "fact_text"))
    found = rows.score_cosines(list(text_of), ASKED, MODEL, actor.project_id)
    return {text_of[rid]: round(score, 5) for rid, score in found}


def test_copied_or_not_the_same_is_found(actor: Actor) -> None:
    write(actor, *VECTORS, "south")
    embed(actor, **VECTORS)
    before = near(shown(actor), actor), cosines(actor)
    assert before == (IN_ORDER, {"east": 1.0, "between": 0.70711, "north": 0.0})
    get_index().refresh_vectors(actor.project_id, MODEL)
    assert copied() == 3
    assert (near(shown(actor), actor), cosines(actor)) == before
    embed(actor, south=(0, -1, 0.2))  # ready, and not copied yet
    assert copied() == 3
    assert set(near(shown(actor), actor)) == {*IN_ORDER, "south"}
    assert cosines(actor) == before[1] | {"south": 0.0}


def test_the_copies_of_vectors_that_were_deleted_go(actor: Actor) -> None:
    write(actor, *VECTORS)
    embed(actor, **VECTORS)
    get_index().refresh_vectors(actor.project_id, MODEL)
    gone = [row.slot for row in Vector.objects.all() if row.data @ unit(0, 1, 0) > 0.9]
    Vector.objects.filter(slot__in=gone).delete()
    get_index().delete_vectors(actor.project_id, gone)
    assert copied() == 2
    assert near(shown(actor), actor) == ["east", "between"]


def test_copies_in_the_order_of_an_older_release_are_made_anew(actor: Actor) -> None:
    write(actor, *VECTORS)
    embed(actor, **VECTORS)
    run(OLDER)
    run(
        "INSERT INTO memory_vector_3 SELECT slot, project_id, model, content_hash, n, data FROM memory_vector"
    )
    assert near(shown(actor), actor) == IN_ORDER
    get_index().optimize()
    (made,) = run("SHOW CREATE TABLE memory_vector_3")
    assert "PRIMARY KEY (`project_id`,`model`,`slot`)" in made[1]
    assert copied() == 3
    assert near(shown(actor), actor) == IN_ORDER

"""Windows: how far the turns of a conversation are from one another."""

import pytest

from memory.engines.embedding.engine import EmbeddingEngine
from memory.engines.search.windows import Turn, take_steps


@pytest.mark.parametrize(
    ("speakers", "steps"),
    [
        ("baba", [1, 2]),
        ("aabbab", [1, 1, 1, 1, 2]),  # the speaker's own run is as far as the next one's
        ("bbbaaa", [1, 1, 1, 2, 2, 2]),
        ("bbbbbbb", [1] * 6),
        ("aaaaaaaa", [1] * 6),
        ("---", [1, 2]),  # nobody known
        ("a-b", [1, 1, 2]),
        ("", []),
    ],
)
def test_a_step_is_a_run_of_one_speakers_turns(speakers, steps):
    turns = [Turn(at, str(at), name.strip("-")) for at, name in enumerate(speakers)]
    assert [(near.rid, near.distance) for near in take_steps("a", turns)] == [*enumerate(steps)]


def test_turns_of_nobody_known_are_steps_by_themselves():
    assert [near.distance for near in take_steps("", [Turn(at, "", "") for at in range(3)])] == [1, 2]


@pytest.mark.django_db(transaction=True)
def test_short_messages_in_a_row_take_up_no_reach(project, many, look, settings):
    settings.DAY1 = {"embedder": "minilm"}
    price = "{}It was far too expensive."
    for session, names in (("run", "Ann Ben Ben Ben Ben"), ("turns", "Ann Ben Ann Ben Ben"), ("nobody", "")):
        first, *others, last = [f"{name}: " for name in names.split()] or [""] * 5
        idle = [f"{name}Well, {session} part {number}." for number, name in enumerate(others)]
        many(f"{first}We bought a telescope in Lisbon.", *idle, price.format(last), session_id=session)
    EmbeddingEngine().embed_pending(project.pk)
    hits = look("Was the telescope from Lisbon expensive?", limit=20).hits
    windows = {
        hit.fact.session_id: hit.signals["window"]
        for hit in hits
        if hit.fact.fact_text.endswith("expensive.")
    }
    assert windows["run"] > 1.2 * windows["turns"]
    assert windows["run"] > 1.2 * windows["nobody"]

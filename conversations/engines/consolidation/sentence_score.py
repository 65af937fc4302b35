"""A score of whether a prompt lays down something to be known later: a linear model of its words.

The weights are those of a logistic regression, which ``bench/train_decisions.py`` makes from labelled
prompts and sentences in English and Chinese. No language model is called, and the time is linear in the text.
"""

import json
import re
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from math import sqrt
from pathlib import Path

from conversations.engines.consolidation.sentences import measure_length

WEIGHTS = Path(__file__).with_name("sentence_weights.json")
WEIGHT_UNIT = 100  # the file has hundredths
CJK = r"\u3400-\u9fff"
TOKEN = re.compile(rf"`[^`\n]*`|[{CJK}]|[A-Za-z0-9_][A-Za-z0-9_.:/@#*+~'’-]*|[^\s\w]")
NUMBER = re.compile(r"[\d.,]+")
IDENTIFIER = re.compile(r"[_/:@#.~*][A-Za-z0-9*]|`|[a-z][A-Z]|[A-Za-z]\d|\d[A-Za-z]")
NAME = re.compile(r"(?<=[\w,] )[A-Z][a-z]+")
MAX_COUNTED = 6  # sentences of a prompt, and steps of an answer's length, that are told apart
LENGTH_STEP = 25  # characters of an answer
MIN_STEM_LENGTH = 6  # characters of a word whose beginning and end are features too


def score_prompt(sentences: Sequence[str], after_question: bool = False) -> float:
    """Return the log-odds that a prompt's sentences lay something down: 0 is as likely as not.

    ``after_question`` says that the agent's text before the prompt ends with a question.
    """
    weights, found = load_weights(), list_prompt_features(sentences, after_question)
    return sum(weights.get(feature, 0) for feature in found) / WEIGHT_UNIT / sqrt(len(found))


def score_sentence(sentence: str) -> float:
    """Return the log-odds that a sentence, standing alone, lays something down."""
    return score_prompt([sentence])


def list_prompt_features(sentences: Sequence[str], after_question: bool) -> set[str]:
    """Return the features of the sentences, how many they are, and whether and how long they answer."""
    features = set[str]().union(*map(list_features, sentences))
    features |= {f"sentences {min(len(sentences), MAX_COUNTED)}", f"answer {after_question}"}
    if after_question:
        features.add(f"answer length {min(sum(map(measure_length, sentences)) // LENGTH_STEP, MAX_COUNTED)}")
    return features


def list_features(sentence: str) -> set[str]:
    """Return the words, pairs and triples of words, and the shape of a sentence."""
    words = list_words(sentence)
    around = ["<s>", *words, "</s>"]
    features = {"bias", f"length {min(len(words), 30) // 3}", *words}
    features |= {" ".join(pair) for pair in pairwise(around)}
    features |= {" ".join(three) for three in zip(around, around[1:], around[2:], strict=False)}
    for word in words:
        if len(word) >= MIN_STEM_LENGTH and word.isascii():
            features |= {f"{word[:5]}…", f"…{word[-3:]}"}
    return features | ({"<name>"} if NAME.search(sentence) else set())


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

"""The learned mix: its file, what is refused as one, and that it never falls when a signal rises."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.ranking_mix import MIX_FILE, SIGNALS, NotAMix, build_mix, load_mix, read_mix

UNIT = st.floats(0, 1)
PARTS = (*SIGNALS, "window", "brevity")
CANDIDATE = st.fixed_dictionaries(dict.fromkeys(PARTS, UNIT))
LIMIT_BYTES = 150 * 1024


def payload(**change):
    numbers = {
        "base_weight": 1.0,
        "speaker_share": 0.0,
        "window_weight": 0.0,
        "length_weight": 0.0,
        "scale": 1.0,
        "offset": 0.0,
    }
    return {"signals": list(SIGNALS), "trees": [0.5]} | numbers | change


def candidate(**values):
    return dict.fromkeys(PARTS, 0.0) | {"brevity": 1.0} | values


def columns(*candidates):
    return {name: np.array([one[name] for one in candidates]) for name in PARTS}


def test_a_tree_leads_to_its_leaf():
    tree = ["words", 0.5, ["speaker", 0.0, -1.0, 1.0], 2.0]
    mix = build_mix(payload(trees=[tree, 0.25]))
    rows = [candidate(), candidate(speaker=1.0), candidate(words=0.5), candidate(words=0.6)]
    matrix = [[row[name] for name in SIGNALS] for row in rows]
    assert mix.sum_trees(np.array(matrix)).tolist() == [-0.75, 1.25, -0.75, 2.25]


def test_the_relevance_is_logistic():
    mix = build_mix(payload(base_weight=2.0, scale=0.5, offset=-0.75, trees=[0.5]))
    assert mix.score(columns(candidate(base=0.5))).tolist() == [0.5]
    weights = {"base_weight": 2.0, "window_weight": 3.0, "length_weight": 0.5}
    mix = build_mix(payload(**weights, scale=0.5, offset=-1.75, trees=[0.5]))
    assert mix.score(columns(candidate(base=0.5, window=1.0, brevity=0.25))).tolist() == [0.5]


def test_the_trees_start_at_the_sum_or_an_answers_share_and_a_named_speaker():
    mix = build_mix(payload(base_weight=2.0, speaker_share=0.25))
    rows = [candidate(base=0.5), candidate(base=0.5, reply=0.75), candidate(base=0.5, speaker=1.0)]
    matrix = np.array([[row[name] for name in SIGNALS] for row in rows])
    assert mix.start(matrix).tolist() == [1.0, 1.5, 1.5]


@given(CANDIDATE, st.sampled_from(PARTS), UNIT)
def test_the_mix_never_falls_when_a_signal_rises(one, name, value):
    lower, higher = sorted((one[name], value))
    found = load_mix().score(columns(one | {name: lower}, one | {name: higher}))
    assert found[0] <= found[1]


@given(CANDIDATE)
def test_the_relevance_is_between_0_and_1_and_alone_as_among_others(one):
    alone = load_mix().score(columns(one))
    assert 0 < alone[0] < 1
    assert load_mix().score(columns(candidate(), one, candidate(words=1.0)))[1] == pytest.approx(alone[0])


def test_the_file_is_small_and_says_what_made_it():
    assert MIX_FILE.stat().st_size <= LIMIT_BYTES
    assert "bench/train_ranking.py" in json.loads(MIX_FILE.read_text())["about"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ([], "a mix is an object with trees."),
        ({}, "a mix is an object with trees."),
        (payload(trees=[]), "a mix is an object with trees."),
        (payload(signals=["words"]), f"the signals must be {', '.join(SIGNALS)}."),
        (payload(scale="1"), "scale must be a number."),
        (payload(offset=True), "offset must be a number."),
        (payload(scale=0), "base_weight and scale must be above 0."),
        (payload(speaker_share=-0.1), "speaker_share may not be below 0."),
        (payload(window_weight=-0.1), "window_weight may not be below 0."),
        (payload(trees=["x"]), "a leaf must be a number."),
        (payload(trees=[float("nan")]), "a leaf must be a number."),
        (payload(trees=[["words", 0.5, 1.0]]), "a tree is a number, or a signal, a limit and two trees."),
        (payload(trees=[["soup", 0.5, 1.0, 2.0]]), "a tree is a number, or a signal, a limit and two trees."),
        (payload(trees=[["words", None, 1.0, 2.0]]), "a limit must be a number."),
    ],
)
def test_a_file_that_is_no_mix_is_refused(tmp_path, content, reason):
    path = tmp_path / "mix.json"
    path.write_text(json.dumps(content))
    with pytest.raises(NotAMix) as caught:
        read_mix(path)
    assert str(caught.value) == f"{path}: {reason}"


def test_no_json_and_no_file(tmp_path):
    path = tmp_path / "mix.json"
    with pytest.raises(NotAMix, match="No such file or directory"):
        read_mix(path)
    path.write_text("{")
    with pytest.raises(NotAMix, match="is no JSON"):
        read_mix(path)

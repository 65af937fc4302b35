"""The model's graph, so that it looks up rows of its vocabulary before it scales them."""

from collections.abc import Mapping, Sequence

import pytest

from memory.providers import onnx_minilm
from memory.providers.model_graph import (
    ATTRIBUTE,
    GRAPH,
    NODE,
    TABLE,
    TABLE_NAME,
    Node,
    encode_field,
    encode_number,
    look_up_first,
    read_fields,
    read_node,
)

CAST = Node("Cast", ["whole"], ["float"], [])
SCALE = Node("Mul", ["float", "factors"], ["table"], [])
LOOK_UP = Node("Gather", ["table", "ids"], ["rows"], [])
SIZES = {"whole": (300, 4), "factors": (300, 1)}


def encode_table(name: str, sizes: Sequence[int]) -> bytes:
    numbers = b"".join(b"\x08" + encode_number(size) for size in sizes)
    return encode_field(TABLE, numbers + encode_field(TABLE_NAME, name.encode()))


def encode_model(nodes: list[Node], sizes: Mapping[str, Sequence[int]]) -> bytes:
    graph = [node.encode() for node in nodes] + [encode_table(*pair) for pair in sizes.items()]
    return b"\x08\x07" + encode_field(GRAPH, b"".join(graph)) + encode_field(14, b"end")


def list_nodes(model: bytes) -> list[tuple[str, list[str], list[str]]]:
    (graph,) = [one.value for one in read_fields(memoryview(model)) if one.number == GRAPH]
    nodes = [read_node(one.value) for one in read_fields(graph) if one.number == NODE]
    return [(node.kind, list(node.inputs), list(node.outputs)) for node in nodes]


def test_rows_are_looked_up_before_they_are_scaled() -> None:
    other = Node("Add", ["rows", "bias"], ["sum"], [])
    found = look_up_first(encode_model([CAST, SCALE, LOOK_UP, other], SIZES))
    assert list_nodes(found) == [
        ("Gather", ["whole", "ids"], ["rows_whole"]),
        ("Cast", ["rows_whole"], ["rows_cast"]),
        ("Gather", ["factors", "ids"], ["rows_factors"]),
        ("Mul", ["rows_cast", "rows_factors"], ["rows"]),
        ("Add", ["rows", "bias"], ["sum"]),
    ]
    assert found.startswith(b"\x08\x07")
    assert found.endswith(encode_field(14, b"end"))
    assert encode_table("whole", (300, 4)) in found


AXIS = encode_field(ATTRIBUTE, b"\x18\x01")


@pytest.mark.parametrize(
    ("nodes", "sizes"),
    [
        ([CAST, SCALE, LOOK_UP], {**SIZES, "factors": (1, 4)}),  # a factor for each column
        ([CAST, SCALE, LOOK_UP], {"factors": (300, 1)}),
        ([CAST, SCALE, LOOK_UP, Node("MatMul", ["x", "table"], ["y"], [])], SIZES),  # all rows are needed
        ([CAST, SCALE, LOOK_UP._replace(attributes=[memoryview(AXIS)])], SIZES),  # it looks up columns
        ([SCALE, LOOK_UP], SIZES),
        ([LOOK_UP], {}),
    ],
)
def test_models_of_another_form_stay_as_they_are(
    nodes: list[Node], sizes: Mapping[str, Sequence[int]]
) -> None:
    model = encode_model(nodes, sizes)
    assert look_up_first(model) == model


def test_both_tables_of_the_default_model_are_looked_up_first() -> None:
    model = onnx_minilm.read_default_model()
    before, after = list_nodes(model), list_nodes(look_up_first(model))
    assert len(after) == len(before) + 2  # one node more for words, one for their places
    # That it gives the same numbers is in test_local_model: a named file is loaded as it is.
    assert len(look_up_first(model)) < len(model) + 1000

"""ONNX models whose vocabulary is stored as whole numbers, with a scale for each row.

Such a model scales all rows, then looks some up: onnxruntime scales them once and keeps the result, 47 MB
where the file has 12. Rows that are looked up first are scaled to the same numbers. This reads and writes as
much of protobuf's wire format as that needs.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

GRAPH, NODE, TABLE = 7, 1, 5  # fields: of a model its graph; of a graph its nodes and its stored tables
INPUT, OUTPUT, NAME, KIND, ATTRIBUTE = 1, 2, 3, 4, 5  # of a node
TABLE_SIZES, TABLE_NAME = 1, 8
ATTRIBUTE_NUMBER = 3
NUMBER, EIGHT_BYTES, TEXT, FOUR_BYTES = 0, 1, 2, 5  # kinds of fields

Part = bytes | memoryview


class Field(NamedTuple):
    """A field of a message, its value, and where all of it stands."""

    number: int
    value: Any  # a number, or the bytes of a text or message
    whole: memoryview


class Node(NamedTuple):
    kind: str
    inputs: Sequence[str]
    outputs: Sequence[str]
    attributes: Sequence[memoryview]  # whole

    def encode(self) -> bytes:
        texts = [*((INPUT, one) for one in self.inputs), *((OUTPUT, one) for one in self.outputs)]
        texts += [(NAME, f"{self.outputs[0]}_made"), (KIND, self.kind)]
        parts = [encode_field(number, text.encode()) for number, text in texts]
        return encode_field(NODE, b"".join([*parts, *map(bytes, self.attributes)]))


def look_up_first(model: bytes) -> bytes:
    """Return a model that scales the rows that it has looked up; one of another form as it is."""
    parts: list[Part] = []  # joined once: each copy is 22 MB
    for field in read_fields(memoryview(model)):
        parts += wrap_parts(GRAPH, rewrite_graph(field.value)) if field.number == GRAPH else [field.whole]
    return b"".join(parts)


def rewrite_graph(graph: memoryview) -> list[Part]:
    fields = list(read_fields(graph))
    nodes = {place: read_node(one.value) for place, one in enumerate(fields) if one.number == NODE}
    sizes = dict(read_table(one.value) for one in fields if one.number == TABLE)
    parts: list[Part] = [one.whole for one in fields]
    makers = {node.outputs[0]: place for place, node in nodes.items()}
    for place, gather in nodes.items():
        for made, scaling in find_scaling(gather, nodes, makers, sizes):
            parts[made] = b""
            parts[place] = b"".join(node.encode() for node in scaling)
    return parts


def find_scaling(
    gather: Node, nodes: Mapping[int, Node], makers: Mapping[str, int], sizes: Mapping[str, Sequence[int]]
) -> Iterator[tuple[int, Sequence[Node]]]:
    """Yield the places of the nodes that scale what a node looks up, and what takes the place of all."""
    scale = nodes.get(makers.get(gather.inputs[0], -1))
    cast = scale and nodes.get(makers.get(scale.inputs[0], -1))
    if not scale or not cast or (gather.kind, scale.kind, cast.kind) != ("Gather", "Mul", "Cast"):
        return
    whole, factors, rows = cast.inputs[0], scale.inputs[1], gather.outputs[0]
    users = [
        node for node in nodes.values() for name in node.inputs if name in (*scale.outputs, *cast.outputs)
    ]
    if sizes.get(factors) != [*sizes.get(whole, ())[:1], 1] or len(users) > 2 or not looks_up_rows(gather):
        return
    names = f"{rows}_whole", f"{rows}_cast", f"{rows}_factors"
    found = [
        gather._replace(inputs=[whole, gather.inputs[1]], outputs=names[:1]),
        cast._replace(inputs=names[:1], outputs=names[1:2]),
        gather._replace(inputs=[factors, gather.inputs[1]], outputs=names[2:]),
        scale._replace(inputs=names[1:], outputs=[rows]),
    ]
    for made in (cast, scale):
        yield makers[made.outputs[0]], found


# ---- protobuf ------------------------------------------------------------------------------------------


def read_fields(message: memoryview) -> Iterator[Field]:
    """Yield the fields of a message. Raises ValueError, IndexError for what is none."""
    at = 0
    while at < len(message):
        begun = at
        key, at = read_number(message, at)
        kind = key & 7
        value: Any = 0
        if kind == NUMBER:
            value, at = read_number(message, at)
        elif kind == TEXT:
            size, at = read_number(message, at)
            value, at = message[at : at + size], at + size
        elif kind in (EIGHT_BYTES, FOUR_BYTES):
            at += 8 if kind == EIGHT_BYTES else 4
        else:
            raise ValueError("no field of a model")
        yield Field(key >> 3, value, message[begun:at])


def read_number(message: memoryview, at: int) -> tuple[int, int]:
    """Return a number and where it ends."""
    value = shift = 0
    while True:
        byte = message[at]
        at, value, shift = at + 1, value | (byte & 127) << shift, shift + 7
        if byte < 128:
            return value, at


def encode_number(value: int) -> bytes:
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes([*found, value])


def encode_field(number: int, value: bytes) -> bytes:
    return b"".join(wrap_parts(number, [value]))


def wrap_parts(number: int, parts: Sequence[Part]) -> list[Part]:
    """Return the parts of a field whose value is these parts."""
    return [encode_number(number << 3 | TEXT), encode_number(sum(map(len, parts))), *parts]


def list_texts(fields: Sequence[Field], number: int) -> list[str]:
    return [str(field.value, "utf-8") for field in fields if field.number == number]


def read_node(message: memoryview) -> Node:
    fields = list(read_fields(message))
    attributes = [field.whole for field in fields if field.number == ATTRIBUTE]
    kind = "".join(list_texts(fields, KIND))
    return Node(kind, list_texts(fields, INPUT), list_texts(fields, OUTPUT), attributes)


def read_table(message: memoryview) -> tuple[str, list[Any]]:
    """Return the name of a stored table, and its sizes."""
    fields = list(read_fields(message))
    sizes = [field.value for field in fields if field.number == TABLE_SIZES]
    return "".join(list_texts(fields, TABLE_NAME)), sizes


def looks_up_rows(gather: Node) -> bool:
    """Return whether a node looks rows up, not columns: that is what no attribute says, or its number 0."""
    found = [field for one in gather.attributes for field in read_fields(next(read_fields(one)).value)]
    return not any(field.value for field in found if field.number == ATTRIBUTE_NUMBER)

"""A declaration that does not fit its method is refused at once; a query has the values that JSON has."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Annotated, Any

import pytest

from day1site.mcp.call_context import Arguments
from memory.actors import Actor
from memory.api.operation_views import (
    build_input,
    build_view,
    describe_operation,
    find_code,
    find_row,
    list_answers,
)
from memory.engines.facts.filters import Filter, filters_by
from memory.engines.fields.base import Field
from memory.engines.fields.common import STATED
from memory.engines.fields.filters import any_of, one_of
from memory.engines.fields.tasks import JOINING_AGENT
from memory.engines.fields.types import Choice, Flag, ListOf, Number, Record, Reference, TagList, Text, Whole
from memory.exceptions import Invalid
from memory.models import AgentTask
from memory.operations.base import RESOURCES, Answer, Operation, Resource, Row
from memory.operations.inputs import Query
from memory.operations.parameters import Parameter, take_parameters
from memory.operations.tasks import TASKS

NAME, SHARE, TAGS = Field("name", Text(20, 1)), Field("share", Number()), Field("tags", TagList())
NAMES, IS_OPEN = Field("names", ListOf(Reference(9), max_items=2)), Field("is_open", Flag(), null=True)
KINDS, MANY = Field("kinds", ListOf(Choice([("lead", ""), ("iron", "")]))), Field("limit", Whole(1, 500))
FILTERS = any_of(NAME, "Of these."), one_of("is_open", Flag(), "Open.")


class Engine:
    def weigh(
        self,
        *,
        actor: Actor,
        share: Annotated[float, SHARE] = 0.0,
        tags: Annotated[Any, TAGS] = (),
        names: Annotated[Any, NAMES] = (),
        is_open: Annotated[bool | None, IS_OPEN] = None,
    ) -> dict[str, Any]:
        return {}

    def round(self, *, actor: Actor, share: Annotated[float, SHARE]) -> None:
        """Take what nobody may leave out."""

    def change(self, *, old_scale: str, updates: dict[str, Any], actor: Actor) -> None:
        """Take changes as one argument."""

    def pile(
        self,
        *,
        actor: Actor,
        kinds: Annotated[Any, KINDS] = (),
        limit: Annotated[int, MANY] = 500,
        cursor: str = "",
    ) -> None:
        """Take more on a page than other lists."""

    def guess(self, *, actor: Actor, mystery: str = "") -> None:
        """Take what nothing declares."""


@pytest.fixture
def scales() -> Iterator[Resource]:
    yield Resource("scales", "scale", row=Row("scale", "scale"), model=AgentTask)
    del RESOURCES["scales"]


ROW = Answer(TASKS.operations["retrieve"].answer.shape, dict)


def declare(scales: Resource, name: str, method: Any, **traits: Any) -> Operation:
    scales.add(name, method, "Weigh", ROW, **traits)
    return scales.operations[name]


def test_a_query_has_the_values_that_a_body_has(scales: Resource) -> None:
    inputs = declare(scales, "weigh", Engine().weigh, verb="get").inputs
    query = Query("share=0.5&tags=a,b&names=c,d&is_open=false")
    assert take_parameters(inputs, query) == {
        "share": 0.5,
        "tags": ["a", "b"],
        "names": ["c", "d"],
        "is_open": False,
    }
    with pytest.raises(Invalid, match="share must be a number"):
        take_parameters(inputs, Query("share=half"))
    with pytest.raises(Invalid, match="names must be a list of at most 2 texts"):
        take_parameters(inputs, Query("names=a,b,c"))


@filters_by(FILTERS)
class ScaleFilter(Filter):
    pass


def list_scales(
    *, actor: Actor, filters: ScaleFilter | None = None, vector: Any = None, limit: int = 9, cursor: str = ""
) -> None:
    """Take the filters as one object, and what Python alone gives."""


def test_a_repeated_value_is_a_list_and_each_may_have_several(scales: Resource) -> None:
    inputs = declare(scales, "pile", Engine().pile, verb="get").inputs
    assert take_parameters(inputs, Query("kinds=lead,iron&kinds=iron"))["kinds"] == ["lead", "iron", "iron"]


def test_null_is_taken_where_the_field_says_so_and_an_empty_choice_where_it_is_the_default() -> None:
    record = Parameter(Field("filters", Record("Filters", "", (NAME,)), null=True), "filters")
    assert record.check("filters", None) is None
    with pytest.raises(Invalid, match="filters must be an object"):
        record.check("filters", "x")
    preset = Field("preset", Choice([("coding", "")]))
    assert Parameter(preset, "preset", default="").check("preset", "") == ""
    with pytest.raises(Invalid, match="preset must be one of coding"):
        Parameter(preset, "preset").check("preset", "")


def test_a_field_of_a_noun_stands_in_the_body(scales: Resource) -> None:
    changing = declare(scales, "weigh", Engine().weigh, body="WeighInput", fields=(SHARE,))
    assert "share" not in build_input(changing).in_query
    assert {"tags", "is_open"} <= build_input(changing).in_query
    reading = declare(scales, "look", Engine().weigh, verb="get", fields=(SHARE,))
    assert "share" in build_input(reading).in_query


def test_filters_may_be_one_argument(scales: Resource) -> None:
    scales.add("list", list_scales, "List", ROW, filters=FILTERS, without=("vector",))
    operation = scales.operations["list"]
    found = take_parameters(operation.parameters, Query("name=left,right&is_open=true&limit=5"))
    assert found == {"filters": ScaleFilter(name=("left", "right"), is_open=True), "limit": 5}
    assert take_parameters(operation.parameters, Query("")) == {"filters": ScaleFilter()}
    assert [one["name"] for one in operation.describe()["takes"]] == ["name", "is_open"]
    assert operation.describe()["paged"]
    assert "sorted" not in operation.describe()


def test_a_record_is_a_part_of_a_request(scales: Resource) -> None:
    part = Field("part", Record("PartInput", "A part.", (NAME, SHARE)))
    parts = Field("parts", ListOf(part.type, min_items=1, max_items=9))

    def split(*, actor: Actor, parts: Annotated[Any, parts], part: Annotated[Any, part] = None) -> None: ...

    operation = declare(scales, "split", split, body="SplitInput")
    fields = build_input(operation)().get_fields()
    assert type(fields["part"]).__name__ == "PartInput" == type(fields["parts"].child).__name__
    assert list(fields["part"].get_fields()) == ["name", "share"]
    assert fields["parts"].max_length == 9
    assert operation.describe()["takes"][1]["fields"] == ["name", "share"]
    with pytest.raises(Invalid, match="part must be an object"):
        take_parameters(operation.parameters, Arguments({"parts": [], "part": 1}))


def test_what_does_not_fit_the_method_is_refused(scales: Resource) -> None:
    with pytest.raises(TypeError, match=r"Engine\.guess does not say what mystery is"):
        _ = declare(scales, "guess", Engine().guess).inputs
    with pytest.raises(TypeError, match=r"Engine\.weigh does not take name"):
        _ = declare(scales, "named", Engine().weigh, fields=(NAME,)).inputs
    with pytest.raises(TypeError, match="weigh takes values from a body: name it"):
        describe_operation(declare(scales, "weigh", Engine().weigh))


def test_what_the_method_cannot_do_without_is_needed_on_every_surface(scales: Resource) -> None:
    operation = declare(scales, "round", Engine().round, body="RoundInput")
    with pytest.raises(Invalid, match="share is needed"):
        take_parameters(operation.inputs, Query(""))
    assert build_input(operation)().get_fields()["share"].required
    assert operation.describe()["takes"][0]["required"]


def test_changes_may_be_one_argument(scales: Resource) -> None:
    change = declare(scales, "change", Engine().change, verb="get", fields=(TAGS,), of_row="old_scale")
    assert take_parameters(change.inputs, Query("tags=a")) == {"updates": {"tags": ["a"]}}
    assert take_parameters(change.inputs, Query("")) == {"updates": {}}
    assert scales.write_path(change) == "/scales/{old_scale}/change"


def test_a_field_may_have_another_name_and_values_of_day1_alone(scales: Resource) -> None:
    known = (Field("kind", Choice([("a", "A"), ("own", "Own")], reserved=("own",)), alias="type"),)
    inputs = declare(scales, "change", Engine().change, verb="get", fields=known, of_row="old_scale").inputs
    assert take_parameters(inputs, Query("type=a")) == {"updates": {"kind": "a"}}
    assert take_parameters(inputs, Query("kind=own")) == {"updates": {"kind": "own"}}  # the engine says why
    with pytest.raises(Invalid, match=r"^kind must be one of a\.$"):
        take_parameters(inputs, Query("kind=b"))
    with pytest.raises(Invalid, match="kind and type say different things"):
        take_parameters(inputs, Query("kind=a&type=b"))


def test_commands_offer_what_a_caller_says_of_itself_where_it_has_an_option(scales: Resource) -> None:
    agent = JOINING_AGENT.with_traits(help="Who weighs.")
    weigh = declare(scales, "weigh", Engine().weigh, body="WeighInput", origin=(*STATED[:2], agent))
    assert [one["name"] for one in weigh.describe()["takes"]][4:] == ["agent_id"]
    assert [one.name for one in weigh.inputs][4:] == ["session_id", "task_id", "agent_id"]


def test_an_argument_that_a_list_states_differs_from_that_of_every_list(scales: Resource) -> None:
    pile = declare(scales, "pile", Engine().pile, verb="get")
    assert [one["name"] for one in pile.describe()["takes"]] == ["kinds", "limit"]
    with pytest.raises(Invalid, match=r"kinds must be one of iron, lead\."):
        take_parameters(pile.inputs, Query("kinds=lead,gold"))


def test_a_row_has_an_id_or_a_number(scales: Resource) -> None:
    scales.row = Row("scale", "pk", "key")
    key = "01970000-0000-7000-8000-000000000000"
    assert find_row(scales.row, "12", {}) == 12
    assert str(find_row(scales.row, key, {})) == key
    for text in ("1234567890", "x", "-1", "١"):
        with pytest.raises(Invalid, match="id must be a UUID"):
            find_row(scales.row, text, {})


def test_what_stands_in_the_address_is_no_part_of_the_body(scales: Resource) -> None:
    answer = replace(ROW, others={202: ROW.shape})
    traits = {"body": "LoadInput", "in_query": ("share",), "is_long": True}
    scales.add("weigh", Engine().weigh, "Weigh", answer, **traits)
    operation = scales.operations["weigh"]
    assert build_input(operation)().get_fields().keys() == {"tags", "names", "is_open"}
    assert take_parameters(operation.inputs, Query("share=0.5")) == {"share": 0.5}
    assert list_answers(operation).keys() == {200, 202}
    assert build_view(scales).long_actions == {"weigh"}


def test_a_long_operation_stores_the_status_that_it_answers(scales: Resource) -> None:
    declare(scales, "create", Engine().weigh, body="NewScaleInput", about="A scale.")
    view: Any = build_view(scales)()
    stored: list[Any] = []
    view.action, view._store = "create", stored.append
    view.keep_answer(dict, partial(find_code, scales.operations["create"]))({"share": 0.5})
    assert [(one.status, one.body) for one in stored] == [(201, '{"share": 0.5}')]


def test_an_operation_and_a_resource_are_declared_once(scales: Resource) -> None:
    declare(scales, "weigh", Engine().weigh, verb="get")
    with pytest.raises(ValueError, match=r"scales\.weigh is declared twice"):
        declare(scales, "weigh", Engine().weigh)
    with pytest.raises(ValueError, match="its path is not understood"):
        declare(scales, "share", Engine().weigh, path="shares/<float:n>")
    with pytest.raises(ValueError, match="scales is declared twice"):
        Resource("scales", "other", row=Row("scale", "scale"), model=AgentTask)

"""ViewSets of the REST framework, from the operations that are declared below the surfaces."""

import sys
from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial
from typing import Any

from drf_spectacular.drainage import set_override
from rest_framework import serializers as s
from rest_framework.decorators import action
from rest_framework.fields import empty
from rest_framework.request import Request
from rest_framework.response import Response

from memory.answers.declared_serializers import POINT, request_field
from memory.answers.rendering import page_shape
from memory.api import base, schema
from memory.engines.embedding.awaited import awaited_texts
from memory.engines.fields import types
from memory.engines.fields.base import Field
from memory.engines.fields.common import WAIT
from memory.engines.support.pagination import Page
from memory.engines.versions.lookup import MAIN
from memory.filters import build_filter_set
from memory.operations.base import (
    PLACE,
    RESOURCES,
    USUAL,
    Answer,
    Operation,
    Resource,
    Row,
)
from memory.operations.calls import PARSERS
from memory.operations.inputs import Input
from memory.operations.parameters import COMMON, Parameter, take_parameters

PATTERNS = {"int": r"\d{1,4}", "path": ".+?", "uuid": "[^/]+", "": "[^/]+"}
WITH_BODY = frozenset({"post", "put", "patch"})
FORMAT, JSON = "format", "json"  # the parameter that names a form, and its usual value
# The arguments that a star in a header means.
STARS = {"only_new": ("If-None-Match", schema.ONLY_NEW), "only_present": ("If-Match", None)}
Handler = Callable[..., Response]


def build_view(resource: Resource) -> type[base.ResourceViewSet]:
    """Return a ViewSet with an action for each operation of a resource."""
    operations = resource.operations.values()
    row = resource.row or Row("pk", "pk")
    traits: dict[str, Any] = {
        "operations": resource.operations,
        "lookup_field": row.place,
        "lookup_value_regex": row.pattern,
        "is_of_server": resource.is_of_server,
        "filterset_class": build_filter_set(resource.model, resource.filters) if resource.filters else None,
        "long_actions": frozenset(one.name for one in operations if one.keeps or one.is_long),
        "reading_actions": frozenset(one.name for one in operations if one.reads),
        "end_user_actions": frozenset(one.name for one in operations if one.serves_end_users),
        "untold": {one.name: one.answer.untold for one in operations if one.answer.untold},
    }
    name = "".join(part.title() for part in resource.name.split("-"))
    return type(f"{name}ViewSet", (base.ResourceViewSet,), {**traits, **make_actions(operations)})


def make_actions(operations: Iterable[Operation]) -> dict[str, Handler]:
    """Return the methods of a ViewSet; those at one address are one route with a method for each verb."""
    actions: dict[str, Handler] = {}
    routes: dict[tuple[bool, str], Any] = {}
    for operation in operations:
        handle, address = make_action(operation), (bool(operation.row), operation.path)
        if address in routes:
            getattr(routes[address].mapping, operation.verb)(handle)
        elif operation.name not in USUAL:
            handle = routes[address] = route_action(operation, handle)
        actions[operation.name] = handle
    return actions


def make_action(operation: Operation) -> Handler:
    """Return the method of a ViewSet that carries an operation out."""

    def handle(self: base.ResourceViewSet, request: Request, **places: Any) -> Response:
        arguments = read_arguments(operation, request, places)
        form = arguments.pop(FORMAT, "") or find_accepted_form(operation.answer, request)
        if operation.waits and arguments.pop(WAIT.name, ""):
            awaited_texts.start()
        render = operation.bind_render(arguments)
        if operation.keeps:
            arguments["keep"] = self.keep_answer(render, partial(find_code, operation))
        result = operation.run(**arguments)
        if form in operation.answer.files:
            return operation.answer.files[form](render(result), operation.method.__name__)
        return build_response(operation, result, render, request)

    handle.__name__ = operation.name
    return handle


def route_action(operation: Operation, handle: Handler) -> Handler:
    """Give a method of a ViewSet its address."""
    path = PLACE.sub(lambda found: f"(?P<{found['name']}>{PATTERNS[found['kind'] or '']})", operation.path)
    return action(detail=bool(operation.row), methods=[operation.verb], url_path=path)(handle)


# ---- a request -------------------------------------------------------------------------------------


def read_arguments(operation: Operation, request: Request, places: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of the operation's method. Raises Invalid, UnknownField, AgentForbidden, and what
    finds the row.
    """
    kinds, row = operation.places, operation.row
    own = {name: PARSERS[kinds[name]](name, text) for name, text in places.items() if name in kinds}
    form = build_input(operation)(data=Input(request))
    form.is_valid(raise_exception=True)
    values = form.validated_data
    origin = {one.name: values.pop(one.name) for one in operation.stated if one.name in values}
    values["actor"] = base.get_request_actor(request).with_origin(**origin)
    if row:
        own[row.argument] = find_row(row, places[row.place], values)
    arguments = {**own, **values}
    for name, (header, _) in STARS.items():
        if name in operation.arguments and request.headers.get(header, "").strip() == "*":
            arguments[name] = True
    if operation.is_conditional:
        arguments["expected_version"] = find_version(operation, request, arguments)
    return arguments


def find_accepted_form(answer: Answer, request: Request) -> str:
    """Return the form of a file that the caller accepts where it accepts no JSON."""
    if not answer.files:
        return ""
    accepted = request.headers.get("Accept", "")
    kinds = {part.partition(";")[0].strip().lower().partition("/")[2] for part in accepted.split(",")}
    return "" if JSON in kinds else next((form for form in answer.files if form in kinds), "")


def build_format(answer: Answer) -> Parameter:
    """Return the parameter that names the form of an answer."""
    forms = [JSON, *answer.files]
    words = (
        f"{', '.join(answer.files)}, as with Accept: {', '.join(f'text/{form}' for form in answer.files)}."
    )
    return Parameter(Field(FORMAT, types.Choice([(form, form) for form in forms]), words), FORMAT)


def list_inputs(operation: Operation) -> tuple[Parameter, ...]:
    """Return what a request may hold."""
    forms = (build_format(operation.answer),) if operation.answer.files else ()
    return (*operation.inputs, *forms)


def find_row(row: Row, text: str, values: Mapping[str, Any]) -> Any:
    """Return the argument of the methods of what an address names. Raises Invalid, or as ``find`` does."""
    if row.find is None:
        return PARSERS[row.kind]("id", text)
    return row.find("id", text, actor=values["actor"], branch_name=values.get("branch_name") or MAIN)


def find_version(operation: Operation, request: Request, arguments: Mapping[str, Any]) -> int | None:
    """Return the version that the caller has read. Raises Invalid, StaleVersion."""

    def read_current() -> int:
        known = RESOURCES[operation.prefix].operations
        reader = known.get("retrieve") or known["get_item"]
        where = {one: arguments[one] for one in ("branch_name", "actor") if one in arguments}
        where |= zip(reader.places, (arguments[one] for one in operation.places), strict=False)
        version: int = reader.method(**where).version
        return version

    return base.agree_on_version(request, arguments.get("expected_version"), read_current)


class OperationInput(s.Serializer):
    """What an operation takes from the query and the body of a request, as arguments of its method."""

    inputs: tuple[Parameter, ...] = ()
    in_query: frozenset[str] = frozenset()
    in_body: frozenset[str] = frozenset()

    def run_validation(self, data: Any = empty) -> dict[str, Any]:
        """Return the arguments that were given, in the order of the declaration.

        What is wrong first is raised as the engines raise it, and not as the REST framework's list of
        errors: Invalid, UnknownField, TooLarge.
        """
        payload: Input = data
        payload.refuse_others(self.in_query, self.in_body)
        return take_parameters(self.inputs, payload)


INPUTS: dict[str, type[OperationInput]] = {}


@cache
def build_input(operation: Operation) -> type[OperationInput]:
    """Return the serializer that validates requests of an operation: one for all with the same body."""
    inputs, name = list_inputs(operation), operation.body or f"{operation.prefix}.{operation.name}"
    if name not in INPUTS:
        names = {
            "in_query": frozenset(
                word for one in inputs if may_stand_in_query(operation, one) for word in one.names
            ),
            "in_body": frozenset(word for one in inputs for word in one.names),
        }
        fields = {
            one.name: request_field(one.field, **describe_default(one))
            for one in inputs
            if one.name not in operation.in_query
        }
        traits = {"inputs": inputs, **names, **fields, "__doc__": operation.about}
        INPUTS[name] = type(name, (OperationInput,), traits)
        set_override(INPUTS[name], "component_name", name)
    if INPUTS[name].inputs != inputs:
        raise TypeError(f"{name} of {operation.prefix}.{operation.name} is another one than before.")
    return INPUTS[name]


def may_stand_in_query(operation: Operation, parameter: Parameter) -> bool:
    """Return whether an address may have it: fields of a noun stand in the body of a request that has one,
    since addresses are logged.
    """
    if operation.verb not in WITH_BODY or parameter.name in operation.in_query:
        return True
    is_text = parameter.required and parameter.field.type.redacted
    return not is_text and parameter.name not in {one.name for one in operation.fields}


# ---- a response ------------------------------------------------------------------------------------


def build_response(
    operation: Operation, result: Any, render: Callable[[Any], Any], request: Request
) -> Response:
    answer = operation.answer
    code = find_code(operation, result)
    if operation.answers_page:
        page = Page(result, None, None) if answer.is_complete else result
        return Response(page_shape(page, render), status=code)
    shown = render(result)
    if is_cacheable(operation):
        return base.build_cached_response(request, shown)
    return base.build_row_response(shown, code)


def find_code(operation: Operation, result: Any) -> int:
    """Return the status of the answer to a result."""
    return operation.answer.find_code(result) or get_usual_code(operation)


def get_usual_code(operation: Operation) -> int:
    return 201 if operation.name == "create" else 200


def list_codes(operation: Operation) -> tuple[int, ...]:
    """Return every status that an answer may have."""
    answer = operation.answer
    return (201, 200) if answer.is_created else answer.codes or (get_usual_code(operation),)


@cache
def is_cacheable(operation: Operation) -> bool:
    """Return whether it reads a row with an ETag: 304 is answered to who has it."""
    shape, reads_row = operation.answer.shape, operation.verb == "get" and operation.row is not None
    return reads_row and not operation.answers_page and shape is not None and has_tag(shape)


def has_tag(shape: type) -> bool:
    return bool(base.TAGGED & shape().get_fields().keys())


# ---- OpenAPI ---------------------------------------------------------------------------------------


def describe_endpoints(endpoints: list[tuple]) -> list[tuple]:
    """Document the actions of declared operations, when a document is made: no start waits for it."""
    for *_, method, view in endpoints:
        name = getattr(view, "actions", {}).get(method.lower(), "")
        operation = getattr(view.cls, "operations", {}).get(name)
        if operation and "schema" not in getattr(handle := getattr(view.cls, name), "kwargs", ()):
            describe_operation(operation)(handle)
    return endpoints


def describe_operation(operation: Operation) -> Callable[[Handler], Handler]:
    """Return a decorator that documents an action."""
    if operation.inputs and not operation.body and operation.verb in WITH_BODY:
        raise TypeError(f"{operation.name} takes values from a body: name it.")
    body = build_input(operation) if operation.body else None
    stated = [describe_parameter(one) for one in operation.inputs if one.name in operation.in_query]
    parameters = stated if operation.body else list_query(operation)
    return schema.route(
        operation.summary,
        list_answers(operation),
        body,
        [*parameters, *list_headers(operation)],
        operation.example,
        operation.operation_id or None,
    )


def list_answers(operation: Operation) -> dict[int, Any]:
    """Return what is answered, by status."""
    shape = operation.answer.shape
    for one in (shape, *operation.answer.others.values()):
        if one:
            schema.name_components(sys.modules[one.__module__])
    if shape is None:
        return {**dict.fromkeys(list_codes(operation), schema.GONE), **operation.answer.others}
    answered = schema.page(shape) if operation.answers_page else shape
    answers = {**dict.fromkeys(list_codes(operation), answered), **operation.answer.others}
    return {**answers, 304: schema.SAME} if is_cacheable(operation) else answers


def list_headers(operation: Operation) -> list[Any]:
    headers = [schema.IF_MATCH] if operation.is_conditional else []
    headers += [stated for name, (_, stated) in STARS.items() if stated and name in operation.arguments]
    return [*headers, schema.IF_NONE_MATCH] if is_cacheable(operation) else headers


def list_query(operation: Operation) -> list[Any]:
    """Return the query parameters of an operation without a body."""
    own = {one.name for one in operation.filters}
    plain = [one for one in operation.select_unpaged(list_inputs(operation)) if one.name not in own]
    parameters = [describe_parameter(one) for one in plain]
    if operation.filters:
        parameters += schema.list_filter_parameters(build_filter_set(operation.model, operation.filters))
    if not operation.is_paged:
        return parameters
    paging, stated = schema.paging_by(operation.order), {one.name for one in plain}
    return parameters + [one for one in paging if one.name not in stated]


KNOWN = {
    "branch_name": schema.BRANCH,
    "at": schema.AT,
    "expected_version": schema.EXPECTED,
    **{one.name: one for one in schema.STATED},
}


def describe_parameter(parameter: Parameter) -> Any:
    """Return the query parameter in the document."""
    known = KNOWN.get(parameter.argument)
    if known and parameter.field == COMMON.get(parameter.argument, parameter.field):
        return known
    return schema.query(parameter.name, describe_value(parameter), parameter.field.help, parameter.required)


def describe_value(parameter: Parameter) -> dict[str, Any]:
    """Return the JSON schema of a query parameter."""
    return {**describe_type(parameter.field.type), **describe_default(parameter)}


def describe_default(parameter: Parameter) -> dict[str, Any]:
    """Return what the method takes where nothing is given, for the document."""
    default = getattr(parameter.default, "value", parameter.default)
    return {} if default in (None, "", ()) else {"default": default}


def describe_type(kind: types.Type) -> dict[str, Any]:
    """Return the JSON schema of a type."""
    match kind:
        case types.Whole():
            return {"type": "integer", "minimum": kind.low, "maximum": kind.high}
        case types.Number():
            return {"type": "number", "minimum": kind.low, "maximum": kind.high}
        case types.Flag():
            return {"type": "boolean"}
        case types.Choice():
            return {"type": "string", "enum": kind.values}
        case types.Moment():
            return {"type": "string", "format": "date-time"}
        case types.Point():
            return {"anyOf": POINT["anyOf"]}
        case types.Identifier():
            return {"type": "string", "format": "uuid"}
        case types.Text():
            return {"type": "string", "maxLength": kind.max_length}
        case types.ListOf():
            return {"type": "array", "items": describe_type(kind.item), "minItems": 1}
    return {"type": "string"}

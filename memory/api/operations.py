"""ViewSets of the REST framework, from the operations that are declared below the surfaces."""

import sys
from collections.abc import Callable
from typing import Any

from drf_spectacular.drainage import set_override
from rest_framework.decorators import action
from rest_framework.fields import empty
from rest_framework.request import Request
from rest_framework.response import Response

from memory.actors import Actor
from memory.answers.declared_serializers import RequestShape, declare_fields
from memory.answers.rendering import page_shape
from memory.api import base, schema
from memory.engines.fields import types as t
from memory.filters import build_filter_set
from memory.operations.base import (
    ORDERING,
    PAGING,
    PLACE,
    USUAL,
    Operation,
    Parameter,
    Resource,
    take_parameters,
)
from memory.operations.inputs import Input, parse_id

PATTERNS = {"int": r"\d{1,4}", "path": ".+", "": "[^/]+"}
PARSERS: dict[str, Callable[[str], Any]] = {"int": int, "uuid": parse_id}
WITH_BODY = frozenset({"post", "put", "patch"})
Handler = Callable[..., Response]


def build_view(resource: Resource) -> type[base.Resource]:
    """Return a ViewSet with an action for each operation of a resource."""
    operations = resource.operations.values()
    traits: dict[str, Any] = {
        "lookup_field": resource.row.place,
        "lookup_value_regex": resource.row.pattern,
        "filterset_class": build_filter_set(resource.model, resource.filters),
        "long_actions": frozenset(one.name for one in operations if one.keeps),
        "untold": {one.name: one.answer.untold for one in operations if one.answer.untold},
    }
    actions = {one.name: make_action(one) for one in operations}
    return type(f"{resource.model.__name__}ViewSet", (base.Resource,), {**traits, **actions})


def make_action(operation: Operation) -> Handler:
    """Return the method of a ViewSet that carries an operation out."""

    def handle(self: base.Resource, request: Request, **places: Any) -> Response:
        arguments = read_arguments(operation, request, places)
        if operation.keeps:
            arguments["keep"] = self.keep_answer(operation.answer.render)
        return build_response(operation, operation.method(**arguments))

    handle.__name__ = operation.name
    return describe_operation(operation)(
        handle if operation.name in USUAL else route_action(operation, handle)
    )


def route_action(operation: Operation, handle: Handler) -> Handler:
    """Give a method of a ViewSet its address."""
    path = PLACE.sub(lambda found: f"(?P<{found['name']}>{PATTERNS[found['kind'] or '']})", operation.path)
    return action(detail=bool(operation.row), methods=[operation.verb], url_path=path)(handle)


# ---- a request -------------------------------------------------------------------------------------


def read_arguments(operation: Operation, request: Request, places: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of the operation's method. Raises Invalid, UnknownField, AgentForbidden."""
    kinds, row = operation.places, operation.row
    named = {row.argument if row and name == row.place else name: text for name, text in places.items()}
    arguments = {name: PARSERS.get(kinds[name], str)(text) for name, text in named.items()}
    form = build_input(operation)(data=Input(request))
    form.is_valid(raise_exception=True)
    values = form.validated_data
    origin = {one.name: values.pop(one.name) for one in operation.origin if one.name in values}
    return {**arguments, **values, "actor": find_actor(request, origin)}


def find_actor(request: Request, origin: dict[str, Any]) -> Actor:
    """Return the caller, with what it says of itself. Raises AgentForbidden."""
    actor = base.get_request_actor(request)
    return actor.with_origin(**origin) if any(origin.values()) else actor


class OperationInput(RequestShape):
    """What an operation takes from the query and the body of a request, as arguments of its method."""

    inputs: tuple[Parameter, ...] = ()

    def run_validation(self, data: Any = empty) -> dict[str, Any]:
        """Return the arguments that were given, in the order of the declaration.

        What is wrong first is raised as the engines raise it, and not as the REST framework's list of
        errors: Invalid, UnknownField, TooLarge.
        """
        payload: Input = data
        names = {name for one in self.inputs for name in (one.name, one.argument)}
        payload.refuse_others(names - {one.name for one in self.inputs if one.in_body_only}, names)
        return take_parameters(self.inputs, payload)


INPUTS: dict[tuple[Any, str], type[OperationInput]] = {}


def build_input(operation: Operation) -> type[OperationInput]:
    """Return the serializer that validates requests of an operation: one for all with the same body."""
    inputs, name = operation.inputs, operation.body or f"{operation.name.title()}Query"
    key = operation.model, name
    if key not in INPUTS:
        shape = type(name, (OperationInput,), {"inputs": inputs, "__doc__": operation.about})
        set_override(shape, "component_name", name)
        INPUTS[key] = declare_fields(one.field for one in inputs)(shape)
    if [one.name for one in INPUTS[key].inputs] != [one.name for one in inputs]:
        raise TypeError(f"{name} of {operation.name} is another one than before.")
    return INPUTS[key]


# ---- a response ------------------------------------------------------------------------------------


def build_response(operation: Operation, result: Any) -> Response:
    answer = operation.answer
    if operation.is_paged:
        return Response(page_shape(result, answer.render))
    return base.build_row_response(answer.render(result), list_codes(operation, result)[0])


def list_codes(operation: Operation, result: Any = None) -> list[int]:
    """Return the status of an answer; without a result, every status that it may have."""
    is_created = operation.answer.is_created
    if is_created is None:
        return [201 if operation.name == "create" or operation.answer.always_created else 200]
    return [201, 200] if result is None else [201 if is_created(result) else 200]


# ---- OpenAPI ---------------------------------------------------------------------------------------


def describe_operation(operation: Operation) -> Callable[[Handler], Handler]:
    """Return a decorator that documents an action."""
    schema.name_components(sys.modules[operation.answer.shape.__module__])
    shape = schema.page(operation.answer.shape) if operation.is_paged else operation.answer.shape
    if operation.inputs and not operation.body and operation.verb in WITH_BODY:
        raise TypeError(f"{operation.name} takes values from a body: name it.")
    body = build_input(operation) if operation.body else None
    parameters = [] if operation.body else list_query(operation)
    return schema.route(
        operation.summary, dict.fromkeys(list_codes(operation), shape), body, parameters, operation.example
    )


def list_query(operation: Operation) -> list[Any]:
    """Return the query parameters of an operation without a body."""
    own = {one.name: one for one in (*PAGING, ORDERING, *operation.filters)}
    plain = [one for one in operation.parameters if one.name not in own]
    parameters = [describe_parameter(one) for one in plain]
    if operation.filters:
        parameters += schema.list_filter_parameters(build_filter_set(operation.model, operation.filters))
    if not operation.is_paged:
        return parameters
    return parameters + (schema.paging_by(operation.order) if operation.order else schema.PAGING)


def describe_parameter(parameter: Parameter) -> Any:
    """Return the query parameter in the document."""
    if parameter.argument == "branch_name":
        return schema.BRANCH
    return schema.query(parameter.name, describe_value(parameter), parameter.field.help, parameter.required)


def describe_value(parameter: Parameter) -> dict[str, Any]:
    """Return the JSON schema of a query parameter."""
    value = describe_type(parameter.field.type)
    return value if parameter.default in (None, "") else {**value, "default": parameter.default}


def describe_type(kind: t.Type) -> dict[str, Any]:
    """Return the JSON schema of a type."""
    match kind:
        case t.Whole():
            return {"type": "integer", "minimum": kind.low, "maximum": kind.high}
        case t.Number():
            return {"type": "number", "minimum": kind.low, "maximum": kind.high}
        case t.Flag():
            return {"type": "boolean"}
        case t.Choice():
            return {"type": "string", "enum": kind.values}
        case t.Moment():
            return {"type": "string", "format": "date-time"}
        case t.Identifier():
            return {"type": "string", "format": "uuid"}
        case t.Text():
            return {"type": "string", "maxLength": kind.max_length}
        case t.ListOf():
            return {"type": "array", "items": describe_type(kind.item), "minItems": 1}
    return {"type": "string"}

"""What is done on a page: an operation is carried out with what its form or button says."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import Any, ClassVar

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from memory.engines.fields.base import Field
from memory.exceptions import Day1Error, Invalid
from memory.operations.base import Operation
from memory.operations.calls import call_operation
from memory.views.frame.base import ProjectPage
from memory.views.frame.flash import flash_success, flash_warning
from memory.views.frame.view_context import build_undo_url, with_query
from memory.views.frame.widgets import add_form_error
from memory.views.generic.field_widgets import DeclaredForm
from memory.views.text.error_text import error_sentence


@dataclass(frozen=True)
class Action:
    """An operation that a page carries out.

    ``fields`` are the parameters that its form offers, with ``words`` where label and help are others here,
    ``takes`` those that stand behind its name in the value of a button, as in ``outcome:success``, and
    ``fixed`` those that the page knows. ``done`` is told of
    it: a sentence with places for attributes of the result, or a function of the result. Then the page that
    ``opens`` names is opened, of a row with the attribute of the result that stands second; without it the
    same page again. ``undo`` is the attribute with the commit that may be reverted, ``undone_by`` the action
    of the page that takes it back. ``button``, ``drawing``
    and ``tone`` are those of its button. One that ``joins`` another stands in its form, ``further`` are
    fields of it that are no parameters: what names the row, or what the page makes a parameter of.
    """

    operation: Operation
    done: Any = ""
    fields: tuple[str, ...] = ()
    words: Mapping[str, tuple[Any, Any]] | None = None
    takes: tuple[str, ...] = ()
    fixed: Mapping[str, Any] | None = None
    opens: tuple[str, ...] = ()
    undo: str = ""
    undone_by: str = ""
    button: Any = ""
    drawing: str = ""
    tone: str = "primary"
    joins: str = ""
    form: type[DeclaredForm] = DeclaredForm
    further: tuple[Field, ...] = ()

    def build_form(self, data: Any = None, values: Mapping[str, Any] | None = None) -> DeclaredForm:
        """Return its form; one that changes a row shows what that has, another one what is usual."""
        known = {parameter.name: parameter.field for parameter in self.operation.inputs}
        for name, (label, text) in (self.words or {}).items():
            known[name] = known[name].with_traits(form_label=label, form_help=text)
        return self.form([*self.further, *(known[name] for name in self.fields)], data, values)

    @property
    def is_change(self) -> bool:
        """Return whether its form shows a row as it is, so that what is empty shall be so."""
        return self.operation.verb in ("patch", "put")

    def tell(self, result: Any) -> str:
        """Return what is told of its result."""
        if callable(self.done):
            text: str = self.done(result)
            return text
        return str(self.done) % Attributes(result) if "%(" in str(self.done) else str(self.done)


class Caution(str):
    """What is told of something that was done in part, or not as it seems."""


class Attributes:
    """The attributes of a result, for the places of a sentence."""

    def __init__(self, row: Any) -> None:
        self.row = row

    def __getitem__(self, name: str) -> Any:
        return attrgetter(name)(self.row)


class ActionPage(ProjectPage):
    """A page that carries operations out: a POST names one of its ``actions`` as ``do``.

    What an operation refuses stands in its form, which keeps its input; without a form it is the answer.
    Of the actions that the page ``warns`` of it is a message on the page that follows. ``usual`` is the
    action of a POST that names none.
    """

    actions: ClassVar[Mapping[str, Action]] = {}
    usual = "create"
    needs_now = True  # whether what is done is done to the present of a branch
    warns: Collection[str] = ()

    @cached_property
    def forms(self) -> dict[str, DeclaredForm]:
        """Return the forms that were built, by action."""
        return {}

    @property
    def places(self) -> Mapping[str, Any]:
        """Return what names the row of the page, by arguments of the operations."""
        return self.kwargs

    def find_values(self, name: str) -> Mapping[str, Any]:
        """Return what the form of an action shows at first."""
        return {}

    def list_buttons(self, name: str) -> list[tuple[str, Action]]:
        """Return the actions whose buttons stand in the form of one, by name."""
        return [
            (own, action)
            for own, action in self.actions.items()
            if name in (own, action.joins) and action.button
        ]

    def get_form(self, name: str) -> DeclaredForm:
        """Return the form of an action as the page shows it, with its input where that was refused."""
        if name not in self.forms:
            self.forms[name] = self.actions[name].build_form(values=self.find_values(name))
        return self.forms[name]

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Carry out what the button or the form names."""
        if self.needs_now:
            self.reader.require_now()
        name, pressed = self.read_button()
        if name not in self.actions:
            raise Invalid(_("This page knows no such action."))
        action = self.actions[name]
        shown = action.joins or name
        self.forms[shown] = self.actions[shown].build_form(request.POST)
        try:
            typed = action.build_form(request.POST).read_values(is_whole=action.is_change)
            result = self.carry_out(name, {**typed, **pressed})
        except Day1Error as error:
            return self.render_refused(name, error)
        return self.render_done(name, result)

    def read_button(self) -> tuple[str, dict[str, str]]:
        """Return the name of the action, and the values that stand behind it."""
        sent = self.request.GET.get("do") or self.request.POST.get("do", self.usual)
        name, _colon, rest = sent.partition(":")
        takes = self.actions[name].takes if name in self.actions else ()
        return name, dict(zip(takes, rest.split(":", len(takes) - 1), strict=False)) if takes else {}

    def carry_out(self, name: str, values: dict[str, Any]) -> Any:
        """Return the result of an action. Raises Day1Error."""
        action, operation = self.actions[name], self.actions[name].operation
        taken = {parameter.name for parameter in operation.parameters} - set(action.fields)
        place = {"branch": self.reader.branch.name, "at": self.reader.at_text}
        where = {word: value for word, value in place.items() if word in taken and value}
        values = {**where, **(action.fixed or {}), **values}
        places = {**self.places, **{word: values.pop(word) for word in operation.places if word in values}}
        return call_operation(operation, self.reader.actor, values, places)

    def render_refused(self, name: str, error: Day1Error) -> HttpResponse:
        """Answer a refusal: in the form, in a message, or as the page of an error."""
        if name in self.warns and error.status not in (403, 404):
            flash_warning(self.request, error_sentence(error))
            return redirect(self.find_next(self.actions[name], None))
        form = self.forms[self.actions[name].joins or name]
        if not (form.fields and self.template_name) or name in self.warns:
            raise error
        form.full_clean()
        add_form_error(form, error)
        return self.render_to_response(self.get_context_data(), status=error.status)

    def render_done(self, name: str, result: Any) -> HttpResponse:
        """Tell what was done, and open the page that follows."""
        action = self.actions[name]
        text = action.tell(result)
        if isinstance(text, Caution):
            flash_warning(self.request, text)
        elif text:
            flash_success(self.request, text, self.find_undo(action, result))
        if getattr(self.request, "htmx", False) and any(
            one.undone_by == name for one in self.actions.values()
        ):
            return HttpResponse(status=204)  # the script of a message shows the page that is open anew
        return redirect(self.find_next(action, result))

    def find_undo(self, action: Action, result: Any) -> str:
        """Return the address that takes an action back; "" for one that stays."""
        if action.undone_by:
            words = {name: values for name, values in self.request.GET.lists() if name != "do"}
            return with_query(self.request.path, {**words, "do": action.undone_by})
        return build_undo_url(self.reader, attrgetter(action.undo)(result)) if action.undo else ""

    def find_next(self, action: Action, result: Any) -> str:
        """Return the address of the page that is opened after an action."""
        match action.opens:
            case (page, attribute):
                return self.reader.url(page, attrgetter(attribute)(result), branch="", at="")
            case (page,):
                return self.reader.url(page)
        return self.find_same_page()

    def find_same_page(self) -> str:
        """Return the address of the page without what was pressed."""
        words = {name: values for name, values in self.request.GET.lists() if name != "do"}
        return with_query(self.request.path, words)


class ConfirmPage(ActionPage):
    """A question before something that reaches far, with its consequences; its one action is ``confirm``."""

    template_name = "confirm.html"
    usual = "confirm"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(verb=self.actions["confirm"].button, **kwargs)

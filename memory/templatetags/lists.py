"""Lists: the table of a list page, with the columns that its operation declares, and lists that fold."""

from collections.abc import Callable
from typing import Any

from django import template
from django.contrib.humanize.templatetags.humanize import intcomma
from django.template.base import FilterExpression, NodeList, Parser, Token, token_kwargs
from django.template.defaultfilters import filesizeformat, floatformat
from django.utils.html import conditional_escape, format_html
from django.utils.safestring import SafeString
from django.utils.translation import ngettext

from memory.operations.base import find_operation
from memory.operations.columns import Column
from memory.templatetags.day1 import moment, session_link
from memory.templatetags.elements import (
    ColumnNode,
    OptionsNode,
    draw_head,
    draw_table,
    filter_link,
    join_parts,
    open_cell,
)
from memory.templatetags.words import branch_page

register = template.Library()
Show = Callable[[template.Context, str, Any], Any]


def show_word(context: template.Context, _name: str, value: Any) -> Any:
    return context["view"].words.get(value, value)


def show_branch(context: template.Context, _name: str, value: str) -> SafeString:
    return format_html('<a href="{}">{}</a>', branch_page(context, value), value)


def show_filter(context: template.Context, name: str, value: Any) -> SafeString | str:
    """Return a value as the way to the rows that have the same."""
    choices = context["view"].token_choices.get(name, {})
    return filter_link(context, name, value, choices.get(value, ""))


SHOWN: dict[str, Show] = {
    "": lambda _context, _name, value: value,
    "time": lambda _context, _name, value: moment(value),
    "number": lambda _context, _name, value: intcomma(value),
    "share": lambda _context, _name, value: floatformat(value, 2),
    "size": lambda _context, _name, value: filesizeformat(value),
    "names": lambda _context, _name, value: ", ".join(value),
    "word": show_word,
    "branch": show_branch,
    "filter": show_filter,
    "session": lambda context, _name, value: session_link(context, value),
}


class ValueCell:
    """The cell of a declared column: its value, shown by its kind."""

    def __init__(self, column: Column) -> None:
        self.column, self.show = column, SHOWN[column.kind]

    def render(self, context: template.Context) -> SafeString | str:
        value = self.column.read(context["one"])
        if value is None or value in ("", []):
            none = self.column.none
            return format_html('<span class="quiet">{}</span>', none) if none else ""
        return conditional_escape(self.show(context, self.column.name, value))


class CellNode(template.Node):
    """What a template draws in the cells of a declared column."""

    child_nodelists = ("cell",)

    def __init__(self, name: str, cell: NodeList) -> None:
        self.name, self.cell = name, cell


class ListTableNode(template.Node):
    """Rows in the declared columns of a list, of which the template may draw some, then in its own columns.

    Without ``rows`` and the name of an operation they are those of the page and of its view.
    """

    def __init__(self, rows: FilterExpression, name: str, inside: NodeList) -> None:
        self.rows, self.name = rows, name
        self.cells = {one.name: one.cell for one in inside if isinstance(one, CellNode)}
        self.others = [one for one in inside if isinstance(one, ColumnNode)]

    def render(self, context: template.Context) -> SafeString:
        operation = find_operation(self.name) if self.name else context["view"].operation
        order = None if self.name else operation.order  # the page sorts its own list
        heads: list[SafeString] = []
        cells: list[tuple[SafeString, Any]] = []
        for column in (one for one in operation.columns if one.label):
            heads.append(draw_head(context, column.label, column.tones, column.find_order(order)))
            start = open_cell(column.label if cells else "", column.tones)
            cells.append((start, self.cells.get(column.name) or ValueCell(column)))
        for other in (one for one in self.others if one.is_shown(context)):
            heads.append(other.render_head(context))
            cells.append((other.open_cell(context), other.cell))
        rows = self.rows.resolve(context)
        for column in (one for one in operation.columns if one.kind == "session"):
            context["reader"].name_sessions(column.read(row) for row in rows)
        return draw_table(context, heads, cells, rows)


@register.tag
def list_table(parser: Parser, token: Token) -> ListTableNode:
    """Parse ``{% list_table %}``, or ``{% list_table invitations "invitations.list" %}``, with its cells and
    further columns up to ``{% endlist_table %}``.
    """
    _name, *words = token.split_contents()
    inside = parser.parse(("endlist_table",))
    parser.delete_first_token()
    rows, name = words or ("page.results", "")
    return ListTableNode(parser.compile_filter(rows), name.strip('"'), inside)


@register.tag
def cell(parser: Parser, token: Token) -> CellNode:
    """Parse ``{% cell created_at %}…{% endcell %}``: how the value of a declared column is shown."""
    _name, name = token.split_contents()
    inside = parser.parse(("endcell",))
    parser.delete_first_token()
    return CellNode(name, inside)


class FoldedListNode(OptionsNode):
    """A list whose first rows are shown; the others are there when it is opened."""

    child_nodelists = ("row",)

    def __init__(self, rows: FilterExpression, options: dict[str, FilterExpression], row: NodeList) -> None:
        self.rows, self.options, self.row = rows, options, row

    def render(self, context: template.Context) -> SafeString:
        drawn = [self.draw(context, *row) for row in enumerate(self.rows.resolve(context), 1)]
        first, classes = self.option(context, "first"), self.option(context, "classes")
        shown, rest = draw_list(drawn[:first], classes), draw_list(drawn[first:], classes)
        if not rest:
            return shown
        count = len(drawn) - first
        more = self.option(context, "more") or ngettext("Show {n} more", "Show {n} more", count)
        return shown + format_html(
            '<details class="rest"><summary>{}</summary>{}</details>', more.format(n=count), rest
        )

    def draw(self, context: template.Context, number: int, one: Any) -> SafeString:
        with context.push(one=one, number=number):
            return self.row.render(context)


def draw_list(rows: list[SafeString], classes: str) -> SafeString:
    return format_html('<ol class="rows {}">{}</ol>', classes, join_parts(rows)) if rows else SafeString("")


@register.tag
def folded_list(parser: Parser, token: Token) -> FoldedListNode:
    """Parse ``{% folded_list rows first=3 classes="told" %}`` up to ``{% endfolded_list %}``: what it holds
    is drawn for each row, as ``one`` and its ``number``, from 1. ``more`` says what opens the rest, {n} rows.
    """
    _name, rows, *words = token.split_contents()
    options = token_kwargs(words, parser)
    row = parser.parse(("endfolded_list",))
    parser.delete_first_token()
    return FoldedListNode(parser.compile_filter(rows), options, row)

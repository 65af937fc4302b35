"""Elements that many pages share, each written once: labels, buttons, notes, cards, entries, tables."""

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Any

from django import template
from django.conf import settings
from django.contrib.humanize.templatetags.humanize import intcomma
from django.template.base import FilterExpression, NodeList, Parser, Token, token_kwargs
from django.utils.html import conditional_escape, format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from memory.templatetags.day1 import ACTION_BUTTONS, badge, current_url, icon

register = template.Library()

# The icon of a note, and how urgently a screen reader says it.
NOTES = {"error": ("warning", "alert"), "warning": ("warning", "alert"), "good": ("verified", "status")}


def join_attributes(attributes: dict[str, Any]) -> SafeString:
    """Return attributes of an element: data_key is data-key, True has no value, what is empty is left out."""
    return join_parts(_write_attribute(name, value) for name, value in attributes.items() if value)


def _write_attribute(name: str, value: Any) -> SafeString:
    written = name.replace("_", "-")
    return format_html(" {}", written) if value is True else format_html(' {}="{}"', written, value)


def join_parts(parts: Iterable[Any]) -> SafeString:
    return SafeString("".join(map(conditional_escape, parts)))


@register.simple_tag
def label(drawing: str, text: Any, key: str = "") -> SafeString:
    """Render a text behind its icon, with the key that does the same where it is shown."""
    return format_html("{} {}{}", icon(drawing), text, format_html(" <kbd>{}</kbd>", key) if key else "")


@register.simple_tag
def button(text: Any, drawing: str = "", tone: str = "", key: str = "", **attributes: Any) -> SafeString:
    """Render a button that sends its form. ``key`` presses it; ``shows_key`` draws that key on it."""
    drawn = key if attributes.pop("shows_key", False) else ""
    content = label(drawing, text, drawn) if drawing else format_html("{}{}", text, key_caps(drawn))
    return render_button(tone, {"type": "submit", **attributes, "data_key": key}, content)


def render_button(tone: str, attributes: dict[str, Any], content: SafeString) -> SafeString:
    classes = f"button {tone}".strip()
    return format_html('<button class="{}"{}>{}</button>', classes, join_attributes(attributes), content)


@register.simple_tag
def action_button(action: str, tone: str = "", **attributes: Any) -> SafeString:
    """Render the button of an action on a fact."""
    drawing, title = ACTION_BUTTONS[action]
    return button(title, drawing, tone, name="action", value=action, **attributes)


@register.simple_tag
def text_field(name: str, title: Any, *, value: Any = "", rows: int = 0, **attributes: Any) -> SafeString:
    """Render a field of a form with its label; with ``rows`` it has so many lines.

    The label stands around it, or above it where the field has an ``id``; ``is_unseen`` tells it to screen
    readers only. ``tone`` are the classes of both.
    """
    tone, hidden = attributes.pop("tone", "field"), attributes.pop("is_unseen", False)
    typed = "" if rows or value is None else str(value)
    written = join_attributes({"name": name, "rows": rows, "value": typed, **attributes})
    html = "<textarea{}>{}</textarea>" if rows else "<input{}>"
    control = format_html(html, written, value)
    if above := attributes.get("id"):
        html = '<div class="{}"><label for="{}">{}</label>{}</div>'
        return format_html(html, tone, above, title, control)
    unseen = join_attributes({"class": "visually-hidden" if hidden else ""})
    return format_html('<label class="{}"><span{}>{}</span>{}</label>', tone, unseen, title, control)


@register.inclusion_tag("parts/form.html", takes_context=True)
def action_form(context: template.Context, action: str, **options: Any) -> dict[str, Any]:
    """Render the form of one of the page's actions; ``classes``, ``form_id`` and ``to`` are its own."""
    page = context["view"]
    shown = {"form": page.get_form(action), "buttons": page.list_buttons(action)}
    return {**shown, "csrf_token": context.get("csrf_token"), **options}


@register.simple_tag
def copy_button(element: str, of: Any = "", tone: str = "") -> SafeString:
    """Render the button that a script shows: it copies the text of an element."""
    whose = format_html('<span class="visually-hidden">{}</span>', of) if of else ""
    content = format_html("{}<span>{}</span>{}", icon("copy"), gettext("Copy"), whose)
    rest = {"type": "button", "data_copy": element, "data_copied": gettext("Copied"), "hidden": True}
    return format_html(
        '<button class="{}"{}>{}</button>', f"button {tone}".strip(), join_attributes(rest), content
    )


@register.simple_tag
def close_button() -> SafeString:
    """Render the button that a script shows: it takes away what it stands in."""
    rest = {"type": "button", "data_close": True, "hidden": True, "aria_label": gettext("Close")}
    return render_button("plain", rest, icon("close"))


@register.simple_tag
def note(tone: str, text: Any, drawing: str = "", role: str = "") -> SafeString:
    """Render a note in the tone of its meaning; '' for no text."""
    if not text:
        return SafeString("")
    usual, urgency = NOTES[tone]
    html = '<p class="note {}" role="{}">{}<span>{}</span></p>'
    return format_html(html, tone, role or urgency, icon(drawing or usual), text)


@register.simple_tag
def nothing(drawing: str, text: Any, more: Any = "") -> SafeString:
    """Render what stands in the place of an empty list."""
    quiet = format_html('<p class="quiet">{}</p>', more) if more else ""
    return format_html('<div class="empty">{}<p>{}</p>{}</div>', icon(drawing), text, quiet)


@register.simple_block_tag(name="command", takes_context=True)
def render_command(context: template.Context, content: str, name: str) -> SafeString:
    """Render a command for the server's own machine; only those who keep it see where its store is."""
    options = settings.COMMAND_OPTIONS if context["reader"].can["admin"] else ""
    return render_copyable(format_html("{} {}{}", settings.COMMAND_LINE, content, options), name)


@register.simple_block_tag(name="copyable")
def render_copyable(content: str, name: str) -> SafeString:
    """Render a text with the button that copies it; ``name`` ends its id."""
    html = '<div class="command"><pre id="copy-{}">{}</pre>{}</div>'
    return format_html(html, name, content, copy_button(f"copy-{name}"))


@register.simple_tag
def meter(value: float, name: str = "") -> SafeString:
    """Render a number from 0 to 1 as a bar."""
    html = '<meter class="{}" min="0" max="1" value="{:.3f}">{:.2f}</meter>'
    return SafeString(html.format(f"signal {name}".strip(), value, value))  # only numbers and our names


@register.simple_tag
def key_caps(keys: str) -> SafeString:
    """Render keys, with spaces between them, as they look on a keyboard."""
    return format_html_join(" ", "<kbd>{}</kbd>", [(key,) for key in keys.split()])


@register.simple_tag
def key_row(keys: str, text: Any) -> SafeString:
    """Render a row of the table of keys."""
    return format_html('<tr><th scope="row">{}</th><td>{}</td></tr>', key_caps(keys), text)


@register.simple_tag
def key_entry(keys: str, text: Any) -> SafeString:
    """Render an entry of a list of keys."""
    return format_html("<dt>{}</dt><dd>{}</dd>", key_caps(keys), text)


@register.simple_tag
def value_entry(title: Any, value: Any, **attributes: Any) -> SafeString | str:
    """Render a term and its value; nothing where there is none."""
    if value is None or value == "":
        return ""
    return format_html("<dt>{}</dt><dd{}>{}</dd>", title, join_attributes(attributes), value)


@register.simple_tag
def count_entry(title: Any, count: int, address: str) -> SafeString:
    """Render a term and its number, which leads to what was counted."""
    return format_html('<dt>{}</dt><dd><a href="{}">{}</a></dd>', title, address, intcomma(count))


@register.simple_tag
def figure(
    count: Any, address: str, text: Any, is_current: bool = False, drawing: str = "", aside: Any = ""
) -> SafeString:
    """Render an item of a list of figures: a number, what it counts, its course, and the way to it, if any.

    ``aside`` says over what it is counted, or names the term of the field.
    """
    small = format_html(' <span class="small">{}</span>', aside) if aside else ""
    shown = format_html("<strong>{}</strong> {}{}{}", intcomma(count), text, small, drawing)
    if not address:
        return format_html('<li class="figure">{}</li>', shown)
    current = SafeString(' aria-current="true"') if is_current else ""
    return format_html('<li><a href="{}"{}>{}</a></li>', address, current, shown)


@register.simple_block_tag
def entry(content: str, title: Any, **attributes: Any) -> SafeString | str:
    """Render a term and what is said of it; nothing where nothing is."""
    if not content.strip():
        return ""
    return format_html("<dt{}>{}</dt><dd>{}</dd>", join_attributes(attributes), title, content)


@register.simple_block_tag
def card(content: str, name: str, title: Any, drawing: str = "") -> SafeString:
    """Render a section of a page on its own ground; ``name`` is its heading's id."""
    heading = label(drawing, title) if drawing else title
    html = '<section class="card" aria-labelledby="{0}"><h2 id="{0}">{1}</h2>{2}</section>'
    return format_html(html, name, heading, content)


@register.simple_block_tag
def bar_menu(content: str, drawing: str, title: Any, value: Any) -> SafeString:
    """Render a menu of the bar: what it is about, what is chosen now, and the rest when it is opened."""
    html = (
        '<details class="menu" name="bar"><summary title="{0}">{1}<span class="visually-hidden">{0}:</span>'
        '<span class="cut">{2}</span>{3}</summary><div class="menu-body">{4}</div></details>'
    )
    return format_html(html, title, icon(drawing), value, icon("down"), content)


@register.simple_tag
def menu_item(
    drawing: str, text: Any, address: str, is_current: bool = False, more: Any = "", mark: str = "check"
) -> SafeString:
    """Render an item of a menu; the current one is marked."""
    current = SafeString(' aria-current="true"') if is_current else ""
    quiet = format_html(' <span class="quiet small">{}</span>', more) if more else ""
    html = '<li><a href="{}"{}>{}{}</a></li>'
    return format_html(html, address, current, label(mark if is_current else drawing, text), quiet)


@register.simple_tag(takes_context=True)
def filter_link(context: template.Context, name: str, value: Any, text: Any = "") -> SafeString | str:
    """Render a value of a row as the filter of the same list by it; '' for none."""
    if not value:
        return ""
    shown = badge("agent", value) if name == "agent_id" else text or format_html("<bdi>{}</bdi>", value)
    return format_html('<a class="quiet-link" href="{}">{}</a>', current_url(context, **{name: value}), shown)


@register.simple_tag
def sort_link(link: Any) -> SafeString:
    """Render a way to sort a list; an arrow shows that of the page."""
    if not link.direction:
        return format_html('<a href="{}">{}</a>', link.url, link.label)
    html = '<a class="sorted {}" href="{}" aria-current="true">{} {}</a>'
    return format_html(html, link.direction, link.url, link.label, icon("down"))


# ---- tables --------------------------------------------------------------------------------------------


Cell = tuple[SafeString, Any]  # the start tag of a column's cells, and what renders one


class OptionsNode(template.Node):
    """A tag with options, each resolved only where it is used."""

    options: dict[str, FilterExpression]

    def option(self, context: template.Context, name: str) -> Any:
        return self.options[name].resolve(context) if name in self.options else ""


def draw_head(
    context: template.Context, title: Any, kind: str = "", order: str = "", is_unseen: bool = False
) -> SafeString:
    """Render the head of a column; with ``order`` it sorts the list, unless that is a search."""
    title = format_html('<span class="visually-hidden">{}</span>', title) if is_unseen else title
    attributes = {"class": "number" if kind == "number" else ""}
    if order and not context.get("query"):
        link = context["view"].find_sort(order)
        title, attributes["aria_sort"] = sort_link(replace(link, label=title)), link.direction
    return format_html("<th{}>{}</th>", join_attributes(attributes), title)


def open_cell(title: Any, kind: str = "") -> SafeString:
    """Render the start tag of the cells of a column, which is the same in every row."""
    return format_html("<td{}>", join_attributes({"class": kind, "data_label": title}))


class ColumnNode(OptionsNode):
    """A column: its title, said once for the head and for the cells of a narrow page, and its cell."""

    child_nodelists = ("cell",)

    def __init__(self, title: FilterExpression, options: dict[str, FilterExpression], cell: NodeList) -> None:
        self.title, self.options, self.cell = title, options, cell

    def render_head(self, context: template.Context) -> SafeString:
        names = ("kind", "order", "is_unseen")
        options = {name: self.option(context, name) for name in names if name in self.options}
        return draw_head(context, self.title.resolve(context), **options)

    def open_cell(self, context: template.Context) -> SafeString:
        is_bare = self.option(context, "is_unseen") or self.option(context, "is_bare")
        return open_cell("" if is_bare else self.title.resolve(context), self.option(context, "kind"))

    def is_shown(self, context: template.Context) -> bool:
        return "shown_if" not in self.options or bool(self.option(context, "shown_if"))


class ValueNode(OptionsNode):
    """The cell of a value: with ``filter`` a link to the rows that have the same; ``none`` for no value."""

    def __init__(self, value: FilterExpression, options: dict[str, FilterExpression]) -> None:
        self.value, self.options = value, options

    def render(self, context: template.Context) -> SafeString | str:
        value = self.value.resolve(context)
        if "filter" in self.options:
            text = self.option(context, "text") if value else ""
            return filter_link(context, self.option(context, "filter"), value, text)
        if "none" in self.options and not value:
            return format_html('<span class="quiet">{}</span>', self.option(context, "none"))
        return conditional_escape(value)


class TableNode(template.Node):
    """A table of rows, each of them ``one`` in the cells of its columns."""

    def __init__(self, rows: FilterExpression, columns: list[ColumnNode]) -> None:
        self.rows, self.columns = rows, columns

    def render(self, context: template.Context) -> SafeString:
        columns = [column for column in self.columns if column.is_shown(context)]
        heads = [column.render_head(context) for column in columns]
        cells = [(column.open_cell(context), column.cell) for column in columns]
        return draw_table(context, heads, cells, self.rows.resolve(context))


def draw_table(
    context: template.Context, heads: Iterable[SafeString], cells: Collection[Cell], rows: Iterable[Any]
) -> SafeString:
    drawn = join_parts(draw_row(context, cells, one) for one in rows)
    html = '<table class="cards"><thead><tr>{}</tr></thead><tbody>{}</tbody></table>'
    return format_html(html, join_parts(heads), drawn)


def draw_row(context: template.Context, cells: Collection[Cell], one: Any) -> SafeString:
    with context.push(one=one):
        drawn = "".join(f"{start}{cell.render(context)}</td>" for start, cell in cells)
    return SafeString(f"<tr>{drawn}</tr>")  # what draws a cell escapes what it shows


@register.tag
def table(parser: Parser, token: Token) -> TableNode:
    """Parse ``{% table rows %}`` with its columns up to ``{% endtable %}``."""
    _name, rows = token.split_contents()
    inside = parser.parse(("endtable",))
    parser.delete_first_token()
    columns = [node for node in inside.get_nodes_by_type(ColumnNode) if isinstance(node, ColumnNode)]
    return TableNode(parser.compile_filter(rows), columns)


@register.tag
def column(parser: Parser, token: Token) -> ColumnNode:
    """Parse ``{% column title kind="number" %}cell{% endcolumn %}``.

    ``kind`` is the class of its cells; ``is_unseen`` hides the title, ``is_bare`` only beside the cells of a
    narrow page; ``order`` makes the head sort the list by that column;
    without ``shown_if`` the column is always there.
    """
    _name, title, *words = token.split_contents()
    options = token_kwargs(words, parser)
    cell = parser.parse(("endcolumn",))
    parser.delete_first_token()
    return ColumnNode(parser.compile_filter(title), options, cell)


@register.tag
def value_column(parser: Parser, token: Token) -> ColumnNode:
    """Parse ``{% value_column title value filter="status" %}``: a column whose cell is a value alone."""
    _name, title, value, *words = token.split_contents()
    options = token_kwargs(words, parser)
    cell = ValueNode(parser.compile_filter(value), options)
    return ColumnNode(parser.compile_filter(title), options, NodeList([cell]))

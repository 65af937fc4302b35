"""Trees of branches or forks as nested lists; a node with children folds as <details>, without a script."""

from collections.abc import Sequence
from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext_lazy, ngettext_lazy

from memory.templatetags.day1 import icon

register = template.Library()
FIGURES = {
    "ahead": ngettext_lazy("%(n)s ahead", "%(n)s ahead", "n"),
    "behind": ngettext_lazy("%(n)s behind", "%(n)s behind", "n"),
    "facts": ngettext_lazy("%(n)s fact", "%(n)s facts", "n"),
    "agents": ngettext_lazy("%(n)s agent", "%(n)s agents", "n"),
    "branches": ngettext_lazy("%(n)s branch", "%(n)s branches", "n"),
    "forks": ngettext_lazy("%(n)s fork", "%(n)s forks", "n"),
}
TITLES = {
    "ahead": gettext_lazy("Commits of its own that the parent has not"),
    "behind": gettext_lazy("Commits of the parent that it has not"),
    "facts": gettext_lazy("Facts that it wrote or changed itself"),
}
NODE = "parts/branch_node.html"
CLOSED = "</ul></details></li>"


@register.simple_tag
def tree_figure(number: int, name: str) -> SafeString:
    """Render a figure of a branch; on pointing, what it counts."""
    title = format_html(' title="{}"', TITLES[name]) if name in TITLES else ""
    return format_html('<span class="of-{}"{}>{}</span>', name, title, FIGURES[name] % {"n": number})


@register.simple_tag(takes_context=True)
def branch_tree(
    context: template.Context,
    nodes: Sequence[Any],
    unfolded: bool,
    node_template: str = NODE,
    counted: str = "branches",
) -> SafeString:
    """Render the nodes, parents before their children; with ``unfolded`` all of them are open."""
    assert context.template is not None  # it is being rendered
    line = context.template.engine.get_template(node_template)
    parts: list[str] = ['<ul class="tree">']
    depth: list[int] = []
    for index, node in enumerate(nodes):
        while depth and depth[-1] >= node.level:
            parts.append(CLOSED)
            depth.pop()
        has_rows = index + 1 < len(nodes) and nodes[index + 1].level > node.level
        with context.push(node=node, folds=has_rows):
            shown = line.render(context)
        if has_rows:
            parts.append(_open_branch(shown, tree_figure(node.children, counted), unfolded or not node.level))
            depth.append(node.level)
        else:
            parts.append(f'<li><div class="node">{shown}</div></li>')
    return mark_safe("".join([*parts, *(CLOSED for _ in depth), "</ul>"]))  # every part is rendered


def _open_branch(line: SafeString, label: SafeString, is_open: bool) -> str:
    """Return a branch and the start of its list. The line has links, so that it cannot be the summary."""
    opened = SafeString(" open") if is_open else ""
    return format_html(
        '<li><div class="node">{}</div><details{}><summary class="fold" data-key="o">'
        '{}<span class="visually-hidden">{}</span></summary><ul>',
        line,
        opened,
        icon("right"),
        label,
    )

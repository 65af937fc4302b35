"""URLs of every page of the site, from the URL conf; pages are left out only by name.

  .venv/bin/python -m bench.page_urls DATA_DIR PROJECT

As a program it prints those of a project in a store as JSON, some of them on a branch and in the past too.
"""

import json
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

# Query strings of pages.
QUERIES: dict[str, tuple[str, ...]] = {
    "search": ("", "q={words}", "q={words}&left_out=1"),
    "palette": ("q={words}",),
    "fact-why": ("q={words}",),
    "session": ("key={session}",),
    "agent": ("key={agent}",),
    "insights": ("", "days=3650", "junk=stale"),
    "facts": ("", "category={category}&status=active", "q={words}"),
    "branches": ("", "archived=true"),
    "branch": ("", "tab=log", "tab=diff", "tab=diff&type=link", "tab=stats"),
    "review": ("", "reason=unverified"),
    "review-questions": ("", "status=resolved", "status=all"),
    "audit": ("", "action=fact.update"),
    "observations": ("", "session_id={session}", "q={words}"),
    "relations": ("", "source={entity}", "q={entity}"),
    "conversations": ("", "session_id={session}"),
    "forks": ("", "agent_id={agent}"),
    "activity": ("", "agent_id={agent}"),
    "graph": ("", "q={entity}"),
    "conversation": ("", "end=1"),
}
LEADS, FORM, SCRIPT = "leads elsewhere", "is a form's address", "answers a script"
OPENED = "is of a row that the stores of these pages do not have: its own tests open it"
NOT_A_PAGE = {
    **dict.fromkeys(("erase", "admin:erase", "queue", "admin:queue"), LEADS),
    **dict.fromkeys(("front", "go", "admin:go", "admin:index", "admin:app_list", "admin:login"), LEADS),
    **dict.fromkeys(("admin:logout", "admin:password_change", "admin:password_change_done"), LEADS),
    **dict.fromkeys(("analytics", "admin:analytics", "policies", "admin:policies"), LEADS),
    "admin:view_on_site": LEADS,
    **dict.fromkeys(("theme", "language", "undo", "admin:undo"), FORM),
    **dict.fromkeys(("merge-request-checks", "admin:merge-request-checks"), SCRIPT),
    **dict.fromkeys(
        ("merge-request", "admin:merge-request", "merge-conflict", "admin:merge-conflict"), OPENED
    ),
    **dict.fromkeys(("erasure", "admin:erasure", "task", "admin:task", "eval", "admin:eval"), OPENED),
    **dict.fromkeys(("verification-job", "admin:verification-job", "handoff", "admin:handoff"), OPENED),
    **dict.fromkeys(("template", "admin:template", "bundle", "admin:bundle"), OPENED),
    **dict.fromkeys(("import", "admin:import"), OPENED),
    **dict.fromkeys(("remove-member", "admin:remove-member"), OPENED),
    **dict.fromkeys(("bundle-document", "admin:bundle-document"), "is a file"),
    **dict.fromkeys(("save-question", "admin:save-question", "fact-judge", "admin:fact-judge"), FORM),
    **dict.fromkeys(("save-view", "admin:save-view", "change-view", "admin:change-view"), FORM),
    **dict.fromkeys(("join", "login-link", "login-code"), OPENED),
    **dict.fromkeys(("oidc", "oidc-callback"), "lead to the provider and back"),
    "oauth-authorize": "is opened by a program: its own tests do",
    **dict.fromkeys(("webhook", "admin:webhook", "delete-webhook", "admin:delete-webhook"), OPENED),
    **dict.fromkeys(("revoke-connection", "admin:revoke-connection"), OPENED),
    **dict.fromkeys(("oauth-token", "oauth-revoke", "oauth-register", "metrics"), "answers a program"),
    **dict.fromkeys(("quarantine", "admin:quarantine"), OPENED),
    **dict.fromkeys(("consolidation", "admin:consolidation", "replay", "admin:replay"), OPENED),
    **dict.fromkeys(("replay-batch", "admin:replay-batch"), OPENED),
    **dict.fromkeys(("export-conversation", "admin:export-conversation"), "is a file"),
    **dict.fromkeys(("invite", "admin:invite", "revoke-invitation", "admin:revoke-invitation"), FORM),
    **dict.fromkeys(("admin:search", "admin:autocomplete", "admin:jsi18n"), SCRIPT),
    "admin:memory_project_delete": "is refused: a project holds memory",
}

# Enough to check pages on a branch and in the past.
IN_PLACES = ("home", "search?q=…", "facts", "fact", "admin:facts", "admin:fact")


@dataclass(frozen=True)
class Route:
    """Route of the URL conf: its name, and the parameters of its path."""

    name: str
    words: tuple[str, ...]

    @property
    def of_project(self) -> bool:
        return "slug" in self.words


@dataclass(frozen=True)
class Page:
    """Page at a URL. ``name`` is its route's, with the branch of its path and the query."""

    route: Route
    name: str
    url: str


# ---- routes --------------------------------------------------------------------------------------------


def routes() -> Iterator[Route]:
    """Yield every page's route; under api/ only that of the documentation."""
    from django.urls import get_resolver

    for name, path, words, callback in walk(get_resolver().url_patterns):
        is_api = path.startswith("api/") and name != "docs"
        if name and not is_api and name not in NOT_A_PAGE and answers_get(callback):
            yield Route(name, words)


def walk(
    patterns: Any, space: str = "", path: str = "", words: tuple[str, ...] = ()
) -> Iterator[tuple[str, str, tuple[str, ...], Any]]:
    """Yield every route of the URL conf: name, path, parameters and view."""
    from django.urls import URLResolver

    for one in patterns:
        joined = f"{path}{one.pattern}", (*words, *one.pattern.regex.groupindex)
        if isinstance(one, URLResolver):
            yield from walk(one.url_patterns, f"{one.namespace}:" if one.namespace else space, *joined)
        else:
            yield space + one.name if one.name else "", *joined, one.callback


def answers_get(callback: Any) -> bool:
    """Return whether the route shows a page; an admin view cannot tell, and counts."""
    kind = getattr(callback, "view_class", None)
    return kind is None or (hasattr(kind, "get") and "get" in kind.http_method_names)


# ---- pages ---------------------------------------------------------------------------------------------


def pages(values: "Values") -> Iterator[Page]:
    """Yield each page with each of its queries, and with each branch that is part of its path."""
    for route in routes():
        for branch in values.branches if "branch_name" in route.words else ("",):
            path, whose = values.path(route, branch), f" of {branch}" if branch else ""
            for query in QUERIES.get(route.name.removeprefix("admin:"), ("",)):
                suffix = f"?{query}" if query else ""
                name = f"{route.name}{whose}{re.sub('{.*?}', '…', suffix)}"
                yield Page(route, name, path + suffix.format(**values.as_dict))


def elsewhere(page: Page, where: str, query: str) -> Page:
    """Return the same page on another branch, or in the past."""
    url = f"{page.url}{'&' if '?' in page.url else '?'}{query}"
    return replace(page, name=f"{page.name}, {where}", url=url)


class Values:
    """Values of path parameters and queries: those given as ``own``, else the newest row of each kind on the
    branch main of a project. A page with an unknown parameter fails, and the parameter must be added.
    """

    def __init__(self, slug: str, branches: tuple[str, ...] = ("main",), **own: Any) -> None:
        self.slug, self.branches, self.own = slug, branches, own

    def path(self, route: Route, branch: str = "") -> str:
        """Return the page's path; with an unused id where there is no such row."""
        from django.urls import reverse

        known = {**self.own, "branch_name": branch, "slug": self.slug, "project_slug": self.slug}
        return reverse(route.name, kwargs={word: self._value(known, route, word) for word in route.words})

    def _value(self, known: dict[str, Any], route: Route, word: str) -> Any:
        return known[word] if word in known else self._rows[word](route)

    @cached_property
    def as_dict(self) -> dict[str, str]:
        """Return the values for the query strings."""
        fact = self._memory("Fact")
        words = sorted(re.findall(r"\w+", fact.fact_text), key=len)[-3:] if fact else ["word"]
        session = self.project.sessions.order_by("-pk").first()
        edge = self._memory("Relation")
        found = {
            "words": "+".join(words),
            "category": fact.category if fact else "general",
            "session": session.key if session else "none",
            "agent": (session.agent_id if session else "") or "none",
            "entity": edge.source_entity if edge else "none",
        }
        return {name: self.own.get(name, value) for name, value in found.items()}

    @cached_property
    def project(self) -> Any:
        from memory.models import Project

        return Project.objects.get(slug=self.slug)

    @cached_property
    def _rows(self) -> dict[str, Callable[[Route], Any]]:
        server = self._of_server
        return {
            "fact_id": lambda route: self._uid("Fact"),
            "commit": lambda route: pk(self.project.branches.get(name="main").commits.first()),
            "observation_id": lambda route: self._uid("Observation"),
            "relation_id": lambda route: self._uid("Relation"),
            "conversation_id": lambda route: self._uid("Conversation"),
            "message_id": lambda route: self._uid("Message"),
            "first": lambda route: self._uid("Conversation"),
            "second": lambda route: self._uid("Conversation"),
            "key_id": lambda route: pk(self.project.keys.order_by("pk").first()),
            "member_id": lambda route: pk(self.project.memberships.order_by("-pk").first()),
            "item_id": lambda route: pk(self.project.review_items.order_by("pk").first()),
            "object_id": server,
            "id": server,
        }

    def _uid(self, model: str) -> Any:
        row = self._memory(model)
        return row.uid if row else NOBODY

    def _memory(self, model: str) -> Any:
        from django.apps import apps

        app = "conversations" if model in ("Conversation", "Message") else "memory"
        main = self.project.branches.get(name="main")
        return next(iter(apps.get_model(app, model).objects.on(main).newest(1)), None)

    def _of_server(self, route: Route) -> Any:
        """Return the key of the first row of the model that an admin page is named after."""
        from django.contrib import admin

        kinds = {f"admin:{kind._meta.label_lower.replace('.', '_')}_": kind for kind in admin.site._registry}
        model = next(kind for start, kind in kinds.items() if route.name.startswith(start))
        return pk(model._default_manager.order_by("pk").first())


NOBODY = "00000000-0000-7000-8000-000000000000"


def pk(row: Any) -> Any:
    return row.pk if row else NOBODY


def main() -> None:
    from bench import local_engine

    local_engine.set_up(Path(sys.argv[1]), "off")
    print(json.dumps({page.name: page.url for page in shown(sys.argv[2])}))


def shown(slug: str) -> Iterator[Page]:
    """Yield the pages of main and of its most recently written child branch."""
    from memory.models import Project

    project = Project.objects.get(slug=slug)
    main = project.branches.get(name="main")
    child = project.branches.filter(parent=main, archived_at=None).order_by("-head_at").first()
    for page in pages(Values(slug, ("main", child.name) if child else ("main",))):
        yield page
        if child and page.name in IN_PLACES:
            yield elsewhere(page, "branch", f"branch={child.name}")
            yield elsewhere(page, "past", f"at={main.head // 2}")


if __name__ == "__main__":
    main()

"""The command palette: pages, branches and facts by a few letters. Without a script it is a separate page."""

from dataclasses import dataclass
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory.engines.branches.manager import BranchManager
from memory.engines.search.engine import SearchEngine
from memory.views.frame.base import ProjectPage
from memory.views.frame.navigation import sections_for

MAX_ENTRIES = 6  # of each kind
MAX_QUERY_LENGTH = 200


@dataclass(frozen=True)
class Entry:
    icon: str
    title: str
    url: str
    keys: str = ""


@dataclass(frozen=True)
class Group:
    name: str
    title: str
    entries: list[Entry]


class Palette(ProjectPage):
    template_name = "palette.html"
    fragment_name = "parts/palette_results.html"
    title = gettext_lazy("Go to")

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        query = " ".join(self.request.GET.get("q", "").replace("\0", " ").split())[:MAX_QUERY_LENGTH]
        found = [
            Group("pages", _("Pages"), self.find_pages(query)),
            Group("branches", _("Branches"), self.find_branches(query)),
            Group("facts", _("Facts"), self.find_facts(query)),
        ]
        return super().get_context_data(q=query, groups=[g for g in found if g.entries], **kwargs)

    def find_pages(self, query: str) -> list[Entry]:
        """Return the sections that the reader may open, then pages outside of projects."""
        url = self.reader.url
        every = [
            Entry(one.icon, str(one.title), url(one.name), f"g {one.letter}")
            for one in sections_for(self.reader.actor)
        ]
        if self.reader.writes_now:
            every.append(Entry("plus", _("New fact"), url("fact-new")))
        every += [
            Entry("help", _("Help"), url("project-help"), "?"),
            Entry("person", _("Your account"), reverse("account")),
            Entry("project", _("Your projects"), reverse("projects")),
            Entry("command", _("API"), reverse("docs")),
        ]
        if self.request.user.is_staff:
            every.append(Entry("gear", _("Admin"), reverse("admin:index")))
        return [entry for entry in every if query.casefold() in entry.title.casefold()]

    def find_branches(self, query: str) -> list[Entry]:
        named = BranchManager().find_branches(actor=self.reader.actor, part=query, limit=MAX_ENTRIES)
        url = self.reader.url
        return [Entry("branch", one.name, url("branch", one.name, branch="", at="")) for one in named]

    def find_facts(self, query: str) -> list[Entry]:
        """Return facts with these words, and a link to a full search."""
        if len(query) < 2:
            return []
        found = SearchEngine().search(
            query=query, **self.reader.read_args, limit=MAX_ENTRIES, search_type="keyword"
        )
        facts = [
            Entry("facts", hit.fact.essence, self.reader.url("fact", hit.fact.uid)) for hit in found.hits
        ]
        search = Entry("search", _("Search for “%s”") % query, self.reader.url("search", q=query))
        return [*facts, search]

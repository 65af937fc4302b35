"""Observations and relations of agents: lists, and a page for each."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.utils.translation import gettext_lazy as _

from memory.engines.facts.links import LinkEngine
from memory.engines.graph.engine import RelationEngine
from memory.engines.sessions.observations import ObservationEngine, ObservationFilter
from memory.models import Observation
from memory.operations.observations import OBSERVATIONS
from memory.operations.relations import RELATIONS
from memory.views.frame.base import ProjectPage
from memory.views.generic.deletion import DeletablePage, build_deletion
from memory.views.generic.list_page import FOUND, ListPage, require_known
from memory.views.text.labels import FIELDS

OBSERVED = {
    "observation_type": _("Type"),
    "outcome": _("Outcome"),
    "tool_name": _("Tool"),
    "session_id": _("Session"),
    "agent_id": _("Agent"),
    "task_id": _("Task"),
    "after": FIELDS["after"],
    "before": FIELDS["before"],
}
RELATED = {"source": _("From"), "relation_type": _("Relation"), "target": _("To")}


class Observations(ListPage):
    reads_past = True
    template_name = "observations.html"
    section = "observations"
    is_live = True
    title = _("Observations")
    operation, labels = OBSERVATIONS["list"], OBSERVED
    extra_context = {
        "lead": _("What agents did and noticed."),
        "lead_of_found": _("What agents did and noticed, the best answers first."),
        "search": _("Keyword and semantic search"),
        "drawing": "command",
        "none_fits": _("No observation on this branch at this time matches."),
        "none_yet": _(
            "This branch holds no observations yet. They come from the hooks of an agent's program, one for"
            " each call of a tool."
        ),
        "show_all": _("Show all observations"),
    }

    def search_rows(self, query: str, filters: Mapping[str, Any]) -> Any:
        found = ObservationEngine().search_observations(
            query=query, **self.place, filters=ObservationFilter.from_values({**filters}), limit=FOUND
        )
        return {"results": [hit.row for hit in found.hits], "note": found.note, "nearest": found.nearest}


class ObservationPage(DeletablePage):
    reads_past = True
    template_name = "observation.html"
    section = "observations"
    actions = build_deletion(OBSERVATIONS, "observations")
    extra_context = {"list_title": Observations.title}

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        uid: UUID = kwargs.pop("observation_id")
        seen = ObservationEngine().get_observation(observation_id=uid, **self.reader.read_args)
        facts = LinkEngine().facts_from(source_ids=[uid], **self.reader.read_args)
        return super().get_context_data(
            one=seen,
            title=seen.summary[:80],
            facts=facts.get(uid, []),
            before=self._previous_observation(seen),
            **kwargs,
        )

    def _previous_observation(self, seen: Observation) -> Observation | None:
        """Return the observation that this one follows from, or None."""
        if seen.parent_id is None:
            return None
        return ObservationEngine().get_observation(observation_id=seen.parent_id, **self.reader.read_args)


class Relations(ListPage):
    reads_past = True
    template_name = "relations.html"
    section, list_page = "graph", "relations"
    title = _("Relations")
    operation, labels = RELATIONS["list"], RELATED
    extra_context = {
        "lead": _("What is connected to what, as agents stated it."),
        "search": _("Relations of an entity, by its name"),
        "drawing": "link",
        "none_fits": _("No relation on this branch at this time matches."),
        "none_yet": _(
            "This branch holds no relations yet. Agents state them over the API, such as: billing uses Redis."
        ),
        "show_all": _("Show all relations"),
    }

    def search_rows(self, query: str, filters: Mapping[str, Any]) -> Any:
        """Return the relations of an entity with this name: relations have no text search."""
        kind = require_known(filters, "relation_type").get("relation_type", "")
        graph = RelationEngine().graph_query(
            entity=query, depth=1, relation_type=kind, **self.reader.read_args
        )
        return {"results": graph.edges[:FOUND], "more": len(graph.edges) > FOUND}


class RelationPage(ProjectPage):
    reads_past = True
    template_name = "relation.html"
    section, list_page = "graph", "relations"
    extra_context = {"list_title": Relations.title}

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        uid: UUID = kwargs.pop("relation_id")
        one = RelationEngine().get_relation(relation_id=uid, **self.reader.read_args)
        around = RelationEngine().graph_query(entity=one.source_entity, depth=1, **self.reader.read_args)
        others = RelationEngine().graph_query(entity=one.target_entity, depth=1, **self.reader.read_args)
        found = {edge.uid: edge for edge in [*around.edges, *others.edges] if edge.uid != uid}
        shown = {"edges": list(found.values())[:FOUND], "more": len(found) > FOUND}
        return super().get_context_data(one=one, title=str(one), **shown, **kwargs)

"""The knowledge graph: search first, then one entity with two hops, its facts, and the same as a table."""

from typing import Any

from django.utils.translation import gettext_lazy as _

from memory.engines.graph.engine import Graph, RelationEngine
from memory.engines.search.related import RelatedEngine
from memory.exceptions import Invalid
from memory.models.relations import name_key
from memory.views.facts.graph_drawing import MAX_NODES, draw_graph
from memory.views.frame.base import ProjectPage
from memory.views.frame.frames import add_page
from memory.views.text.error_text import error_sentence

relation_engine, related_engine = RelationEngine(), RelatedEngine()
MAX_FACTS = 5  # at the side
MAX_BESIDE = 8  # relations at the side
MAX_ROWS = 50  # of the table
MAX_STARTS = 12  # entities that are offered before a search


@add_page("graph", "graph")
class GraphPage(ProjectPage):
    """The entity of ?q= with two hops; without one, the search and the entities stated last."""

    template_name = "graph.html"
    section, title = "graph", _("Graph")
    reads_past = True

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        entity = self.request.GET.get("q", "").strip()
        shown: dict[str, Any] = {"entity": entity, "with_ended": "ended" in self.request.GET}
        try:
            shown |= self._load_graph(entity, shown["with_ended"]) if entity else self._load_starts()
        except Invalid as error:
            shown["error"] = error_sentence(error)
        return super().get_context_data(**shown, **kwargs)

    def _load_graph(self, entity: str, with_ended: bool) -> dict[str, Any]:
        graph = relation_engine.graph_query(
            entity=entity, depth=2, with_ended=with_ended, **self.reader.read_args
        )
        if not graph.edges:
            return {"graph": graph, "alike": self._list_entities(entity), **self._load_chosen(graph)}
        return {
            "graph": graph,
            "drawing": draw_graph(graph, self.reader.moment),
            "most": MAX_NODES,
            "edges": graph.edges[:MAX_ROWS],
            "more": len(graph.edges) > MAX_ROWS,
            **self._load_chosen(graph),
        }

    def _load_chosen(self, graph: Graph) -> dict[str, Any]:
        """Return the side: relations and facts of the entity of ?node=, or of the first one."""
        names = {name_key(node.entity): node.entity for node in graph.nodes}
        chosen = names.get(name_key(self.request.GET.get("node", "").strip()), graph.entity)
        key = name_key(chosen)
        own = [edge for edge in graph.edges if key in (edge.source_key, edge.target_key)]
        facts = related_engine.find_naming(entity=chosen, limit=MAX_FACTS, **self.reader.read_args)
        rest = max(len(own) - MAX_BESIDE, 0)
        self.reader.name_sessions(edge.session_id for edge in own[:MAX_BESIDE])
        return {"chosen": chosen, "chosen_key": key, "own": own[:MAX_BESIDE], "rest": rest, "facts": facts}

    def _list_entities(self, part: str) -> list[str]:
        """Return entities whose names hold a part of a name."""
        return relation_engine.list_entities(part=part, limit=MAX_STARTS, **self.reader.read_args)

    def _load_starts(self) -> dict[str, Any]:
        """Return entities to begin with: those of the first relations."""
        page = relation_engine.list_relations(limit=MAX_ROWS, **self.reader.read_args)
        names = [name for edge in page.results for name in (edge.source_entity, edge.target_entity)]
        most = sorted(dict.fromkeys(names), key=lambda name: -names.count(name))
        return {"starts": most[:MAX_STARTS]}

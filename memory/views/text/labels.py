"""Labels of the pages for values of models and engines."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_lazy as _
from django.utils.translation import npgettext_lazy

from memory.engines.fields.branches import BRANCH
from memory.engines.fields.facts import FACT
from memory.engines.fields.keys import KEY
from memory.engines.fields.links import LINK

# Roles, states, kinds and methods, by the stored value.
WORDS: dict[str, Any] = {
    "viewer": _("viewer"),
    "curator": _("curator"),
    "maintainer": _("maintainer"),
    "owner": _("owner"),
    "near_duplicate": _("Do these two say the same?"),
    "contested": _("Does the newer one take the place of the older?"),
    "open": _("waiting"),
    "used": _("used"),
    "expired": _("expired"),
    "revoked": _("revoked"),
    "resolved": _("answered"),
    "approved": _("approved"),
    "merged": _("merged"),
    "reverted": _("reverted"),
    "rejected": _("rejected"),
    "all": _("all"),
    "keep_both": _("kept both"),
    "same": _("the same: one stays"),
    "supersede": _("one replaced the other"),
    "archive": _("one was archived"),
    "combine": _("one text for both"),
    "dismiss": _("dismissed"),
    "verified": _("verified"),
    "plausible": _("plausible"),
    "personal": _("of end users"),
    "unverified": _("unverified"),
    "invalidated": _("invalidated"),
    "created": _("proposed"),
    "active": _("active"),
    "done": _("done"),
    "superseded": _("superseded"),
    "archived": _("archived"),
    "restored": _("restored"),
    "completed": _("completed"),
    "todo": _("to do"),
    "blocked": _("blocked"),
    "cancelled": _("cancelled"),
    "working": _("working"),
    "left": _("left before the end"),
    "tool_use": _("use of a tool"),
    "discovery": _("discovery"),
    "decision": _("decision"),
    "error": _("error"),
    "insight": _("insight"),
    "success": _("success"),
    "timeout": _("time-out"),
    "user": _("user"),
    "assistant": _("assistant"),
    "tool_call": _("call of a tool"),
    "tool_result": _("result of a tool"),
    "system": _("system"),
    "abandoned": _("abandoned"),
    "OBSERVATION": _("observation"),
    "BELIEF": _("belief"),
    "TASK": _("task"),
    "OUTPUT_DRAFT": _("draft"),
    "NOTE": _("note"),
    "REFLECTION": _("reflection"),
    "fact": _("fact"),
    "session": _("session"),
    "actor": _("person or agent"),
    "agent": _("agent"),
    "match": _("text"),
    "memory": _("memory"),
    "private": _("private"),
    "selective": _("selective"),
    "public": _("public"),
    "manual": _("written"),
    "observation": _("from an observation"),
    "extraction": _("extracted from a conversation"),
    "consolidation": _("consolidated"),
    "merge": _("from a merge"),
    "cherry_pick": _("picked from another branch"),
    "bundle_import": _("from a bundle"),
    "import": _("imported"),
    "human": _("by a person"),
    "judge": _("by a model"),
    "heuristic": _("by a rule"),
    "pending": _("pending"),
    "ready": _("indexed"),
    "failed": _("failed: the model refused the text"),
}
# Surfaces.
SURFACES: dict[str, Any] = {
    "rest": _("API"),
    "web": _("web pages"),
    "admin": _("admin pages"),
    "cli": _("command line"),
    "hook": _("hook"),
    "test": _("test event"),
    "mcp": _("MCP"),
    "task": _("background work"),
    "demo": _("demo"),
    "engine": _("program"),
}
# Field labels in forms and histories.
FIELDS: dict[str, Any] = {
    **{field.name: field.label for noun in (KEY, BRANCH, LINK, FACT) for field in noun if field.label},
    "deleted": _("Deleted"),
    "told_at": _("Backdated to"),
    # Further details of the audit.
    "agent": _("Agent"),
    "branch": _("Branch"),
    "count": _("Count"),
    "counts": _("Counts"),
    "created": _("New facts"),
    "default_branch": _("Branch"),
    "facts": _("Facts"),
    "from": _("From"),
    "job": _("Batch"),
    "kind": _("Kind"),
    "level": _("Level"),
    "messages": _("Messages"),
    "number": _("Number"),
    "observations": _("Observations"),
    "outcome": _("Outcome"),
    "public_key": _("Public key"),
    "sha256": _("Checksum"),
    "state": _("State"),
    "target": _("Target"),
    "to": _("To"),
    "type": _("Type"),
    "updated": _("Changed"),
    "version": _("Version"),
    "role": _("Role"),
    "reason": _("Reason"),
    "search_type": _("Search by"),
    # Further filters of lists.
    "min_confidence": _("Minimum confidence"),
    "max_confidence": _("Maximum confidence"),
    "created_after": _("Stored from"),
    "created_before": _("Stored before"),
    "valid_at": _("True at"),
    "valid_after": _("True after"),
    "valid_before": _("True before"),
    "after": _("Recorded from"),
    "before": _("Recorded before"),
}
# By what lists can be sorted.
ORDER_LABELS: dict[str, Any] = {
    "agent_id": _("Agent"),
    "user_id": _("End user"),
    "app_id": _("App"),
    "branch": _("Branch"),
    "category": _("Category"),
    "closed_at": _("Ended"),
    "completed_at": _("Ended"),
    "created_at": _("Made"),
    "finished_at": _("Ended"),
    "joined_at": _("Joined"),
    "released_at": _("Released"),
    "steps": _("Steps"),
    "title": _("Title"),
}
# The same for sessions and conversations, whose state active means something else than a fact's.
RUN_WORDS = WORDS | {"active": _("running")}
# The same for tasks and their objectives.
TASK_WORDS = WORDS | {"active": _("in progress")}
# Actions of commits and audit entries, by their kind.

# Parts of a score.
SIGNALS: dict[str, Any] = {
    "hybrid": _("keyword and semantic"),
    "keyword": _("keyword"),
    "vector": _("semantic"),
    "words": _("term match"),
    "recency": _("recency"),
    "reply": _("as an answer"),
    "mix": _("combined signals"),
    "base": _("weighted sum"),
    "session": _("its session"),
    "speaker": _("speaker named"),
    "least_word": _("weakest term"),
    "window": _("with its neighbours"),
    "exact": _("exact word"),
    "brevity": _("length"),
    "following": _("what follows"),
    "verification": _("verified"),
    "priority": _("priority"),
    "confidence": _("confidence"),
    "confirmations": _("confirmed"),
}

# Kinds of memory after a count.
CHANGE_KINDS: dict[str, Any] = {
    "fact": npgettext_lazy("counted", "fact", "facts"),
    "verdict": npgettext_lazy("counted", "verdict", "verdicts"),
    "confirmation": npgettext_lazy("counted", "confirmation", "confirmations"),
    "answer": npgettext_lazy("counted", "answer", "answers"),
    "link": npgettext_lazy("counted", "link", "links"),
    "relation": npgettext_lazy("counted", "relation", "relations"),
    "observation": npgettext_lazy("counted", "observation", "observations"),
    "conversation": npgettext_lazy("counted", "conversation", "conversations"),
    "message": npgettext_lazy("counted", "message", "messages"),
}

# What a link says of the fact that it leads from, and of the one that it leads to.
EDGES: dict[str, tuple[Any, Any]] = {
    "ASSOCIATED": (_("goes with"), _("goes with")),
    "DEPENDS_ON": (_("depends on"), _("is needed by")),
    "DERIVED_FROM": (_("follows from"), _("led to")),
    "MESSAGE_OF": (_("is a message of"), _("has the message")),
    "BRIDGE": (_("bridges to"), _("bridges from")),
    "CONSOLIDATED_FROM": (_("stands for"), _("is contained in")),
    "CONTESTED_BY": (_("is contested by"), _("contests")),
}


def label_choices(values: Any, words: Mapping[str, Any] = WORDS) -> list[tuple[str, Any]]:
    """Return choices of a form: each value with its label."""
    return [(value, words.get(value, value)) for value in values]


MAKER_WORDS = {
    "user": _("person"),
    "key": _("API key"),
    "local": _("command line"),
    "server": _("key of the server"),
    "system": _("Day1 itself"),
}

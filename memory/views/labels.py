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
    "near_duplicate": _("Do these two say the same?"),
    "contested": _("Does the newer one take the place of the older?"),
    "open": _("waiting"),
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
    "private": _("private"),
    "selective": _("selective"),
    "public": _("public"),
    "manual": _("written"),
    "observation": _("from an observation"),
    "extraction": _("extracted from a conversation"),
    "consolidation": _("consolidated"),
    "merge": _("merged"),
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
}
# Field labels in forms and histories.
FIELDS: dict[str, Any] = {
    **{field.name: field.label for noun in (KEY, BRANCH, LINK, FACT) for field in noun if field.label},
    "deleted": _("Deleted"),
    "told_at": _("Dated back to"),
    "role": _("Role"),
    "reason": _("Reason"),
    "search_type": _("Search by"),
    # Further filters of lists.
    "min_confidence": _("Confidence at least"),
    "max_confidence": _("Confidence at most"),
    "created_after": _("Stored from"),
    "created_before": _("Stored before"),
    "valid_at": _("True at"),
    "valid_after": _("True after"),
    "valid_before": _("True before"),
    "after": _("Recorded from"),
    "before": _("Recorded before"),
}
# The same for sessions and conversations, whose state active means something else than a fact's.
RUN_WORDS = WORDS | {"active": _("running")}
# The same for tasks and their objectives.
TASK_WORDS = WORDS | {"active": _("in progress")}
# Actions of commits and audit entries, by their kind.
ACTION_LABELS: dict[str, Any] = {
    "fact.write": _("wrote a fact"),
    "fact.update": _("corrected a fact"),
    "fact.supersede": _("replaced facts"),
    "fact.accept": _("accepted proposals"),
    "fact.refuse": _("refused proposals"),
    "fact.archive": _("archived facts"),
    "fact.restore": _("restored facts"),
    "fact.delete": _("deleted a fact"),
    "fact.verify": _("gave a verdict"),
    "fact.bulk": _("wrote facts"),
    "fact.import": _("imported facts"),
    "link.write": _("linked facts"),
    "link.delete": _("took a link away"),
    "review.resolve": _("answered a question"),
    "commit.revert": _("undid a commit"),
    "branch.create": _("made a branch"),
    "branch.merge": _("merged branches"),
    "branch.archive": _("archived a branch"),
    "branch.restore": _("took a branch into use again"),
    "merge_request.create": _("asked for a merge"),
    "merge_request.decide": _("decided conflicts"),
    "merge_request.approve": _("approved a merge"),
    "merge_request.reject": _("rejected a merge"),
    "merge_request.merge": _("merged a request"),
    "merge_request.revert": _("reverted a merge"),
    "merge_request.redo": _("brought a reverted merge back"),
    "merge.force": _("overruled the checks of a merge"),
    "policy.set": _("set a policy"),
    "policy.delete": _("deleted a policy"),
    "observation.write": _("observed"),
    "message.write": _("wrote messages"),
    "conversation.create": _("began a conversation"),
    "conversation.close": _("ended a conversation"),
    "relation.write": _("related two things"),
    "relation.close": _("ended a relation"),
    "consolidate.session": _("consolidated a session"),
    "learning.on": _("switched a rule on"),
    "learning.off": _("switched a rule off"),
    "hook.ingest": _("took in an event"),
    "key.create": _("made a key"),
    "key.rotate": _("rotated a key"),
    "key.revoke": _("revoked a key"),
    "member.add": _("added a member"),
    "member.role": _("changed a role"),
    "member.remove": _("removed a member"),
    "project.create": _("made the project"),
    "project.remove": _("removed a project"),
    "session.create": _("began a session"),
    "session.resume": _("resumed a session"),
    "session.end": _("ended a session"),
    "erasure.begin": _("began an erasure"),
    "erasure.done": _("erased for good"),
    "task.create": _("made a task"),
    "task.join": _("joined a task"),
    "task.objective": _("changed an objective"),
    "task.agent_complete": _("completed a part of a task"),
    "task.complete": _("completed a task"),
    "task.cancel": _("cancelled a task"),
    "snapshot.create": _("made a snapshot"),
    "snapshot.restore": _("restored a snapshot"),
    "snapshot.drop": _("dropped a snapshot"),
    "snapshot.window": _("changed how long snapshots are kept"),
    "workspace.create": _("made a workspace"),
    "workspace.promote": _("promoted a workspace"),
    "workspace.drop": _("dropped a workspace"),
    "demo.begin": _("began to load the demo"),
    "demo.load": _("loaded the demo"),
}

# Parts of a score.
SIGNALS: dict[str, Any] = {
    "hybrid": _("keyword and semantic"),
    "keyword": _("keyword"),
    "vector": _("semantic"),
    "words": _("term match"),
    "recency": _("recency"),
    "reply": _("as an answer"),
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

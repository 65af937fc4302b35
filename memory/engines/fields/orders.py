"""By what the lists of the memory can be sorted.

Rows of a project are few enough for the database to sort them; sessions, which are as many as agents begin,
are sorted by what an index has.
"""

from memory.engines.support.ordering import Ordering

AUDIT = Ordering({"-at": "id"})
BRANCHES = Ordering(
    {"name": "name", "-head_at": "head_at", "-head": "head", "-created_at": "id"}, unique=["name"]
)
ERASURES = Ordering({"-requested_at": "id", "scope": "scope", "-done_at": "done_at"})
CONNECTIONS = Ordering({"-created_at": "id"})
INVITATIONS = Ordering({"-created_at": "id", "expires_at": "expires_at"})
KEYS = Ordering(
    {
        "-created_at": "id",
        "label": "label",
        "agent_id": "agent_id",
        "-last_used_at": "last_used_at",
        "expires_at": "expires_at",
    }
)
MEMBERS = Ordering({"joined_at": "id", "name": "user__username", "role": "role"})
MERGE_REQUESTS = Ordering({"-created_at": "number", "title": "title", "-closed_at": "closed_at"})
PROJECTS = Ordering({"slug": "slug", "name": "name", "-created_at": "id"}, unique=["slug"])
QUESTIONS = Ordering({"-created_at": "id", "branch": "branch", "category": "category"})
SESSIONS = Ordering({"-created_at": "id", "id": "key"}, unique=["key"])
SNAPSHOTS = Ordering({"-created_at": "id", "name": "name"})
TASKS = Ordering({"-created_at": "id", "name": "name", "-completed_at": "completed_at"})
WEBHOOKS = Ordering({"-created_at": "id"})
WORKSPACES = Ordering({"-created_at": "id", "name": "name", "-ended_at": "ended_at"})

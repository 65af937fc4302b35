"""The actor of a key; that of a connected program has at most the rights that its person has now."""

from memory.actors import NO_PROJECT, ROLE_SCOPES, SCOPES, Actor
from memory.engines.access.keys import REST_SURFACE
from memory.exceptions import Unauthenticated
from memory.models import ApiKey, Connection, Membership
from memory.models.end_users import get_owner

MCP_SURFACE = "mcp"
MCP, REST = "/mcp", "/api/v1"  # what a token may be for
RESOURCES = {MCP_SURFACE: MCP, REST_SURFACE: REST}
ELSEWHERE = "This token was given for another address of this server: connect to this one."
GONE = "Who connected this program is no member of the project any more."


def get_actor(key: ApiKey, surface: str) -> Actor:
    """Return the actor of a key that was verified.

    Raises Unauthenticated for a connected program that is used elsewhere than its person said, or whose
    person has left.
    """
    return Actor(
        project_id=key.project_id or NO_PROJECT,
        kind="server" if key.project_id is None else "key",
        id=str(key.pk),
        label=key.label,
        scopes=frozenset(key.scopes if key.connection_id is None else _bound_scopes(key, surface)),
        branch_patterns=tuple(key.branch_patterns),
        surface=surface,
        agent_id=key.agent_id,
        bound_agent=key.agent_id,
        end_user=get_owner(key),
        expires_at=key.expires_at,
        default_branch=key.default_branch,
        has_quota=bool(key.max_facts or key.max_bytes or key.max_daily_writes),
    )


def _bound_scopes(key: ApiKey, surface: str) -> list[str]:
    """Return the scopes of a connected program that the role of its person has too."""
    connection = key.connection
    assert connection is not None  # asked for by who has found its id
    used = RESOURCES.get(surface)
    if used and connection.resource and not f"{connection.resource}/".startswith(f"{used}/"):
        raise Unauthenticated(ELSEWHERE)
    role_scope = find_role_scope(connection)
    if role_scope is None:
        raise Unauthenticated(GONE)
    return limit_scopes(key.scopes, role_scope)


def find_role_scope(connection: Connection) -> str | None:
    """Return the scope of the role that the person of a connection has in its project now."""
    members = Membership.objects.filter(project=connection.project_id, user=connection.user_id)
    role = members.filter(user__is_active=True).values_list("role", flat=True).first()
    return ROLE_SCOPES[role] if role else None


def limit_scopes(scopes: list[str], most: str) -> list[str]:
    """Return the scopes that are within another one."""
    return [scope for scope in scopes if SCOPES.index(scope) <= SCOPES.index(most)]

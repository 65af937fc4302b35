"""What may be done with connected programs. They are made by people, on the page of consent."""

from django.utils.translation import gettext_lazy as _

from memory.answers.declared_serializers import AnswerShape, declare_fields
from memory.answers.rendering import build_renderer
from memory.engines.access.connections import ConnectionEngine
from memory.engines.fields.base import Use
from memory.engines.fields.connections import CONNECTION
from memory.engines.fields.orders import CONNECTIONS as ORDER
from memory.models import Connection
from memory.operations.base import Answer, Resource, Row
from memory.operations.columns import Column


@declare_fields(CONNECTION.select_fields(Use.ANSWER))
class ConnectionShape(AnswerShape):
    """A program that a person connected by OAuth; its tokens are not in it."""


render_connection = build_renderer(ConnectionShape)


engine = ConnectionEngine()
ROW = Answer(ConnectionShape, render_connection)

CONNECTIONS = Resource("connections", "connection", row=Row("connection_id", "pk", "uuid"), model=Connection)
CONNECTIONS.add(
    "list", engine.list_connections, "List the connected programs, newest first", ROW, order=ORDER
)
CONNECTIONS.show(
    "list",
    Column("client_name", _("Program"), "program"),
    Column("username", _("Connected by"), "by"),
    Column("scopes", _("Rights"), "scopes", "names"),
    Column("branch_patterns", _("Branches"), "branches"),
    Column("last_used_at", _("Used"), "last used", "time", none=_("never")),
    Column("created_at", _("Made"), kind="time"),
    Column("expires_at", _("State"), "state"),
)
CONNECTIONS.add("revoke", engine.revoke_connection, "End what a connected program may do", ROW)

"""What may be read of the server itself."""

from memory.answers.projects import ServerEntryShape, render_entry
from memory.engines.audit.server_trail import ServerTrailEngine
from memory.models import ServerEntry
from memory.operations.base import Answer, Resource

SERVER = Resource("server", "server", model=ServerEntry, is_of_server=True)
SERVER.add_read(
    "trail",
    ServerTrailEngine().list_entries,
    "List what was done with projects, their templates and keys of the server, newest first",
    Answer(ServerEntryShape, render_entry),
)

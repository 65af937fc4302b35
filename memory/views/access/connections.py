"""Programs that people connected by OAuth: each sees and ends their own, maintainers all."""

from typing import Any

from django.utils.translation import gettext_lazy as lazy

from memory.answers.challenges import find_base
from memory.conf import conf
from memory.engines.access.connections import find_connection
from memory.operations.connections import CONNECTIONS
from memory.views.frame.frames import add_page
from memory.views.frame.navigation import ACCESS, add_setting
from memory.views.generic.actions import Action, ConfirmPage
from memory.views.generic.list_page import ListPage, describe_list


@add_page("connections", "connections")
class Connections(ListPage):
    template_name, section, title = "connections/list.html", "connections", lazy("Connected programs")
    operation = CONNECTIONS["list"]
    extra_context = {
        "lead": lazy("Programs that people let into this project with their login, such as ChatGPT."),
        "drawing": "link",
        "none_fits": lazy("No program matches."),
        "show_all": lazy("Show all programs"),
        "none_yet": lazy("No program is connected with a login yet."),
    }

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        address = f"{find_base(self.request)}/mcp/{self.reader.project.slug}" if conf().oauth else ""
        return super().get_context_data(address=address, **kwargs)


@add_page("connections/<uuid:connection_id>/revoke", "revoke-connection")
class RevokeConnection(ConfirmPage):
    template_name, section, title = "connections/revoke.html", "connections", lazy("Disconnect a program")
    needs_now = False
    actions = {
        "confirm": Action(
            CONNECTIONS["revoke"],
            lazy("The program %(client_name)s no longer has access."),
            opens=("connections",),
            button=lazy("Disconnect"),
            tone="danger",
        )
    }

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        row = find_connection(self.reader.actor, self.kwargs["connection_id"])
        return super().get_context_data(connection=row, **kwargs)


add_setting(
    "connections",
    lazy("Connected programs"),
    "plug",
    group=ACCESS,
    order=15,
    describe=describe_list(Connections),
)

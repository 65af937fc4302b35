"""Projects of the server, for superusers: all of them, their templates, keys of the server, and the trail."""

from collections.abc import Mapping
from typing import Any

from django.http import HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from memory.actors import OWNER, SERVER
from memory.engines.access.keys import list_own
from memory.engines.access.project_removal import Removal
from memory.engines.access.project_templates import ProjectTemplateEngine
from memory.engines.audit.server_trail import ServerTrailEngine
from memory.models import ApiKey, Membership
from memory.operations.action_labels import ACTION_LABELS
from memory.operations.keys import KEYS
from memory.operations.project_templates import TEMPLATES
from memory.operations.projects import PROJECTS
from memory.views.frame.frames import add_page
from memory.views.frame.navigation import Section, add_section
from memory.views.generic.actions import Action, ActionPage, ConfirmPage
from memory.views.generic.list_page import ListPage

NEWEST = 20  # entries of the trail
REMOVED = lazy("%(slug)s is removed, with all that it held.")
REMOVING = lazy("%(slug)s is being removed: nobody reads or writes in it any more.")


@add_page("projects", "projects")
class Projects(ActionPage, ListPage):
    """All projects, with forms for a new one, a template and a key of the server."""

    template_name, section, scope, title = "projects/list.html", "projects", SERVER, lazy("Projects")
    needs_now = False
    operation = PROJECTS["list"]
    actions = {
        "create": Action(
            PROJECTS["create"],
            lambda made: _("The project %(slug)s is made: you are its owner.") % {"slug": made.project.slug},
            fields=("slug", "name", "template", "member_limit"),
            button=lazy("Make the project"),
        ),
        "save": Action(
            TEMPLATES["create"],
            lazy("The template %(name)s is kept."),
            fields=("name", "project"),
            words={
                "name": (lazy("Name of the template"), lazy("Lower-case letters, digits and hyphens.")),
                "project": (
                    lazy("Like the project"),
                    lazy("Its settings, policies, instructions and members. Its memory stays where it is."),
                ),
            },
            button=lazy("Keep as template"),
        ),
        "drop": Action(TEMPLATES["destroy"], lazy("The template is deleted."), takes=("name",)),
        "key": Action(
            KEYS["create"],
            fields=("label", "expires_at"),
            fixed={"scopes": [SERVER]},
            button=lazy("Make the key"),
        ),
        "revoke": Action(KEYS["revoke"], lazy("The key %(label)s no longer works."), takes=("key_id",)),
    }
    extra_context = {
        "lead": lazy(
            "A project is a tenant: nothing that it holds is seen from another. Who keeps the server makes"
            " and removes projects; to read in one, be its member."
        ),
        "search": lazy("Filters, such as name:acme"),
        "drawing": "project",
        "none_fits": lazy("No project matches."),
        "show_all": lazy("Show all projects"),
    }

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        actor = self.reader.actor
        templates = ProjectTemplateEngine().list_templates(actor=actor, limit=100).results
        entries = ServerTrailEngine().list_entries(actor=actor, limit=NEWEST).results
        trail = [(one, ACTION_LABELS.get(one.action, one.action)) for one in entries]
        keys = list_own(actor).filter(project=None, revoked_at=None)
        return super().get_context_data(templates=templates, trail=trail, keys=keys, **kwargs)

    def carry_out(self, name: str, values: dict[str, Any]) -> Any:
        """Return the result of an action; who makes a project becomes its owner."""
        if name == "create":
            maker = {"username": self.request.user.get_username(), "role": Membership.Role.OWNER.value}
            values = {**values, "members": [maker]}
        return super().carry_out(name, values)

    def render_done(self, name: str, result: Any) -> HttpResponse:
        return self.show_once(*result) if name == "key" else super().render_done(name, result)

    def show_once(self, key: ApiKey, token: str) -> HttpResponse:
        """Render the page with the token of a key of the server, which is shown only once."""
        self.template_name = "keys/made.html"
        context = ActionPage.get_context_data(self, key=key, token=token, title=_("The new key"))
        response = self.render_to_response(context, status=201)
        response["Cache-Control"] = "no-store"
        return response


def tell_removal(removal: Removal) -> str:
    """Return how far a removal has come."""
    return str((REMOVED if removal.is_done else REMOVING) % {"slug": removal.project.slug})


@add_page("projects/<str:project_slug>/remove", "remove-project")
class RemoveProject(ConfirmPage):
    """A confirmation that says what a project holds, and removes it when its slug is typed."""

    template_name = "projects/remove.html"
    title = lazy("Remove a project")
    scope, section, needs_now = SERVER, "projects", False
    actions = {
        "confirm": Action(
            PROJECTS["destroy"],
            tell_removal,
            fields=("confirm",),
            opens=("projects",),
            button=lazy("Remove for good"),
            tone="danger",
        )
    }

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        project = PROJECTS["retrieve"].run(actor=self.reader.actor, **self.places)
        return super().get_context_data(project=project, **kwargs)

    @property
    def places(self) -> Mapping[str, Any]:
        return {"project_slug": self.kwargs["project_slug"]}

    def find_next(self, action: Action, result: Removal) -> str:
        """Lead who removed the project of this page to the front page."""
        if result and result.project.pk == self.reader.project.pk:
            return reverse("front")
        return super().find_next(action, result)


@add_page("members/remove-project", "remove-own-project")
class RemoveOwnProject(RemoveProject):
    """The same for the project of the page, for its owners."""

    scope, section = OWNER, "members"

    @property
    def places(self) -> Mapping[str, Any]:
        return {"project_slug": self.reader.project.slug}


add_section(
    Section(
        "projects", lazy("Projects"), "project", "", scope=SERVER, order=98, place="settings", is_tab=False
    )
)

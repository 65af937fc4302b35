"""Templates of projects: what a new one begins with, such as settings, policies and members.

A template holds values, not references: the project it was taken from may change or go. Each part is read
from a project, checked, and applied to a new one; apps to the right add theirs to ``project_parts``.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Unpack

from memory.actors import SERVER, Actor
from memory.db.transactions import retry_methods, write_transaction
from memory.engines.access.members import check_role, create_member
from memory.engines.access.policies import PolicyEngine, check_pattern, check_rules
from memory.engines.access.project_settings import check_settings, check_slug
from memory.engines.audit.server_trail import record_server_entry
from memory.engines.fields.base import Use
from memory.engines.fields.project_templates import FROM_PROJECT, TEMPLATE_PARTS
from memory.engines.fields.projects import PROJECT
from memory.engines.support import validation as c
from memory.engines.support.pagination import Page, Paging, paginate
from memory.engines.versions.policies import MAX_POLICIES, RULES
from memory.exceptions import Exists, Invalid, NotFound, UnknownField
from memory.extensions import load_extensions
from memory.models import BranchPolicy, Membership, Project, ProjectTemplate

MAX_MEMBERS = 1000  # of a template or a new project
SETTINGS = [name for name in PROJECT.field_names(Use.UPDATE) if name not in ("slug", "name")]
Role = Membership.Role


@dataclass(frozen=True)
class Part:
    """A part of a template: how it is read from a project, checked, and applied to a new one.

    ``read`` returns what a project has of its own; nothing of that is stored.
    """

    read: Callable[[Project], Any]
    check: Callable[[Any], Any]
    apply: Callable[[Project, Any, Actor], None]


@retry_methods
class ProjectTemplateEngine:
    def list_templates(self, *, actor: Actor, **paging: Unpack[Paging]) -> Page[ProjectTemplate]:
        """List templates by name. Needs the scope server."""
        actor.require_scope(SERVER)
        return paginate(ProjectTemplate.objects.all(), "name", **paging)

    def get_template(self, *, name: str, actor: Actor) -> ProjectTemplate:
        """Return a template. Raises NotFound."""
        actor.require_scope(SERVER)
        return find_template(name)

    def create_template(
        self, *, name: str, actor: Actor, project: Annotated[str, FROM_PROJECT] = "", **parts: Any
    ) -> ProjectTemplate:
        """Store what a project has as a template, what is not given; without a project what is given alone.

        Raises Exists for a name that is taken, NotFound for a project that is not there, Invalid.
        """
        actor.require_scope(SERVER)
        check_slug(name, "name")
        content = {**(read_project(project) if project else {}), **check_parts(parts)}
        with write_transaction():
            if ProjectTemplate.objects.filter(pk=name).exists():
                raise Exists("A template {name} exists already.", name=name)
            identity = actor.identity_fields("created_by")
            template = ProjectTemplate.objects.create(name=name, content=content, **identity)
            record_server_entry(actor, "project_template.create", name, {"from": project, **content})
        return template

    def delete_template(self, *, name: str, actor: Actor) -> None:
        """Delete a template; projects made with it stay as they are. Raises NotFound."""
        actor.require_scope(SERVER)
        with write_transaction():
            template = find_template(name)
            record_server_entry(actor, "project_template.delete", name, template.content)
            template.delete()


def find_template(name: str) -> ProjectTemplate:
    if template := ProjectTemplate.objects.filter(pk=name).first():
        return template
    raise NotFound("There is no template of projects {name}.", name=ascii(name)[1:-1])


def read_parts(name: str) -> dict[str, Any]:
    """Return the parts of a template. Raises NotFound."""
    return dict(find_template(name).content)


def read_project(slug: str) -> dict[str, Any]:
    """Return the parts of a project. Raises NotFound."""
    project = Project.objects.filter(slug=slug).first()
    if project is None:
        raise NotFound("There is no project {slug}.", slug=ascii(slug)[1:-1])
    found = {name: part.read(project) for name, part in list_parts().items()}
    return {name: value for name, value in found.items() if value}


def check_parts(parts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the valid parts that are given. Raises Invalid, UnknownField."""
    known = list_parts()
    return {name: known[name].check(value) for name, value in parts.items() if value is not None}


def apply_parts(project: Project, parts: Mapping[str, Any], actor: Actor) -> None:
    """Give a new project what a template says, within the transaction that makes it."""
    known = list_parts()
    for name, value in parts.items():
        known[name].apply(project, value, actor)


def list_parts() -> dict[str, Part]:
    """Return all parts by name, in the order of their fields."""
    known = {**PARTS, **load_extensions("project_parts")}
    return {one.name: known[one.name] for one in TEMPLATE_PARTS}


# ---- settings --------------------------------------------------------------------------------------


def read_settings(project: Project) -> dict[str, Any]:
    """Return the settings that are not those of every new project."""
    usual = Project()
    values = {name: getattr(project, name) for name in SETTINGS}
    return {name: value for name, value in values.items() if value != getattr(usual, name)}


def check_template_settings(value: Any) -> dict[str, Any]:
    """Return valid settings. Raises Invalid, UnknownField."""
    settings = check_object("settings", value)
    if names := [name for name in settings if name not in SETTINGS]:
        raise UnknownField(field=names[0])
    return check_settings(settings)


def keep_settings(project: Project, value: Any, actor: Actor) -> None:
    """Do nothing: the row of the project is made with its settings."""


# ---- policies --------------------------------------------------------------------------------------


def read_policies(project: Project) -> list[dict[str, Any]]:
    rows = BranchPolicy.objects.filter(project=project).order_by("pattern")
    return [{"pattern": row.pattern, **{name: getattr(row, name) for name in RULES}} for row in rows]


def check_policies(value: Any) -> list[dict[str, Any]]:
    """Return valid policies. Raises Invalid, UnknownField."""
    checked = []
    for entry in check_list("policies", value, MAX_POLICIES):
        rules = {name: one for name, one in entry.items() if name != "pattern"}
        checked.append({"pattern": check_pattern(entry.get("pattern", "")), **check_rules(rules)})
    return checked


def apply_policies(project: Project, value: Sequence[Mapping[str, Any]], actor: Actor) -> None:
    for entry in value:
        PolicyEngine().set_policy(actor=actor, **entry)


# ---- members ---------------------------------------------------------------------------------------


def read_members(project: Project) -> list[dict[str, str]]:
    rows = Membership.objects.filter(project=project).select_related("user").order_by("pk")
    return [{"username": row.user.get_username(), "role": row.role} for row in rows]


def check_members(value: Any) -> list[dict[str, str]]:
    """Return names of accounts with their roles. Raises Invalid, UnknownField."""
    checked = []
    for entry in check_list("members", value, MAX_MEMBERS):
        for name in sorted(entry.keys() - {"username", "role"}):
            field = f"members.{name}"
            raise UnknownField(field=field)
        username = c.text_check(150, min_length=1)("username", entry.get("username", ""))
        checked.append({"username": username, "role": check_role(entry.get("role", Role.VIEWER.value))})
    return checked


def apply_members(project: Project, value: Sequence[Mapping[str, str]], actor: Actor) -> None:
    """Add members; who is one already, by the template, has the role that is given now."""
    for entry in value:
        known = Membership.objects.filter(project=project, user__username=entry["username"])
        if not known.update(role=entry["role"]):
            create_member(entry["username"], entry["role"], actor)


# ---- pieces ----------------------------------------------------------------------------------------


def check_object(name: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise Invalid("{field} must be an object.", field=name)
    return value


def check_list(name: str, value: Any, maximum: int) -> list[Mapping[str, Any]]:
    """Return a list of objects. Raises Invalid."""
    if not isinstance(value, list | tuple) or len(value) > maximum:
        raise Invalid("{field} must be a list of at most {most} objects.", field=name, most=maximum)
    return [check_object(name, entry) for entry in value]


PARTS = {
    "settings": Part(read_settings, check_template_settings, keep_settings),
    "policies": Part(read_policies, check_policies, apply_policies),
    "members": Part(read_members, check_members, apply_members),
}

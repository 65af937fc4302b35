"""Base class of the server-wide admin pages, with unfold's templates; for superusers only."""

from typing import Any

from django.contrib.admin.utils import unquote
from django.forms import Media
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin

OF_SLUGS = ("xregexp", "urlify", "prepopulate.")  # scripts


class ServerModelAdmin(ModelAdmin):
    """Base of server-wide model admins, open to superusers only, whatever their roles in projects.

    ``title`` is the plural name, ``new`` the label of the add button and its page, ``helps`` the help texts
    that replace the model's.
    """

    title: Any = ""
    new: Any = ""
    helps: dict[str, Any] = {}
    show_full_result_count = False
    list_per_page = 20  # unfold needs 5 kB per row

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        """Render a list without the scripts of the forms, which are larger than the list."""
        more = {"media": Media(js=["admin/js/actions.js"]), "title": self.title, "new": self.new}
        return super().changelist_view(request, {**more, **(extra_context or {})})

    def get_form(self, *args: Any, **kwargs: Any) -> Any:
        return super().get_form(*args, **({"help_texts": self.helps} if self.helps else {}), **kwargs)

    def named(self, obj: Any) -> str:
        return str(obj)

    def render_change_form(self, request: HttpRequest, context: Any, *args: Any, **kwargs: Any) -> Any:
        """Render a form with the object's name as its heading."""
        original = context["original"]
        words = {"title": self.named(original) if original else self.new, "plural": self.title}
        return super().render_change_form(request, {**context, **words}, *args, **kwargs)

    def render_delete_form(self, request: HttpRequest, context: Any) -> Any:
        name = self.named(context["object"])
        words = {"title": gettext("Delete “%(name)s”?") % {"name": name}, "plural": self.title}
        return super().render_delete_form(request, {**context, **words})

    def history_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> Any:
        one = self.get_object(request, unquote(object_id))
        words = {"title": gettext("Change history: %s") % self.named(one)} if one else {}
        return super().history_view(request, object_id, {**words, **(extra_context or {})})

    @property
    def media(self) -> Media:
        """Return the form's media, without the slug scripts (a fifth of the size) where no slug is filled
        in.
        """
        every: Any = super().media
        if self.prepopulated_fields:
            return every
        js = [file for file in every._js if not any(word in file for word in OF_SLUGS)]
        return Media(css=every._css, js=js)

    def has_module_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.is_superuser)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.is_superuser)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return bool(request.user.is_superuser)

    has_change_permission = has_delete_permission = has_view_permission


# Unfold's texts without a Chinese translation: named in this list, they enter the catalogue.
SAID_BY_UNFOLD = (
    _("Type to search"),
    _("Reset filters"),
    _(
        "Raw passwords are not stored, so there is no way to see this user’s password, but you can change"
        ' the password using <a href="{}" class="text-primary-600 dark:text-primary-500">this form</a>.'
    ),
    _("After you've created a user, you’ll be able to edit more user options."),
    _("Run"),
    _("Select all rows"),
    _("Select record"),
    _("Select value"),
    _("Date"),
    _("Select action"),
    _("Select action to run"),
    _("True"),
    _("False"),
)

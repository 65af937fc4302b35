"""Bundles: the list, uploads with their report, the page of one, its download, and the keys that sign."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from curation.engines.bundles.document import MAX_BYTES, read_bytes
from curation.engines.bundles.engine import KnowledgeBundleEngine, load_document
from curation.engines.bundles.keys import BundleKeyEngine
from curation.engines.fields.bundles import BUNDLE
from curation.engines.holdings import describe_frozen, list_talks
from curation.models import Bundle
from curation.operations.bundles import BUNDLES
from memory.engines.fields.base import Use
from memory.exceptions import Day1Error, Invalid
from memory.views.base import ProjectPage
from memory.views.error_text import error_sentence
from memory.views.field_widgets import OptionalText, form_field
from memory.views.files import build_file, read_upload
from memory.views.flash import flash_success
from memory.views.list_page import ALL
from memory.views.state_list import StateListPage

bundle_engine, key_engine = KnowledgeBundleEngine(), BundleKeyEngine()
Origin = Bundle.Origin
STATES = {
    ALL: gettext_lazy("All"),
    Origin.CREATED.value: gettext_lazy("Made here"),
    Origin.UPLOADED.value: gettext_lazy("Uploaded"),
}
FLAGS = ("only_verified", "conversations", "relations")


class Bundles(StateListPage):
    """The list by origin, and the form for a new one."""

    template_name = "bundles.html"
    section = "bundles"
    title = gettext_lazy("Bundles")
    operation, tab, states = BUNDLES["list"], "origin", STATES
    extra_context = {
        "lead": gettext_lazy(
            "Knowledge that travels: verified facts of a branch as a document that another project imports."
        ),
        "search": gettext_lazy("Filters, such as name:payments"),
        "drawing": "project",
        "form_title": gettext_lazy("A new bundle"),
        "form_button": gettext_lazy("Make the bundle"),
        "none_fits": gettext_lazy("There is no such bundle."),
        "none_yet": gettext_lazy(
            "A bundle carries what a branch knows to another project. Make one here, upload one, or use this"
            " command:"
        ),
        "show_all": gettext_lazy("All bundles"),
    }

    def count_rows(self) -> Mapping[str, int]:
        return bundle_engine.count_bundles(actor=self.reader.actor)

    def build_form(self, data: Any = None) -> forms.Form:
        return build_bundle_form(data, self.reader.branch.name)

    def create_row(self, form: forms.Form) -> str:
        post = self.request.POST
        made = bundle_engine.create_bundle(
            name=post.get("name", "").strip(),
            description=post.get("description", "").strip(),
            branch_name=post.get("source_branch", "").strip() or self.reader.branch.name,
            actor=self.reader.actor,
            **{name: bool(post.get(name)) for name in FLAGS},
        )
        flash_success(self.request, _("The bundle was made."))
        return self.reader.url("bundle", made.pk, branch="", at="")


def build_bundle_form(data: Any, branch: str) -> forms.Form:
    """Return the form of a new bundle."""
    form = forms.Form(data, initial={"source_branch": branch} | dict.fromkeys(FLAGS, "yes"))
    form.fields |= {field.name: form_field(field) for field in BUNDLE.select_fields(Use.FORM)}
    form.fields["description"].widget = forms.Textarea(attrs={"rows": 3, "dir": "auto"})
    form.fields["source_branch"] = OptionalText(
        label=gettext_lazy("From branch"), help_text=gettext_lazy("The branch whose knowledge travels.")
    )
    form.fields |= {name: form_field(BUNDLE[name]) for name in FLAGS}
    return form


# ---- uploads ---------------------------------------------------------------------------------------


class BundleUpload(ProjectPage):
    """The upload of a document: first the report of what it would write, then the import."""

    template_name = "bundle_upload.html"
    section = "bundles"
    title = gettext_lazy("Upload a bundle")
    scope = "write"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        posted = self.request.POST
        return super().get_context_data(
            branch_name=posted.get("target_branch", ""),
            require_trusted=bool(posted.get("require_trusted")),
            most=MAX_BYTES // 1024,
            **kwargs,
        )

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Report on the chosen file; with the button of the report, import it."""
        self.reader.require_now()
        try:
            document = read_upload(request, read_bytes, MAX_BYTES)
            if request.POST.get("action") == "import":
                return redirect(self._import(request, document))
            found = bundle_engine.upload_bundle(document=document, dry_run=True, **self.read_options())
        except Day1Error as error:
            context = self.get_context_data(refusal=error_sentence(error))
            return self.render_to_response(context, status=error.status)
        return self.render_to_response(self.get_context_data(report=found.report))

    def read_options(self) -> dict[str, Any]:
        post = self.request.POST
        return {
            "branch_name": post.get("target_branch", "").strip(),
            "require_trusted": bool(post.get("require_trusted")),
            "actor": self.reader.actor,
        }

    def _import(self, request: HttpRequest, document: Any) -> str:
        if (checked := request.POST.get("sha256")) and document.get("sha256") != checked:
            raise Invalid("This is another file than the one that was checked: check it first.", field="file")
        options = self.read_options()
        report = bundle_engine.upload_bundle(document=document, imports=True, **options).report
        assert report is not None
        flash_success(request, describe_import(report.new_count))
        return self.reader.url("branch", report.branch_name, branch="", at="")


def describe_import(count: int) -> str:
    text = ngettext("%(n)s memory was imported.", "%(n)s memories were imported.", count)
    return text % {"n": count}


# ---- one bundle ------------------------------------------------------------------------------------


class BundlePage(ProjectPage):
    """One bundle: at the left what its receiver gets, at the right its members, its seals, and the import."""

    template_name = "bundle.html"
    section = "bundles"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        actor = self.reader.actor
        bundle = bundle_engine.get_bundle(bundle_id=self.kwargs["bundle_id"], actor=actor)
        content = load_document(bundle).content
        return super().get_context_data(
            title=str(bundle),
            bundle=bundle,
            packet=describe_frozen(content["facts"]),
            talks=list_talks(content["conversations"]),
            trust=bundle_engine.judge_bundle(bundle=bundle, actor=actor),
            may_import=self.reader.is_now and self.reader.can["write"],
            may_delete=bundle_engine.may_delete(bundle=bundle, actor=actor),
            branch_name=self.request.POST.get("target_branch", ""),
            **kwargs,
        )

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Report on an import; with the button of the report, import it."""
        self.reader.require_now()
        options: dict[str, Any] = {
            "bundle_id": self.kwargs["bundle_id"],
            "branch_name": request.POST.get("target_branch", "").strip(),
            "actor": self.reader.actor,
        }
        imports = request.POST.get("action") == "import"
        try:
            report = bundle_engine.import_bundle(dry_run=not imports, **options)
        except Day1Error as error:
            context = self.get_context_data(refusal=error_sentence(error))
            return self.render_to_response(context, status=error.status)
        if not imports:
            return self.render_to_response(self.get_context_data(report=report))
        flash_success(request, describe_import(report.new_count))
        return redirect(self.reader.url("branch", report.branch_name, branch="", at=""))


class BundleDownload(ProjectPage):
    """The document of a bundle as a file."""

    section = "bundles"

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        actor = self.reader.actor
        bundle = bundle_engine.get_bundle(bundle_id=self.kwargs["bundle_id"], actor=actor)
        text = bundle_engine.export_bundle(bundle_id=bundle.pk, actor=actor)
        return build_file(text, f"{bundle.name}-v{bundle.version}.json")


class DeleteBundle(ProjectPage):
    """A confirmation with its consequences, which deletes the bundle."""

    template_name = "confirm.html"
    section = "bundles"
    extra_context = {
        "verb": gettext_lazy("Delete"),
        "lead": gettext_lazy(
            "Its document is deleted for good. What was imported of it stays; its number is not given again."
        ),
    }

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        found = bundle_engine.get_bundle(bundle_id=self.kwargs["bundle_id"], actor=self.reader.actor)
        return super().get_context_data(title=_("Delete %(name)s?") % {"name": found}, **kwargs)

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        bundle_engine.delete_bundle(bundle_id=self.kwargs["bundle_id"], actor=self.reader.actor)
        flash_success(request, _("The bundle is deleted."))
        return redirect(self.reader.url("bundles"))


# ---- keys ------------------------------------------------------------------------------------------


class BundleKeys(ProjectPage):
    """The public key of the project, and the keys that it trusts."""

    template_name = "bundle_keys.html"
    section = "bundles"
    title = gettext_lazy("Keys of bundles")

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        actor = self.reader.actor
        return super().get_context_data(
            key=key_engine.find_signing_key(actor=actor),
            trusted=key_engine.list_trusted_keys(actor=actor),
            may_change=self.reader.is_now and self.reader.can["admin"],
            **kwargs,
        )

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Make a key, trust one, or trust one no more."""
        self.reader.require_now()
        actor, (action, _sep, name) = self.reader.actor, request.POST.get("action", "").partition(":")
        match action:
            case "make":
                key_engine.make_signing_key(actor=actor)
                flash_success(request, _("The key was made: new bundles are signed by it."))
            case "trust":
                typed = {field: request.POST.get(field, "").strip() for field in ("name", "public_key")}
                key_engine.trust_key(actor=actor, **typed)
                flash_success(request, _("The key is trusted."))
            case "distrust":
                key_engine.distrust_key(name=name, actor=actor)
                flash_success(request, _("The key is trusted no more."))
            case _other:
                raise Invalid("This cannot be done to a key.")
        return redirect(request.path)

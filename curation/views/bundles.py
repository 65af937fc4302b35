"""Bundles: the list, uploads with their report, the page of one, its download, and the keys that sign."""

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext_lazy, ngettext

from curation.engines.bundles.document import MAX_BYTES, read_bytes
from curation.engines.bundles.engine import KnowledgeBundleEngine, load_document
from curation.engines.bundles.keys import BundleKeyEngine
from curation.engines.fields.bundles import BUNDLE
from curation.engines.prompt_lines import describe_frozen, list_talks
from curation.models import Bundle
from curation.operations.bundles import BUNDLES
from curation.operations.signing_key import SIGNING_KEY
from curation.operations.trusted_keys import TRUSTED_KEYS
from memory.engines.fields.base import Use
from memory.exceptions import Day1Error, Invalid
from memory.views.frame.base import ProjectPage
from memory.views.frame.files import build_file, read_upload
from memory.views.frame.flash import flash_success
from memory.views.generic.actions import Action, ActionPage
from memory.views.generic.deletion import DeletablePage, build_deletion
from memory.views.generic.list_page import ALL
from memory.views.generic.state_list import StateListPage
from memory.views.text.error_text import error_sentence

bundle_engine, key_engine = KnowledgeBundleEngine(), BundleKeyEngine()
Origin = Bundle.Origin
STATES = {
    ALL: gettext_lazy("All"),
    Origin.CREATED.value: gettext_lazy("Made here"),
    Origin.UPLOADED.value: gettext_lazy("Uploaded"),
}
FLAGS = ("only_verified", "conversations", "relations")
FORM_FIELDS = (*BUNDLE.field_names(Use.FORM), "branch", *FLAGS)
FROM_BRANCH = (gettext_lazy("From branch"), gettext_lazy("The branch whose knowledge travels."))
ON_BRANCH = (gettext_lazy("Branch"), gettext_lazy("Empty: a branch of its own, apart from all others."))


class Bundles(StateListPage):
    """The list by origin, and the form for a new one."""

    template_name = "bundles.html"
    section = "bundles"
    title = gettext_lazy("Bundles")
    operation, tab, states = BUNDLES["list"], "origin", STATES
    form_action = "check"
    actions = {
        "check": Action(
            BUNDLES["create"],
            fields=FORM_FIELDS,
            words={"branch": FROM_BRANCH},
            fixed={"dry_run": True},
            button=gettext_lazy("Show the contents"),
            drawing="search",
            tone="",
        ),
        "create": Action(
            BUNDLES["create"],
            gettext_lazy("The bundle was made."),
            fields=FORM_FIELDS,
            joins="check",
            opens=("bundle", "pk"),
        ),
    }
    extra_context = {
        "lead": gettext_lazy(
            "Knowledge that travels: verified facts of a branch as a document that another project imports."
        ),
        "search": gettext_lazy("Filters, such as name:payments"),
        "drawing": "project",
        "form_title": gettext_lazy("A new bundle"),
        "none_fits": gettext_lazy("There is no such bundle."),
        "none_yet": gettext_lazy(
            "A bundle carries what a branch knows to another project. Make one here, upload one, or use this"
            " command:"
        ),
        "show_all": gettext_lazy("All bundles"),
    }

    def count_rows(self) -> Mapping[str, int]:
        return bundle_engine.count_bundles(actor=self.reader.actor)

    def find_values(self, name: str) -> dict[str, Any]:
        first = dict.fromkeys(FLAGS, True) | {"conversations": False}  # knowledge, not transcripts
        return {"branch": self.reader.branch.name} | first

    def render_done(self, name: str, result: Any) -> HttpResponse:
        if name != "check":
            return super().render_done(name, result)
        content = load_document(result).content
        shown = {"bundle": result, "talks": list_talks(content["conversations"])}
        return self.render_to_response(
            self.get_context_data(**shown, packet=describe_frozen(content["facts"]))
        )


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
            if request.POST.get("do") == "import":
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


def describe_content(bundle: Bundle) -> dict[str, Any]:
    """Return what the receiver of a bundle gets, line by line, and its conversations."""
    content = load_document(bundle).content
    return {"packet": describe_frozen(content["facts"]), "talks": list_talks(content["conversations"])}


# ---- one bundle ------------------------------------------------------------------------------------


class BundlePage(DeletablePage):
    """One bundle: at the left what its receiver gets, at the right its members, its seals, and the import."""

    template_name = "bundle.html"
    section, usual = "bundles", "check"
    actions = {
        "check": Action(
            BUNDLES["import_stored"],
            fields=("branch",),
            words={"branch": ON_BRANCH},
            fixed={"dry_run": True},
            button=gettext_lazy("Show what it would write"),
            drawing="search",
            tone="",
        ),
        "import": Action(
            BUNDLES["import_stored"],
            lambda report: describe_import(report.new_count),
            fields=("branch",),
            joins="check",
            opens=("branch", "branch_name"),
        ),
        **build_deletion(BUNDLES, "bundles"),
    }

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        actor = self.reader.actor
        bundle = bundle_engine.get_bundle(bundle_id=self.kwargs["bundle_id"], actor=actor)
        return super().get_context_data(
            title=str(bundle),
            bundle=bundle,
            **describe_content(bundle),
            trust=bundle_engine.judge_bundle(bundle=bundle, actor=actor),
            may_import=self.reader.is_now and self.reader.can["write"],
            may_delete=bundle_engine.may_delete(bundle=bundle, actor=actor),
            **kwargs,
        )

    def render_done(self, name: str, result: Any) -> HttpResponse:
        if name == "check":
            return self.render_to_response(self.get_context_data(report=result))
        return super().render_done(name, result)


class BundleDownload(ProjectPage):
    """The document of a bundle as a file."""

    section = "bundles"

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        actor = self.reader.actor
        bundle = bundle_engine.get_bundle(bundle_id=self.kwargs["bundle_id"], actor=actor)
        text = bundle_engine.export_bundle(bundle_id=bundle.pk, actor=actor)
        return build_file(text, f"{bundle.name}-v{bundle.version}.json")


# ---- keys ------------------------------------------------------------------------------------------


class BundleKeys(ActionPage):
    """The public key of the project, and the keys that it trusts."""

    template_name = "bundle_keys.html"
    section = "bundles"
    title = gettext_lazy("Keys of bundles")
    actions = {
        "make": Action(
            SIGNING_KEY["create"],
            gettext_lazy("The key was made: new bundles are signed by it."),
            button=gettext_lazy("Make a new key"),
            drawing="key",
            tone="",
        ),
        "trust": Action(
            TRUSTED_KEYS["create"],
            gettext_lazy("The key is trusted."),
            fields=("name", "public_key"),
            button=gettext_lazy("Trust the key"),
            drawing="check",
        ),
        "distrust": Action(
            TRUSTED_KEYS["destroy"], gettext_lazy("The key is no longer trusted."), takes=("name",)
        ),
    }

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        actor = self.reader.actor
        return super().get_context_data(
            key=key_engine.find_signing_key(actor=actor),
            trusted=key_engine.list_trusted_keys(actor=actor),
            may_change=self.reader.is_now and self.reader.can["admin"],
            **kwargs,
        )

"""/bundles: create, list, read, export, import, upload."""

from typing import Any

from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from curation.answers import bundles as shapes
from curation.engines.bundles.document import read_bytes
from curation.engines.bundles.engine import KnowledgeBundleEngine
from curation.engines.fields.bundles import BUNDLE_FILTERS
from curation.engines.orders import BUNDLES
from curation.filters import BundleFilterSet
from memory.answers.rendering import page_shape
from memory.api.base import ResourceViewSet, get_request_actor
from memory.api.routes import serve_at
from memory.api.schema import (
    GONE,
    TEXT,
    document_routes,
    list_filter_parameters,
    page,
    paging_by,
    query,
    route,
)
from memory.engines.support import validation as c
from memory.operations.inputs import Input, parse_id

bundle_engine = KnowledgeBundleEngine()
FILTERS = list_filter_parameters(BundleFilterSet)
FLAG = {"type": "boolean", "default": False}
UPLOAD = [
    query("branch", TEXT, "Import it on this branch; without it and dry_run it is only kept."),
    query("import", FLAG, "true imports it without a branch too: on one of its own."),
    query("name", TEXT, "Keep it under another name."),
    query("dry_run", FLAG, "true tells what an import would do, and writes nothing."),
    query("require_trusted", FLAG, "true refuses an import that nobody trusted has signed."),
]
ROUTES = {
    "BundleViewSet": {
        "create": route("Make a bundle of a branch", {201: shapes.BundleShape}, shapes.BundleInput),
        "list": route(
            "List bundles, newest first",
            {200: page(shapes.BundleShape)},
            None,
            [*FILTERS, *paging_by(BUNDLES)],
        ),
        "retrieve": route("Read what a bundle holds", {200: shapes.BundleShape}),
        "destroy": route("Delete a bundle", {204: GONE}),
        "export": route("Export the document", {200: shapes.BundleDocumentShape}),
        "import_stored": route(
            "Import a bundle on a branch", {200: shapes.BundleReportShape}, shapes.BundleImportInput
        ),
        "upload": route(
            "Keep a document, and import it",
            {200: shapes.BundleUploadShape, 201: shapes.BundleUploadShape},
            shapes.BundleDocumentShape,
            UPLOAD,
        ),
    }
}


@serve_at("bundles", "bundle")
@document_routes(ROUTES, shapes)
class BundleViewSet(ResourceViewSet):
    lookup_value_regex = "[^/]+"
    filterset_class = BundleFilterSet

    def create(self, request: Request) -> Response:
        payload = Input(request)
        actor = payload.take_actor(get_request_actor(request))
        branch, fields = payload.take_branch(), payload.take_fields()
        name = fields.pop("name", "")
        made = bundle_engine.create_bundle(name=name, branch_name=branch, actor=actor, **fields)
        return Response(shapes.render_bundle(made), status=201)

    def list(self, request: Request) -> Response:
        payload = Input(request)
        paging = payload.take_paging(order=BUNDLES)
        filters = payload.take_filters(BUNDLE_FILTERS)
        payload.refuse_unknown()
        found = bundle_engine.list_bundles(actor=get_request_actor(request), **filters, **paging)
        return Response(page_shape(found, shapes.render_bundle))

    def retrieve(self, request: Request, pk: str) -> Response:
        Input(request).refuse_unknown()
        row = bundle_engine.get_bundle(bundle_id=parse_id(pk), actor=get_request_actor(request))
        return Response(shapes.render_bundle(row))

    def destroy(self, request: Request, pk: str) -> Response:
        Input(request).refuse_unknown()
        bundle_engine.delete_bundle(bundle_id=parse_id(pk), actor=get_request_actor(request))
        return Response(status=204)

    @action(detail=True, methods=["get"])
    def export(self, request: Request, pk: str) -> Response:
        Input(request).refuse_unknown()
        actor = get_request_actor(request)
        text = bundle_engine.export_bundle(bundle_id=parse_id(pk), actor=actor)
        return Response(read_bytes(text.encode("utf-8", "surrogatepass")))

    @action(detail=True, methods=["post"], url_path="import")
    def import_stored(self, request: Request, pk: str) -> Response:
        payload = Input(request)
        actor = payload.take_actor(get_request_actor(request))
        options = take_options(payload)
        payload.refuse_unknown()
        found = bundle_engine.import_bundle(bundle_id=parse_id(pk), actor=actor, **options)
        return Response(shapes.render_report(found))

    @action(detail=False, methods=["post"])
    def upload(self, request: Request) -> Response:
        payload = Input(request)
        document, payload.body = payload.body, {}
        options: dict[str, Any] = take_options(payload)
        options["name"] = payload.take_value("name", c.text_check(100), "")
        imports = payload.take_value("import", c.check_flag, False) or bool(options["branch_name"])
        actor = payload.take_actor(get_request_actor(request))
        payload.refuse_unknown()
        found = bundle_engine.upload_bundle(document=document, imports=imports, actor=actor, **options)
        return Response(shapes.render_upload(found), status=201 if found.bundle else 200)


def take_options(payload: Input) -> dict[str, Any]:
    """Take where and how a bundle is imported."""
    return {
        "branch_name": payload.take_branch(default=""),
        "dry_run": payload.take_value("dry_run", c.check_flag, False),
        "require_trusted": payload.take_value("require_trusted", c.check_flag, False),
    }

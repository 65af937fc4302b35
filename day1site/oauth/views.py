"""The endpoints of OAuth, and the page on which a person lets a program use a project."""

import json
import ssl
from collections.abc import Callable
from functools import wraps
from typing import Any
from urllib.parse import urlsplit

from csp.decorators import csp_update
from django import forms
from django.contrib.auth.mixins import LoginRequiredMixin
from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.multipartparser import MultiPartParserError
from django.shortcuts import render
from django.utils.cache import patch_cache_control
from django.utils.translation import gettext_lazy as lazy
from django.utils.translation import gettext_noop as _
from django.views.decorators.csrf import csrf_exempt
from django.views.generic.base import View

from day1site.login import get_client_address
from day1site.oauth.metadata import open_to_pages, require_oauth
from memory.actors import ROLE_SCOPES, SCOPES
from memory.answers.challenges import find_base
from memory.answers.problems import RETRY_SECONDS, build_error_response
from memory.db.work_slots import work_slots
from memory.engines.access.connections import GRANTED_SCOPES, ConnectionEngine
from memory.engines.access.key_actors import MCP, limit_scopes
from memory.engines.access.members import WEB_SURFACE, build_member_actor, list_memberships
from memory.engines.access.oauth_clients import OAuthClientEngine, allows_redirect, is_fresh
from memory.engines.access.second_factors import FactorMissing, has_factor_for, require_factor
from memory.engines.fields.keys import KEY
from memory.engines.support.public_servers import (
    Allowed,
    Request,
    Unanswered,
    send_request,
    split_address,
)
from memory.engines.support.rate_limits import count_request
from memory.exceptions import Day1Error, Invalid, RateLimited
from memory.models import Membership, OAuthClient
from memory.views.frame.base import render_refusal, to_login
from memory.views.frame.widgets import add_form_error

REGISTRATION_RATE, DOCUMENT_RATE, TOKEN_RATE = 10, 10, 600  # a minute, of one address or person
MAX_METADATA = 64 * 1024
UNKNOWN = _("The program that sent you here is not known to this server: connect it again from its side.")
FOREIGN = _("The program that sent you here wants the answer at an address that is not its own.")
REFUSED = _("The program that sent you here did not ask as it should: {reason}")
NOT_MEMBER = _("You are no member of the project {name}, which this program asks for.")
NO_PROJECT = _("You are no member of any project.")
SCOPE_WORDS = dict(KEY["scopes"].form_choices)


# ---- what programs send ------------------------------------------------------------------------------


def endpoint(rate: int) -> Callable[[Callable[[HttpRequest], HttpResponse]], Any]:
    """Wrap a view of programs: POST without a form's token, refusals as RFC 6749 has them, no cache, and open
    to programs in a browser, since it reads no cookie.
    """

    def decorate(view: Callable[[HttpRequest], HttpResponse]) -> Any:
        @csrf_exempt
        @wraps(view)
        def answer(request: HttpRequest) -> HttpResponse:
            require_oauth()
            is_asked = request.method == "OPTIONS"  # by a browser, whether it may
            return open_to_pages(HttpResponse(status=204) if is_asked else _answer(view, request, rate))

        return answer

    return decorate


def _answer(view: Callable[[HttpRequest], HttpResponse], request: HttpRequest, rate: int) -> HttpResponse:
    if request.method != "POST":
        return _refuse(405, "invalid_request", "This address takes POST.", Allow="POST")
    try:
        count_request(f"{view.__name__}:{get_client_address(request)}", rate)
        return view(request)
    except RateLimited as error:
        retry = {"Retry-After": str(error.data["retry_after"])}
        return _refuse(429, "temporarily_unavailable", error.text, **retry)
    except (ValueError, MultiPartParserError, SuspiciousOperation):
        # Authlib repeats values in its errors, and refuses those that a header cannot have
        return _refuse(400, "invalid_request", "The request has characters that do not belong there.")
    except Exception as error:
        problem = build_error_response(error, request.method, request.path).data
        is_broken = problem["status"] == 500
        status, code = (500, "server_error") if is_broken else (503, "temporarily_unavailable")
        return _refuse(status, code, problem["detail"], **{"Retry-After": str(RETRY_SECONDS)})


def _refuse(status: int, error: str, text: str, **headers: str) -> HttpResponse:
    return JsonResponse({"error": error, "error_description": text}, status=status, headers=headers)


@endpoint(REGISTRATION_RATE)
def register(request: HttpRequest) -> HttpResponse:
    """Register a program (RFC 7591). It gets no secret: PKCE stands for one."""
    try:
        if len(request.body) > MAX_METADATA:
            raise Invalid("The metadata of a program have at most {most} bytes.", most=MAX_METADATA)
        client = OAuthClientEngine().register_client(metadata=json.loads(request.body))
    except (Invalid, ValueError, RecursionError) as error:
        is_redirect = isinstance(error, Invalid) and error.data.get("field") == "redirect_uris"
        code = "invalid_redirect_uri" if is_redirect else "invalid_client_metadata"
        return _refuse(400, code, str(error) if isinstance(error, Invalid) else "The body must be JSON.")
    document = {
        "client_id": client.client_id,
        "client_id_issued_at": int(client.read_at.timestamp()),
        "client_name": client.name,
        "redirect_uris": client.redirect_uris,
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
    }
    return JsonResponse(document, status=201)


@endpoint(TOKEN_RATE)
def token(request: HttpRequest) -> HttpResponse:
    """Give tokens for a code, or for a refresh token."""
    from day1site.oauth.protocol import server  # Authlib is loaded by who needs it

    response: HttpResponse = server.create_token_response(request)
    return response


@endpoint(TOKEN_RATE)
def revoke(request: HttpRequest) -> HttpResponse:
    """End a connection by one of its tokens (RFC 7009)."""
    client = OAuthClientEngine().find_client(client_id=request.POST.get("client_id", ""))
    if client is None:
        return _refuse(400, "invalid_client", "This server does not know the client.")
    if not (token := request.POST.get("token", "")):
        return _refuse(400, "invalid_request", "token is missing.")
    ConnectionEngine().revoke_token(token=token, client_id=client.client_id)
    return HttpResponse()


# ---- the page of consent -----------------------------------------------------------------------------


class ConsentForm(forms.Form):
    """Which project, which rights, which branches: no more than is asked for and than the person has."""

    branches = forms.CharField(
        label=KEY["branch_patterns"].label,
        max_length=1000,
        required=False,
        help_text=KEY["branch_patterns"].form_help,
    )

    def __init__(self, members: list[Membership], scope: str, data: Any = None) -> None:
        most = max((ROLE_SCOPES[one.role] for one in members), key=SCOPES.index)
        offered = limit_scopes(limit_scopes(list(GRANTED_SCOPES), most), scope)
        super().__init__(data, initial={"rights": offered[-1]})
        self.members = {one.project.slug: one for one in members}
        projects = [(slug, one.project.name) for slug, one in self.members.items()]
        rights = [(one, SCOPE_WORDS[one]) for one in offered]
        self.fields["project"] = forms.ChoiceField(label=lazy("Project"), choices=projects)
        self.fields["rights"] = forms.ChoiceField(label=KEY["scopes"].label, choices=rights)
        self.order_fields(["project", "rights", "branches"])


class Authorize(LoginRequiredMixin, View):
    """The page that a program opens: it says who asks for what, and a person allows or refuses it."""

    http_method_names = ["get", "post"]

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        require_oauth()
        try:
            response = super().dispatch(request, *args, **kwargs)
        except FactorMissing:
            response = to_login(request, "second-factor")
        except Day1Error as error:
            response = render_refusal(request, error)
        except ValueError as error:  # see _answer
            response = render_refusal(request, Invalid(REFUSED, reason=type(error).__name__))
        patch_cache_control(response, private=True, no_store=True)
        return response

    def get(self, request: HttpRequest) -> HttpResponse:
        return self.answer(request)

    def post(self, request: HttpRequest) -> HttpResponse:
        return self.answer(request, request.POST)

    def answer(self, request: HttpRequest, data: Any = None) -> HttpResponse:
        """Show the page, or send the program what the person said; what is wrong goes to the program."""
        from authlib.oauth2 import OAuth2Error

        from day1site.oauth.protocol import add_issuer, parse_resource, server

        base, client = find_base(request), find_client(request)
        try:
            grant = server.get_consent_grant(request)
            resource = parse_resource(request.GET["resource"], base) if "resource" in request.GET else ""
        except OAuth2Error as error:
            error.redirect_uri, error.state = request.GET["redirect_uri"], request.GET.get("state")
            return add_issuer(server.handle_error_response(request, error), base)
        form = ConsentForm(find_members(request, resource), grant.request.scope, data)
        if data is not None and ("refuse" in data or form.is_valid()):
            try:
                consent = None if "refuse" in data else read_consent(request, form, resource)
                response = server.create_authorization_response(
                    grant.request, grant_user=consent, grant=grant
                )
                return add_issuer(response, base)
            except Day1Error as error:
                add_form_error(form, error)
        return render_page(request, client, form)


def read_consent(request: HttpRequest, form: ConsentForm, resource: str) -> Any:
    from day1site.oauth.protocol import Consent

    member = form.members[form.cleaned_data["project"]]
    actor = build_member_actor(member, request.user, WEB_SURFACE)
    branches = form.cleaned_data["branches"].replace(",", " ").split()
    return Consent(actor, form.cleaned_data["rights"], branches, resource)


def find_client(request: HttpRequest) -> OAuthClient:
    """Return the program that asks, where its answer goes to an address of its own. Raises Invalid."""
    client_id, redirect_uri = request.GET.get("client_id", ""), request.GET.get("redirect_uri", "")
    client = OAuthClientEngine().find_client(client_id=client_id)
    if is_document_address(client_id) and not is_fresh(client):
        count_request(f"document:{request.user.pk}", DOCUMENT_RATE)
        document = fetch_document(client_id)
        client = OAuthClientEngine().keep_document(address=client_id, document=document)
    if client is None:
        raise Invalid(UNKNOWN, field="client_id")
    if not allows_redirect(client, redirect_uri):
        raise Invalid(FOREIGN, field="redirect_uri")
    return client


def find_members(request: HttpRequest, resource: str) -> list[Membership]:
    """Return the memberships among which the person chooses: one where the address names a project."""
    members, slug = list_memberships(request.user), resource.partition(f"{MCP}/")[2]
    found = [one for one in members if not slug or one.project.slug == slug]
    if not found:
        raise Invalid(NOT_MEMBER if slug else NO_PROJECT, name=slug)
    open_now = [one for one in found if has_factor_for(one.project, request.session)]
    if not open_now:
        require_factor(found[0].project, request.session)
    return open_now


def render_page(request: HttpRequest, client: OAuthClient, form: ConsentForm) -> HttpResponse:
    target = urlsplit(request.GET["redirect_uri"])
    is_web = target.scheme in ("http", "https")
    is_document = is_document_address(client.client_id)
    context = {
        "client": client,
        "form": form,
        "target": target.netloc if is_web else f"{target.scheme}://",
        "address": client.client_id if is_document else "",
    }
    response = render(request, "account/authorize.html", context, status=400 if form.errors else 200)
    # A browser asks the policy of the page also for where the answer to its form leads.
    has_name = is_web and "[" not in target.netloc  # a policy knows no addresses of IPv6
    where = f"{target.scheme}:" + (f"//{target.netloc}" if has_name else "")
    csp_update({"form-action": [where]})(lambda _request: response)(request)
    return response


# ---- documents of programs ---------------------------------------------------------------------------

# A program's id may be the address of what it says of itself. Whoever is logged in gives such an address, so
# it may lead nowhere but to a public server: every address of the name is checked, the checked one is
# connected to, no redirect is followed, time and size are bounded.
MAX_BYTES = 16 * 1024
TIMEOUT_SECONDS = 5.0  # for all of it
MAX_LENGTH = 500
UNREAD = _("The document of the program at {address} cannot be read: {reason}.")
HEADERS = {"Accept": "application/json", "User-Agent": "Day1", "Connection": "close"}


def is_document_address(client_id: str) -> bool:
    """Return whether a program's id is the address of its document, in the one form that is taken."""
    parts = split_address(client_id) if len(client_id) <= MAX_LENGTH else None
    if parts is None or parts.scheme != "https" or not parts.hostname:
        return False
    return bool(parts.path.strip("/")) and not {".", ".."} & set(parts.path.split("/"))


def fetch_document(
    client_id: str, *, is_allowed: Allowed | None = None, context: ssl.SSLContext | None = None
) -> Any:
    """Return the document at the address of a program. Raises Invalid."""
    request = Request("GET", client_id, HEADERS, TIMEOUT_SECONDS, max_bytes=MAX_BYTES)
    try:
        with work_slots.leave_slot():
            status, body = send_request(request, is_allowed=is_allowed, context=context)
        return _read(status, body)
    except (Unanswered, ValueError, RecursionError) as error:
        reason = str(error) if isinstance(error, Unanswered) else "it does not answer as it should"
        raise Invalid(UNREAD, address=client_id, reason=reason, field="client_id") from None


def _read(status: int, body: bytes) -> Any:
    if status != 200:
        raise Unanswered(f"the answer is HTTP {status}")
    if len(body) > MAX_BYTES:
        raise Unanswered(f"it has more than {MAX_BYTES} bytes")
    return json.loads(body)

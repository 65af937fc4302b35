"""What happens around every request that no library does."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from django.middleware.locale import LocaleMiddleware
from django.utils import translation


class PageLocale(LocaleMiddleware):
    """The reader's language for pages; programs get the same answer whoever runs them."""

    def process_request(self, request: HttpRequest) -> None:
        if request.path_info.startswith("/api/"):
            translation.activate("en")
            request.LANGUAGE_CODE = "en"
        else:
            super().process_request(request)

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if request.path_info.startswith("/api/"):
            return response
        return super().process_response(request, response)


class SmallFiles(GZipMiddleware):
    """Styles, scripts and drawings go out compressed to who takes that.

    Pages do not: their length would tell whoever sends words into one about the secrets beside them.
    """

    TEXT = ("text/", "image/svg", "application/json")  # fonts and pictures are compressed already

    def process_response(self, request: HttpRequest, response: Any) -> Any:
        whole = request.method == "GET" and response.status_code == 200
        text = response.get("Content-Type", "").startswith(self.TEXT)
        if whole and text and request.path_info.startswith(settings.STATIC_URL):
            return super().process_response(request, response)
        return response

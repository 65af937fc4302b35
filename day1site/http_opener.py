"""Requests of the command line to a Day1 server: its key goes to the named address and nowhere else."""

from http.client import HTTPMessage
from typing import IO
from urllib.request import HTTPRedirectHandler, Request, build_opener

REDIRECTS = "The server redirects to {address} (HTTP {code}), where the key is not sent: is DAY1_URL right?"


class NoRedirects(HTTPRedirectHandler):
    """A handler that refuses redirects: urllib would send the key along, to any host."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> None:
        """Return no further request: the redirect is raised as an HTTPError."""


open_url = build_opener(NoRedirects).open

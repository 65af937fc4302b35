"""Files that pages take and give."""

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse

from memory.exceptions import Invalid

JSON = "application/json"


def build_file(text: str, name: str, content_type: str = JSON) -> HttpResponse:
    """Return a response that the browser keeps as a file."""
    answer = HttpResponse(text.encode("utf-8", "surrogatepass"), content_type=content_type)
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer


def read_upload(request: HttpRequest, parse: Callable[[bytes], Any], max_bytes: int) -> dict[str, Any]:
    """Return the JSON object of the uploaded file; ``parse`` gets at most one byte more than it may have.

    Raises Invalid, and what ``parse`` raises.
    """
    file = request.FILES.get("file")
    if file is None:
        raise Invalid("Choose a file.", field="file")
    value = parse(file.read(max_bytes + 1))
    if not isinstance(value, dict):
        raise Invalid("The file is no JSON document.", field="file")
    return value

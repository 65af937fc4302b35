"""Lists as files: all rows of a list with its filters, as CSV or JSON, sent page by page."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse

from memory.csv_text import write_line
from memory.engines.audit.trail import AuditEngine
from memory.engines.support import validation as c
from memory.engines.support.pagination import MAX_PAGE_SIZE
from memory.views.generic.list_order import OrderedList

CSV, JSON = "csv", "json"
TYPES = {CSV: "text/csv; charset=utf-8", JSON: "application/json"}
Rows = Sequence[dict[str, Any]]


class ExportedList(OrderedList):
    """A list whose rows can be had as a file: ?format=csv or json, with the filters of the page.

    The pages that follow are read while the file is sent, so that a list of any length takes no memory, and
    nothing is read any more when nobody takes it. The columns are those of the operation's answer.
    """

    is_exported = True
    list_page = ""  # the name of its page, where that is not its section's
    position: str | None = None  # of the page that is read into a file

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if "format" not in request.GET:
            return super().get(request, *args, **kwargs)
        form = c.one_of(list(TYPES))("format", request.GET["format"])
        pages = self.list_exported()
        pages = chain([next(pages)], pages)  # the first one may be refused: by a page, not by half a file
        if request.method != "HEAD":
            AuditEngine().record_export(
                actor=self.reader.actor, target=self.list_name, detail={"format": form}
            )
        return self.build_export(form, pages)

    def build_export(self, form: str, pages: Iterable[Rows]) -> Any:
        shape: Any = self.operation.answer.shape
        columns = list(shape().get_fields())
        texts = WRITERS[form](columns, pages)
        is_sent = self.request.method != "HEAD"  # whose answer has no rows to read
        parts = (text.encode("utf-8", "surrogatepass") for text in (texts if is_sent else ()))
        answer = StreamingHttpResponse(parts, content_type=TYPES[form])
        name = f"{self.list_name}-{self.reader.project.slug}.{form}"
        answer["Content-Disposition"] = f'attachment; filename="{name}"'
        return answer

    @property
    def list_name(self) -> str:
        return self.list_page or self.section

    def list_exported(self) -> Iterator[Rows]:
        """Yield the rows of each page, as the API gives them."""
        self.position, render = "", self.operation.bind_render({"branch_name": self.reader.branch.name})
        while self.position is not None:
            page = self.load_exported()
            yield [render(row) for row in self.list_results(page)]
            self.position = page.next

    def load_exported(self) -> Any:
        """Return a page of the list with the filters of the address. Raises Invalid."""
        raise NotImplementedError

    def list_results(self, page: Any) -> Iterable[Any]:
        return page.results

    def paging(self, limit: int = 0) -> dict[str, Any]:
        found = super().paging(limit)
        if self.position is None:
            return found
        return {**found, "limit": MAX_PAGE_SIZE, "cursor": self.position}


def write_table(columns: Sequence[str], pages: Iterable[Rows]) -> Iterator[str]:
    """Yield the lines of each page as CSV."""
    yield write_line(columns)
    for rows in pages:
        yield "".join(write_line([row.get(name) for name in columns]) for row in rows)


def write_array(_columns: Sequence[str], pages: Iterable[Rows]) -> Iterator[str]:
    """Yield an array of JSON, the rows of a page at a time."""
    mark = "["
    for rows in pages:
        lines = [json.dumps(row, ensure_ascii=False) for row in rows]
        if lines:
            yield f"{mark}\n" + ",\n".join(lines)
            mark = ","
    yield "[]\n" if mark == "[" else "\n]\n"


WRITERS: dict[str, Callable[[Sequence[str], Iterable[Rows]], Iterator[str]]] = {
    CSV: write_table,
    JSON: write_array,
}

"""Import through the REST API: bulk writes, then what bulk cannot say, row by row.

Only the server's own machine keeps ``created_at`` and superseded facts as they were: here a fact is as
old as its import, and a superseded or invalidated one arrives as archived, which no search finds either.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from day1site.cli import fact_jsonl as jsonl
from day1site.cli.errors import Refused
from day1site.cli.fact_jsonl import BROKEN, KNOWN, NEW, Outcome, as_uuid
from day1site.cli.transport.rest import Answer, Api, fact_path, iterate_rows, quote_place

FIELD_AT_FAULT = re.compile(r"facts\[(\d+)\]\.?(.*)")
MAX_REQUEST_BYTES = 4 * 1024 * 1024  # of one request, well below the server's limit
GENERAL_CODES = (
    "unreachable",
    "unauthenticated",
    "scope_missing",
    "branch_forbidden",
    "direct_writes_refused",
    "branch_archived",
    "rate_limited",
)  # refusals that are no line's fault
ITEM_FIELDS = "category confidence visibility tags metadata source repository expires_at user_id app_id"
CURRENT_STATUSES = ("active", "created", "done")


Owner = tuple[str, str]  # end user and app


def read_owner(row: Mapping[str, Any]) -> Owner:
    return str(row.get("user_id") or ""), str(row.get("app_id") or "")


@dataclass
class Line:
    number: int
    fields: dict[str, Any]
    status: str
    names: tuple[str, ...] = ()
    links: list[Mapping[str, Any]] = field(default_factory=list)
    uid: str = ""
    item: Mapping[str, Any] = field(default_factory=dict)  # what makes it an item

    @property
    def parent(self) -> str:
        return str(self.fields.get("parent_id") or "").lower()

    @property
    def owner(self) -> Owner:
        return read_owner(self.fields)

    @property
    def place(self) -> tuple[str, str]:
        return str(self.item.get("namespace")), str(self.item.get("key"))


class HttpImport:
    def __init__(self, api: Api, branch: str) -> None:
        self.api, self.branch = api, branch
        self.ids: dict[str, str] = {}
        self.texts: dict[tuple[str, str, Owner], str] = {}
        self.items: dict[tuple[tuple[str, str], Owner], str] = {}  # by namespace and key
        self.links: list[tuple[int, str, Mapping[str, Any]]] = []
        self.refused: list[Outcome] = []
        self._loaded = False

    def apply_lines(self, lines: Sequence[tuple[int, Any]]) -> list[Outcome]:
        """Store the lines; as many commits as the requests need."""
        self._load()
        outcomes, left = _checked(lines)
        outcomes += [self._put_item(line) for line in left if line.item]
        left = [line for line in left if not line.item]
        while left:
            # A parent must be stored before its children are sent.
            wave = [line for line in left if not line.parent or line.parent in self.ids] or left
            outcomes += self._wave(wave)
            sent = {line.number for line in wave}
            left = [line for line in left if line.number not in sent]
        self._send_links()
        return sorted(outcomes, key=lambda outcome: outcome.number)

    def preview_lines(self, lines: Sequence[tuple[int, Any]]) -> list[Outcome]:
        """Return what ``apply_lines`` would do. The fields are not checked: that is the server's part."""
        self._load()
        outcomes, left = _checked(lines)
        for line in left:
            found = self.items.get((line.place, line.owner), "") if line.item else self._stored(line)
            outcomes.append(Outcome(line.number, KNOWN if found else NEW, found))
            self._remember(line, found or str(line.number))
        self.links = [link for link in self.links if self._target(link[2]) is None]
        return outcomes

    def list_unresolved(self) -> list[Outcome]:
        """Return the links whose other end never came, and those that the server refused."""
        reason = "not_found: a link's to_id names no fact of the file or of this branch"
        return [*self.refused, *(Outcome(number, BROKEN, reason=reason) for number, _, _ in self.links)]

    # ---- what is there -------------------------------------------------------------------------

    def _load(self) -> None:
        """Read the branch once: which ids and which texts it has."""
        if self._loaded:
            return
        now = datetime.now(UTC).isoformat()
        for row in self._all_facts():
            self.ids[row["id"]] = row["id"]
            if row["key"] is not None:
                over = row["expires_at"] is not None and row["expires_at"] <= now
                place = (row["namespace"], row["key"])
                self.items |= {} if over else {(place, read_owner(row)): row["id"]}
                continue
            text = jsonl.normalise(row["fact_text"])
            self.texts.setdefault((text, row["status"], read_owner(row)), row["id"])
            if row["source_type"] == "import" and row["source_id"]:
                self.ids.setdefault(row["source_id"], row["id"])
        self._loaded = True

    def _all_facts(self) -> Iterator[Answer]:
        return iterate_rows(lambda paging: self.api.get("/facts", branch=self.branch, **paging))

    def _stored(self, line: Line) -> str:
        known = next((self.ids[name] for name in line.names if name in self.ids), "")
        if known or (line.names and line.status not in CURRENT_STATUSES):
            return known
        text = jsonl.normalise(line.fields["fact_text"])
        alike = CURRENT_STATUSES if line.status in CURRENT_STATUSES else (line.status,)
        keys = ((text, status, line.owner) for status in alike)
        return next((self.texts[key] for key in keys if key in self.texts), "")

    def _remember(self, line: Line, uid: str) -> None:
        line.uid = uid
        self.ids |= dict.fromkeys(line.names, uid)
        self.links += [(line.number, uid, link) for link in line.links]
        if line.item:
            self.items[line.place, line.owner] = uid
            return
        self.texts.setdefault((jsonl.normalise(line.fields["fact_text"]), line.status, line.owner), uid)

    # ---- writing -------------------------------------------------------------------------------

    def _wave(self, lines: Sequence[Line]) -> list[Outcome]:
        outcomes, fresh = [], []
        for line in lines:
            if recognised := self._recognised(line):
                self._remember(line, recognised)
                outcomes.append(Outcome(line.number, KNOWN, recognised))
            elif line.parent and line.parent not in self.ids:
                reason = f"invalid: There is no fact {line.parent} before this line or on this branch."
                outcomes.append(Outcome(line.number, BROKEN, reason=reason))
            else:
                line.fields |= {"parent_id": self.ids[line.parent]} if line.parent else {}
                fresh.append(line)
        for request in _requests(fresh):
            outcomes += self._send(request)
        return outcomes

    def _recognised(self, line: Line) -> str:
        """Recognise a line; current texts are left to the server, which also counts the confirmation."""
        if line.status in CURRENT_STATUSES:
            return next((self.ids[name] for name in line.names if name in self.ids), "")
        return self._stored(line)

    def _put_item(self, line: Line) -> Outcome:
        """Put an item where none stands under its key yet."""
        place = "/".join(map(quote_place, line.place))
        fields = {name: line.fields[name] for name in ITEM_FIELDS.split() if name in line.fields}
        fields |= {"value": line.item.get("value"), "embed": line.item.get("embed", True)}
        text = line.fields["fact_text"]
        try:
            row = self.api.put(f"/items/{place}", branch=self.branch, text=text, only_new=True, **fields)
        except Refused as error:
            if error.code in GENERAL_CODES:
                raise
            if error.code == "key_taken":
                return Outcome(line.number, KNOWN)
            return Outcome(line.number, BROKEN, reason=f"{error.code}: {error.text}")
        self._remember(line, row["id"])
        return Outcome(line.number, NEW, row["id"])

    def _send(self, lines: list[Line]) -> list[Outcome]:
        """Send lines as one bulk write; leave out a line that the server refuses, and send the rest again."""
        outcomes = []
        options = {
            "propose": lines[0].status == "created",
            "deduplicate": lines[0].status in CURRENT_STATUSES,
        }
        while lines:
            try:
                facts = [line.fields for line in lines]
                answer = self.api.post("/facts/bulk", branch=self.branch, facts=facts, **options)
            except Refused as error:
                index = 0 if len(lines) == 1 else _failed_index(error)
                if index is None or error.code in GENERAL_CODES:
                    raise
                reason = f"{error.code}: {re.sub(r'^Fact [0-9]+: ', '', error.text)}"
                outcomes.append(Outcome(lines.pop(index).number, BROKEN, reason=reason))
                continue
            rows = zip(lines, answer["results"], strict=True)
            return outcomes + [self._done(line, row) for line, row in rows]
        return outcomes

    def _done(self, line: Line, row: Mapping[str, Any]) -> Outcome:
        if row["created"] and line.status in ("archived", "superseded"):
            self.api.post(f"{fact_path(row['id'])}/archive", branch=self.branch)
        elif row["created"] and line.status == "done":
            self.api.patch(fact_path(row["id"]), branch=self.branch, status="done")
        self._remember(line, row["id"])
        return Outcome(line.number, NEW if row["created"] else KNOWN, row["id"])

    def _send_links(self) -> None:
        waiting = []
        for number, uid, link in self.links:
            target = self._target(link)
            if target is None:
                waiting.append((number, uid, link))
            elif target != uid:
                self._send_link(number, uid, {**link, "to_id": target})
        self.links = waiting

    def _target(self, link: Mapping[str, Any]) -> str | None:
        return self.ids.get(as_uuid(link["to_id"]))

    def _send_link(self, number: int, uid: str, link: Mapping[str, Any]) -> None:
        fields = {name: link[name] for name in jsonl.LINK_FIELDS if link.get(name) is not None}
        try:
            self.api.post(f"{fact_path(uid)}/links", branch=self.branch, **fields)
        except Refused as error:
            if error.code in GENERAL_CODES:
                raise
            if error.code != "exists":
                self.refused.append(Outcome(number, BROKEN, reason=f"{error.code}: {error.text}"))


def _checked(lines: Sequence[tuple[int, Any]]) -> tuple[list[Outcome], list[Line]]:
    """Return the lines that are broken for all to see, and the others."""
    faults = {number: reason for number, content in lines if (reason := jsonl.find_fault(content))}
    good = [_line(number, content) for number, content in lines if number not in faults]
    return [Outcome(number, BROKEN, reason=reason) for number, reason in faults.items()], good


def _line(number: int, content: Mapping[str, Any]) -> Line:
    content = {name: value for name, value in content.items() if value is not None}
    fields = {
        name: value
        for name, value in content.items()
        if name not in jsonl.LINE_FIELDS and name not in jsonl.DERIVED_FIELDS
    }
    names = [content.get("id")] + (
        [content.get("source_id")] if content.get("source_type") == "import" else []
    )
    ids = tuple(name for name in map(as_uuid, names) if name)
    fields["source_type"] = "import"
    if "id" in content:
        fields["source_id"] = str(content["id"])
    status = content.get("status", "active")
    judged = content.get("verification_method") != "heuristic"
    if content.get("verification_status") == "invalidated" and judged:
        status = "archived"  # a verdict needs a curator's key, and no search finds this one either
    item: dict[str, Any] = {
        name: content[name] for name in ("namespace", "key", "value", "embed") if name in content
    }
    links = content.get("links", [])
    return Line(number, fields, status, ids, links, item=item if "key" in item else {})


def _requests(lines: Sequence[Line]) -> Iterator[list[Line]]:
    """Yield the lines in requests: of one way of writing, and small enough."""
    for group in (
        [line for line in lines if line.status in ("active", "done")],
        [line for line in lines if line.status == "created"],
        [line for line in lines if line.status not in CURRENT_STATUSES],
    ):
        request: list[Line] = []
        size = 0
        for line in group:
            length = len(json.dumps(line.fields))
            if request and (size + length > MAX_REQUEST_BYTES or len(request) == jsonl.BATCH_SIZE):
                yield request
                request, size = [], 0
            request.append(line)
            size += length
        if request:
            yield request


def _failed_index(error: Refused) -> int | None:
    found = FIELD_AT_FAULT.match(error.field)
    return int(found[1]) if found else None

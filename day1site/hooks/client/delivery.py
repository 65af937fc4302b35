"""Delivery of a spool's events to the server: in order, in batches, until it fails.

Separate from capture.py, which appends events and is fast because it does not import this.
"""

import json
import os
import time
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from socket import timeout
from urllib.parse import quote, urlsplit

MIB = 1 << 20
API = "/api/v1"  # the address of a server may end with it
MAX_SPOOL_BYTES = 64 * MIB
MAX_ASIDE_BYTES = 8 * MIB  # of broken and of refused events, kept for inspection
REFUSED = (400, 413)  # responses that would refuse the same event for ever
FAILED = 500  # the server failed at this event, or at all of them
BATCH, BATCH_BYTES = 200, 4 * MIB
FULL, DAY_SPENT = b'"quota_exceeded"', b'daily_writes"'  # in refusals: of a quota, of the writes of a day
FULL_PAUSE = 600.0  # seconds until a full project is tried again
MAX_PARTS_BYTES = 16 * MIB  # of transcripts that one process sends; further ones wait for the next event


class Sender:
    """Sender of a spool's events. One process at a time, for each spool."""

    def __init__(self, spool, lock, write_all, read_text, patience, load_transcripts):
        self.spool, self.lock, self.write_all = spool, lock, write_all
        settings = json.loads(read_text(spool.config)) if os.path.exists(spool.config) else {}
        self.server, self.read_text = Server(settings, patience), read_text
        self.settings = settings
        self.load_transcripts = load_transcripts
        self.aside = []  # of the batch that is sent: names of files and lines
        self.part_bytes = 0  # of parts of transcripts that this process sent

    def deliver(self, until=None, mine=None):
        """Send the spooled events in order, until one fails; return the response to the event ``mine``, if it
        was reached. While another process sends, leave it to that one.

        Without ``until`` nobody waits: then parts of transcripts follow them, one at a time; after each, the
        events that came meanwhile. While the project is at its quota all of them wait.
        """
        if self._is_full():
            return None
        takes_parts = until is None
        while True:
            # A writer that found the lock taken left its line to this process.
            if self.spool.waiting():
                goes_on, body = self._send_waiting(until, mine)
                if body is not None or not goes_on:
                    return body
            elif takes_parts and self.part_bytes < MAX_PARTS_BYTES and self.has_due():
                takes_parts = self._send_part()
            else:
                return None

    def _is_full(self):
        """Return whether the project took nothing for its quota a moment ago."""
        try:
            return 0 <= time.time() - os.path.getmtime(self.spool.path("full")) < FULL_PAUSE
        except OSError:
            return False

    def _send_waiting(self, until, mine):
        """Send the events that wait; return whether all were sent, and the response to the event ``mine``."""
        wait = 0 if until is None else until - time.monotonic()
        with self.lock(self.spool.path("send.lock"), wait=wait) as sending:
            if not sending.is_acquired:
                return False, None
            goes_on, body = True, None
            while goes_on and body is None and self.spool.waiting():
                if until is not None and time.monotonic() > until:
                    return False, None
                goes_on, body = self._send_some(mine)
            if self.server.is_full:
                os.close(os.open(self.spool.path("full"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600))
            self._empty()
            return goes_on, body

    def _send_part(self):
        """Send the new part of one transcript; return whether the server takes any.

        Its lock is none that an agent waits for.
        """
        with self.lock(self.spool.path("parts.lock"), wait=0) as sending:
            if not sending.is_acquired:
                return False
            transcripts = self.load_transcripts(self.spool, self.settings)
            is_taken = transcripts.send_next(self.server)
            self.part_bytes += transcripts.sent_bytes
            for note in transcripts.lost:
                self.set_aside("refused.jsonl", note)
            with self.lock(self.spool.path("transcripts.lock")):
                # Events may have named transcripts meanwhile.
                self.load_transcripts(self.spool, self.settings).keep_sent(transcripts.sent)
            return is_taken

    def _note_transcripts(self, events):
        """Remember the transcripts that events name."""
        with self.lock(self.spool.path("transcripts.lock")):
            transcripts = self.load_transcripts(self.spool, self.settings)
            for event in events:
                transcripts.note(event)
            transcripts.keep_changes()

    def _send_some(self, mine):
        """Send one batch; return whether to go on, and the response when the batch was the event ``mine``."""
        self.aside = []
        lines, offset = self._batch(mine)
        if not lines:
            return False, None
        parsed = [pair for pair in map(self._parse, lines) if pair]
        good = [text for text, _ in parsed]
        body = None
        if mine and len(good) == 1 and mine in good[0]:
            status, body = self.server.post(good[0])
            body = read_answer(status, body)
        else:
            status = self._send(good)
        if status == 200 or status in REFUSED:
            if status != 200 or (len(good) == 1 and self.server.left_out):
                # Only a single event is refused for good.
                self.put_aside("refused.jsonl", good[0].encode())
            for name, line in self.aside:
                self.set_aside(name, line)
            self.spool.set_delivered(offset)
            if status == 200 and os.path.exists(self.spool.path("off")):
                os.remove(self.spool.path("off"))  # the next outage is told again
            self._note_transcripts(event for _, event in parsed)
            return True, body
        return False, body

    def _send(self, good):
        """Send several as one; when they are refused, one by one."""
        if not good:
            return 200
        if len(good) == 1:
            return self.server.post(good[0])[0]
        status, body = self.server.post(f"[{','.join(good)}]")
        if status in (*REFUSED, FAILED) or (status == 429 and self.server.is_full):
            return self._send_each(good)  # of what is too much for a day, a part fits into it
        left_out = self.server.find_left_out(body)
        if left_out is None:
            return self._send_each(good)  # the server recognises those that it took
        for number in left_out:
            self.put_aside("refused.jsonl", good[number - 1].encode())
        return status

    def _send_each(self, good):
        """Send one by one, and set aside refused events; return another status than 200 when they must wait.

        An event at which the server fails is set aside when the server takes another one: then the event is
        the cause. When it takes none, all of them stay in the spool.
        """
        failed, taken = [], False
        for text in good:
            status, _ = self.server.post(text)
            if status in REFUSED or self.server.left_out:
                self.put_aside("refused.jsonl", text.encode())
            elif status == FAILED:
                failed.append(text)
            elif status != 200:
                return status
            taken = taken or status == 200
        if failed and not taken:
            return FAILED
        for text in failed:  # once more: the server may have come back among them
            status, _ = self.server.post(text)
            if status == FAILED or status in REFUSED or self.server.left_out:
                self.put_aside("refused.jsonl", text.encode())
            elif status != 200:
                return status
        return 200

    def _batch(self, mine):
        """Return the next lines and the offset after them; the event ``mine`` comes alone."""
        lines: list = []
        size = 0
        with open(self.spool.events, "rb") as file:
            file.seek(self.spool.delivered())
            while len(lines) < BATCH:
                line = file.readline()
                own = mine is not None and mine.encode() in line
                # Without its end it is still being written.
                if not line.endswith(b"\n") or (lines and (own or size + len(line) > BATCH_BYTES)):
                    file.seek(-len(line), 1)
                    break
                lines.append(line)
                size += len(line)
                if own:
                    break
            return lines, file.tell()

    def _parse(self, line):
        """Return the line as JSON that a server accepts, and its event; set an invalid line aside."""

        def refuse(name):
            raise ValueError(name)

        text = line.decode("utf-8", "replace").strip()
        try:
            event = json.loads(text, parse_constant=refuse)
            if isinstance(event, dict):
                return text, event
        except (ValueError, RecursionError):
            pass
        if text:
            self.put_aside("broken.jsonl", line)
        return None

    def put_aside(self, name, line):
        """Remember what is set aside once its batch is delivered: until then it may be sent again."""
        self.aside.append((name, line))

    def set_aside(self, name, line):
        os.makedirs(self.spool.folder, mode=0o700, exist_ok=True)
        handle = os.open(self.spool.path(name), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            if os.fstat(handle).st_size + len(line) <= MAX_ASIDE_BYTES:
                self.write_all(handle, line.rstrip(b"\n") + b"\n")
        finally:
            os.close(handle)

    def _empty(self):
        """Truncate the spool file when all of it was delivered."""
        with self.lock(self.spool.path("append.lock")) as appending:
            if appending.is_acquired and not self.spool.waiting():
                self.spool.set_delivered(0)
                os.truncate(self.spool.events, 0)

    def _note_dropped(self, count):
        """Keep how many events were dropped, for ``day1 doctor``."""
        path = self.spool.path("dropped")
        if count:
            before = self.read_text(path) if os.path.exists(path) else ""
            with open(path, "w", encoding="utf-8") as file:
                file.write(str(count + int(before if before.isdigit() else 0)))

    def has_due(self):
        """Return whether parts of transcripts wait."""
        return self.load_transcripts(self.spool, self.settings).is_due()

    def ask(self, line):
        """Return the response to one event, sent out of turn; the server recognises it when it comes
        again.
        """
        status, body = self.server.post(line.decode("utf-8", "replace").strip())
        return read_answer(status, body)

    def shrink(self):
        """Drop what is delivered, and the oldest of the rest beyond half the limit."""
        with self.lock(self.spool.path("append.lock")) as appending:
            if not appending.is_acquired:
                return
            with open(self.spool.events, "rb") as file:
                size = os.fstat(file.fileno()).st_size
                file.seek(max(self.spool.delivered(), size - MAX_SPOOL_BYTES // 2))
                if file.tell() > self.spool.delivered():
                    file.readline()
                kept = file.tell()
                rest = file.read()
                file.seek(self.spool.delivered())
                self._note_dropped(file.read(kept - file.tell()).count(b"\n"))
            draft = self.spool.events + ".new"
            with open(draft, "wb") as file:
                os.chmod(draft, 0o600)
                file.write(rest)
            self.spool.set_delivered(0)  # first: the server recognises events sent twice
            os.replace(draft, self.spool.events)


def is_full(status, body):
    """Return whether a project takes nothing for a while: for its quota, or till the day is over."""
    return (status == 403 and FULL in body) or (status == 429 and DAY_SPENT in body)


def read_answer(status, body):
    """Return what the program reads of a response; a full project still tells what it knows."""
    if is_full(status, body):
        try:
            return json.dumps(json.loads(body)["answer"]).encode()
        except (ValueError, KeyError, TypeError):
            return b""
    return body if status == 200 else b""


def read_assistant_texts(path):
    """Return the assistant's texts in the last MiB of a transcript, oldest first; [] where it is
    unreadable.
    """
    try:
        with open(path, "rb") as file:
            file.seek(max(0, os.path.getsize(path) - MIB))
            return [text for text in map(read_assistant_text, file.read().splitlines()) if text]
    except (OSError, TypeError, ValueError):
        return []


def read_assistant_text(line):
    """Return the assistant's text in a transcript record; "" for other records and subagents."""
    try:
        record = json.loads(line)
        if record["type"] != "assistant" or record.get("isSidechain") or record.get("isApiErrorMessage"):
            return ""
        if record["message"].get("model") == "<synthetic>":  # a word of the program
            return ""
        parts = record["message"]["content"]
        return "\n".join(part["text"] for part in parts if part.get("type") == "text")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return ""


class Server:
    """Ingest route of a Day1 server."""

    def __init__(self, settings, patience):
        self.url = settings.get("url") or os.environ.get("DAY1_URL", "")
        self.key = settings.get("key") or os.environ.get("DAY1_KEY", "")
        self.branch, self.until = settings.get("branch") or "main", patience
        self.connection = None
        self.left_out = ""  # why the last event, or one of the last, says nothing
        self.is_full = False  # whether the last refusal was for the quota of the project
        self.status = 0  # of the last response; 0 without one
        self.has_answered = False  # whether any response came
        self.is_broken = False  # whether the last connection failed before its time was over

    def post(self, text):
        """Post a text; return status and body, status 0 without a response."""
        self.status, self.left_out, self.is_full = 0, "", False
        for again in (False, True):
            try:
                return self._post(text)
            except (OSError, HTTPException) as error:
                known, self.connection = self.connection is not None, None
                self.is_broken = not isinstance(error, timeout)
                if again or not known:
                    return 0, b""
        return 0, b""

    def find_left_out(self, body):
        """Return the numbers of the events in a list that say nothing; None where not all are named."""
        if not self.left_out:
            return []
        try:
            answer = json.loads(body)
            numbers = [int(one["event"]) for one in answer["left_out"]]
        except (ValueError, KeyError, TypeError):
            return None
        return numbers if len(numbers) == answer.get("left_out_count") else None

    def is_awake(self):
        """Return whether the server gives any answer in time, or nobody is there to wait for."""
        try:
            connection = self._connect(urlsplit(self.url))
            connection.request("GET", self._path("/health"))
            connection.getresponse().read(MIB)
            connection.close()
        except timeout:  # noqa: UP041  # no TimeoutError before Python 3.10
            return False
        except (OSError, HTTPException):
            return True  # the event is sent all the same, and fails at once
        return True

    def _path(self, route):
        root = urlsplit(self.url).path.rstrip("/")
        root = root[: -len(API)] if root.endswith(API) else root
        return f"{root}{API}{route}"

    def _post(self, text):
        address = urlsplit(self.url)
        if self.connection is None:
            self.connection = self._connect(address)
        path = self._path(f"/ingest/hook?branch={quote(self.branch, safe='')}")
        headers = {"Authorization": "Bearer " + self.key, "Content-Type": "application/json"}
        try:
            self.connection.request("POST", path, text.encode("utf-8", "replace"), headers)
            reply = self.connection.getresponse()
            body = reply.read(MIB)
            self.left_out = reply.getheader("Day1-Left-Out") or ""
            self.is_full = is_full(reply.status, body)
            self.status, self.has_answered = reply.status, True
            return reply.status, body
        except BaseException:
            self.connection.close()
            raise

    def _connect(self, address):
        kind = HTTPSConnection if address.scheme == "https" else HTTPConnection
        return kind(address.hostname or "", address.port, timeout=self.until)

"""Transcripts of sessions: their new part is sent at the end of a turn, so that the server adds what no event
brought.

Used by the background process alone; no agent waits for it. Which part was sent stands in transcripts.json
beside the spool: of a session that was cut off, it is sent when the next one begins in the same project.
"""

import json
import os
import time

MIB = 1 << 20
PROGRAMS = ("claude-code", "codex")  # whose transcripts the server reads
MAX_PART_BYTES = 4 * MIB  # of a transcript that are read at once; older ones are left out
MAX_KNOWN, KNOWN_SECONDS = 200, 30 * 86400  # transcripts that are remembered, and how long
YOUNG_SECONDS = 5  # of another session that may still run: its events may be on their way
ENDS, STARTS = ("stop", "subagentstop", "sessionend"), ("sessionstart",)
COPYING = ("resume", "fork")  # sessions that may begin with what was said before Day1 was there
FIELDS = (  # of a record of Claude Code
    "uuid parentUuid logicalParentUuid type subtype sessionId timestamp isSidechain isMeta isCompactSummary "
    "isVisibleInTranscriptOnly isApiErrorMessage origin agentId promptId forkedFrom message toolUseResult"
).split()
KEYS = "client session agent root cwd since offset size due ended seen".split()  # of a transcript
CALL_KINDS = {  # what a call and its result are called by Claude Code, then by Codex
    "tool_use": "calls",
    "tool_result": "results",
    **{f"{kind}_call": "calls" for kind in ("function", "custom_tool", "local_shell")},
    **{f"{kind}_call_output": "results" for kind in ("function", "custom_tool", "local_shell")},
}
REFUSED = (400, 413, 500)  # of a part: it is not sent again
OFF = ("0", "false", "no", "off")


class Transcripts:
    """The transcripts that events of a spool named."""

    def __init__(self, spool, settings):
        self.file, self.changed = spool.path("transcripts.json"), False
        self.sent, self.sent_bytes = {}, 0
        self.lost: list = []  # of what was sent: lines that could not be read, what the server left out
        allowed = settings.get("transcripts", os.environ.get("DAY1_TRANSCRIPTS", ""))
        self.is_off = allowed is False or str(allowed).strip().lower() in OFF
        self.known = {} if self.is_off else self._load()
        # What was said before a person turned Day1 on is not for it.
        self.since = find_start(spool)

    def _load(self):
        try:
            with open(self.file, "rb") as file:
                known = json.load(file)
            return {path: one for path, one in known.items() if set(KEYS) <= set(one)}
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return {}

    def keep_changes(self):
        """Keep what changed; the transcripts that were not heard of for longest are forgotten."""
        if not self.changed:
            return
        kept = sorted(self.known.items(), key=lambda pair: -pair[1]["seen"])[:MAX_KNOWN]
        young = {path: one for path, one in kept if one["seen"] > time.time() - KNOWN_SECONDS}
        draft = self.file + ".new"
        with open(draft, "w", encoding="utf-8") as file:
            os.chmod(draft, 0o600)
            json.dump(young, file)
        os.replace(draft, self.file)
        self.changed = False

    def note(self, event):
        """Remember the transcript that an event names, and whether its new part is due."""
        own = event.get("day1")
        if self.is_off or not isinstance(own, dict) or own.get("client") not in PROGRAMS:
            return
        name = str(event.get("hook_event_name") or "").lower()
        agent = str(event.get("agent_id") or "")
        path = event.get("agent_transcript_path") if name == "subagentstop" else event.get("transcript_path")
        self._keep_in_mind(event.get("transcript_path"))
        if not isinstance(path, str) or not isinstance(event.get("session_id"), str):
            return
        if agent and name != "subagentstop":
            return  # what a subagent does names the transcript of its session
        at = own.get("at") if isinstance(own.get("at"), (int, float)) else time.time()
        origin = {"client": own["client"], "session": event["session_id"], "root": own.get("root")}
        origin["cwd"] = str(event.get("cwd") or "")
        copies = name in STARTS and event.get("source") in COPYING
        one = self._entry(path, origin, agent, at if copies else 0)
        if name in ENDS or name in STARTS:
            one["due"], one["ended"] = at, name in ("sessionend", "subagentstop")
            self.changed = True
        elif one["ended"]:
            one["ended"], self.changed = False, True
        if name in STARTS:
            self._note_others(path, own.get("root"), at)
        if name in (*ENDS, *STARTS) and not agent:
            self._note_subagents(path, one, at)

    def _entry(self, path, origin, agent, since, seen=0):
        """Return what is known of a transcript."""
        if path not in self.known:
            begin = {"offset": 0, "size": 0, "due": 0, "ended": False, "seen": seen or time.time()}
            self.known[path] = {**origin, "agent": agent, "since": since, **begin}
            self.changed = True
        return self.known[path]

    def _keep_in_mind(self, path):
        """Let the transcript of a session that goes on be the last to be forgotten."""
        if isinstance(path, str) and path in self.known:
            self.known[path]["seen"], self.changed = time.time(), True

    def _note_others(self, path, root, at):
        """Make those of the same project due that nothing ended: they may have been cut off."""
        for other, one in list(self.known.items()):
            if other != path and one["root"] == root and not one["ended"] and not one["due"]:
                one["due"] = at - YOUNG_SECONDS
                self._note_subagents(other, one, at)

    def _note_subagents(self, path, session, at):
        """Make subagents of Claude Code due that stand beside their session: their events may be lost."""
        folder = os.path.join(os.path.splitext(path)[0], "subagents")
        try:
            names = os.listdir(folder)
        except OSError:
            return
        origin = {name: session[name] for name in ("client", "session", "root", "cwd")}
        for name in names:
            if name.startswith("agent-") and name.endswith(".jsonl"):
                self._note_subagent(os.path.join(folder, name), origin, name[6:-6], session, at)
        session["visited"], self.changed = at, True

    def _note_subagent(self, path, origin, agent, session, at):
        """Make a subagent due that has something new; a forgotten one has only if it was written to."""
        try:
            status = os.stat(path)
        except OSError:
            return
        if path not in self.known and status.st_mtime < session.get("visited", 0):
            return
        one = self._entry(path, origin, agent, session["since"], min(status.st_mtime, time.time()))
        one["ended"] = one["ended"] or session["ended"]
        if one["size"] != status.st_size:
            one["due"] = at if one["ended"] else at - YOUNG_SECONDS

    def is_due(self):
        return any(one["due"] for one in self.known.values())

    def send_next(self, server):
        """Send the first new part that is due; return whether the server takes any. What came of it, and of
        those before it that have nothing new, stands in ``sent``.
        """
        due = [pair for pair in self.known.items() if pair[1]["due"]]
        # A session before its subagents.
        for path, one in sorted(
            due, key=lambda pair: (pair[1]["agent"] != "", pair[1]["due"], pair[1]["seen"])
        ):
            if not self._send(path, one, server):
                return False
            if self.sent_bytes:
                break
        return True

    def _send(self, path, one, server):
        """Send the new part of one; a server that refuses it, or fails at it, does not get it again."""
        part = Part(path, one, max(one["since"], self.since))
        for event in make_events(one, part.records):
            status, body = server.post(event)
            self.sent_bytes += len(event)
            if server.left_out:
                self.lost.append(b'{"transcript":%b,"answer":%b}' % (json.dumps(path).encode(), body))
            elif status in REFUSED:
                self.lost.append(json.dumps({"transcript": path, "status": status}).encode())
            if status not in (200, *REFUSED):
                return False
        self.lost += [
            json.dumps({"transcript": path, "byte": place, "bytes": size}).encode()
            for place, size in part.unreadable
            if place < part.offset
        ]
        seen = max(one["seen"], part.changed_at)
        self.sent[path] = {**one, "offset": part.offset, "size": part.size, "seen": seen}
        return True

    def keep_sent(self, sent):
        """Keep up to where transcripts were sent; one that was due again meanwhile stays so."""
        for path, one in sent.items():
            known = self.known.get(path)
            if known is not None:
                due = 0 if known["due"] == one["due"] else known["due"]
                names = ("offset", "size")
                known.update(
                    {name: one[name] for name in names}, due=due, seen=max(known["seen"], one["seen"])
                )
                self.changed = True
        self.keep_changes()


def find_start(spool):
    """Return when a person turned Day1 on, as far as files tell it.

    A config that is moved aside and back keeps the time of its writing, but not that of its last change.
    Without one it is the time when the spool was made: its lock file is never written to.
    """
    try:
        status = os.stat(spool.config)
        return max(status.st_mtime, status.st_ctime)
    except OSError:
        lock = spool.path("append.lock")
        return os.path.getmtime(lock) if os.path.exists(lock) else time.time()


class Part:
    """The records of a transcript since the last part, up to a time; none where it is unreadable.

    ``offset`` is where the next part begins: at the last prompt while its turn is open.
    """

    def __init__(self, path, one, since):
        self.records: list = []
        self.unreadable: list = []  # place and length of lines
        self.offset, self.size, self.changed_at = one["offset"], one["size"], 0.0
        self.is_open, self.is_whole, self.begin = False, True, one["offset"]
        self.until, self.since = format_time(one["due"]), format_time(since)
        try:
            with open(path, "rb") as file:
                status = os.fstat(file.fileno())
                self.changed_at, size = status.st_mtime, status.st_size
                if size != one["size"]:
                    self._read(file, one["client"] == "codex", size)
                    self.size = size if self.is_whole else one["size"]
        except (OSError, ValueError):
            self.records = []

    def _read(self, file, is_codex, size):
        start = self.offset if self.offset <= size else 0
        file.seek(max(start, size - MAX_PART_BYTES))
        if file.tell() > start:
            file.readline()  # its beginning is left out
        self.begin = place = file.tell()
        for line in file.read(MAX_PART_BYTES).splitlines(keepends=True):
            record = read_record(line)
            at = str(record.get("timestamp") or "")
            if not line.endswith(b"\n") or at > self.until:  # still being written, or of the next turn
                self.is_whole = False
                break
            state = find_state(record, is_codex)
            if state == "prompt":
                self.begin = place
            self.is_open = state != "answer" if state else self.is_open
            if not record and line.strip():
                self.unreadable.append((place, len(line)))
            if record and at >= self.since:
                self.records.append(record if is_codex else shorten_record(record))
            place += len(line)
        self.offset = self.begin if self.is_open else place


def read_record(line):
    try:
        record = json.loads(line.decode("utf-8", "replace").lstrip("\ufeff"))
        return record if isinstance(record, dict) else {}
    except (ValueError, RecursionError):
        return {}


def find_state(record, is_codex):
    """Return what a record is for its turn: its prompt, an answer that ends it, a step; "" for nothing."""
    if is_codex:
        payload = record.get("payload")
        kind = payload.get("type") if isinstance(payload, dict) else ""
        return {"task_started": "prompt", "task_complete": "answer"}.get(kind, "step") if kind else ""
    message, kind = record.get("message"), record.get("type")
    if kind not in ("user", "assistant") or not isinstance(message, dict):
        return ""
    if kind == "assistant":
        return "answer" if message.get("stop_reason") == "end_turn" else "step"
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    return "step" if any(isinstance(p, dict) and p.get("type") == "tool_result" for p in parts) else "prompt"


def shorten_record(record):
    """Return what the server reads of a record of Claude Code, without what the model thought."""
    short = {name: record[name] for name in FIELDS if name in record}
    message = short.get("message")
    if isinstance(message, dict):
        content = message.get("content")
        if isinstance(content, list):
            content = [part for part in content if not (isinstance(part, dict) and "thinking" in part)]
        names = ("id", "role", "model", "stop_reason")
        short["message"] = {**{name: message[name] for name in names if name in message}, "content": content}
    elif "attachment" in record:
        short.pop("toolUseResult", None)
    return short


# ---- events of a part ------------------------------------------------------------------------------


def make_events(one, records):
    """Yield the events that tell the server of a part, as JSON: each cut to size and without private text."""
    import event_cuts

    own = {"client": one["client"], "at": one["due"], "root": one["root"]}
    event = {"hook_event_name": "Day1Transcript", "session_id": one["session"], "cwd": one["cwd"]}
    event = {**event, "agent_id": one["agent"], "day1": own}
    begin = event_cuts.compact_json(event)[:-1] + ',"records":['
    max_bytes = MAX_PART_BYTES - event_cuts.count_bytes(begin) - len("]}")
    steps = (cut_step(step, max_bytes) for step in split_steps(records, one["client"] == "codex"))
    for texts in pack_steps(steps, max_bytes):
        yield begin + ",".join(texts) + "]}"


def split_steps(records, is_codex):
    """Return records in groups that can be read alone: calls with what led to them and their results."""
    steps: list = []
    pending: set = set()
    is_complete = True
    for record in records:
        calls, results = find_calls(record, is_codex)
        is_prompt = find_state(record, is_codex) == "prompt"
        if is_prompt or (is_complete and not results) or not steps:
            steps.append([])
        steps[-1].append(record)
        # Calls of a turn that was interrupted have no result.
        pending = ((set() if is_prompt else pending) | calls) - results
        is_complete = bool(results) and not pending
    return steps


def find_calls(record, is_codex):
    """Return the ids of the calls in a record, and of those whose result it has."""
    found: dict = {"calls": set(), "results": set()}
    payload = record.get("payload" if is_codex else "message")
    content = payload if isinstance(payload, dict) else {}
    parts = [content] if is_codex else content.get("content")
    for part in parts if isinstance(parts, list) else []:
        kind = part.get("type") if isinstance(part, dict) else None
        place = CALL_KINDS.get(kind) if isinstance(kind, str) else None
        if place:
            names = ("call_id",) if is_codex else ("id", "tool_use_id")
            found[place].update(str(part[name]) for name in names if name in part)
    return found["calls"], found["results"]


def cut_step(step, max_bytes):
    """Return the records of a step as JSON, cut so that they fit together, else so that each fits."""
    import event_cuts

    texts: list = []
    for text_bytes in (MIB, MIB // 16, MIB // 256):
        texts = [event_cuts.cut_event(record, text_bytes, max_bytes) for record in step]
        if count_texts(texts) <= max_bytes:
            break
    return texts


def count_texts(texts):
    """Return the bytes that texts have in a list."""
    import event_cuts

    return sum(event_cuts.count_bytes(text) + 1 for text in texts)


def pack_steps(steps, max_bytes):
    """Yield the texts of each event. It begins with the last step of the event before, if both fit: what
    follows that one has its place.
    """
    packed: list = []
    before: list = []
    size = 0
    for step in steps:
        for texts in [step] if count_texts(step) <= max_bytes else [[text] for text in step]:
            if packed and size + count_texts(texts) > max_bytes:
                yield packed
                packed = before if count_texts(before) + count_texts(texts) <= max_bytes else []
                size = count_texts(packed)
            packed, size, before = [*packed, *texts], size + count_texts(texts), texts
    if packed:
        yield packed


def format_time(seconds):
    """Return a time as transcripts write it; "" for the beginning of all."""
    if not seconds:
        return ""
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{int(seconds * 1000) % 1000:03}Z"

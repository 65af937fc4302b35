"""What the hook client does with an event: it goes to a spool on disk, then to the server. hook.py runs it.

``--config`` names a FILE (default ~/.config/day1/hooks.json): ``{"url", "key"}``, optionally ``"branch"``;
the spool is in ``FILE.spool``. Without FILE, DAY1_URL and DAY1_KEY are used; without those nothing is stored.

The start of a session or subagent waits for a response, at most three seconds, of a server that gives a sign
of life within one; a person's prompt at most one. Within a minute of a time when none came a start waits a
fifth of a second for that sign, a prompt not at all. All else is sent by a background process, now or with a
later event. It always exits with 0 and writes nothing to standard error: a memory must never stop the agent.
Standard library only, Python 3.8 and later; slow modules are imported where needed.
"""

import os
import sys
import time

MIB = 1 << 20
MAX_READ_BYTES = 64 * MIB  # of an event; a longer one is dropped
MAX_LINE_BYTES = MIB  # of an event as it came; a longer one is cut
MAX_CUT_BYTES = 4 * MIB  # of an event after it was cut
MAX_SPOOL_BYTES = 64 * MIB  # beyond it the oldest events go
WAIT, BACKLOG = 2.8, 1.5  # seconds for the response; for sending the events before it
PROMPT_WAIT, PROMPT_BACKLOG = 0.9, 0.4  # the same, for a prompt
SIGN_WAIT, SILENT_SIGN_WAIT = 0.8, 0.2  # seconds for a sign of life, before a start waits
SILENCE = 60.0  # seconds in which no prompt waits, after none was answered
NICE = 5  # of the background process: the agent goes first
TIMEOUT_SECONDS = 20.0  # seconds for one request in the background
ANSWERED = ("sessionstart", "subagentstart")  # a program waits for the response to these, and to the next
PROMPTS, FAILURE = ("userpromptsubmit", "beforeagent"), "posttoolusefailure"
COMPACTS = ("precompact", "precompress")  # the end of the transcript is sent with them
HINTS = (
    b"reComp recomp re_comp re-comp essionStart ubagentStart ession_start ubagent_start"
    b" ession-start ubagent-start serPromptSubmit ser_prompt_submit eforeAgent ostToolUseFailure"
).split()
NAMES = ("hook_event_name", "hookEventName", "event", "event_name", "hook")


def main(argv):
    """Store one event; never raises."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        options = dict(zip(argv[::2], argv[1::2]))  # noqa: B905  # strict= is newer than Python 3.8
        spool = Spool(options.get("--config") or default_config())
        if not spool.is_configured():
            return
        if "--deliver" in options:
            sender(spool, TIMEOUT_SECONDS).deliver()
            return
        event = Event(read_all(0), options.get("--client", ""))
        if not event.line:
            if event.lost:
                sender(spool, TIMEOUT_SECONDS).set_aside("broken.jsonl", event.lost)
            return
        try:
            spool.append(event.line)
        except OSError as error:
            wait = PROMPT_WAIT if event.is_prompt else WAIT
            return load_sibling("outages").send_at_once(spool, event, sender(spool, wait), error)
        if event.answered or (event.is_prompt and not spool.is_silent()):
            answer(spool, event)
            return
        if event.is_prompt and os.path.exists(spool.path("off")):  # nothing was taken since it was told
            load_sibling("outages").tell_outage(spool, event, sender(spool, TIMEOUT_SECONDS).server)
        in_background(spool)
    except BaseException:  # whatever the error, the agent continues
        return


# ---- the event -------------------------------------------------------------------------------------


class Event:
    """Event as a line of the spool; ``line`` is empty when it is no JSON object."""

    def __init__(self, raw, client):
        self.answered = self.is_prompt = False
        self.client, self.value, self.name = client, {}, ""
        self.nonce = f"{time.time_ns()}-{os.getpid()}"
        if raw[:1] in (b"\xef", b"\xff", b"\xfe"):
            raw = load_sibling("event_cuts").without_mark(raw)
        raw = raw.strip()
        private = b"private" in raw or b"PRIVATE" in raw or b"private" in raw.lower()
        size = len(raw)
        # What is set aside when it is no JSON: not what may be private.
        self.lost = (
            b'{"day1":{"bytes":%d}}' % size if private else raw.replace(b"\n", b" ").replace(b"\r", b" ")
        )
        if private or len(raw) > MAX_LINE_BYTES or any(hint in raw for hint in HINTS):
            raw = self._parsed(raw, private)
        who, where = quoted(client), quoted(project_root())
        header = f'{{"day1":{{"client":{who},"at":{time.time():.6f},"nonce":"{self.nonce}","root":{where}}},'
        whole = raw[:1] == b"{" and raw[1:].lstrip()[:1] == b'"' and len(raw) <= MAX_CUT_BYTES
        # A line feed between JSON's tokens is white space; within its texts there is none.
        body = raw[1:].replace(b"\n", b" ").replace(b"\r", b" ")
        self.line = header.encode("utf-8", "replace") + body + b"\n" if whole else b""

    def _parsed(self, raw, private):
        """Return the event without private text and cut to size; empty when it is no JSON."""
        import json

        try:
            value = json.loads(raw.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            return b"" if private or len(raw) > MAX_LINE_BYTES else raw
        if not isinstance(value, dict):
            return b""
        self.value = value
        self.name = next((value[word] for word in NAMES if isinstance(value.get(word), str)), "")
        name = self.name.lower().replace("_", "").replace("-", "")
        self.answered = name in ANSWERED
        self.is_prompt = name in PROMPTS or (name == FAILURE and self.client == "claude-code")
        if name in COMPACTS:
            value["transcript"] = load_sibling("delivery").read_assistant_texts(value.get("transcript_path"))
        elif not private and len(raw) <= MAX_LINE_BYTES:
            return raw
        return load_sibling("event_cuts").cut_event(value, MAX_LINE_BYTES, MAX_CUT_BYTES).encode()


def read_all(handle):
    """Read standard input to its end; return nothing when it exceeds the limit."""
    pieces: list = []
    size = 0
    while True:
        piece = os.read(handle, MIB)
        if not piece:
            return b"".join(pieces)
        size += len(piece)
        pieces = pieces if size <= MAX_READ_BYTES else []
        if size <= MAX_READ_BYTES:
            pieces.append(piece)


def quoted(text):
    """Return a text as JSON."""
    plain = "".join(char if char >= " " else " " for char in text)
    return '"' + plain.replace("\\", "\\\\").replace('"', '\\"') + '"'


# ---- the project -----------------------------------------------------------------------------------


def project_root():
    """Return the address of the git remote, without credentials; else the root of the work tree."""
    start = find_start()
    return find_repository(start) or start


def find_start():
    """Return the folder that the program works in: the one that it names, else that of this process."""
    variables = ("CLAUDE_PROJECT_DIR", "CURSOR_PROJECT_DIR", "GEMINI_PROJECT_DIR")
    return next(filter(None, map(os.environ.get, variables)), "") or os.getcwd()


def find_repository(root):
    """Return the repository that a folder is in, as name_repository does; "" where it is in none."""
    while os.path.isabs(root):
        folder = os.path.join(root, ".git")
        if os.path.exists(folder):
            return name_repository(root, folder)
        above = os.path.dirname(root)
        if above == root:
            break
        root = above
    return ""


def name_repository(root, folder):
    """Return the remote of a repository or of a work tree's repository; else its main folder."""
    try:
        if os.path.isfile(folder):
            folder = os.path.join(root, read_text(folder).partition("gitdir:")[2].strip())
            common = os.path.join(folder, "commondir")
            if os.path.exists(common):
                folder = os.path.normpath(os.path.join(folder, read_text(common).strip()))
                root = os.path.dirname(folder)
        return plain_address(find_remote(read_text(os.path.join(folder, "config")))) or root
    except (OSError, ValueError):
        return root


def read_text(path):
    with open(path, "rb") as file:
        return file.read(MIB).decode("utf-8", "replace")


def find_remote(config):
    """Return the address of the remote origin, else of the first remote."""
    found: dict = {}
    section = ""
    for line in config.splitlines():
        line = line.strip()
        if line.startswith("["):
            section = line.strip("[] ")
        name, _, value = line.partition("=")
        if section.startswith("remote ") and name.strip() == "url":
            found.setdefault(section[7:].strip('" '), value.strip())
    return found.get("origin") or next(iter(found.values()), "")


def plain_address(address):
    """Normalise an address: git@host:a/b.git and https://user:token@host/a/b become host/a/b."""
    _, scheme, rest = address.rpartition("://")
    host, _, path = rest.partition("/")
    if not scheme and ":" in host:
        host, _, start = rest.partition(":")
        path = start
    elif not scheme:
        return address
    host = host.rpartition("@")[2].lower()
    path = path.strip("/")
    return f"{host}/{path[:-4] if path.endswith('.git') else path}"


# ---- the spool -------------------------------------------------------------------------------------


def default_config():
    base = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return os.path.join(base, "day1", "hooks.json")


class Spool:
    """Spool file of events in order; another file has the offset up to which they are delivered."""

    def __init__(self, config):
        self.config, self.folder = config, config + ".spool"
        self.events, self.mark = self.path("events.jsonl"), self.path("delivered")
        self.silence = self.path("silent")

    def path(self, name):
        return os.path.join(self.folder, name)

    def is_configured(self):
        has_config = os.path.exists(self.config)
        return has_config or bool(os.environ.get("DAY1_URL") and os.environ.get("DAY1_KEY"))

    def append(self, line):
        """Append one line; drop the oldest beyond the limit."""
        os.makedirs(self.folder, mode=0o700, exist_ok=True)
        with Lock(self.path("append.lock")):
            handle = os.open(self.events, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                size = os.fstat(handle).st_size
                if size and self._half_written(size):
                    os.write(handle, b"\n")
                write_all(handle, line)
            except OSError:
                os.ftruncate(handle, size)  # no half line on a full disk
                raise
            finally:
                os.close(handle)
        if size + len(line) > MAX_SPOOL_BYTES:
            with Lock(self.path("send.lock"), wait=0.5) as sending:
                if sending.is_acquired:
                    sender(self, TIMEOUT_SECONDS).shrink()

    def _half_written(self, size):
        with open(self.events, "rb") as file:
            file.seek(size - 1)
            return file.read(1) != b"\n"

    def delivered(self):
        try:
            done = int(read_text(self.mark) or 0)
            return done if done <= os.path.getsize(self.events) else 0
        except (OSError, ValueError):
            return 0

    def set_delivered(self, offset):
        draft = self.mark + ".new"
        with open(draft, "w", encoding="utf-8") as file:
            file.write(str(offset))
        os.replace(draft, self.mark)

    def is_silent(self):
        """Return whether a prompt got no answer within the last minute."""
        try:
            return 0 <= time.time() - os.path.getmtime(self.silence) < SILENCE
        except OSError:
            return False

    def set_silent(self):
        os.close(os.open(self.silence, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600))

    def send_later(self):
        in_background(self)

    def waiting(self):
        try:
            return os.path.getsize(self.events) > self.delivered()
        except OSError:
            return False


class Lock:
    """Lock between processes on a file of its own; ``is_acquired`` tells whether it was in time."""

    def __init__(self, path, wait=5.0):
        self.handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        until = time.monotonic() + wait
        self.is_acquired = self._try()
        while not self.is_acquired and time.monotonic() < until:
            time.sleep(0.01)
            self.is_acquired = self._try()

    def _try(self):
        try:
            lock_file(self.handle)
        except OSError:
            return False
        return True

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.handle)


def lock_file(handle):
    """Lock an open file. Raises OSError where another process has it."""
    try:
        import fcntl
    except ImportError:
        windows = __import__("msvcrt")
        windows.locking(handle, windows.LK_NBLCK, 1)
    else:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def write_all(handle, data):
    while data:
        data = data[os.write(handle, data) :]


# ---- waiting and background delivery ---------------------------------------------------------------


def answer(spool, event):
    """Print the server's response to this event, sent in order, or ahead of a long backlog."""
    start, outages = time.monotonic(), load_sibling("outages")
    wait, backlog = (PROMPT_WAIT, PROMPT_BACKLOG) if event.is_prompt else (WAIT, BACKLOG)
    if not event.is_prompt:
        sign_wait = SILENT_SIGN_WAIT if spool.is_silent() else SIGN_WAIT
        waking = sender(spool, sign_wait)
        if not waking.server.is_awake():
            outages.give_up(spool, event, waking.server)
    sending = sender(spool, wait)
    outages.give_up_after(wait - (time.monotonic() - start), spool, event, sending.server)
    body = sending.deliver(until=start + backlog, mine=event.nonce)
    if body is None:  # it was not reached, or another process sent it
        body = sending.ask(event.line)
    outages.stop_clock()
    if body:
        write_all(1, body)
    else:
        outages.tell_outage(spool, event, sending.server)
    if spool.waiting() or sending.has_due():
        in_background(spool)


def load_sibling(name):
    """Return the module in a file next to this one."""
    folder = os.path.dirname(os.path.abspath(__file__))
    if folder not in sys.path:
        sys.path.insert(0, folder)
    return __import__(name)


def sender(spool, patience):
    """Return a sender for the spool's events."""
    load_transcripts = load_sibling("transcripts").Transcripts
    return load_sibling("delivery").Sender(spool, Lock, write_all, read_text, patience, load_transcripts)


def in_background(spool):
    """Deliver in a process that nothing waits for; leave it to the one that is at it, where there is one."""
    with Lock(spool.path("send.lock"), wait=0) as sending:
        if not sending.is_acquired:
            return  # it looks for further events after it has let go of the lock
    if not hasattr(os, "fork"):
        import subprocess

        own = os.path.join(os.path.dirname(os.path.abspath(__file__)), "hook.py")
        words = [sys.executable, "-I", "-S", own, "--deliver", "1", "--config", spool.config]
        nothing = subprocess.DEVNULL
        apart = 0x08000008 if os.name == "nt" else 0  # without a console, in a group of its own
        subprocess.Popen(words, stdin=nothing, stdout=nothing, stderr=nothing, creationflags=apart)
        return
    nowhere = os.open(os.devnull, os.O_RDWR)
    for handle in (0, 1, 2):  # before the fork: the program waits until nobody has them open
        os.dup2(nowhere, handle)
    if os.fork():
        return
    try:
        os.setsid()
        os.nice(NICE)
        sender(spool, TIMEOUT_SECONDS).deliver()
    finally:
        os._exit(0)

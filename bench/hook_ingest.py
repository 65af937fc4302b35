"""Cost of a hook for the agent, and throughput of hook events on a server.

.venv/bin/python -m bench.hook_ingest [--runs 60] [--events 1000]
"""

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.report import Figure, p50, p95, table, timed
from bench.server import ROOT, Client, Running, serving

HOOK = ROOT / "day1site" / "hooks" / "client" / "hook.py"
PYTHON = "/usr/bin/python3" if Path("/usr/bin/python3").exists() else sys.executable
MAX_EXTRA_MS = 25.0  # milliseconds above a plain start of Python
ARRAYS, SINGLE = 100.0, 30.0  # events a second
BATCH_SIZE = 100  # events per array
Hook = Callable[[Path, bytes], None]
Make = Callable[[int, str], dict[str, Any]]


def event(number: int, session: str) -> dict[str, Any]:
    """Return an event of a test run with some lines of output, as Claude Code sends it."""
    lines = [f"tests/test_{number % 17}.py::test_case_{line} PASSED" for line in range(20)]
    return {
        "session_id": session,
        "transcript_path": "/nowhere.jsonl",
        "cwd": "/srv/shop",
        "hook_event_name": "PostToolUse",
        "tool_name": "Bash",
        "tool_use_id": f"{session}-{number}",
        "tool_input": {"command": f"pytest tests/test_{number % 17}.py", "description": "Run tests"},
        "tool_response": {"stdout": "\n".join(lines), "stderr": "", "interrupted": False, "isImage": False},
    }


# ---- the client ------------------------------------------------------------------------------------


def bare() -> None:
    subprocess.run([PYTHON, "-I", "-S", "-c", "pass"], check=True, stdin=subprocess.DEVNULL)


def hook(config: Path, payload: bytes) -> None:
    words = [PYTHON, "-I", "-S", str(HOOK), "--client", "claude-code", "--config", str(config)]
    subprocess.run(words, input=payload, check=True, stdout=subprocess.DEVNULL)


def gemini_event(number: int, session: str) -> dict[str, Any]:
    """Return the same call as Gemini CLI sends it."""
    done = event(number, session)
    text = done["tool_response"]["stdout"]
    return {
        **{name: done[name] for name in ("session_id", "transcript_path", "cwd", "tool_input")},
        "hook_event_name": "AfterTool",
        "tool_name": "run_shell_command",
        "tool_response": {"llmContent": f"<untrusted_context>\nOutput: {text}", "returnDisplay": text},
    }


def gemini_hook(config: Path, payload: bytes) -> None:
    """Run the command as Gemini CLI does: in a shell, until nobody has its output open any more."""
    words = [PYTHON, "-I", "-S", str(HOOK), "--client", "gemini", "--config", str(config)]
    subprocess.run(["bash", "-c", shlex.join(words)], input=payload, check=True, capture_output=True)


PROGRAMS: dict[str, tuple[Hook, Make]] = {"client": (hook, event), "Gemini": (gemini_hook, gemini_event)}


def client_times(program: str, config: Path, runs: int, session: str) -> tuple[list[float], list[float]]:
    """Measure plain starts and the client alternately; return the milliseconds of each."""
    (run, make), starts, hooks = PROGRAMS[program], [], []
    for number in range(runs):
        payload = json.dumps(make(number, session)).encode()
        starts.append(timed(bare))
        hooks.append(timed(lambda payload=payload: run(config, payload)))
        time.sleep(0.05)
    return starts, hooks


def measure_clients(config: Path, runs: int, label: str) -> list[Figure]:
    """Return the figures of each way to call the client."""
    times = {name: client_times(name, config, runs, f"{name}-{label}") for name in PROGRAMS}
    return [figure for name in PROGRAMS for figure in of_client(f"{name}, {label}", *times[name])]


def of_client(label: str, starts: list[float], hooks: list[float]) -> list[Figure]:
    return [
        Figure(
            f"{label}: {name}",
            of(hooks),
            "ms",
            of(starts) + MAX_EXTRA_MS,
            f"≤ reference + {MAX_EXTRA_MS:g}",
            of(starts),
            "bare start",
        )
        for name, of in (("p50", p50), ("p95", p95))
    ]


# ---- the server ------------------------------------------------------------------------------------


def per_second(client: Client, events: int, size: int, session: str) -> float:
    """Return the events per second of one client, for a number of events per request."""
    path = "/ingest/hook?client=claude-code"
    started = time.perf_counter()
    for start in range(0, events, size):
        batch = [event(start + index, session) for index in range(size)]
        client.ask("POST", path, batch if size > 1 else batch[0])
    return events / (time.perf_counter() - started)


def of_server(server: Running, events: int) -> list[Figure]:
    client = server.client()
    per_second(client, 20, 1, "warm")
    arrays = per_second(client, events, BATCH_SIZE, "arrays")
    single = per_second(client, events // 4, 1, "single")
    client.close()
    return [
        Figure(f"server, arrays of {BATCH_SIZE}", arrays, "events/s", ARRAYS, f"≥ {ARRAYS:g}", least=True),
        Figure("server, one by one", single, "events/s", SINGLE, f"≥ {SINGLE:g}", least=True),
    ]


def drained(config: Path) -> float:
    """Wait until the spool is empty; return the seconds."""
    started, spool = time.perf_counter(), Path(f"{config}.spool") / "events.jsonl"
    while spool.exists() and spool.stat().st_size and time.perf_counter() - started < 120:
        time.sleep(0.05)
    return time.perf_counter() - started


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--runs", type=int, default=60)
    options.add_argument("--events", type=int, default=1000)
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="day1-bench-") as folder:
        config = Path(folder) / "hooks.json"
        config.write_text(json.dumps({"url": "http://127.0.0.1:9", "key": "none"}))
        figures = measure_clients(config, chosen.runs, "no server")
        with serving(Path(folder) / "data") as server:
            figures += of_server(server, chosen.events)
            config.write_text(json.dumps({"url": server.url, "key": server.key}))
            figures += measure_clients(config, chosen.runs, "server")
            left = drained(config)
    print(f"{PYTHON}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")
    print(table(figures))
    print(f"The spool was empty {left:.2f} s after the last event.")
    return 0 if all(figure.kept for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main())

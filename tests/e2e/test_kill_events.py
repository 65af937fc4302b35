"""A killed server: a follower that reconnects gets every event once."""

import http.client
import json
import threading
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import Request, urlopen

from tests.events.sse_client import Follower
from tests.up_process import Up, provisioned
from tests.waiting import TIMEOUT_SECONDS


def write(up: Up, text: str) -> bool:
    """Write a fact; return whether the server acknowledged it."""
    first = up.first
    headers = {"Authorization": f"Bearer {first['key']}", "Content-Type": "application/json"}
    body = json.dumps({"fact_text": text}).encode()
    try:
        with urlopen(
            Request(f"{first['url']}/api/v1/facts", body, headers), timeout=TIMEOUT_SECONDS
        ) as answer:
            return bool(answer.status == 201)
    except (URLError, OSError, http.client.HTTPException):
        return False


def follower(up: Up, place: int) -> Follower:
    port = int(up.first["url"].rsplit(":", 1)[1])
    return Follower(port, up.first["key"], Last_Event_ID=str(place))


def read_until_it_ends(one: Follower, seen: list[dict[str, Any]]) -> None:
    try:
        while message := one.message():
            if "event" not in message and "data" in message:
                seen.append(json.loads(message["data"]))
    except (OSError, http.client.HTTPException):
        pass


def test_kill_9_loses_no_event_and_doubles_none(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    up = Up(provisioned(folder), "--no-worker").ready()
    seen: list[dict[str, Any]] = []
    acknowledged: list[str] = []

    def work() -> None:
        for n in range(1000):
            if not write(up, f"Fact {n}."):
                return
            acknowledged.append(f"Fact {n}.")

    writer = threading.Thread(target=work)
    reader = threading.Thread(target=read_until_it_ends, args=(follower(up, 0), seen))
    try:
        writer.start()
        reader.start()
        while len(seen) < 20:
            reader.join(0.05)
        up.process.kill()
        writer.join()
        reader.join()
        up.process.wait()
        up.log.close()
        up = Up(provisioned(folder), "--no-worker").ready()
        assert write(up, "After.")
        with follower(up, seen[-1]["id"]) as again:
            while seen[-1]["changes"][0]["line"] != "After.":
                seen += again.events(1)
    finally:
        up.end()
    told = [event["changes"][0]["line"] for event in seen]
    assert [event["id"] for event in seen] == sorted({event["id"] for event in seen})
    assert told[: len(acknowledged)] == acknowledged
    # One write may have been stored without an acknowledgement.
    assert told[len(acknowledged) :] in (["After."], [f"Fact {len(acknowledged)}.", "After."])
    assert [event["commit"]["seq"] for event in seen] == list(range(1, len(seen) + 1))

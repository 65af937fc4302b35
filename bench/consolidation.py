"""Consolidation of a half year of sessions: what is learned of what was planted, in which time.

python -m bench.consolidation                         # precision, recall, duplicates, echoes, yield
python -m bench.consolidation --observations 100000   # time and memory
"""

import argparse
import resource
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.consolidation_corpus import KINDS, HalfYear, Planted, make_half_year
from bench.local_engine import freeze_gc, local, set_up

LISTED = 12  # examples of each fault


def play(year: HalfYear, actor: Any) -> tuple[list[Any], float, float]:
    """Write the sessions, consolidate each as it ends; return the runs, and the seconds and the processor
    time that those took.
    """
    from conversations.models import ConsolidationRun
    from memory.engines.sessions.manager import SessionManager
    from memory.models import Session

    seconds = busy = 0.0
    for row in year.sessions:
        write_session(row, actor.acting_at(row["at"]))
        if texts := row.get("given"):
            facts = list_active(actor)
            known = [str(fact.uid) for fact in facts if fact.fact_text in texts]
            context = "<day1-memory>\n" + "\n".join(f"- {text}" for text in texts) + "\n</day1-memory>"
            Session.objects.filter(key=row["key"]).update(context=context, recalled={"start": known})
        SessionManager().end_session(session_id=row["key"], actor=actor)
        began, began_busy = time.perf_counter(), time.process_time()
        SessionManager().consolidate_session(Session.objects.values_list("pk", flat=True).get(key=row["key"]))
        seconds += time.perf_counter() - began
        busy += time.process_time() - began_busy
    return list(ConsolidationRun.objects.all()), seconds, busy


def write_session(row: dict[str, Any], actor: Any) -> None:
    from conversations.engines.conversations import ConversationEngine
    from conversations.engines.messages import MessageEngine
    from memory.engines.sessions.observations import ObservationEngine

    actor = actor.with_origin(session_id=row["key"], agent_id="builder")
    talk = ConversationEngine().create_conversation(actor=actor)
    said = [{"role": role, "content": text} for role, text in row["said"]]
    MessageEngine().write_messages(conversation_id=talk.uid, messages=said, actor=actor)
    calls = [dict(zip(("tool_name", "raw_input", "raw_output"), one, strict=True)) for one in row["calls"]]
    ObservationEngine().write_observations(observations=calls, actor=actor)


def judge(year: HalfYear, actor: Any) -> dict[str, Any]:
    """Compare what was learned with what was planted."""
    facts, spoken = list_active(actor), [one for one in year.planted if one.said]
    matches = {fact.uid: [one for one in spoken if one.says(fact.fact_text)] for fact in facts}
    learned = {id(one) for found in matches.values() for one in found}
    missed = [one for one in spoken if id(one) not in learned]
    texts = [fact.fact_text for fact in facts]
    return {
        "facts learned": len(facts),
        "precision": round(sum(map(bool, matches.values())) / max(len(facts), 1), 3),
        "recall": round(1 - len(missed) / len(spoken), 3),
        "recall by kind": {kind: describe_share(kind, spoken, missed) for kind in KINDS},
        "wordings planted": sum(len(one.texts) for one in spoken),
        "duplicates in words": len(texts) - len({" ".join(text.casefold().split()) for text in texts}),
        "other wordings of a learned fact": sum(text.count(" | ") for text in list_again(facts, spoken)),
        "echoes planted": len(year.echoes),
        "echoes learned": sum("As memory says" in text for text in texts),
        "echoes that confirmed": count_echoes(year, facts),
        "contradictions found": count_changes(spoken, facts, actor),
        "not planted": [fact.fact_text for fact in facts if not matches[fact.uid]][:LISTED],
        "learned again": list_again(facts, spoken)[:LISTED],
        "missed": [sorted(one.texts)[0] for one in missed][:LISTED],
    }


def list_again(facts: Sequence[Any], spoken: Sequence[Planted]) -> list[str]:
    """Return the facts that say the same decision in other words, side by side.

    A decision that is changed later is left out: what changes it names both.
    """
    changed = {id(one.changes) for one in spoken}
    plain = [one for one in spoken if one.kind == "decision" and id(one) not in changed]
    learned = [[fact.fact_text for fact in facts if one.says(fact.fact_text)] for one in plain]
    return [" | ".join(texts) for texts in learned if len(texts) > 1]


def count_changes(spoken: Sequence[Planted], facts: Sequence[Any], actor: Any) -> str:
    """Return of how many changes both facts are linked as contested."""
    from memory.engines.versions.lookup import find_branch
    from memory.models import FactLink

    links = FactLink.objects.on(find_branch(actor, "main")).filter(link_type="CONTESTED_BY").fetch_all()
    contested = {(link.from_id, link.to_id) for link in links}
    changes = [one for one in spoken if one.changes and one.changes.said]
    found = [one for one in changes if any(is_change(one, facts, pair) for pair in contested)]
    return f"{len(found)}/{len(changes)}"


def count_echoes(year: HalfYear, facts: Sequence[Any]) -> int:
    """Return how many confirmations come from a session that only repeated memory."""
    from memory.models import Confirmation

    given = {f"session:{row['key']}" for row in year.sessions if row.get("given")}
    confirming = Confirmation.objects.filter(source__in=given).values_list("uid", "source")
    return sum(is_echo(year, facts, uid, source) for uid, source in confirming)


def describe_share(kind: str, spoken: Sequence[Planted], missed: Sequence[Planted]) -> str:
    whole, gone = (sum(one.kind == kind for one in some) for some in (spoken, missed))
    return f"{whole - gone}/{whole}"


def is_echo(year: HalfYear, facts: Sequence[Any], uid: Any, source: str) -> bool:
    """Return whether a session confirms a fact that it only repeats from memory."""
    row = next(row for row in year.sessions if f"session:{row['key']}" == source)
    text = next((fact.fact_text for fact in facts if fact.uid == uid), "")
    return text in row["given"] and not any(text in said for role, said in row["said"] if role == "user")


def list_active(actor: Any) -> list[Any]:
    from memory.engines.versions.lookup import find_branch
    from memory.models import Fact

    return Fact.objects.on(find_branch(actor, "main")).filter(status="active").fetch_all()


def is_change(one: Planted, facts: Sequence[Any], pair: tuple[Any, Any]) -> bool:
    texts = {fact.uid: fact.fact_text for fact in facts}
    older, newer = (texts.get(uid, "") for uid in pair)
    return bool(one.changes and one.changes.says(older) and one.says(newer))


def count_said(year: HalfYear) -> int:
    """Return how many planted facts are said in any session: more than those there is nothing to learn."""
    return sum(bool(one.said) for one in year.planted)


def run(options: argparse.Namespace) -> dict[str, Any]:
    year = make_half_year(options.seed, options.sessions, options.facts, 12)
    if options.observations:
        sessions = max(options.observations // 100, 1)
        year = make_half_year(options.seed, sessions, min(sessions // 5, 112), 100)
    with tempfile.TemporaryDirectory() as folder:
        set_up(Path(folder), options.embedder)
        actor = local()
        freeze_gc()
        runs, seconds, busy = play(year, actor)
        read = sum(one.messages + one.observations for one in runs)
        return {
            "sessions": len(year.sessions),
            "observations": year.observations,
            "messages and observations read": read,
            "seconds consolidating": round(seconds, 1),
            "processor time, seconds": round(busy, 1),
            "peak memory, MiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
            "yield": round(sum(one.created for one in runs) / read, 4),
            "yield when each planted fact is learned once": round(count_said(year) / read, 4),
            "confirmed": sum(one.updated for one in runs),
            **judge(year, actor),
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=17)
    parser.add_argument("--sessions", type=int, default=260)
    parser.add_argument("--facts", type=int, default=80)
    parser.add_argument("--embedder", default="off", help="minilm compares meanings too")
    parser.add_argument("--observations", type=int, default=0)
    for name, value in run(parser.parse_args()).items():
        print(f"{name}: {value}")


if __name__ == "__main__":
    main()

"""Many rows for every list: members, keys, branches, sessions, review items, audit entries, observations,
relations, conversations, and messages in one of them; and a single periodic task, for its page in the
server's admin.
"""

import sys
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

NOW = datetime(2026, 11, 1, tzinfo=UTC)
WHO = {"actor_kind": "system", "actor_label": "bench", "surface": "engine"}


def gather(count: int) -> None:
    """Write ``count`` rows of each kind, in bulk, into the project ``default`` of the open store."""
    from memory.models import Branch, Project
    from memory.models.nodes import next_rid

    next_rid.ensure_lease()
    project = Project.objects.get(slug="default")
    main = Branch.objects.get(project=project, name="main")
    unversioned = (members, keys, branches, sessions, entries, recalls, questions)
    for rows in (*unversioned, observations, relations, conversations, messages):
        put(rows(project, main, count))
    periodic_task()


def put(rows: Iterable[Any]) -> None:
    """Insert rows, with hashes and full-text index entries where their models have them."""
    from memory.db.backend import get_index

    batch = list(rows)
    for row in batch if hasattr(batch[0], "compute_hashes") else ():
        row.compute_hashes()
    type(batch[0])._base_manager.bulk_create(batch, batch_size=500)
    get_index().index_rows(batch)


def periodic_task() -> None:
    """Create a periodic task with an interval, and a crontab."""
    from django_celery_beat.models import CrontabSchedule, IntervalSchedule, PeriodicTask

    hourly = IntervalSchedule.objects.create(every=1, period=IntervalSchedule.HOURS)
    CrontabSchedule.objects.create()
    PeriodicTask.objects.create(name="bench", task="memory.embed", interval=hourly, enabled=False)


def members(project: Any, main: Any, count: int) -> list[Any]:
    from django.contrib.auth import get_user_model

    from memory.models import Membership

    person: Callable[..., Any] = get_user_model()
    put(person(username=f"person-{n}", password="!") for n in range(count))
    found = get_user_model().objects.filter(username__startswith="person-")
    return [Membership(project=project, user=user) for user in found]


def keys(project: Any, main: Any, count: int) -> list[Any]:
    from memory.models import ApiKey

    return [
        ApiKey(project=project, label=f"agent {n}", prefix=f"{n:08d}", secret_hash="0" * 64, scopes=["write"])
        for n in range(count)
    ]


def branches(project: Any, main: Any, count: int) -> list[Any]:
    from memory.models import Branch

    fork = {"parent": main, "fork_seq": main.head, "ancestors": main.lineage_at(main.head), "depth": 1}
    return [
        Branch(project=project, name=f"task/t-{n}", head_at=NOW, created_at=NOW, purpose=f"Task {n}", **fork)
        for n in range(count)
    ]


def sessions(project: Any, main: Any, count: int) -> list[Any]:
    from memory.models import Session

    return [
        Session(project=project, key=f"run-{n}", branch=main, agent_id=f"a-{n % 100}", started_at=NOW)
        for n in range(count)
    ]


def entries(project: Any, main: Any, count: int) -> list[Any]:
    from memory.models import AuditEntry

    fields = {"action": "fact.write", "target": "main"}
    return [AuditEntry(project=project, at=NOW, **WHO, **fields) for n in range(count)]


def recalls(project: Any, main: Any, count: int) -> list[Any]:
    from memory.models import RecallLog

    uids = some_facts(main, 1000)
    return [
        RecallLog(
            project=project,
            at=NOW,
            branch="main",
            query=f"question {n}",
            surface="rest",
            fact_ids=[str(uids[(n + step) % len(uids)]) for step in range(5)],
        )
        for n in range(count)
    ]


def questions(project: Any, main: Any, count: int) -> list[Any]:
    """Return review items on main."""
    from curation.models import ReviewItem

    uids = some_facts(main, 1000)
    pairs = ((uids[n % len(uids)], uids[(n * 7 + 1) % len(uids)]) for n in range(count))
    return [
        ReviewItem(
            project=project,
            branch=main,
            kind="near_duplicate",
            fact_id=one,
            other_id=other,
            score=0.9,
            pair=f"pair {n}",
        )
        for n, (one, other) in enumerate(pairs)
    ]


def version(main: Any) -> dict[str, Any]:
    """Return the columns of an open version of a memory on main."""
    from memory.models.nodes import next_rid

    rid = next_rid()
    dated = {"created_at": NOW, "updated_at": NOW}
    return {
        "rid": rid,
        "vid": rid,
        "branch": main,
        "seq_from": main.head,
        "slot": f"{main.pk}:{rid}",
        **dated,
    }


def observations(project: Any, main: Any, count: int) -> list[Any]:
    from memory.models import Observation

    fields = {"observation_type": "insight", "session_id": "s-7", "agent_id": "a-7"}
    made = [Observation(summary=f"Noticed {n}", **fields, **version(main)) for n in range(count)]
    for one in made:
        one.compute_hashes()
    return made


def relations(project: Any, main: Any, count: int) -> list[Any]:
    """Return relations of one entity, more than a page shows."""
    from memory.models import Relation

    names = {"source_entity": "hub", "source_key": "hub", "relation_type": "knows", "type_key": "knows"}
    return [
        Relation(target_entity=f"e{n}", target_key=f"e{n}", **names, **version(main)) for n in range(count)
    ]


def conversations(project: Any, main: Any, count: int) -> list[Any]:
    from conversations.models import Conversation

    return [Conversation(title=f"Talk {n}", session_id="s-7", **version(main)) for n in range(count)]


def messages(project: Any, main: Any, count: int) -> list[Any]:
    from conversations.models import Conversation, Message

    talk = Conversation.objects.on(main).newest(1)[0].uid
    return [
        Message(conversation_id=talk, role="user", content=f"Said {n}", sequence_num=n + 1, **version(main))
        for n in range(count)
    ]


def some_facts(main: Any, count: int) -> list[Any]:
    from memory.models import Fact

    shown = Fact.objects.on(main).order_by()
    return list(shown.values_list("uid", flat=True)[:count])


def main() -> None:
    """Fill the store of a folder: ``many_rows.py FOLDER COUNT``."""
    from bench import local_engine

    local_engine.set_up(Path(sys.argv[1]), "off")
    gather(int(sys.argv[2]))
    local_engine.optimize()


if __name__ == "__main__":
    main()

"""Letta: agent files (.af), with memory blocks, messages and the passages of archives."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from conversations.capture.transcripts.records import Report, moment, text_in
from day1site.cli.importing.products.records import (
    Found,
    Memory,
    find_stores,
    guess_product,
    list_objects,
    read_json,
    read_list,
    read_object,
    read_stores,
    read_text,
    refuse_product,
)

SPOKEN = ("user", "assistant")


def read(path: Path, report: Report) -> Found:
    files = find_stores(path, "letta", "*.af", "*.json")
    yield from read_stores(files, report, lambda file: read_file(file, report))


def read_file(file: Path, report: Report) -> Found:
    value = read_json(file, report)
    if value is None:
        return
    if not isinstance(value, Mapping) or not ({"agents", "core_memory", "passages"} & value.keys()):
        raise refuse_product(file, "letta", guess_product(value))
    yield from read_agents(value, file, report)


def read_agents(value: Mapping[str, Any], file: Path, report: Report) -> Iterator[Memory]:
    """Yield what all agents of a file keep; the first form of agent files has one, without a list."""
    agents = value["agents"] if isinstance(value.get("agents"), list) else [value]
    names = {str(one.get("id")): read_text(one, "name") for one in agents if isinstance(one, Mapping)}
    owners = {
        block: read_text(one, "name")
        for one in agents
        if isinstance(one, Mapping)
        for block in read_list(one.get("block_ids"))
    }
    for number, block in list_objects(
        value.get("blocks") or value.get("core_memory"), file, report, "a block"
    ):
        uid = read_text(block, "id") or f"{file.name}#block-{number}"
        agent = owners.get(uid, read_text(value, "name"))
        yield from read_block(block, f"{agent}/{uid}", agent, report)
    for _number, one in list_objects(agents, file, report, "an agent"):
        yield from read_messages(one, file, report)
    for number, passage in list_objects(list_passages(value, agents), file, report, "a passage"):
        yield from read_passage(passage, f"{file.name}#passage-{number}", names, report)


def read_block(block: Mapping[str, Any], uid: str, agent: str, report: Report) -> Iterator[Memory]:
    """Yield the lines of a block of core memory, each a memory of its own."""
    lines = [line.strip().lstrip("-*• ") for line in read_text(block, "value").splitlines()]
    report.skip("memory blocks without a text", not any(lines))
    report.skip("headings of memory blocks", sum(line.startswith("#") for line in lines))
    for number, line in enumerate(lines, 1):
        if line and not line.startswith("#"):
            yield Memory(
                f"{uid}#{number}",
                line,
                kind=read_text(block, "label") or "block",
                created=moment(block.get("created_at")),
                updated=moment(block.get("updated_at")),
                author=agent,
                origin=f"block {read_text(block, 'label')}".strip(),
                tags=read_list(block.get("tags")),
                metadata=read_object(block.get("metadata") or block.get("metadata_")),
            )


def read_messages(agent: Mapping[str, Any], file: Path, report: Report) -> Iterator[Memory]:
    """Yield what was said: the words of the program and of its tools are left out."""
    name = read_text(agent, "name", "id")
    for number, message in list_objects(agent.get("messages"), file, report, "a message"):
        role = read_text(message, "role")
        text = text_in(message.get("content") or message.get("text"))
        if role not in SPOKEN or not text or text.lstrip().startswith('{"type":'):
            report.skip("messages of the program, of tools, or without words")
            continue
        yield Memory(
            f"{name}/{read_text(message, 'id') or number}",
            text,
            kind="message",
            created=moment(message.get("created_at")),
            author=read_text(message, "name") or (name if role == "assistant" else role),
            session=name,
        )


def list_passages(value: Mapping[str, Any], agents: list[Any]) -> list[Any]:
    """Return the passages of archival memory, wherever a form of the file has them."""
    holders = [value, *(one for one in agents if isinstance(one, Mapping))]
    names = ("passages", "archival_memory", "archival_passages")
    return [
        one
        for holder in holders
        for name in names
        if isinstance(holder.get(name), list)
        for one in holder[name]
    ]


def read_passage(
    passage: Mapping[str, Any], uid: str, names: Mapping[str, str], report: Report
) -> Iterator[Memory]:
    if not (text := read_text(passage, "text", "content")):
        return report.skip("passages without a text")
    agent = read_text(passage, "agent_id")
    yield Memory(
        read_text(passage, "id") or uid,
        text,
        kind="passage",
        created=moment(passage.get("created_at")),
        updated=moment(passage.get("updated_at")),
        author=names.get(agent, agent),
        origin=read_text(passage, "file_name", "source_id", "archive_id"),
        tags=read_list(passage.get("tags")),
        ended=bool(passage.get("is_deleted")),
        metadata=read_object(passage.get("metadata") or passage.get("metadata_")),
    )

"""Written by ``python -m clients.generate_python`` from docs/openapi.yaml; do not edit."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, TypedDict, Union

if sys.version_info >= (3, 11):
    from typing import NotRequired
else:
    from typing_extensions import NotRequired

When = Union[str, datetime]
At = Union[int, str, datetime]
AcceptMethods = Literal["human", "judge", "heuristic"]
Action = Literal["verify", "invalidate", "unverify", "accept", "refuse", "archive", "restore", "supersede",
    "pin", "unpin", "set_category"]
Base = Literal["ancestor", "point"]
Broker = Literal["ok", "silent"]
By = Literal["link", "parent", "source", "entity"]
ChangeValue = Literal["added", "changed", "removed"]
Choice = Literal["source", "target", "both", "edited", "skip"]
Class = Literal["conflict", "applied", "identical", "rejected"]
Database = Literal["ok", "damaged", "error"]
Decision = Literal["keep_both", "supersede", "same", "archive", "combine", "dismiss"]
DirectWrites = Literal["allow", "propose", "refuse"]
EmbeddingState = Literal["pending", "ready", "failed", "none", "off"]
Field = Literal["created", "valid"]
Format = Literal["json", "csv"]
Gates = Literal["conflicts", "require_verified", "secrets", "recall"]
Granularity = Literal["day", "hour"]
HandoffType = Literal["task_continuation", "agent_switch", "session_handoff", "escalation"]
Include = Literal["superseded", "archived", "created", "expired", "outdated", "invalidated"]
Isolation = Literal["branch", "database"]
Kind = Literal["OBSERVATION", "BELIEF", "TASK", "OUTPUT_DRAFT", "NOTE", "REFLECTION"]
Level = Literal["session", "agent", "task", "dreaming"]
LinkType = Literal["ASSOCIATED", "DEPENDS_ON", "DERIVED_FROM", "MESSAGE_OF", "BRIDGE", "CONSOLIDATED_FROM",
    "CONTESTED_BY"]
Method = Literal["judge", "human", "external", "heuristic"]
Missing = Literal["summary", "instructions", "facts", "verified", "conversations"]
Mode = Literal["rules", "llm"]
ObservationType = Literal["tool_use", "discovery", "decision", "error", "insight"]
Op = Literal["put", "get", "delete", "search", "namespaces"]
Order = Literal["asc", "desc"]
Ordering = Literal["-created_at", "created_at"]
Origin = Literal["EXPERIENCE", "SEEDED_LLM", "DISTILLED_LLM", "DREAMING"]
OutcomeValue = Literal["success", "error", "timeout"]
Preset = Literal["assistant", "coding", "support"]
Priority = Literal["P1", "P2", "P3", "P4"]
Product = Literal["basic-memory", "claude-mem", "engrava", "graphiti", "langgraph", "letta", "mcp-memory",
    "mem0", "zep"]
ReasonValue = Literal["expired", "time_to_live", "stale", "over_budget"]
Reasons = Literal["expired", "time_to_live", "stale", "over_budget"]
Recipe = Literal["answers", "default", "hybrid", "seed", "timeless", "words"]
Role = Literal["user", "assistant", "tool_call", "tool_result", "system", "developer"]
Scope = Literal["fact", "session", "agent", "actor", "user", "app", "match", "memory"]
Scopes = Literal["read", "propose", "write", "curate", "merge", "admin", "owner", "metrics", "server"]
SearchType = Literal["hybrid", "keyword", "vector"]
Source = Literal["session", "agent", "key", "import"]
SourceType = Literal["manual", "observation", "extraction", "consolidation", "merge", "cherry_pick",
    "bundle_import", "import"]
Start = Literal["first", "last"]
State = Literal["pending", "accepted", "rejected"]
Status = Literal["created", "active", "done", "superseded", "archived"]
Storage = Literal["ok", "low", "full", "read_only", "failing"]
Strategy = Literal["auto", "ours", "theirs", "cherry_pick", "squash", "fast_forward"]
TargetType = Literal["fact", "conversation"]
ToType = Literal["fact", "observation", "message"]
Trust = Literal["trusted", "unknown_signature", "unsigned"]
Type = Literal["fact", "relation", "observation", "conversation", "message", "link"]
Verdict = Literal["verified", "unverified", "invalidated"]
VerificationStatus = Literal["unverified", "plausible", "verified", "invalidated"]
Visibility = Literal["private", "selective", "public"]
Wait = Literal["indexed"]
Without = Literal["junk", "duplicate", "echo", "hostile", "secret", "stale", "contradictory", "unsourced"]
Worker = Literal["running", "stopped", "unknown"]

class Actions(TypedDict):
    """Calls of tools."""

    similarity: float
    sequence: float
    tools: float
    order: float
    aligned: int
    only_first: dict[str, int]
    only_second: dict[str, int]
    argument_changes: list[ArgumentChange]
    failures: Pair


class AgedFact(TypedDict):
    """A fact, and why it goes or has gone."""

    reason: ReasonValue
    since: str | None
    worth: Worth | None
    fact: Fact


class Cursors(TypedDict):
    """The way to other pages."""

    next: str | None
    previous: str | None


class AgedFactPage(Cursors):
    results: list[AgedFact]


class AgentFigures(TypedDict):
    """What an agent did on a branch, and what became of its facts."""

    agent_id: str
    branch: str
    sessions: int
    sessions_by_status: dict[str, int]
    first_session_at: str | None
    last_session_at: str | None
    conversations: int
    facts: int
    facts_by_status: dict[str, int]
    facts_by_category: dict[str, int]
    rejected: int
    rejected_share: float | None
    observations: int
    tools: list[Tool]


class AgentRecord(TypedDict):
    """An agent's facts, and how many of them are invalidated."""

    agent_id: str
    facts: int
    rejected: int
    rejected_share: float | None


class Approval(TypedDict):
    actor_kind: str
    actor_id: str
    actor_label: str
    at: str
    source_seq: int
    counts: bool
    outdated: bool


class Redaction(TypedDict):
    redacted_fields: NotRequired[list[str]]


class ArchiveReport(Redaction):
    """What was archived, or would be, and what is left for which reason."""

    dry_run: bool
    count: int
    more: bool
    results: list[Expired]


class ArgumentChange(TypedDict):
    tool: str
    arguments: list[str]
    first: str
    second: str


class ServerEntry(TypedDict):
    """An entry of the server's trail."""

    id: int
    at: str
    actor_kind: str
    actor_id: str
    actor_label: str
    surface: str
    action: str
    target: str
    detail: dict[str, Any]


class Audit(ServerEntry):
    request_id: str | None
    place: int | None
    hash: str


class AuditPage(Cursors):
    results: list[Audit]


class BatchFiltersInput(TypedDict):
    """Filters of facts, as a list of them has."""

    category: NotRequired[Sequence[str]]
    kind: NotRequired[Sequence[Kind]]
    status: NotRequired[Sequence[Status]]
    session_id: NotRequired[Sequence[str]]
    agent_id: NotRequired[Sequence[str]]
    task_id: NotRequired[Sequence[str]]
    user_id: NotRequired[Sequence[str]]
    app_id: NotRequired[Sequence[str]]
    priority: NotRequired[Sequence[Priority]]
    visibility: NotRequired[Sequence[Visibility]]
    source_type: NotRequired[Sequence[SourceType]]
    source_id: NotRequired[Sequence[str]]
    origin: NotRequired[Sequence[Origin]]
    tags: NotRequired[Sequence[str]]
    tag_prefix: NotRequired[str]
    verification_status: NotRequired[VerificationStatus]
    min_confidence: NotRequired[float]
    max_confidence: NotRequired[float]
    created_after: NotRequired[When]
    created_before: NotRequired[When]
    valid_at: NotRequired[When]
    valid_after: NotRequired[When]
    valid_before: NotRequired[When]
    pinned: NotRequired[bool]
    own: NotRequired[bool]
    parent_id: NotRequired[str]
    namespace: NotRequired[str]
    repository: NotRequired[str]


class ReplayBatch(TypedDict):
    """Replays of many conversations with the same parameters."""

    id: str
    branch: str
    name: str
    start: str
    parameters: dict[str, Any]
    max_total_cost: float | None
    skipped: dict[str, str]
    created_at: str
    created_by: str


class BatchReport(ReplayBatch, Redaction):
    """A batch with what it has come to so far."""

    states: dict[str, int]
    totals: dict[str, int]
    cost: float | None
    verdicts: dict[str, int]
    similarity: dict[str, float]
    source_scores: dict[str, float]
    replay_scores: dict[str, float]
    notes: list[str]


class Branch(Redaction):
    """A branch."""

    name: str
    parent: str | None
    fork_seq: int
    depth: int
    head: int
    head_at: str
    cycle: int
    purpose: str
    owner: str
    ttl_days: int | None
    tags: list[str]
    ahead: int
    behind: int
    read_only: bool
    created_at: str
    created_by: str
    archived_at: str | None


class BranchChange(TypedDict):
    name: str
    base: int | None
    head: int
    archived: bool


class BranchPage(Cursors):
    results: list[Branch]


class BranchPlan(TypedDict):
    """The planned change of one branch."""

    name: str
    head: int
    seq: int
    counts: dict[str, Any]
    archive: bool
    unarchive: bool


class BranchStats(TypedDict):
    """Counts of a branch's contents and contributors."""

    name: str
    facts: dict[str, int]
    verification: dict[str, int]
    links: int
    ahead: int
    behind: int
    children: int
    sessions: int
    agents: int
    last_activity: str


class BriefFact(TypedDict):
    """The part of a fact that a session's context has."""

    id: str
    fact_text: str
    category: str
    confidence: float


class Bulk(Redaction):
    results: list[WrittenId]
    commit: Commit | None


class BulkUpdate(Redaction):
    results: list[UpdatedId]
    commit: Commit | None


class Bundle(Redaction):
    """A bundle without its document."""

    id: str | None
    name: str
    version: int
    description: str
    origin: Literal["created", "uploaded"]
    source_branch: str
    only_verified: bool
    counts: dict[str, Any]
    left_out: dict[str, Any]
    redacted: int
    size: int
    sha256: str
    signature: str
    public_key: str
    created_by: str
    created_at: str


class BundleContent(TypedDict):
    facts: NotRequired[Sequence[Mapping[str, Any]]]
    conversations: NotRequired[Sequence[Mapping[str, Any]]]
    links: NotRequired[Sequence[Mapping[str, Any]]]
    relations: NotRequired[Sequence[Mapping[str, Any]]]


class BundleDocument(TypedDict):
    """The document of a bundle."""

    format: str
    schema_version: int
    name: str
    version: int
    description: NotRequired[str]
    source_branch: NotRequired[str]
    only_verified: NotRequired[bool]
    created_at: NotRequired[str]
    counts: NotRequired[dict[str, Any]]
    content: BundleContent
    sha256: str
    signature: NotRequired[BundleSignature]


class BundleItem(TypedDict):
    """An item that is not new."""

    kind: Literal["facts", "conversations", "messages", "links", "relations"]
    id: str
    existing_id: str
    line: str
    reason: str


class BundlePage(Cursors):
    results: list[Bundle]


class BundleReport(Redaction):
    """What an import did, or would do."""

    name: str
    version: int
    sha256: str
    branch: str
    creates_branch: bool
    dry_run: bool
    trust: Trust
    signed_by: str
    counts: ImportCounts
    verified: int
    reset: int
    duplicates: list[BundleItem]
    refused: list[BundleItem]
    warnings: list[str]
    commit: Commit | None


class BundleSignature(TypedDict):
    algorithm: str
    public_key: str
    value: str


class BundleUpload(Redaction):
    """The result of an uploaded document."""

    bundle: Bundle | None
    report: BundleReport | None
    dropped: list[str]


class Calibration(TypedDict):
    """Agreement of a judge with people."""

    model: str
    prompt: str
    pairs: int
    agreement: float | None
    kappa: float | None
    table: dict[str, Any]


class CalibrationPage(Cursors):
    results: list[Calibration]


class Change(TypedDict):
    """The change of one memory in a commit."""

    type: str
    id: str
    change: ChangeValue
    line: str


class Check(TypedDict):
    """The result of a gate, or of the approvals."""

    name: str
    state: Literal["passed", "warning", "failed", "hidden"]
    reason: str
    count: int
    ids: list[str]
    link: str


class Commit(Redaction):
    """A commit: every change belongs to one."""

    id: str
    seq: int
    at: str
    kind: str
    message: str
    actor_kind: str
    actor_id: str
    actor_label: str
    surface: str
    session_id: str
    task_id: str
    agent_id: str
    added: int
    changed: int
    removed: int


class TitledCommit(TypedDict):
    """A commit with its title: what a person or an agent wrote, else what changed."""

    id: str
    seq: int
    at: str
    kind: str
    message: str
    actor_kind: str
    actor_id: str
    actor_label: str
    surface: str
    session_id: str
    task_id: str
    agent_id: str
    added: int
    changed: int
    removed: int
    title: str


class CommitDetail(TitledCommit):
    """A commit with its branch, and how many changes of each kind it made."""

    branch: str
    counts: dict[str, int]


class Compact(TypedDict):
    """A conversation as its summary and what was said since."""

    compaction: Compaction | None
    messages: list[Message]


class Compaction(Redaction):
    """A summary of the earlier messages of a conversation, which stay as they are."""

    id: str
    branch: str
    conversation_id: str
    last_message_id: str
    messages: int
    tokens: int
    summary: str
    summary_tokens: int
    method: Literal["rules", "caller"]
    tools: dict[str, int]
    created_at: str
    created_by: str


class CompletedAgent(Redaction):
    """An agent's part after its merge into the task's branch."""

    agent: TaskAgent
    conflicts: list[TaskConflict]


class CompletedTask(Redaction):
    """A completed task and what is offered to its parent."""

    task: Task
    durable: list[str]
    left: list[str]
    conflicting: list[str]


class Connection(Redaction):
    """A program that a person connected by OAuth; its tokens are not in it."""

    id: str
    client_name: str
    client_id: str
    username: str
    scopes: list[str]
    branch_patterns: list[str]
    resource: str
    created_at: str
    last_used_at: str | None
    expires_at: str | None
    revoked_at: str | None


class ConnectionPage(Cursors):
    results: list[Connection]


class Consolidation(Redaction):
    """A run of consolidation."""

    id: str
    branch: str
    level: Level
    target: str
    state: Literal["queued", "running", "done", "partial", "failed", "undone"]
    mode: Mode
    dry_run: bool
    messages: int
    observations: int
    created: int
    updated: int
    deduplicated: int
    durable: int
    yield_rate: float | None
    cycle: int | None
    merge_request: int | None
    recall: str
    model: str
    calls: int
    input_tokens: int
    output_tokens: int
    commits: list[str]
    note: str
    started_at: str
    finished_at: str | None
    created_by: str
    undone_at: str | None
    undone_by: str


class ConsolidationDetail(Consolidation):
    """A run with the first 200 things that it did."""

    changes: list[RunChange]
    durable_facts: list[str]


class ConsolidationPage(Cursors):
    results: list[Consolidation]


class Conversation(Redaction):
    """A conversation, as it is read."""

    id: str
    branch: str
    version: int
    title: str
    status: Literal["active", "completed", "archived"]
    model: str
    message_count: int
    shared_messages: int
    total_tokens: int
    parent_conversation_id: str | None
    fork_point_message_id: str | None
    session_id: str
    task_id: str
    agent_id: str
    user_id: str
    app_id: str
    created_at: str
    updated_at: str


class ConversationDocument(TypedDict):
    """A conversation as a document, to be read or imported elsewhere."""

    format: str
    schema_version: int
    id: str
    branch: str
    title: str
    model: str
    status: str
    origin: dict[str, str]
    messages: list[DocumentMessage]
    redacted: int


class ConversationFigures(TypedDict):
    """Who said how much in a conversation, and what came of it."""

    conversation_id: str
    branch: str
    session_id: str
    agent_id: str
    status: str
    messages: int
    shared_messages: int
    messages_by_role: dict[str, int]
    tokens: int
    tokens_by_role: dict[str, int]
    forks: int
    facts: int


class ConversationPage(Cursors):
    results: list[Conversation]


class Counts(TypedDict):
    fact: Tally
    relation: Tally
    observation: Tally
    conversation: Tally
    message: Tally
    link: Tally


class Task(Redaction):
    """A task with its objectives and agents."""

    id: str
    name: str
    slug: str
    task_type: str
    description: str
    branch: str
    parent: str
    state: Literal["active", "completed", "cancelled"]
    created_by: str
    created_at: str
    completed_at: str | None
    merge_request_id: str | None
    durable: int
    result: str
    objectives: list[Objective]
    agents: list[TaskAgent]


class CreatedTask(Task):
    """A new task."""

    suggested_template: str | None


class CurationFigures(TypedDict):
    """What curators decided, what waits for them, and what is junk."""

    branch: str
    since: str
    until: str
    verdicts: dict[str, int]
    verdicts_by_method: dict[str, int]
    recent_verdicts: dict[str, int]
    answers: dict[str, int]
    open_questions: dict[str, int]
    median_answer_hours: float | None
    junk: Junk
    agents: list[AgentRecord]


class DecisionInput(TypedDict):
    """What is decided about one conflict."""

    id: str
    type: NotRequired[str]
    choice: Choice
    token: NotRequired[str]
    text: NotRequired[str]


class Deletion(Redaction):
    """What was deleted by a filter; with ``dry_run`` what would be: nothing was deleted."""

    dry_run: bool
    count: int
    ids: list[str]
    counts: dict[str, int]
    commit_id: str | None


class Departure(Redaction):
    """What ends with a member: what the member made, and what keys of the member made."""

    member: Member
    dry_run: bool
    counts: DepartureCounts
    keys: list[Key]
    invitations: list[Invitation]
    joined: list[Member]


class DepartureCounts(TypedDict):
    """How many keys, invitations and logins end."""

    keys: int
    invitations: int
    logins: int


class Diff(Cursors):
    branch: str
    seq: int
    against: str
    against_seq: int
    base: Base
    ahead: int
    behind: int
    counts: Counts | None
    results: list[Difference]


class DiffOutcome(TypedDict):
    messages: Pair
    tokens: Pair
    failures: Pair
    tool_calls: Pair
    result_similarity: float
    first_result: str
    second_result: str


class DiffRow(TypedDict):
    change: Literal["same", "changed", "removed", "added"]
    first: FoundMessage | None
    second: FoundMessage | None


class Difference(TypedDict):
    """A memory that differs between the two points."""

    id: str
    type: Type
    change: ChangeValue
    fields: dict[str, list[Any]]
    fact: Fact | None
    link: Link | None
    line: str
    memory: dict[str, Any] | None
    commit: Commit | None


class DimensionSummary(TypedDict):
    """What judges and people give in one dimension."""

    dimension: str
    count: int
    average: float
    min: float
    max: float


class Divergence(TypedDict):
    """The first place at which role or content differ."""

    index: int
    first_message_id: str | None
    second_message_id: str | None


class DocumentMessage(TypedDict):
    """A message of a document."""

    sequence_num: int
    role: str
    content: str
    thinking: str
    tool_calls: list[dict[str, Any]]
    token_count: int
    model: str
    metadata: dict[str, Any]
    said_at: str


class DocumentMessageInput(TypedDict):
    """A message of a document."""

    sequence_num: NotRequired[int]
    role: Role
    content: NotRequired[str]
    thinking: NotRequired[str]
    tool_calls: NotRequired[Sequence[Mapping[str, Any]]]
    token_count: NotRequired[int]
    model: NotRequired[str]
    metadata: NotRequired[Mapping[str, Any]]
    said_at: NotRequired[When | None]


class EndUserFigures(TypedDict):
    """What a branch holds of an end user in an app."""

    user_id: str
    app_id: str
    last_at: str
    facts: int
    messages: int
    conversations: int
    observations: int
    sessions: int


class EndUsers(TypedDict):
    """The end users of a branch; of more than 1,000 those with most facts."""

    branch: str
    count: int
    users: list[EndUserFigures]


class Erasure(Redaction):
    """An erasure, without what was erased."""

    id: str
    scope: Scope
    target: str
    state: Literal["pending", "done"]
    waits_for: str
    counts: dict[str, int]
    to_drop: list[str]
    dropped: list[str]
    proof: str
    requested_at: str
    requested_by: str
    requested_by_kind: str
    requested_by_id: str
    done_at: str | None


class ErasureCheck(TypedDict):
    """An erasure, and whether everything that it covers is still blank."""

    id: str
    scope: Scope
    target: str
    state: Literal["pending", "done"]
    waits_for: str
    counts: dict[str, int]
    to_drop: list[str]
    dropped: list[str]
    proof: str
    requested_at: str
    requested_by: str
    requested_by_kind: str
    requested_by_id: str
    done_at: str | None
    holds: bool
    versions_left: int


class ErasureExample(TypedDict):
    kind: str
    id: str
    line: str
    why: str


class ErasurePage(Cursors):
    results: list[Erasure]


class ErasurePlan(Redaction):
    """What an erasure would do. Nothing was erased."""

    dry_run: bool
    scope: Scope
    target: str
    actors: list[Identity]
    confirm: str
    counts: dict[str, int]
    examples: list[ErasureExample]
    left: list[ErasureExample]
    copies: list[StoreCopy]
    backups: list[StoreCopy]


class Eval(TypedDict):
    """A run of all questions."""

    id: str
    state: Literal["queued", "running", "done", "failed"]
    branch: str
    seq: int
    at: str | None
    recipe: str
    k: int
    against: dict[str, Any] | None
    questions: int
    done: int
    error: str
    figures: dict[str, Any]
    took_ms: float
    created_at: str
    created_by: str


class EvalDetail(Eval, Redaction):
    """A run with the ranks of each question."""

    results: list[dict[str, Any]]


class EvalPage(Cursors):
    results: list[Eval]


class EvalSideInput(TypedDict):
    """A branch at a point, searched by a recipe."""

    branch: NotRequired[str]
    at: NotRequired[At]
    recipe: NotRequired[Recipe]


class Event(TypedDict):
    """The data of one message."""

    id: int
    kind: str
    branch: str
    at: str
    actor_kind: str
    actor_id: str
    actor_label: str
    surface: str
    commit: Commit | None
    changes: list[Change]


class Evidence(TypedDict):
    """A memory that a fact comes from."""

    kind: Literal["message", "observation", "fact"]
    id: str
    text: str


class Expired(TypedDict):
    """A branch whose days are over, or that was merged whole."""

    name: str
    parent: str | None
    fork_seq: int
    depth: int
    head: int
    head_at: str
    cycle: int
    purpose: str
    owner: str
    ttl_days: int | None
    tags: list[str]
    ahead: int
    behind: int
    read_only: bool
    created_at: str
    created_by: str
    archived_at: str | None
    state: Literal["expired", "merged"]
    since: str
    archived: bool
    kept: str
    reason: str


class ExpiredPage(Cursors):
    results: list[Expired]


class Explanation(TypedDict):
    found: bool
    reason: Literal["found", "out_ranked", "no_signal", "absent", "deleted", "not_yet", "other_branch", "filtered", "created", "archived", "superseded", "expired", "outdated", "invalidated"]
    message: str
    position: int | None
    score: float | None
    signals: dict[str, float]
    details: dict[str, Any]
    fact: Fact | None


class Fact(Redaction):
    """A fact, as visible on the requested branch."""

    id: str
    branch: str
    version: int
    fact_text: str
    essence: str
    category: str
    kind: Kind
    priority: Priority
    status: Status
    confidence: float
    confirmation_count: int
    access_count: int
    last_accessed_at: str | None
    verification_status: VerificationStatus
    verified_at: str | None
    verified_by: str
    parent_id: str | None
    source_type: SourceType
    source_id: str
    source: str
    repository: str
    origin: Origin
    visibility: Visibility
    session_id: str
    task_id: str
    agent_id: str
    user_id: str
    app_id: str
    created_cycle: int
    updated_cycle: int
    valid_from: str | None
    valid_until: str | None
    expires_at: str | None
    pinned: bool
    tags: list[str]
    metadata: dict[str, Any]
    namespace: str | None
    key: str | None
    value: Any
    embed: bool | None
    embedding_state: EmbeddingState
    embedding_model: str
    content_hash: str
    created_at: str
    updated_at: str


class FactItemInput(TypedDict):
    """One fact of many."""

    fact_text: str
    essence: NotRequired[str]
    category: NotRequired[str]
    kind: NotRequired[Literal["OBSERVATION", "BELIEF", "TASK", "OUTPUT_DRAFT", "NOTE"]]
    priority: NotRequired[Priority]
    confidence: NotRequired[float]
    source_id: NotRequired[str]
    source: NotRequired[str]
    repository: NotRequired[str]
    visibility: NotRequired[Visibility]
    updated_cycle: NotRequired[int]
    valid_from: NotRequired[When | None]
    valid_until: NotRequired[When | None]
    expires_at: NotRequired[When | None]
    pinned: NotRequired[bool]
    tags: NotRequired[Sequence[str]]
    metadata: NotRequired[Mapping[str, Any]]
    parent_id: NotRequired[str | None]
    source_type: NotRequired[SourceType]
    origin: NotRequired[Literal["EXPERIENCE", "SEEDED_LLM", "DISTILLED_LLM"]]
    created_cycle: NotRequired[int]
    session_id: NotRequired[str]
    task_id: NotRequired[str]
    agent_id: NotRequired[str]
    user_id: NotRequired[str]
    app_id: NotRequired[str]
    deduplicate: NotRequired[bool]


class FactPage(Cursors):
    results: list[Fact]


class FactUpdateItemInput(TypedDict):
    """The changes of one fact of many."""

    id: str
    expected_version: NotRequired[int]
    fact_text: NotRequired[str]
    essence: NotRequired[str]
    category: NotRequired[str]
    kind: NotRequired[Literal["OBSERVATION", "BELIEF", "TASK", "OUTPUT_DRAFT", "NOTE"]]
    priority: NotRequired[Priority]
    confidence: NotRequired[float]
    source_id: NotRequired[str]
    source: NotRequired[str]
    repository: NotRequired[str]
    visibility: NotRequired[Visibility]
    updated_cycle: NotRequired[int]
    valid_from: NotRequired[When | None]
    valid_until: NotRequired[When | None]
    expires_at: NotRequired[When | None]
    pinned: NotRequired[bool]
    tags: NotRequired[Sequence[str]]
    metadata: NotRequired[Mapping[str, Any]]
    status: NotRequired[Status]


class FactVerification(TypedDict):
    """The verdict on a fact, and the newest rating of its present text."""

    id: str
    version: int
    verification_status: VerificationStatus
    verified_at: str | None
    verified_by: str
    method: Literal["human", "judge", "heuristic", ""]
    reason: str
    rating: Rating | None


class Findings(TypedDict):
    """How many facts of an import have each finding now."""

    junk: int
    duplicate: int
    echo: int
    hostile: int
    secret: int
    stale: int
    contradictory: int
    unsourced: int


class FirstKeyInput(TypedDict):
    """The first key of a new project: its scopes, and what else a key has."""

    label: NotRequired[str]
    scopes: NotRequired[Sequence[Scopes]]
    branch_patterns: NotRequired[Sequence[str]]
    agent_id: NotRequired[str]
    user_id: NotRequired[str]
    app_id: NotRequired[str]
    default_branch: NotRequired[str]
    rate_per_minute: NotRequired[int]
    max_facts: NotRequired[int]
    max_bytes: NotRequired[int]
    max_daily_writes: NotRequired[int]
    max_streams: NotRequired[int]
    expires_at: NotRequired[When | None]


class Found(TypedDict):
    results: list[Hit]
    signals_used: list[str]
    recipe: str
    took_ms: float
    evidence: float
    known: bool
    incomplete: bool
    note: str
    branches: list[str]
    next: str | None
    context: str | None
    tokens: int | None


class FoundFact(TypedDict):
    """A fact among the results of a search: no field has more than 8,000 characters."""

    id: str
    branch: str
    version: int
    fact_text: str
    essence: str
    category: str
    kind: Kind
    priority: Priority
    status: Status
    confidence: float
    confirmation_count: int
    access_count: int
    last_accessed_at: str | None
    verification_status: VerificationStatus
    verified_at: str | None
    verified_by: str
    parent_id: str | None
    source_type: SourceType
    source_id: str
    source: str
    repository: str
    origin: Origin
    visibility: Visibility
    session_id: str
    task_id: str
    agent_id: str
    user_id: str
    app_id: str
    created_cycle: int
    updated_cycle: int
    valid_from: str | None
    valid_until: str | None
    expires_at: str | None
    pinned: bool
    tags: list[str]
    metadata: dict[str, Any]
    namespace: str | None
    key: str | None
    value: Any
    embed: bool | None
    embedding_state: EmbeddingState
    embedding_model: str
    content_hash: str
    created_at: str
    updated_at: str
    truncated: list[str]


class Item(TypedDict):
    """An item, as visible on the requested branch."""

    id: str
    branch: str
    version: int
    namespace: str
    key: str
    value: Any
    text: str
    status: Status
    category: str
    confidence: float
    visibility: Visibility
    tags: list[str]
    metadata: dict[str, Any]
    source: str
    repository: str
    expires_at: str | None
    session_id: str
    task_id: str
    agent_id: str
    user_id: str
    app_id: str
    created_at: str
    updated_at: str


class FoundItem(Item):
    """An item among the results of a search; ``score`` and ``evidence`` are null without a query."""

    score: float | None
    evidence: float | None


class FoundMessage(TypedDict):
    """A message among the results of a search: no field has more than 8,000 characters."""

    id: str
    branch: str
    conversation_id: str
    sequence_num: int
    role: Role
    content: str
    thinking: str | None
    has_thinking: bool
    tool_calls: list[dict[str, Any]]
    token_count: int
    model: str
    metadata: dict[str, Any]
    picked_from: str | None
    session_id: str
    task_id: str
    agent_id: str
    user_id: str
    app_id: str
    said_at: str | None
    created_at: str
    truncated: list[str]


class FoundObservation(TypedDict):
    """An observation among the results of a search: no field has more than 8,000 characters."""

    id: str
    branch: str
    observation_type: ObservationType
    tool_name: str
    summary: str
    raw_input: str
    raw_output: str
    outcome: OutcomeValue
    parent_id: str | None
    message_id: str | None
    metadata: dict[str, Any]
    session_id: str
    task_id: str
    agent_id: str
    user_id: str
    app_id: str
    created_at: str
    truncated: list[str]


class GivenScore(Redaction):
    """A score, as it is read."""

    id: str
    branch: str
    target_type: TargetType
    target_id: str
    dimension: str
    value: float
    explanation: str
    scorer: str
    method: Method
    scoring_id: str | None
    created_at: str


class GivenScorePage(Cursors):
    results: list[GivenScore]


class Graph(TypedDict):
    entity: str
    nodes: list[Node]
    edges: list[Relation]
    truncated: bool


class Handoff(Redaction):
    """A handoff without its facts and conversations."""

    id: str
    handoff_type: HandoffType
    source_branch: str
    target_branch: str
    to_agent: str
    context_summary: str
    instructions: str
    blockers: list[str]
    verification_status: Literal["verified", "partial", "empty"]
    state: State
    reason: str
    left_out: dict[str, Any]
    fact_count: int
    message_count: int
    sha256: str
    session_id: str
    task_id: str
    agent_id: str
    created_by: str
    created_at: str
    read_at: str | None
    decided_at: str | None
    decided_by: str
    completeness: float
    missing: list[Missing]


class HandoffConversation(TypedDict):
    """A conversation with the last of its messages."""

    id: str
    title: str
    messages: list[HandoffMessage]


class HandoffFact(TypedDict):
    """A fact as it was when it was handed over."""

    id: str
    fact_text: str
    essence: str
    category: str
    kind: str
    priority: str
    confidence: float
    verification_status: str
    verification_method: str
    created_at: str


class HandoffMessage(TypedDict):
    """A message as it was when it was handed over."""

    id: str
    role: str
    sequence_num: int
    content: str
    truncated: bool


class HandoffPacket(Handoff):
    """A handoff with all that its packet freezes."""

    handoff_id: str
    facts: list[HandoffFact]
    conversations: list[HandoffConversation]


class HandoffPage(Cursors):
    results: list[Handoff]


class Health(TypedDict):
    """``status`` for everybody; the rest for callers with a key."""

    status: Literal["ok", "degraded", "failing"]
    database: NotRequired[Database]
    damage: NotRequired[dict[str, Any]]
    storage: NotRequired[Storage]
    broker: NotRequired[Broker]
    worker: NotRequired[Worker]
    queue: NotRequired[dict[str, Any]]
    embedding: NotRequired[dict[str, Any]]
    quota: NotRequired[dict[str, Any]]
    store_check: NotRequired[dict[str, Any]]
    backup: NotRequired[dict[str, Any]]


class HiddenFact(TypedDict):
    """A fact that it hides, for whoever decides about it."""

    id: str
    branch: str
    fact_text: str


class Hit(TypedDict):
    fact: FoundFact
    score: float
    signals: dict[str, float]
    branches: list[str]
    evidence: float


class Identity(TypedDict):
    """A person, a key or the command line; names may be those of several."""

    kind: str
    id: str
    label: str


class Import(Redaction):
    """An import from another product."""

    id: str
    product: Product
    file: str
    branch: str
    state: Literal["reading", "finished", "proposed"]
    counts: dict[str, Any]
    request: str | None
    created_at: str
    created_by: str
    updated_at: str


class ImportCount(TypedDict):
    new: int
    duplicate: int
    refused: int


class ImportCounts(TypedDict):
    facts: ImportCount
    conversations: ImportCount
    messages: ImportCount
    links: ImportCount
    relations: ImportCount


ImportLinkInput = TypedDict(
    "ImportLinkInput",
    {
        "from": "str",
        "to": "str",
        "type": "NotRequired[str]",
    },
)


class ImportPage(Cursors):
    results: list[Import]


class ImportRecordInput(TypedDict):
    """One memory of another product."""

    id: str
    text: str
    kind: NotRequired[str]
    created_at: NotRequired[When | None]
    updated_at: NotRequired[When | None]
    author: NotRequired[str]
    session: NotRequired[str]
    origin: NotRequired[str]
    user_id: NotRequired[str]
    app_id: NotRequired[str]
    tags: NotRequired[Sequence[str]]
    confidence: NotRequired[float | None]
    valid_from: NotRequired[When | None]
    valid_until: NotRequired[When | None]
    expires_at: NotRequired[When | None]
    ended: NotRequired[bool]
    metadata: NotRequired[Mapping[str, Any]]


class ImportReport(Import):
    """An import with the report of its doctor."""

    findings: Findings
    named: list[Named]
    facts: int


class ImportedConversation(Conversation):
    """The conversation of a document."""

    created: bool


class Instructions(Redaction):
    """A version of what a project wants remembered."""

    number: int
    preset: Literal["coding", "assistant", "support", "own"]
    text: str
    categories: list[str]
    created_at: str
    created_by: str


class InstructionsPage(Cursors):
    results: list[Instructions]


class Invitation(Redaction):
    """An invitation without its link."""

    id: str
    role: Literal["viewer", "curator", "maintainer", "owner"]
    note: str
    max_uses: int
    uses: int
    state: Literal["open", "used", "expired", "revoked"]
    expires_at: str
    created_at: str
    created_by: str
    created_by_kind: str
    created_by_id: str
    revoked_at: str | None


class InvitationPage(Cursors):
    results: list[Invitation]


class ItemCallInput(TypedDict):
    """One of many calls: put, get and delete name an item, search and namespaces a prefix."""

    op: Op
    namespace: NotRequired[str]
    key: NotRequired[str]
    value: NotRequired[Any]
    text: NotRequired[str]
    embed: NotRequired[bool]
    ttl: NotRequired[int | None]
    only_new: NotRequired[bool]
    only_present: NotRequired[bool]
    renew: NotRequired[bool]
    category: NotRequired[str]
    confidence: NotRequired[float]
    visibility: NotRequired[Visibility]
    tags: NotRequired[Sequence[str]]
    metadata: NotRequired[Mapping[str, Any]]
    source: NotRequired[str]
    repository: NotRequired[str]
    expires_at: NotRequired[When | None]
    prefix: NotRequired[str]
    suffix: NotRequired[str]
    depth: NotRequired[int | None]
    expected_version: NotRequired[int]
    query: NotRequired[str]
    search_type: NotRequired[SearchType]
    where: NotRequired[Any]
    limit: NotRequired[int]
    offset: NotRequired[int]


class ItemPage(Cursors):
    results: list[Item]


class ItemResult(TypedDict):
    """What came of one call: of each kind the fields that it has."""

    op: str
    id: NotRequired[str | None]
    version: NotRequired[int | None]
    created: NotRequired[bool]
    item: NotRequired[Item | None]
    deleted: NotRequired[bool]
    items: NotRequired[list[FoundItem]]
    more: NotRequired[bool]
    namespaces: NotRequired[list[str]]


class ItemResults(Redaction):
    results: list[ItemResult]


class Job(Redaction):
    """A job that verifies facts of a branch."""

    id: str
    branch: str
    state: Literal["queued", "running", "waiting", "stopped", "failed", "done"]
    total: int
    done: int
    counts: dict[str, int]
    votes: int
    budget: int
    calls: int
    input_tokens: int
    output_tokens: int
    note: str
    fallback: str
    resume_at: str | None
    created_at: str
    created_by: str
    finished_at: str | None


class JobPage(Cursors):
    results: list[Job]


class JoinedTask(Redaction):
    """A task that an agent joined."""

    task: Task
    agent: TaskAgent
    work: str
    created: bool


class Junk(TypedDict):
    """Facts in use that are worth a look; one may be in several."""

    in_use: int
    stale: int
    contradicted: int
    near_duplicate: int
    rejected: int
    shares: dict[str, float | None]


class Key(Redaction):
    """A key; its token is not in it."""

    id: str
    label: str
    prefix: str
    scopes: list[str]
    branch_patterns: list[str]
    agent_id: str
    user_id: str
    app_id: str
    default_branch: str
    rate_per_minute: int
    max_facts: int
    max_bytes: int
    max_daily_writes: int
    max_streams: int
    written_facts: int
    written_bytes: int
    created_at: str
    created_by: str
    created_by_kind: str
    created_by_id: str
    rotated_from: str | None
    expires_at: str | None
    last_used_at: str | None
    revoked_at: str | None


class KeyPage(Cursors):
    results: list[Key]


class Learned(TypedDict):
    """An agent's part of a task, and the newest facts of its branch."""

    agent: TaskAgent
    facts: list[LearnedFact]


class LearnedFact(TypedDict):
    id: str
    essence: str
    category: str
    confidence: float
    verification_status: str
    created_at: str


class LimitState(TypedDict):
    """A limit, and what is used of it."""

    name: str
    owner: str
    unit: str
    window: str
    limit: int | None
    used: int | None
    remaining: int | None
    estimated: int | None
    resets_at: str | None
    setting: str
    help: str


class LimitStatePage(Cursors):
    results: list[LimitState]


class Link(Redaction):
    """A link, as visible on the requested branch."""

    id: str
    branch: str
    version: int
    from_id: str
    to_id: str
    to_type: ToType
    link_type: LinkType
    weight: float
    valid_from: str | None
    valid_until: str | None
    session_id: str
    task_id: str
    agent_id: str
    created_at: str


class LinkPage(Cursors):
    results: list[Link]


class MadeDecision(TypedDict):
    """A decision on a conflict."""

    choice: Choice
    text: str
    by: str
    at: str | None
    counts: bool


class Member(Redaction):
    """A person with a role in the project."""

    id: str
    username: str
    role: Literal["viewer", "curator", "maintainer", "owner"]
    group_role: Literal["", "viewer", "curator", "maintainer", "owner"]
    active: bool
    superuser: bool
    created_by: str
    created_by_kind: str
    created_by_id: str


class MemberPage(Cursors):
    results: list[Member]


class MemoryStateInput(TypedDict):
    """A branch, at a point of it, or a merge request as if it were merged."""

    branch: NotRequired[str]
    at: NotRequired[str]
    merge_request: NotRequired[str]


class Merge(Redaction, Cursors):
    """A merge, or its plan with dry_run."""

    dry_run: bool
    source: str
    source_seq: int | None
    target: str
    target_seq: int | None
    strategy: Strategy
    counts: dict[str, dict[str, int]]
    open_conflicts: int | None
    unchecked: int
    unchecked_reason: str
    results: list[PlanItem]
    checks: list[Check]
    mergeable: bool
    commit: Commit | None


class MergePlan(Cursors):
    source: str
    source_seq: int
    target: str
    target_seq: int
    strategy: Strategy
    counts: dict[str, dict[str, int]]
    open_conflicts: int | None
    unchecked: int
    unchecked_reason: str
    results: list[PlanItem]


class MergeReadiness(Redaction):
    """Whether what a branch would bring passes the verification gate."""

    source: str
    target: str
    can_merge: bool
    verified: int
    unverified: int
    invalidated: int
    offending: list[str]
    verifiable: list[str]


class MergeRequest(Redaction):
    """A merge request."""

    id: str
    number: int
    title: str
    description: str
    source: str
    target: str
    strategy: Strategy
    ids: list[str]
    state: Literal["open", "approved", "merged", "reverted", "rejected"]
    author_kind: str
    author_id: str
    author_label: str
    author_agent: str
    created_at: str
    source_seq: int
    target_seq: int
    closed_at: str | None
    closed_by: str
    closed_by_kind: str
    reason: str
    merge_commit: str | None
    revert_commit: str | None


class MergeRequestDetail(MergeRequest):
    """A merge request with its approvals; while it is pending, with its checks."""

    approvals: list[Approval]
    checks: list[Check]
    not_checked: str
    mergeable: bool | None
    counts: dict[str, dict[str, int]]
    decided_at: str | None


class MergeRequestPage(Cursors):
    results: list[MergeRequest]


class Merged(MergeRequest):
    """A merged request."""

    commit: Commit
    open_conflicts: int


class Message(Redaction):
    """A message, as it is read."""

    id: str
    branch: str
    conversation_id: str
    sequence_num: int
    role: Role
    content: str
    thinking: str | None
    has_thinking: bool
    tool_calls: list[dict[str, Any]]
    token_count: int
    model: str
    metadata: dict[str, Any]
    picked_from: str | None
    session_id: str
    task_id: str
    agent_id: str
    user_id: str
    app_id: str
    said_at: str | None
    created_at: str


class MessageHit(TypedDict):
    """A message, with its neighbours in ``context``."""

    message: FoundMessage
    score: float
    signals: dict[str, float]
    evidence: float
    context: list[FoundMessage]


class MessageItemInput(TypedDict):
    """One message of many."""

    session_id: NotRequired[str]
    task_id: NotRequired[str]
    agent_id: NotRequired[str]
    user_id: NotRequired[str]
    app_id: NotRequired[str]
    sequence_num: NotRequired[int]
    role: Role
    content: NotRequired[str | None]
    thinking: NotRequired[str]
    tool_calls: NotRequired[Sequence[Mapping[str, Any]]]
    token_count: NotRequired[int]
    model: NotRequired[str]
    metadata: NotRequired[Mapping[str, Any]]
    embed: NotRequired[bool]
    said_at: NotRequired[When | None]


class MessagePage(Cursors):
    results: list[Message]


class Messages(Redaction):
    """The messages that were written, in the order of the request."""

    results: list[Message]


class MessagesFound(TypedDict):
    """The signals, recipe and duration of a text search."""

    signals_used: list[str]
    recipe: str
    took_ms: float
    evidence: float
    known: bool
    incomplete: bool
    note: str
    results: list[MessageHit]


class Named(TypedDict):
    """A record that is no fact of its own, or a place that could not be read."""

    id: str
    state: Literal["duplicate", "refused", "broken"]
    reason: str
    fact: str


class Namespaces(TypedDict):
    namespaces: list[str]


class NewInvitation(Invitation):
    """An invitation with its link, which is returned this once."""

    link: str | None


class NewKey(Key):
    """A new key. The token is returned once; it is null in the answer to a repeated request."""

    token: str | None


class NewMemberInput(TypedDict):
    """An account of this server and its role."""

    username: str
    role: NotRequired[Literal["viewer", "curator", "maintainer", "owner"]]


class Project(Redaction):
    """A project with its settings."""

    id: str
    slug: str
    version: int
    name: str
    recipe: str
    least_evidence: float | None
    redact_secrets: bool
    require_second_factor: bool
    durable_categories: str
    age_facts: bool
    category_ttl_days: dict[str, Any]
    stale_after_days: int | None
    fact_budget: int | None
    consolidate_agents: bool
    propose_reflections: bool
    dream_min_size: int
    dream_cohesion: float
    dream_min_age_cycles: int
    dream_every_n_cycles: int
    dream_allow_zero_confirmation: bool
    dream_origins: str
    member_limit: int | None
    user_fact_limit: int | None
    limits: dict[str, Any]
    created_at: str
    state: str
    removal: dict[str, Any] | None


class NewProject(Project):
    """A project that was made, with its first key where one was asked for."""

    key: Key | None
    token: str | None


class Webhook(Redaction):
    """A webhook; its secret is not in it."""

    id: str
    url: str
    kinds: list[str]
    branches: list[str]
    state: Literal["active", "paused", "gone"]
    position: int
    tries: int
    next_try_at: str | None
    tried_at: str | None
    last_error: str
    created_at: str
    created_by: str
    created_by_kind: str
    created_by_id: str


class NewWebhook(Webhook):
    """A webhook with a new secret, which is told once; it is null in the answer to a repeated request."""

    secret: str | None


class NextContext(TypedDict):
    """What a session that begins now would be told."""

    branch: str
    repository: str
    context: str
    tokens: int
    fact_ids: list[str]


class Node(TypedDict):
    entity: str
    distance: int


class Objective(Redaction):
    """A step of a task."""

    n: int
    text: str
    state: Literal["todo", "active", "done", "blocked"]
    note: str
    agent_id: str
    updated_at: str


class Observation(Redaction):
    """An observation, as it is read."""

    id: str
    branch: str
    observation_type: ObservationType
    tool_name: str
    summary: str
    raw_input: str
    raw_output: str
    outcome: OutcomeValue
    parent_id: str | None
    message_id: str | None
    metadata: dict[str, Any]
    session_id: str
    task_id: str
    agent_id: str
    user_id: str
    app_id: str
    created_at: str


class ObservationHit(TypedDict):
    observation: FoundObservation
    score: float
    signals: dict[str, float]
    evidence: float


class ObservationPage(Cursors):
    results: list[Observation]


class ObservationsFound(TypedDict):
    """The signals, recipe and duration of a text search."""

    signals_used: list[str]
    recipe: str
    took_ms: float
    evidence: float
    known: bool
    incomplete: bool
    note: str
    results: list[ObservationHit]


class Observed(TypedDict):
    total: int
    by_type: dict[str, int]
    tools_used: dict[str, int]


class Outcome(TypedDict):
    """The outcome for one fact."""

    id: str
    outcome: Literal["done", "unchanged", "refused"]
    code: str
    message: str


class Overview(TypedDict):
    """A branch as a whole, and what happened there in the last days."""

    branch: str
    since: str
    until: str
    counts: dict[str, int]
    facts_by_status: dict[str, int]
    facts_by_category: dict[str, int]
    verification: dict[str, int]
    tokens: dict[str, int]
    model_tokens: dict[str, int]
    activity: dict[str, int]
    consolidation: Yield
    verified_share: float | None


class Pair(TypedDict):
    """A value of the first and one of the second."""

    first: int
    second: int


class Past(Cursors):
    """What a branch held at a point: a page of one kind of memory."""

    branch: str
    seq: int
    commit: TitledCommit | None
    type: str
    results: list[dict[str, Any]]


class PastRun(TypedDict):
    """A run: its commit, how many it archived for each reason, and whether it is undone."""

    id: str
    seq: int
    at: str
    kind: str
    message: str
    actor_kind: str
    actor_id: str
    actor_label: str
    surface: str
    session_id: str
    task_id: str
    agent_id: str
    added: int
    changed: int
    removed: int
    reasons: dict[str, int]
    undone: bool


class PastRunPage(Cursors):
    results: list[PastRun]


class Pick(Redaction):
    """What a cherry-pick has made, or had made before."""

    conversation: Conversation
    messages: list[Message]
    added: int
    fact_ids: list[str]


PlanItem = TypedDict(
    "PlanItem",
    {
        "id": "str",
        "type": "str",
        "class": "Literal['conflict', 'applied', 'identical', 'rejected', '']",
        "reason": "str",
        "token": "str",
        "base": "dict[str, Any] | None",
        "ours": "dict[str, Any] | None",
        "theirs": "dict[str, Any] | None",
        "fields": "dict[str, list[Any]]",
        "conflicting": "list[str]",
        "disagreed": "dict[str, list[Any]]",
        "other": "dict[str, Any] | None",
        "score": "float | None",
        "left_half": "str | None",
        "decision": "MadeDecision | None",
    },
)


class Point(TypedDict):
    """What was written from ``start`` on."""

    start: str
    facts: int
    messages: int
    conversations: int
    observations: int
    recalls: int
    misses: int


class Policy(Redaction):
    """The policy of a branch or a pattern of names."""

    pattern: str
    direct_writes: DirectWrites
    approvals: int
    author_may_approve: bool
    gates: list[str]
    accept_methods: list[str]
    updated_at: str | None
    updated_by: str


class PolicyInForce(TypedDict):
    """The policy in force on a branch; ``pattern`` names the entry that gave it."""

    pattern: str
    direct_writes: DirectWrites
    approvals: int
    author_may_approve: bool
    gates: list[str]
    accept_methods: list[str]


class PolicyPage(Cursors):
    results: list[Policy]


class Pressure(TypedDict):
    """How full a branch is: facts in use against its budget, and what would go."""

    branch: str
    facts: int
    budget: int | None
    share: float | None
    counts: dict[str, int]
    next: list[AgedFact]


class Preview(Redaction, Cursors):
    """What a run would archive now, with a page of the facts; nothing is written."""

    branch: str
    total: int
    budget: int | None
    count: int
    counts: dict[str, int]
    kept: dict[str, int]
    blocked_by: int | None
    results: list[AgedFact]


class Problem(TypedDict):
    """A problem (RFC 9457), with a stable ``code``."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    field: NotRequired[str]
    data: NotRequired[dict[str, Any]]
    request_id: NotRequired[str]


class ProjectPage(Cursors):
    results: list[Project]


class ProjectTemplate(Redaction):
    """A template of projects; a part that it does not have is null."""

    name: str
    settings: dict[str, Any] | None
    policies: list[dict[str, Any]] | None
    instructions: dict[str, Any] | None
    rules_off: list[str] | None
    members: list[dict[str, Any]] | None
    created_at: str
    created_by: str
    created_by_kind: str
    created_by_id: str


class ProjectTemplatePage(Cursors):
    results: list[ProjectTemplate]


class Quarantine(Redaction):
    """A quarantine."""

    id: str
    source: Source
    target: str
    label: str
    reason: str
    state: Literal["active", "released"]
    counts: dict[str, Any]
    created_at: str
    created_by: str
    released_at: str | None
    released_by: str


class QuarantineDetail(Quarantine):
    """A quarantine with the newest facts that it hides now, or would hide."""

    facts: list[HiddenFact]
    dry_run: bool


class QuarantinePage(Cursors):
    results: list[Quarantine]


class Question(TypedDict):
    """A question with its two facts as visible on its branch now; null where they are not."""

    id: str
    branch: str
    kind: Literal["near_duplicate", "contested"]
    status: Literal["open", "resolved"]
    fact_id: str
    other_id: str
    score: float
    resolution: str
    details: dict[str, Any]
    created_at: str
    resolved_at: str | None
    resolved_by: str
    fact: Fact | None
    other: Fact | None


class QuestionLineInput(TypedDict):
    """A question of several. Ids that no branch has are taken too: a run names them."""

    text: str
    expected: Sequence[str]
    category: NotRequired[str]
    repository: NotRequired[str]
    note: NotRequired[str]


class QuestionPage(Cursors):
    results: list[Question]


class Rating(TypedDict):
    """A rating of a fact's text by the judge, or by the heuristic, which is no judgement."""

    id: str
    fact_id: str
    method: Literal["human", "judge", "heuristic"]
    verdict: Literal["unverified", "plausible", "verified", "invalidated"]
    average: float
    scores: list[Score]
    model: str
    prompt: str
    votes: int
    calls: int
    input_tokens: int
    output_tokens: int
    took_ms: float
    fallback: str
    applied: bool
    created_at: str
    created_by: str


class Reason(TypedDict):
    """One path from the fact to the other."""

    by: By
    distance: int
    name: str
    id: str | None


class Reasoning(TypedDict):
    """What the assistant said."""

    similarity: float
    method: Literal["vectors", "words"]
    aligned: int
    diverged: int
    segments: Pair
    pairs: list[Segment]


class Relation(Redaction):
    """A relation, as it is read."""

    id: str
    branch: str
    version: int
    source_entity: str
    relation_type: str
    target_entity: str
    properties: dict[str, Any]
    confidence: float
    strength: int
    valid_from: str | None
    valid_until: str | None
    session_id: str
    task_id: str
    agent_id: str
    created_at: str
    updated_at: str


class RelationPage(Cursors):
    results: list[Relation]


class Relative(TypedDict):
    fact: FoundFact
    distance: int
    why: list[Reason]


class Relatives(TypedDict):
    """Related facts, nearest first."""

    results: list[Relative]
    entities: list[Node]
    truncated: bool


class Remember(Redaction):
    """What became of messages."""

    session_id: str
    conversation_id: str
    results: list[Remembered]
    counts: dict[str, int]
    mode: Mode
    note: str


class Remembered(TypedDict):
    """What became of a statement, or of a message of which nothing was learned, or is not yet."""

    action: Literal["added", "updated", "superseded", "ignored", "pending"]
    text: str
    reason: str
    fact_id: str | None
    category: str
    person: str
    message_id: str | None
    newer_id: str | None


class RememberedMessageInput(TypedDict):
    """A message to learn from."""

    role: NotRequired[Role]
    content: str
    name: NotRequired[str]
    said_at: NotRequired[When]
    metadata: NotRequired[Mapping[str, Any]]


class Removal(TypedDict):
    """A removal: of a project that is gone, or with the state removing of one that is being taken away."""

    id: str
    slug: str
    state: Literal["removed", "removing"]
    rows: int
    removed: int
    counts: dict[str, int]


class Replay(Redaction):
    """A replay, as it is read."""

    id: str
    branch: str
    conversation_id: str
    source_branch: str
    source_id: str
    message_id: str
    state: Literal["ready", "queued", "running", "waiting", "done", "stopped", "failed", "cancelled"]
    model: str
    temperature: float | None
    max_tokens: int | None
    tools_allow: list[str]
    tools_deny: list[str]
    system_prompt: str
    extra_context: str
    memory_context: str
    max_steps: int
    max_total_tokens: int | None
    max_cost: float | None
    score: bool
    comparison: dict[str, Any]
    batch_id: str | None
    steps: int
    calls: int
    input_tokens: int
    output_tokens: int
    cost: float | None
    unknown_calls: int
    note: str
    resume_at: str | None
    created_at: str
    created_by: str
    finished_at: str | None
    memory: dict[str, Any]


class ReplayBatchPage(Cursors):
    results: list[ReplayBatch]


class ReplayContext(TypedDict):
    """What an agent goes on from, in the format of OpenAI's chat API."""

    replay_id: str
    model: str
    messages: list[dict[str, Any]]
    tools: list[dict[str, Any]]
    tokens: int
    temperature: float | None
    max_tokens: int | None


class ReplayPage(Cursors):
    results: list[Replay]


class Report(Redaction):
    """The outcome for each fact, in the order of the request."""

    results: list[Outcome]
    commit: Commit | None
    new_fact_id: str | None
    created: bool


class Resolved(Question, Redaction):
    """A question with its answer. Reverting the commit opens it again."""

    commit: Commit
    new_fact_id: str | None


class Restore(Redaction):
    """A plan of a restore, or its result."""

    snapshot: Snapshot
    dry_run: bool
    branches: list[BranchPlan]
    mended: dict[str, int]


class RowDiff(TypedDict):
    """The messages after what both share, aligned."""

    first_id: str
    second_id: str
    shared: int
    divergence: Divergence | None
    counts: dict[str, int]
    results: list[DiffRow]
    next: str | None


class Rule(Redaction):
    """A rule by which sessions are learned from."""

    name: str
    enabled: bool
    facts: int
    searched: int


class RulePage(Cursors):
    results: list[Rule]


class Run(Redaction):
    """What a run archived."""

    commit: Commit | None
    count: int
    counts: dict[str, int]
    remaining: int
    changed_meanwhile: int


class RunChange(TypedDict):
    """A fact that a run made, confirmed, saw repeated or kept of several, as it was then."""

    action: Literal["created", "confirmed", "repeated", "merged"]
    fact_id: str
    fact_text: str
    category: str
    confidence: float
    evidence: list[Evidence]
    answer: Literal["", "accepted", "rejected"]


class SavedQuestion(Redaction):
    """A saved question and the facts that a search should find."""

    id: str
    text: str
    expected: list[str]
    category: str
    repository: str
    note: str
    branch: str
    created_at: str
    updated_at: str
    created_by: str


class SavedQuestionPage(Cursors):
    results: list[SavedQuestion]


class SavedQuestions(Redaction):
    """The saved questions in the order given."""

    results: list[SavedQuestion]
    created: int


class Score(TypedDict):
    """One dimension of a rating."""

    dimension: str
    value: float
    explanation: str


class ScoreSummary(TypedDict):
    """The scores of a target; the newest of each scorer counts, a key or a person once."""

    dimensions: list[DimensionSummary]
    guesses: int
    warning: str


class Scoring(Redaction):
    """A rating of a conversation by judges."""

    id: str
    branch: str
    conversation_id: str
    state: Literal["queued", "running", "waiting", "failed", "done"]
    dimensions: list[str]
    judges: list[str]
    votes: int | None
    ballots: list[dict[str, Any]]
    method: Method
    average: float | None
    messages: int
    prompt: str
    calls: int
    input_tokens: int
    output_tokens: int
    warning: str
    resume_at: str | None
    created_at: str
    created_by: str
    finished_at: str | None
    scores: list[GivenScore]


class ScoringPage(Cursors):
    results: list[Scoring]


class Segment(TypedDict):
    first: str
    second: str
    similarity: float
    diverged: bool


class SemanticDiff(TypedDict):
    """How two conversations differ in what they do not share. No model is asked."""

    first_id: str
    second_id: str
    shared: int
    divergence: Divergence | None
    verdict: Literal["equivalent", "similar", "divergent", "mixed"]
    actions: Actions
    reasoning: Reasoning
    outcome: DiffOutcome
    notes: list[str]


class ServerEntryPage(Cursors):
    results: list[ServerEntry]


class Session(Redaction):
    """A session, as it is read."""

    id: str
    branch: str
    status: Literal["active", "completed", "abandoned"]
    project_path: str
    parent_session: str
    task_id: str
    agent_id: str
    user_id: str
    app_id: str
    summary: str
    started_at: str
    active_at: str | None
    ended_at: str | None


class SessionContext(TypedDict):
    """The context of a session for its successor; ``conversations`` have their last messages."""

    session: Session
    conversations: list[dict[str, Any]]
    facts: list[BriefFact]
    observations_summary: Observed
    parent_summary: str


class SessionFigures(TypedDict):
    """What a session did, on its branch."""

    session_id: str
    branch: str
    agent_id: str
    status: str
    started_at: str
    ended_at: str | None
    conversations: int
    messages: int
    messages_by_role: dict[str, int]
    tokens: dict[str, int]
    facts: int
    facts_by_status: dict[str, int]
    facts_by_category: dict[str, int]
    observations: int
    observations_by_type: dict[str, int]
    observations_by_outcome: dict[str, int]
    tools: list[Tool]
    recalls: int


class SessionPage(Cursors):
    results: list[Session]


class Settled(MergeRequest):
    """A merge request after decisions."""

    decided: int
    undecided: int
    decided_at: str | None


class SigningKey(Redaction):
    """The public half of the key with which the project signs; the private half never leaves the server."""

    public_key: str
    created_by: str
    created_at: str


class Snapshot(Redaction):
    id: str
    name: str
    kind: Literal["branch", "store"]
    description: str
    branch: str | None
    seq: int | None
    size: int
    sha256: str
    created_at: str
    created_by: str


class SnapshotPage(Cursors):
    results: list[Snapshot]


class Standing(TypedDict):
    """What holds in a repository: verified, or decided by a person, and not contested."""

    repository: str
    statements: list[Statement]


class Statement(TypedDict):
    """A statement that has standing in a repository."""

    id: str
    text: str
    said_at: str
    verified: bool


class StoreCopy(TypedDict):
    kind: Literal["snapshot", "workspace", "window", "backup"]
    name: str
    own: bool


class Summary(TypedDict):
    """What verification says of a branch."""

    branch: str
    facts: int
    verification: dict[str, int]
    methods: dict[str, int]
    judge: str | None


class TableChange(TypedDict):
    added: int
    changed: int


class TagCount(TypedDict):
    tag: str
    count: int


class Tags(TypedDict):
    tags: list[TagCount]
    more: bool


class Tally(TypedDict):
    added: int
    changed: int
    removed: int


class TaskAgent(TypedDict):
    """An agent's part of a task."""

    agent_id: str
    branch: str
    state: Literal["working", "completed", "left"]
    joined_at: str
    completed_at: str | None
    merge_commit: str | None
    merge_counts: dict[str, Any]
    open_conflicts: int


class TaskConflict(TypedDict):
    """A memory that a merge left for a decision."""

    id: str
    type: str
    reason: str
    line: str
    token: str
    branch: str
    into: str


class TaskContext(TypedDict):
    """What an agent should know of a task."""

    task: Task
    agents: list[Learned]
    facts: list[LearnedFact]
    conflicts: list[TaskConflict]
    tokens: int
    truncated: bool
    archived: bool


class TaskPage(Cursors):
    results: list[Task]


class Template(Redaction):
    """A template."""

    id: str
    name: str
    description: str
    task_types: list[str]
    state: Literal["active", "deprecated"]
    reason: str
    version: int
    used: int
    succeeded: int
    failed: int
    created_by: str
    created_at: str
    updated_at: str
    branch: str
    success_rate: float


class TemplateDetail(TypedDict):
    """A template with its versions and uses."""

    id: str
    name: str
    description: str
    task_types: list[str]
    state: Literal["active", "deprecated"]
    reason: str
    version: int
    used: int
    succeeded: int
    failed: int
    created_by: str
    created_at: str
    updated_at: str
    branch: str
    success_rate: float
    versions: list[TemplateVersion]
    uses: list[TemplateUse]


class TemplateUse(Redaction):
    """A branch that began from a template."""

    template: str
    version: int
    branch: str
    outcome: Literal["open", "success", "failure"]
    task_id: str
    agent_id: str
    created_by: str
    created_at: str
    ended_at: str | None


class TemplateInstance(TemplateUse):
    """A working branch that began from a template."""

    workspace: Workspace | None


class TemplateMatch(TypedDict):
    """A template that fits, and why."""

    template: Template
    type_matches: bool
    meaning: float


class TemplateMatches(TypedDict):
    results: list[TemplateMatch]


class TemplatePage(Cursors):
    results: list[Template]


class TemplateVersion(TypedDict):
    """A version of a template."""

    version: int
    branch: str
    source_branch: str
    source_seq: int
    fact_count: int
    conversation_count: int
    relation_count: int
    created_by: str
    created_at: str


class ThreadStats(TypedDict):
    """What a conversation has, with what it shares as a fork."""

    messages: int
    tokens: int
    shared_messages: int
    shared_tokens: int
    roles: dict[str, int]
    began_at: str | None
    ended_at: str | None
    depth: int
    forks: int


class TimeRange(TypedDict):
    """A time range from ``start`` on, and before ``end``."""

    start: NotRequired[When]
    end: NotRequired[When]
    field: NotRequired[Field]


class TitledCommitPage(Cursors):
    results: list[TitledCommit]


class Tool(TypedDict):
    """Calls of a tool."""

    tool: str
    calls: int
    failed: int


class Tree(Cursors):
    """The branches, each after its parent, siblings by name."""

    counts: dict[str, int] | None
    matching: int
    results: list[TreeNode]


class TreeNode(TypedDict):
    """A branch in the tree: what it wrote or changed itself, and still has."""

    name: str
    parent: str | None
    fork_seq: int
    depth: int
    head: int
    head_at: str
    cycle: int
    purpose: str
    owner: str
    ttl_days: int | None
    tags: list[str]
    ahead: int
    behind: int
    read_only: bool
    created_at: str
    created_by: str
    archived_at: str | None
    level: int
    state: Literal["live", "expired", "merged", "archived"]
    since: str | None
    children: int
    facts: int
    conversations: int
    observations: int
    agents: int
    last_activity: str
    matches: bool


class Trends(TypedDict):
    """At most 400 points, each of ``periods`` days or hours."""

    branch: str
    granularity: Granularity
    periods: int
    since: str
    until: str
    points: list[Point]


class TrustedKey(Redaction):
    """A key of somebody else whose signature the project trusts."""

    name: str
    public_key: str
    created_by: str
    created_at: str


class TrustedKeys(TypedDict):
    results: list[TrustedKey]


class UpdatedId(TypedDict):
    id: str
    version: int
    status: Status


class Version(TypedDict):
    """One version of a fact, with the commit that made it."""

    id: str
    branch: str
    version: int
    fact_text: str
    essence: str
    category: str
    kind: Kind
    priority: Priority
    status: Status
    confidence: float
    parent_id: str | None
    source_type: SourceType
    source_id: str
    source: str
    repository: str
    origin: Origin
    visibility: Visibility
    session_id: str
    task_id: str
    agent_id: str
    user_id: str
    app_id: str
    created_cycle: int
    updated_cycle: int
    valid_from: str | None
    valid_until: str | None
    expires_at: str | None
    pinned: bool
    tags: list[str]
    metadata: dict[str, Any]
    namespace: str | None
    key: str | None
    value: Any
    embed: bool | None
    content_hash: str
    created_at: str
    updated_at: str
    deleted: bool
    commit: Commit | None


class VersionPage(Cursors):
    results: list[Version]


class WebhookFailure(TypedDict):
    """An event that a webhook did not take in all its tries."""

    position: int
    kind: str
    reason: str
    failed_at: str
    is_due: bool


class WebhookFailurePage(Cursors):
    results: list[WebhookFailure]


class WebhookPage(Cursors):
    results: list[Webhook]


class Window(Redaction):
    days: int


class Workspace(Redaction):
    id: str
    name: str
    description: str
    state: Literal["open", "promoted", "dropped"]
    place: str
    created_at: str
    created_by: str
    ended_at: str | None
    ended_by: str


class WorkspaceDiff(Redaction):
    workspace: Workspace
    branches: list[BranchChange]
    tables: dict[str, TableChange]
    moved: list[str]


class WorkspacePage(Cursors):
    results: list[Workspace]


class Worth(TypedDict):
    """What a fact is worth, by its parts; ``total`` is their sum."""

    priority: float
    confidence: float
    belief: float
    recency: float
    total: float


class Written(Fact):
    """A fact as stored; ``created`` is false when the same text existed already."""

    created: bool


class WrittenId(TypedDict):
    id: str
    created: bool
    status: Status


class WrittenItem(Item, Redaction):
    """An item as stored; ``created`` is false where one stood under the key already."""

    created: bool


class WrittenRelation(Relation):
    """A relation as stored; ``created`` is false when an open one was strengthened."""

    created: bool


class WrittenSession(Session):
    """A session as stored; ``created`` is false when it existed already."""

    created: bool


class Yield(TypedDict):
    """Facts that consolidation of sessions made of the messages and observations that it read."""

    runs: int
    processed: int
    created: int
    rate: float | None
    healthy: bool | None

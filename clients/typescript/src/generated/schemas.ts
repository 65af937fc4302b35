// Written by `python -m clients.generate_typescript`; do not edit.

/** Which facts of a run are accepted. */
export interface AcceptChangesInput {
  fact_ids?: string[];
  /** And all of at least this confidence that nobody answered yet. */ min_confidence?: number;
}

/** An action, and the facts to apply it to. */
export interface ActionInput {
  action: "verify" | "invalidate" | "unverify" | "accept" | "refuse" | "archive" | "restore" | "supersede" | "pin" | "unpin" | "set_category";
  fact_ids: string[];
  /** main when it is not given; branch_name is understood too. */ branch?: string;
  /** Ids, and the versions that were read. */ expected_versions?: Record<string, number>;
  reason?: string;
  /** The new one, with set_category. */ category?: string;
  /** A fact that is there, with supersede. */ replaced_by?: string | null;
  /** A new fact instead of replaced_by, with supersede. */ new_fact_text?: string;
  /** An unknown session begins here. */ session_id?: string;
  task_id?: string;
  /** 403 when the key is bound to another agent. */ agent_id?: string;
}

/** Calls of tools. */
export interface Actions {
  /** 0.5 sequence + 0.25 tools + 0.25 order. */ similarity: number;
  /** Calls in a longest common subsequence, of all. */ sequence: number;
  /** Jaccard of the sets of tools. */ tools: number;
  /** Jaccard of the pairs of neighbours. */ order: number;
  aligned: number;
  /** Calls without a partner, by tool. */ only_first: Record<string, number>;
  only_second: Record<string, number>;
  argument_changes: ArgumentChange[];
  failures: Pair;
}

/** A fact, and why it goes or has gone. */
export interface AgedFact {
  reason: "expired" | "time_to_live" | "stale" | "over_budget";
  /** When the reason began to hold; null for the budget. */ since: string | null;
  /** null in the list of what a run archived. */ worth: Worth | null;
  fact: Fact;
}

export interface AgedFactPage extends Cursors {
  results: AgedFact[];
}

/** What an agent did on a branch, and what became of its facts. */
export interface AgentFigures {
  agent_id: string;
  branch: string;
  sessions: number;
  sessions_by_status: Record<string, number>;
  first_session_at: string | null;
  last_session_at: string | null;
  conversations: number;
  facts: number;
  facts_by_status: Record<string, number>;
  facts_by_category: Record<string, number>;
  /** Facts that are invalidated. */ rejected: number;
  /** From 0 to 1; null where there is nothing. */ rejected_share: number | null;
  observations: number;
  tools: Tool[];
}

/** An agent's facts, and how many of them are invalidated. */
export interface AgentRecord {
  agent_id: string;
  facts: number;
  rejected: number;
  /** From 0 to 1; null where there is nothing. */ rejected_share: number | null;
}

export interface Approval {
  actor_kind: string;
  actor_id: string;
  actor_label: string;
  at: string;
  source_seq: number;
  /** false when it is outdated, or the author's where the policy wants another. */ counts: boolean;
  /** The source has a newer commit since, or a decision was made. */ outdated: boolean;
}

/** What was read of the source. */
export interface ApproveInput {
  /** 409 when the source has moved since. */ source_seq?: number;
  /** Of what was read: 409 when a decision was made or taken back since. */ decided_at?: string;
  /** An unknown session begins here. */ session_id?: string;
  task_id?: string;
  /** 403 when the key is bound to another agent. */ agent_id?: string;
}

/** Whether to archive, or only to tell. */
export interface ArchiveInput {
  /** true, the default, only tells what would be archived. */ dry_run?: boolean;
}

/** What was archived, or would be, and what is left for which reason. */
export interface ArchiveReport {
  dry_run: boolean;
  /** How many were archived, or would be. */ count: number;
  /** True when there were more than 1,000: call it again. */ more: boolean;
  results: Expired[];
}

export interface ArgumentChange {
  tool: string;
  /** Names of arguments that differ. */ arguments: string[];
  /** The message that made the call. */ first: string;
  second: string;
}

export interface Audit extends ServerEntry {
  /** Its request; null for background work. */ request_id: string | null;
  /** Its place in the sealed chain. */ place: number | null;
  /** Over this entry and the hash before it. */ hash: string;
}

export interface AuditPage extends Cursors {
  results: Audit[];
}

/** Filters of facts, as a list of them has. */
export interface BatchFiltersInput {
  /** Facts of one of these categories. */ category?: string[];
  /** Facts of one of these kinds. */ kind?: ("OBSERVATION" | "BELIEF" | "TASK" | "OUTPUT_DRAFT" | "NOTE" | "REFLECTION")[];
  /** Facts in one of these states of their life. */ status?: ("created" | "active" | "done" | "superseded" | "archived")[];
  /** Facts written in one of these sessions. */ session_id?: string[];
  /** Facts written by one of these agents. */ agent_id?: string[];
  /** Facts written for one of these tasks. */ task_id?: string[];
  /** Facts of one of these end users. */ user_id?: string[];
  /** Facts of one of these apps. */ app_id?: string[];
  /** Facts of one of these priorities. */ priority?: ("P1" | "P2" | "P3" | "P4")[];
  /** Facts of one of these visibilities. */ visibility?: ("private" | "selective" | "public")[];
  /** Facts that came about in one of these ways. */ source_type?: ("manual" | "observation" | "extraction" | "consolidation" | "merge" | "cherry_pick" | "bundle_import" | "import")[];
  /** Facts with one of these ids at their source. */ source_id?: string[];
  /** Facts of one of these origins. */ origin?: ("EXPERIENCE" | "SEEDED_LLM" | "DISTILLED_LLM" | "DREAMING")[];
  /** Facts that have all of these tags. */ tags?: string[];
  /** Facts with a tag that begins so. */ tag_prefix?: string;
  /** Facts with this verdict on what they say now. */ verification_status?: "unverified" | "plausible" | "verified" | "invalidated";
  /** Facts with at least this confidence, 0 to 1. */ min_confidence?: number;
  /** Facts with at most this confidence, 0 to 1. */ max_confidence?: number;
  /** Facts stored at this time or later. */ created_after?: string;
  /** Facts stored before this time. */ created_before?: string;
  /** Facts that were true at this time. */ valid_at?: string;
  /** Facts that were still true after this time. */ valid_after?: string;
  /** Facts that were true already before this time. */ valid_before?: string;
  /** Facts that are, or are not, pinned. */ pinned?: boolean;
  /** true: facts that the branch has written itself; false: those that it shows of others. */ own?: boolean;
  /** The facts that replace the fact with this id. */ parent_id?: string;
  /** Items of this namespace and of all below it. */ namespace?: string;
  /** Facts of this repository, in any form; * is any. */ repository?: string;
}

/** Which facts to verify, and how many calls of the judge that may cost. */
export interface BatchInput {
  /** main when it is not given; branch_name is understood too. */ branch?: string;
  /** By default those that neither a person nor a judge has judged. */ filters?: BatchFiltersInput | null;
  /** These alone. */ fact_ids?: string[];
  /** The newest so many; 50. */ limit?: number;
  /** Calls of the judge; the settings' number. */ budget?: number;
  /** Answers on each fact. */ votes?: number;
  /** Also texts that were rated before. */ again?: boolean;
  /** An unknown session begins here. */ session_id?: string;
  task_id?: string;
  /** 403 when the key is bound to another agent. */ agent_id?: string;
}

/** Limits that take the place of those that the batch and its replays had. */
export interface BatchLimitsInput {
  /** Money that all replays may cost together, by the prices. */ max_total_cost?: number | null;
  /** Answers of the model, 20 by default. */ max_steps?: number;
  /** Of all requests and answers. */ max_total_tokens?: number | null;
  /** By the prices of the settings. */ max_cost?: number | null;
}

/** A batch with what it has come to so far. */
export interface BatchReport extends ReplayBatch {
  /** Replays by state. */ states: Record<string, number>;
  /** Steps, calls, tokens, calls of unknown tools. */ totals: Record<string, number>;
  /** null without prices. */ cost: number | null;
  /** Of the semantic diffs. */ verdicts: Record<string, number>;
  /** Averages: actions, reasoning, result. */ similarity: Record<string, number>;
  /** Averages by dimension of judged scores, where both sides have one. */ source_scores: Record<string, number>;
  replay_scores: Record<string, number>;
  /** Why replays wait, stopped or failed, each once. */ notes: string[];
}

/** A branch. */
export interface Branch {
  name: string;
  parent: string | null;
  /** The seq of the parent that it starts from. */ fork_seq: number;
  depth: number;
  /** The seq of its newest commit. */ head: number;
  head_at: string;
  cycle: number;
  purpose: string;
  owner: string;
  ttl_days: number | null;
  tags: string[];
  /** Its own commits that no merge has brought to the parent; of main, all. */ ahead: number;
  /** Commits of the parent since the fork that no merge has brought here. */ behind: number;
  /** It takes no commits: fork it. */ read_only: boolean;
  created_at: string;
  created_by: string;
  archived_at: string | null;
}

export interface BranchChange {
  name: string;
  /** Its seq in the store; null when it was made here. */ base: number | null;
  head: number;
  archived: boolean;
}

/** What people keep about a branch; what is not given stays. */
export interface BranchDetailsInput {
  purpose?: string;
  /** Who answers for it: a person, a team or an agent. */ owner?: string;
  /** It expires so many days after its last change; null: never. */ ttl_days?: number | null;
  /** At most 50, of at most 100 characters. */ tags?: string[];
  /** An unknown session begins here. */ session_id?: string;
  task_id?: string;
  /** 403 when the key is bound to another agent. */ agent_id?: string;
}

/** A branch to create. */
export interface BranchInput {
  /** A point in the branch's past: a seq, a commit's id or a time in ISO 8601. */ at?: number | string;
  /** Segments of a–z, 0–9, '.', '_' and '-', with '/' between them. */ name: string;
  /** main when it is not given. */ parent?: string;
  purpose?: string;
  /** Who answers for it: a person, a team or an agent. */ owner?: string;
  /** It expires so many days after its last change; null: never. */ ttl_days?: number | null;
  /** At most 50, of at most 100 characters. */ tags?: string[];
  /** An unknown session begins here. */ session_id?: string;
  task_id?: string;
  /** 403 when the key is bound to another agent. */ agent_id?: string;
}

export interface BranchPage extends Cursors {
  results: Branch[];
}

/** The planned change of one branch. */
export interface BranchPlan {
  name: string;
  head: number;
  /** The point that it is made equal to. */ seq: number;
  /** brought_back, changed, removed: how many of each type of memory. */ counts: Record<string, unknown>;
  /** It was made since, or was archived then. */ archive: boolean;
  /** It was archived since. */ unarchive: boolean;
}

/** Counts of a branch's contents and contributors. */
export interface BranchStats {
  name: string;
  /** By status. */ facts: Record<string, number>;
  /** By verdict on what they say now. */ verification: Record<string, number>;
  links: number;
  /** Its own commits that the parent has not; of main, all. */ ahead: number;
  /** Commits of the parent since the fork that it has not. */ behind: number;
  /** Branches that were made from it and are not archived. */ children: number;
  sessions: number;
  agents: number;
  last_activity: string;
}

/** The part of a fact that a session's context has. */
export interface BriefFact {
  id: string;
  fact_text: string;
  category: string;
  confidence: number;
}

export interface Bulk {
  results: WrittenId[];
  /** null when nothing was new. */ commit: Commit | null;
}

export interface BulkUpdate {
  results: UpdatedId[];
  /** null when nothing was changed. */ commit: Commit | null;
}

/** A bundle without its document. */
export interface Bundle {
  /** null for a dry run. */ id: string | null;
  name: string;
  version: number;
  description: string;
  origin: "created" | "uploaded";
  /** Where it was made, in this project or another. */ source_branch: string;
  only_verified: boolean;
  /** How many memories of each kind. */ counts: Record<string, unknown>;
  /** Why facts are not in it, and how many. */ left_out: Record<string, unknown>;
  /** Secrets that were taken out of its texts. */ redacted: number;
  /** Bytes of the document. */ size: number;
  /** Of the canonical document without its seals. */ sha256: string;
  /** Ed25519, in base64; empty without one. */ signature: string;
  /** Of who signed it. */ public_key: string;
  created_by: string;
  created_at: string;
}

export interface BundleContent {
  facts?: Record<string, unknown>[];
  conversations?: Record<string, unknown>[];
  links?: Record<string, unknown>[];
  relations?: Record<string, unknown>[];
}

/** The document of a bundle. */
export interface BundleDocument {
  /** day1-bundle */ format: string;
  /** 1 */ schema_version: number;
  name: string;
  version: number;
  description?: string;
  source_branch?: string;
  only_verified?: boolean;
  created_at?: string;
  counts?: Record<string, unknown>;
  content: BundleContent;
  sha256: string;
  signature?: BundleSignature;
}

/** Where a bundle is imported. */
export interface BundleImportInput {
  /** By default bundle/NAME/vN, which is made of main. */ branch?: string;
  /** true tells what it would do, and writes nothing. */ dry_run?: boolean;
  /** true refuses a bundle that nobody trusted has signed. */ require_trusted?: boolean;
  /** An unknown session begins here. */ session_id?: string;
  task_id?: string;
  /** 403 when the key is bound to another agent. */ agent_id?: string;
}

/** A new bundle of what a branch shows. */
export interface BundleInput {
  /** main when it is not given; branch_name is understood too. */ branch?: string;
  /** true tells what would go along, and stores nothing. */ dry_run?: boolean;
  /** a–z and 0–9, with single '.', '_' or '-' between them; a newer version has the same. */ name: string;
  /** What it is about, up to 2,000 characters. */ description?: string;
  /** True by default: unverified facts are left out; invalidated and private ones always are. */ only_verified?: boolean;
  /** With conversations and their messages; by default where unverified facts are taken too. */ conversations?: boolean;
  /** True by default: with relations. */ relations?: boolean;
  /** Sign it with the project's key; by default when there is one. Refused without one. */ sign?: boolean;
  /** An unknown session begins here. */ session_id?: string;
  task_id?: string;
  /** 403 when the key is bound to another agent. */ agent_id?: string;
}

/** An item that is not new. */
export interface BundleItem {
  kind: "facts" | "conversations" | "messages" | "links" | "relations";
  /** In the bundle. */ id: string;
  /** Of the memory that is here; empty without one. */ existing_id: string;
  line: string;
  reason: string;
}

export interface BundlePage extends Cursors {
  results: Bundle[];
}

/** What an import did, or would do. */
export interface BundleReport {
  name: string;
  version: number;
  sha256: string;
  branch: string;
  creates_branch: boolean;
  dry_run: boolean;
  trust: "trusted" | "unknown_signature" | "unsigned";
  /** The name of the trusted key; empty without one. */ signed_by: string;
  counts: ImportCounts;
  /** New facts that stay verified. */ verified: number;
  /** New facts that were verified elsewhere, and are not here. */ reset: number;
  /** The first 100. */ duplicates: BundleItem[];
  /** The first 100. */ refused: BundleItem[];
  warnings: string[];
  /** null for a dry run, and when nothing was new. */ commit: Commit | null;
}

export interface BundleSignature {
  /** ed25519 */ algorithm: string;
  public_key: string;
  /** Of the canonical document without sha256 and signature, in base64. */ value: string;
}

/** The result of an uploaded document. */
export interface BundleUpload {
  /** null for a dry run. */ bundle: Bundle | null;
  /** null when it was only kept. */ report: BundleReport | null;
  /** Fields that are not known here and were dropped; the first 20. */ dropped: string[];
}

/** Ids, filters or both: what fits all of them is deleted. */
export interface BundlesDeleteInput {
  /** The versions of this name. */ name?: string;
  /** Made here, or uploaded. */ origin?: "created" | "uploaded";
  /** Only these. */ ids?: string[];
  /** true deletes nothing, and answers what would be deleted. */ dry_run?: boolean;
}

/** Agreement of a judge with people. */
export interface Calibration {
  /** Empty: all judges together. */ model: string;
  prompt: string;
  /** Texts with a verdict of both. */ pairs: number;
  agreement: number | null;
  /** Cohen's; null where it is not defined. */ kappa: number | null;
  /** Counts by the person's verdict, then the judge's. */ table: Record<string, unknown>;
}

export interface CalibrationPage extends Cursors {
  results: Calibration[];
}

/** The change of one memory in a commit. */
export interface Change {
  /** fact, link, verdict (of a fact), observation, relation, conversation … */ type: string;
  id: string;
  change: "added" | "changed" | "removed";
  /** How it begins, at most 200 characters; the verdict of a verdict. */ line: string;
}

/** The result of a gate, or of the approvals. */
export interface Check {
  name: string;
  /** hidden from who may not read the target, where it depends on what that holds. */ state: "passed" | "warning" | "failed" | "hidden";
  reason: string;
  /** How many memories it is about. */ count: number;
  /** The first 20 of them. */ ids: string[];
  /** The query of the plan that shows them. */ link: string;
}

/** Messages to copy, in this order, to the end of another conversation or of a new one. */
export interface CherryPickInput {
  message_ids: string[];
  /** main when it is not given; branch_name is understood too. */ branch?: string;
  /** The same branch by default. */ target_branch?: string;
  /** A new one by default. */ target_conversation_id?: string;
  /** Of a new one; else the source's. */ title?: string;
  /** Take the facts that came of them along; needs the scope merge. */ with_facts?: boolean;
  /** An unknown session begins here. */ session_id?: string;
  task_id?: string;
  /** 403 when the key is bound to another agent. */ agent_id?: string;
}

/** The end of a relation's validity. */
export interface CloseInput {
  /** main when it is not given; branch_name is understood too. */ branch?: string;
  /** Now when it is not given. */ valid_until?: string | null;
  /** An unknown session begins here. */ session_id?: string;
  task_id?: string;
  /** 403 when the key is bound to another agent. */ agent_id?: string;
}

/** A commit: every change belongs to one. */
export interface Commit {
  id: string;
  /** Its number on its branch. */ seq: number;
  at: string;
  kind: string;
  message: string;
  actor_kind: string;
  /** Of the key or user: labels may be those of several. */ actor_id: string;
  actor_label: string;
  surface: string;
  session_id: string;
  task_id: string;
  agent_id: string;
  added: number;
  changed: number;
  removed: number;
}

/** A commit with its branch, and how many changes of each kind it made. */
export interface CommitDetail extends TitledCommit {
  branch: string;
  /** Of facts, verdicts, confirmations, answers, … */ counts: Record<string, number>;
}

/** A conversation as its summary and what was said since. */
export interface Compact {
  compaction: Compaction | null;
  messages: Message[];
}

/** How a conversation is compacted. */
export interface CompactInput {
  /** main when it is not given; branch_name is understood too. */ branch?: string;
  /** Last messages left out, 50 by default. */ keep?: number;
  /** Yours; rules write one by default. */ summary?: string;
  /** An unknown session begins here. */ session_id?: string;
  task_id?: string;
  /** 403 when the key is bound to another agent. */ agent_id?: string;
}

/** A summary of the earlier messages of a conversation, which stay as they are. */
export interface Compaction {
  id: string;
  branch: string;
  conversation_id: string;
  /** The last message that it stands for. */ last_message_id: string;
  /** How many it stands for. */ messages: number;
  /** Of these messages. */ tokens: number;
  summary: string;
  summary_tokens: number;
  method: "rules" | "caller";
  /** Calls by tool. */ tools: Record<string, number>;
  created_at: string;
  created_by: string;
}

/** The branch and the caller. */
export interface CompleteInput {
  /** main when it is not given; branch_name is understood too. */ branch?: string;
  /** An unknown session begins here. */ session_id?: string;
  task_id?: string;
  /** 403 when the key is bound to another agent. */ agent_id?: string;
  /** The end user whose memory this is about; 403 when the key is bound to another. */ user_id?: string;
  /** The app whose memory this is about; 403 when the key is bound to another. */ app_id?: string;
}

/** An agent's part after its merge into the task's branch. */
export interface CompletedAgent {
  agent: TaskAgent;
  /** The first that wait: merge the branch again with decisions on them. */ conflicts: TaskConflict[];
}

/** A completed task and what is offered to its parent. */
export interface CompletedTask {
  task: Task;
  /** The facts that the merge request offers; without any there is none. */ durable: string[];
  /** Agents that had not completed their part: it is not in the request. */ left: string[];
  /** Agents of whose merge conflicts were left. */ conflicting: string[];
}

/** A program that a person connected by OAuth; its tokens are not in it. */
export interface Connection {
  id: string;
  /** What the program calls itself; nobody has verified it. */ client_name: string;
  /** Made at its registration, or the address of its document. */ client_id: string;
  /** Whose rights it has at most. */ username: string;
  scopes: string[];
  branch_patterns: string[];
  /** The path that its tokens open; empty is REST and MCP. */ resource: string;
  created_at: string;
  last_used_at: string | null;
  expires_at: string | null;
  revoked_at: string | null;
}

export interface ConnectionPage extends Cursors {
  results: Connection[];
}

/** A run of consolidation. */
export interface Consolidation {
  id: string;
  branch: string;
  level: "session" | "agent" | "task" | "dreaming";
  target: string;
  state: "queued" | "running" | "done" | "partial" | "failed" | "undone";
  mode: "rules" | "llm";
  /** Whether nothing was written. */ dry_run: boolean;
  /** Messages that no run had read before. */ messages: number;
  /** Observations; of an agent or task, its facts. */ observations: number;
  /** New facts. */ created: number;
  /** Facts that another source confirmed. */ updated: number;
  /** Statements of what a fact says already. */ deduplicated: number;
  /** Of a task: facts that outlive it. */ durable: number;
  /** New facts by messages and observations read. */ yield_rate: number | null;
  /** Of dreaming: the branch's turns. */ cycle: number | null;
  /** Of dreaming: its number. */ merge_request: number | null;
  /** Of dreaming: what the recall gate said. */ recall: string;
  /** The language model that was asked. */ model: string;
  /** How often it was asked. */ calls: number;
  input_tokens: number;
  output_tokens: number;
  commits: string[];
  /** What fell short. */ note: string;
  started_at: string;
  finished_at: string | null;
  created_by: string;
  undone_at: string | null;
  undone_by: string;
}

/** A run with the first 200 things that it did. */
export interface ConsolidationDetail extends Consolidation {
  changes: RunChange[];
  /** In the answer to a task's run. */ durable_facts: string[];
}

/** A run to start. */
export interface ConsolidationInput {
  /** main when it is not given; branch_name is understood too. */ branch?: string;
  /** Answer the same, and write nothing. */ dry_run?: boolean;
  /** Of dreaming: not before the branch's own. */ current_cycle?: number;
  /** What is consolidated. */ level: "session" | "agent" | "task" | "dreaming";
  /** The session's id, the agent's, or the task's short name; of dreaming the branch, and not needed. */ target?: string;
}

export interface ConsolidationPage extends Cursors {
  results: Consolidation[];
}

/** A conversation, as it is read. */
export interface Conversation {
  id: string;
  /** The branch that it was read through. */ branch: string;
  version: number;
  title: string;
  status: "active" | "completed" | "archived";
  model: string;
  /** With those that a fork shares. */ message_count: number;
  /** Of a fork: how many of them it shares. */ shared_messages: number;
  /** Of these messages. */ total_tokens: number;
  /** Of a fork: the conversation that it goes on from. */ parent_conversation_id: string | null;
  /** Of a fork: the last message that it shares with its parent. */ fork_point_message_id: string | null;
  session_id: string;
  task_id: string;
  agent_id: string;
  user_id: string;
  app_id: string;
  created_at: string;
  updated_at: string;
}

/** A conversation as a document, to be read or imported elsewhere. */
export interface ConversationDocument {
  /** day1-conversation */ format: string;
  schema_version: number;
  id: string;
  branch: string;
  title: string;
  model: string;
  status: string;
  /** Session, task and agent; an import has its own. */ origin: Record<string, string>;
  messages: DocumentMessage[];
  /** Secrets that were taken out. */ redacted: number;
}

/** What an export gave: a document, or with the format ``markdown`` a text. */
export interface ConversationDocumentInput {
  format: "day1-conversation" | "markdown";
  /** Of the format markdown alone, and then all there is. */ text?: string;
  schema_version?: 1;
  id?: string;
  branch?: string;
  title?: string;
  model?: string;
  status?: "active" | "completed";
  origin?: Record<string, unknown>;
  messages?: DocumentMessageInput[];
  redacted?: number;
}

/** Who said how much in a conversation, and what came of it. */
export interface ConversationFigures {
  conversation_id: string;
  branch: string;
  session_id: string;
  agent_id: string;
  status: string;
  /** Of a fork with those that it shares. */ messages: number;
  /** Of a fork: how many of them it shares. */ shared_messages: number;
  messages_by_role: Record<string, number>;
  /** Of these messages. */ tokens: number;
  tokens_by_role: Record<string, number>;
  forks: number;
  /** That were made of its messages, and are shown. */ facts: number;
}

/** A conversation to create. */
export interface ConversationInput {
  /** main when it is not given; branch_name is understood too. */ branch?: string;
  /** An unknown session begins here. */ session_id?: string;
  task_id?: string;
  /** 403 when the key is bound to another agent. */ agent_id?: string;
  title?: string;
  model?: string;
  /** The end user whose memory this is about; 403 when the key is bound to another. */ user_id?: string;
  /** The app whose memory this is about; 403 when the key is bound to another. */ app_id?: string;
}

export interface ConversationPage extends Cursors {
  results: Conversation[];
}

/** Ids, filters or both: what fits all of them is deleted. */
export interface ConversationsDeleteInput {
  /** main when it is not given; branch_name is understood too. */ branch?: string;
  /** Only these. */ ids?: string[];
  /** true deletes nothing, and answers what would be deleted. */ dry_run?: boolean;
  /** Conversations in one of these states. */ status?: ("active" | "completed" | "archived")[];
  /** Forks of one of these conversations. */ parent_conversation_id?: string[];
  /** true lists forks alone, false none. */ fork?: boolean;
  /** Conversations of one of these end users. */ user_id?: string[];
  /** Conversations of one of these apps. */ app_id?: string[];
  /** Conversations of this repository, in any form; * is any. */ repository?: string;
  /** An unknown session begins here. */ session_id?: string;
  task_id?: string;
  /** 403 when the key is bound to another agent. */ agent_id?: string;
}

export interface Counts {
  fact: Tally;
  relation: Tally;
  observation: Tally;
  conversation: Tally;
  message: Tally;
  link: Tally;
}

/** A new task. */
export interface CreatedTask extends Task {
  /** The name of a template that fits it; null: none does. */ suggested_template: string | null;
}

/** What curators decided, what waits for them, and what is junk. */
export interface CurationFigures {
  branch: string;
  since: string;
  /** The end of the last day or hour. */ until: string;
  verdicts: Record<string, number>;
  verdicts_by_method: Record<string, number>;
  /** Verdicts in force that were given in the range. */ recent_verdicts: Record<string, number>;
  /** To questions, in the range. */ answers: Record<string, number>;
  open_questions: Record<string, number>;
  median_answer_hours: number | null;
  junk: Junk;
  /** The most rejected first, at most 100. */ agents: AgentRecord[];
}

/** The way to other pages. */
export interface Cursors {
  /** A cursor, or null. */ next: string | null;
  /** A cursor, or null. */ previous: string | null;
}

/** What is decided about one conflict. */
export interface DecisionInput {
  id: string;
  /** The kind of memory; fact by default. */ type?: string;
  choice: "source" | "target" | "both" | "edited" | "skip";
  /** Of the plan: 409 when it changed since. */ token?: string;
  /** The text, with the choice edited. */ text?: string;
}

/** Decisions on conflicts, or a choice for all conflicts of some reasons and one type. */
export interface DecisionsInput {
  decisions?: DecisionInput[];
  choice?: "source" | "target" | "both" | "edited" | "skip";
  /** All, without any. */ reasons?: string[];
  /** All, when not given. */ type?: string;
  /** With a choice for all: what was decided before stays as it is. */ only_open?: boolean;
  /** An unknown session begins here. */ session_id?: string;
  task_id?: string;
  /** 403 when the key is bound to another agent. */ agent_id?: string;
}

/** What was deleted by a filter; with ``dry_run`` what would be: nothing was deleted. */
export interface Deletion {
  dry_run: boolean;
  /** How many fit. */ count: number;
  /** The first 10 of them. */ ids: string[];
  /** Kind -> number, with what belongs to them and goes along. */ counts: Record<string, number>;
  /** Undo it to bring all back; null where there is none. */ commit_id: string | null;
}

/** What ends with a member: what the member made, and what keys of the member made. */
export interface Departure {
  member: Member;
  /** true where nothing was done yet. */ dry_run: boolean;
  counts: DepartureCounts;
  /** The first 100 that end. */ keys: Key[];
  /** Open ones that they made, and the one by which the member came. */ invitations: Invitation[];
  /** Members whom they let in. These stay. */ joined: Member[];
}

/** How many keys, invitations and logins end. */
export interface DepartureCounts {
  keys: number;
  invitations: number;
  /** Of a person who belongs to no other project of this server. */ logins: number;
}

export interface Diff {
  branch: string;
  seq: number;
  /** The branch that it is compared with. */ against: string;
  against_seq: number;
  /** ancestor: since the two had the same history last; point: all that they show differently. */ base: "ancestor" | "point";
  /** Commits of the branch since the two had the same history last. */ ahead: number;
  /** Commits of the other since then: they are no differences. */ behind: number;
  /** Of all pages; with the first page only. */ counts: Counts | null;
  results: Difference[];
  next: string | null;
  previous: string | null;
}

export interface DiffOutcome {
  messages: Pair;
  tokens: Pair;
  failures: Pair;
  tool_calls: Pair;
  result_similarity: number;
  /** The assistant's last words, at most 500 characters. */ first_result: string;
  second_result: string;
}

export interface DiffRow {
  change: "same" | "changed" | "removed" | "added";
  first: FoundMessage | null;
  second: FoundMessage | null;
}

/** A memory that differs between the two points. */
export interface Difference {
  id: string;
  type: "fact" | "relation" | "observation" | "conversation" | "message" | "link";
  change: "added" | "changed" | "removed";
  /** Of what changed: [before, after]. */ fields: Record<string, unknown[]>;
  /** As it is after; as it was when it was removed. */ fact: Fact | null;
  link: Link | null;
  /** The line that names it. */ line: string;
  /** Of other kinds: its fields, as those of a fact. */ memory: Record<string, unknown> | null;
  /** The newest commit that touched it. */ commit: Commit | null;
}

/** What judges and people give in one dimension. */
export interface DimensionSummary {
  dimension: string;
  count: number;
  average: number;
  min: number;
  max: number;
}

/** The first place at which role or content differ. */
export interface Divergence {
  /** From 0, shared messages included. */ index: number;
  first_message_id: string | null;
  second_message_id: string | null;
}

/** A message of a document. */
export interface DocumentMessage {
  sequence_num: number;
  role: string;
  content: string;
  /** Empty without the scope curate. */ thinking: string;
  tool_calls: Record<string, unknown>[];
  token_count: number;
  model: string;
  metadata: Record<string, unknown>;
  said_at: string;
}

/** A message of a document. */
export interface DocumentMessageInput {
  /** The next one. */ sequence_num?: number;
  role: "user" | "assistant" | "tool_call" | "tool_result" | "system" | "developer";
  /** At most 1 MiB in UTF-8. */ content?: string;
  /** Shown to curators only. */ thinking?: string;
  tool_calls?: Record<string, unknown>[];
  token_count?: number;
  model?: string;
  metadata?: Record<string, unknown>;
  said_at?: string | null;
}

/** The outcome of a session. */
export interface EndInput {
  status?: "completed" | "abandoned";
  summary?: string;
  /** The end user whose memory this is about; 403 when the key is bound to another. */ user_id?: string;
  /** The app whose memory this is about; 403 when the key is bound to another. */ app_id?: string;
}

/** What a branch holds of an end user in an app. */
export interface EndUserFigures {
  user_id: string;
  app_id: string;
  /** When something was last written. */ last_at: string;
  /** Items among them. */ facts: number;
  messages: number;
  conversations: number;
  observations: number;
  sessions: number;
}

/** The end users of a branch; of more than 1,000 those with most facts. */
export interface EndUsers {
  branch: string;
  count: number;
  users: EndUserFigures[];
}

/** An erasure, without what was erased. */
export interface Erasure {
  id: string;
  scope: "fact" | "session" | "agent" | "actor" | "user" | "app" | "match" | "memory";
  /** Empty for a match: the text is not kept. */ target: string;
  state: "pending" | "done";
  /** Why it is pending; it goes on by itself. */ waits_for: string;
  /** Kind of memory -> number. */ counts: Record<string, number>;
  /** Copies of the store that are still to be dropped. */ to_drop: string[];
  /** Copies of the store that were dropped. */ dropped: string[];
  /** SHA-256 over the keyed digests of all memories, whose keys are destroyed. */ proof: string;
  requested_at: string;
  requested_by: string;
  /** key, user or local, the command line; empty: unknown. */ requested_by_kind: string;
  /** The id of the key or user; else empty. */ requested_by_id: string;
  done_at: string | null;
}

/** An erasure, and whether everything that it covers is still blank. */
export interface ErasureCheck extends Erasure {
  /** Done, nothing is back, and the digests give the proof. */ holds: boolean;
  /** Versions that have content. */ versions_left: number;
}

export interface ErasureExample {
  kind: string;
  id: string;
  /** The beginning of its text. */ line: string;
  /** Of what stays: derived, replaces, source, repeats. */ why: string;
}

/** What to erase. Without ``confirm``, or with ``dry_run``, nothing is erased, and the answer says what would be. */
export interface ErasureInput {
  scope: "fact" | "session" | "agent" | "actor" | "user" | "app" | "match" | "memory";
  /** The id of the fact, session or agent; of an actor, the id of an agent or the name of a person as the history shows it, refused where it is that of several kinds: user:ID, key:ID and local: name one alone; of a match, the text to look for. */ target: string;
  /** true erases nothing. Default: true without confirm, else false. */ dry_run?: boolean;
  /** The name that the dry run asks for: erases for good. */ confirm?: string;
  /** true drops the copies of the store that hold it too. Default: false. */ drop_copies?: boolean;
}

export interface ErasurePage extends Cursors {
  results: Erasure[];
}

/** What an erasure would do. Nothing was erased. */
export interface ErasurePlan {
  /** true: nothing was erased. */ dry_run: boolean;
  scope: "fact" | "session" | "agent" | "actor" | "user" | "app" | "match" | "memory";
  target: string;
  /** Whom an erasure of an actor is about, without agents. */ actors: Identity[];
  /** The name to send as confirm. */ confirm: string;
  counts: Record<string, number>;
  examples: ErasureExample[];
  /** What repeats it or comes from it, and stays. */ left: ErasureExample[];
  /** Copies of the store that hold it too. */ copies: StoreCopy[];
  /** Database files beside the store: delete them yourself. */ backups: StoreCopy[];
}

/** A run of all questions. */
export interface Eval {
  id: string;
  state: "queued" | "running" | "done" | "failed";
  branch: string;
  /** The point of the branch at which it was searched. */ seq: number;
  /** The point, where it is a time: expiry is judged then; else when it is run. */ at: string | null;
  recipe: string;
  /** How many facts of a search count. */ k: number;
  /** branch, seq, recipe and at of the side before, in a comparison. */ against: Record<string, unknown> | null;
  /** How many there are. */ questions: number;
  /** How many were put so far. */ done: number;
  /** Why it failed, such as an archived branch; else empty. */ error: string;
  /** scored, recall, mrr; by_words, where the embedder did not answer; in a comparison before, lost, gained, moved, significance. */ figures: Record<string, unknown>;
  took_ms: number;
  created_at: string;
  created_by: string;
}

/** A run with the ranks of each question. */
export interface EvalDetail extends Eval {
  /** Of each question: ranks of the expected facts, null where it was not found, and why. */ results: Record<string, unknown>[];
}

/** What the questions are put to, and the side before where two are compared. */
export interface EvalInput {
  /** main when it is not given; branch_name is understood too. */ branch?: string;
  /** A point in the branch's past: a seq, a commit's id or a time in ISO 8601. */ at?: number | string;
  /** The project's by default. */ recipe?: "answers" | "default" | "hybrid" | "seed" | "timeless" | "words";
  /** How many facts count; 10 by default. */ k?: number;
  /** What is not given is as on this side; at only on its branch. */ against?: EvalSideInput | null;
}

export interface EvalPage extends Cursors {
  results: Eval[];
}

/** A branch at a point, searched by a recipe. */
export interface EvalSideInput {
  /** main when it is not given; branch_name is understood too. */ branch?: string;
  /** A point in the branch's past: a seq, a commit's id or a time in ISO 8601. */ at?: number | string;
  /** The project's by default. */ recipe?: "answers" | "default" | "hybrid" | "seed" | "timeless" | "words";
}

/** How a conversation is rated by judges. */
export interface EvaluateInput {
  /** main when it is not given; branch_name is understood too. */ branch?: string;
  /** Have it rated anew. Else the same request gets the rating that it had, while nothing was said since. */ again?: boolean;
  /** Names, or name: what it means; the eight of Day1 by default, at most 12. */ dimensions?: string[];
  /** Models of the judge's server, at most 5; the one of the settings by default. */ judges?: string[];
  /** Answers of each judge; those of the settings by default. */ votes?: number | null;
}

/** The data of one message. */
export interface Event {
  /** Its number in the project: the id of the message. */ id: number;
  /** As in the log of a branch, such as fact.write; or branch.create, merge_request.approve. */ kind: string;
  branch: string;
  at: string;
  actor_kind: string;
  actor_id: string;
  actor_label: string;
  surface: string;
  /** null for what happened to the branch itself. */ commit: Commit | null;
  /** Empty when the commit has more than 20 of them. */ changes: Change[];
}

/** A memory that a fact comes from. */
export interface Evidence {
  kind: "message" | "observation" | "fact";
  id: string;
  /** How it begins; empty where the branch shows it no more. */ text: string;
}

/** A branch whose days are over, or that was merged whole. */
export interface Expired extends Branch {
  state: "expired" | "merged";
  since: string;
  /** Whether this call has archived it. */ archived: boolean;
  /** Why it is left, as a code: children, merge_request, changed …; else empty. */ kept: string;
  /** The same as a sentence. */ reason: string;
}

export interface ExpiredPage extends Cursors {
  results: Expired[];
}

export interface Explanation {
  found: boolean;
  reason: "found" | "out_ranked" | "no_signal" | "absent" | "deleted" | "not_yet" | "other_branch" | "filtered" | "created" | "archived" | "superseded" | "expired" | "outdated" | "invalidated";
  message: string;
  position: number | null;
  score: number | null;
  signals: Record<string, number>;
  details: Record<string, unknown>;
  fact: Fact | null;
}

/** A fact, as visible on the requested branch. */
export interface Fact {
  id: string;
  /** The branch that it was read through. */ branch: string;
  /** Grows by one with each change; the ETag begins with it. */ version: number;
  fact_text: string;
  /** The line that goes into a prompt. */ essence: string;
  category: string;
  kind: "OBSERVATION" | "BELIEF" | "TASK" | "OUTPUT_DRAFT" | "NOTE" | "REFLECTION";
  priority: "P1" | "P2" | "P3" | "P4";
  status: "created" | "active" | "done" | "superseded" | "archived";
  confidence: number;
  /** Independent sources that said the same. */ confirmation_count: number;
  access_count: number;
  last_accessed_at: string | null;
  /** verified and invalidated: by a person or a judge; plausible: a guess by the heuristic. */ verification_status: "unverified" | "plausible" | "verified" | "invalidated";
  verified_at: string | null;
  verified_by: string;
  /** The fact that this one replaces. */ parent_id: string | null;
  source_type: "manual" | "observation" | "extraction" | "consolidation" | "merge" | "cherry_pick" | "bundle_import" | "import";
  source_id: string;
  source: string;
  /** Where it was learned: its remote's address, or a folder; empty where that is unknown. */ repository: string;
  origin: "EXPERIENCE" | "SEEDED_LLM" | "DISTILLED_LLM" | "DREAMING";
  visibility: "private" | "selective" | "public";
  session_id: string;
  task_id: string;
  agent_id: string;
  user_id: string;
  app_id: string;
  created_cycle: number;
  updated_cycle: number;
  valid_from: string | null;
  valid_until: string | null;
  expires_at: string | null;
  pinned: boolean;
  tags: string[];
  metadata: Record<string, unknown>;
  /** Of an item: where its key stands, as segments with slashes between them. */ namespace: string | null;
  /** Of an item. */ key: string | null;
  /** Of an item: any JSON, as it was put. */ value: Record<string, unknown> | unknown[] | string | number | boolean | null;
  /** False: it has no vector, words alone find it. */ embed: boolean | null;
  embedding_state: "pending" | "ready" | "failed" | "none" | "off";
  embedding_model: string;
  /** SHA-256 of the text. */ content_hash: string;
  created_at: string;
  updated_at: string;
}

/** One fact to store. */
export interface FactInput extends FactItemInput {
  /** main when it is not given; branch_name is understood too. */ branch?: string;
  /** Keep it as created: not searched until activated. */ propose?: boolean;
}

/** One fact of many. */
export interface FactItemInput {
  /** At most 64 KiB in UTF-8. */ fact_text: string;
  /** The line for a prompt; made from the text when it is not given. */ essence?: string;
  /** general when it is not given. */ category?: string;
  kind?: "OBSERVATION" | "BELIEF" | "TASK" | "OUTPUT_DRAFT" | "NOTE";
  priority?: "P1" | "P2" | "P3" | "P4";
  /** 0.7 by default. */ confidence?: number;
  source_id?: string;
  /** The key's label when it is not given. */ source?: string;
  /** A remote's address in any form, or a folder; else where the session or the caller works. */ repository?: string;
  visibility?: "private" | "selective" | "public";
  updated_cycle?: number;
  valid_from?: string | null;
  /** Later than valid_from. */ valid_until?: string | null;
  expires_at?: string | null;
  pinned?: boolean;
  tags?: string[];
  /** At most 64 KiB of JSON, at most 64 levels deep. */ metadata?: Record<string, unknown>;
  parent_id?: string | null;
  source_type?: "manual" | "observation" | "extraction" | "consolidation" | "merge" | "cherry_pick" | "bundle_import" | "import";
  origin?: "EXPERIENCE" | "SEEDED_LLM" | "DISTILLED_LLM";
  created_cycle?: number;
  /** An unknown session begins here. */ session_id?: string;
  task_id?: string;
  /** 403 when the key is bound to another agent. */ agent_id?: string;
  /** The end user whose memory this is about; 403 when the key is bound to another. */ user_id?: string;
  /** The app whose memory this is about; 403 when the key is bound to another. */ app_id?: string;
  /** True by default: the same text is returned, not doubled. */ deduplicate?: boolean;
}

export interface FactPage extends Cursors {
  results: Fact[];
}

/** The fields to change; the rest stays. */
export interface FactUpdateInput {
  /** main when it is not given; branch_name is understood too. */ branch?: string;
  /** 412 when the fact is at another. */ expected_version?: number;
  /** At most 64 KiB in UTF-8. */ fact_text?: string;
  /** The line for a prompt; made from the text when it is not given. */ essence?: string;
  /** general when it is not given. */ category?: string;
  kind?: "OBSERVATION" | "BELIEF" | "TASK" | "OUTPUT_DRAFT" | "NOTE";
  priority?: "P1" | "P2" | "P3" | "P4";
  /** 0.7 by default. */ confidence?: number;
  source_id?: string;
  /** The key's label when it is not given. */ source?: string;
  /** A remote's address in any form, or a folder; else where the session or the caller works. */ repository?: string;
  visibility?: "private" | "selective" | "public";
  updated_cycle?: number;
  valid_from?: string | null;
  /** Later than valid_from. */ valid_until?: string | null;
  expires_at?: string | null;
  pinned?: boolean;
  tags?: string[];
  /** At most 64 KiB of JSON, at most 64 levels deep. */ metadata?: Record<string, unknown>;
  status?: "created" | "active" | "done" | "superseded" | "archived";
  /** An unknown session begins here. */ session_id?: string;
  task_id?: string;
  /** 403 when the key is bound to another agent. */ agent_id?: string;
  /** The end user whose memory this is about; 403 when the key is bound to another. */ user_id?: string;
  /** The app whose memory this is about; 403 when the key is bound to another. */ app_id?: string;
}

/** The changes of one fact of many. */
export interface FactUpdateItemInput {
  id: string;
  /** 412 when the fact is at another. */ expected_version?: number;
  /** At most 64 KiB in UTF-8. */ fact_text?: string;
  /** The line for a prompt; made from the text when it is not given. */ essence?: string;
  /** general when it is not given. */ category?: string;
  kind?: "OBSERVATION" | "BELIEF" | "TASK" | "OUTPUT_DRAFT" | "NOTE";
  priority?: "P1" | "P2" | "P3" | "P4";
  /** 0.7 by default. */ confidence?: number;
  source_id?: string;
  /** The key's label when it is not given. */ source?: string;
  /** A remote's address in any form, or a folder; else where the session or the caller works. */ repository?: string;
  visibility?: "private" | "selective" | "public";
  updated_cycle?: number;
  valid_from?: string | null;
  /** Later than valid_from. */ valid_until?: string | null;
  expires_at?: string | null;
  pinned?: boolean;
  tags?: string[];
  /** At most 64 KiB of JSON, at most 64 levels deep. */ metadata?: Record<string, unknown>;
  status?: "created" | "active" | "done" | "superseded" | "archived";
}

/** Up to 1,000 facts and their changes: one commit, all or none. */
export interface FactUpdatesInput {
  /** Each fact once; what is not named stays. */ facts: FactUpdateItemInput[];
  /** main when it is not given; branch_name is understood too. */ branch?: string;
  /** An unknown session begins here. */ session_id?: string;
  task_id?: string;
  /** 403 when the key is bound to another agent. */ agent_id?: string;
  /** The end user whose memory this is about; 403 when the key is bound to another. */ user_id?: string;
  /** The app whose memory this is about; 403 when the key is bound to another. */ app_id?: string;
}

/** The verdict on a fact, and the newest rating of its present text. */
export interface FactVerification {
  id: string;
  version: number;
  verification_status: "unverified" | "plausible" | "verified" | "invalidated";
  verified_at: string | null;
  verified_by: string;
  method: "human" | "judge" | "heuristic" | "";
  reason: string;
  rating: Rating | null;
}

/** Up to 1,000 facts: one commit, all or none. */
export interface FactsInput {
  facts: FactItemInput[];
  /** main when it is not given; branch_name is understood too. */ branch?: string;
  /** Keep it as created: not searched until activated. */ propose?: boolean;
  /** True by default: the same text is returned, not doubled. */ deduplicate?: boolean;
  /** An unknown session begins here. */ session_id?: string;
  task_id?: string;
  /** 403 when the key is bound to another agent. */ agent_id?: string;
  /** The end user whose memory this is about; 403 when the key is bound to another. */ user_id?: string;
  /** The app whose memory this is about; 403 when the key is bound to another. */ app_id?: string;
}

/** How many facts of an import have each finding now. */
export interface Findings {
  junk: number;
  duplicate: number;
  echo: number;
  hostile: number;
  secret: number;
  stale: number;
  contradictory: number;
  unsourced: number;
}

/** The first key of a new project: its scopes, and what else a key has. */
export interface FirstKeyInput {
  label?: string;
  scopes?: ("read" | "propose" | "write" | "curate" | "merge" | "admin" | "owner" | "metrics" | "server")[];
  /** Every branch when it is empty. */ branch_patterns?: string[];
  /** Bind the key to this agent. */ agent_id?: string;
  /** Bind the key to this end user: it reads and writes no other memory. */ user_id?: string;
  /** Bind the key to this app: it reads and writes no other memory. */ app_id?: string;
  /** Where MCP works when a call names no branch; main when it is empty. */ default_branch?: string;
  rate_per_minute?: number;
  /** Facts that it may write, each version counted; any number by default. */ max_facts?: number;
  /** Bytes of texts that it may write; any number by default. */ max_bytes?: number;
  /** Versions of memory that it may write in a day, in UTC; any number by default. */ max_daily_writes?: number;
  /** Streams of events that it may have open in each process that serves; 100 by default. */ max_streams?: number;
  expires_at?: string | null;
}

/** Where a conversation is forked; title and model are the source's by default. */
export interface ForkInput {
  /** The last message that both share. */ message_id: string;
  /** main when it is not given; branch_name is understood too. */ branch?: string;
  /** A branch to create as of that message, for the fork. */ memory_branch?: string;
  /** An unknown session begins here. */ session_id?: string;
  task_id?: string;
  /** 403 when the key is bound to another agent. */ agent_id?: string;
  title?: string;
  model?: string;
}

export interface Found {
  results: Hit[];
  signals_used: string[];
  recipe: string;
  took_ms: number;
  /** The best of all that is found; 0 without any. */ evidence: number;
  /** Whether that reaches the project's least; else nothing is known. */ known: boolean;
  /** Whether texts are still being indexed: their words alone find them. */ incomplete: boolean;
  /** Where nothing is known: that, and what is nearest; else empty. */ note: string;
  /** The branches that were searched. */ branches: string[];
  /** The cursor of the next page; null at the end. */ next: string | null;
  /** With max_tokens: lines for a prompt, or the note. */ context: string | null;
  /** What the context costs; with max_tokens. */ tokens: number | null;
}

/** A fact among the results of a search: no field has more than 8,000 characters. */
export interface FoundFact extends Fact {
  /** Fields that were longer: a text is cut with a mark, an object or list is empty. All of it is read by id. */ truncated: string[];
}

/** An item among the results of a search; ``score`` and ``evidence`` are null without a query. */
export interface FoundItem extends Item {
  /** Its place among the results of this search. */ score: number | null;
  /** How likely it answers the query, whatever the query: 0 to 1. */ evidence: number | null;
}

/** A message among the results of a search: no field has more than 8,000 characters. */
export interface FoundMessage extends Message {
  /** Fields that were longer: a text is cut with a mark, an object or list is empty. All of it is read by id. */ truncated: string[];
}

/** An observation among the results of a search: no field has more than 8,000 characters. */
export interface FoundObservation extends Observation {
  /** Fields that were longer: a text is cut with a mark, an object or list is empty. All of it is read by id. */ truncated: string[];
}

/** A score, as it is read. */
export interface GivenScore {
  id: string;
  branch: string;
  target_type: "fact" | "conversation";
  target_id: string;
  dimension: string;
  value: number;
  explanation: string;
  scorer: string;
  /** heuristic: no judgement. */ method: "judge" | "human" | "external" | "heuristic";
  /** That gave it. */ scoring_id: string | null;
  created_at: string;
}

export interface GivenScorePage extends Cursors {
  results: GivenScore[];
}

export interface Graph {
  entity: string;
  nodes: Node[];
  edges: Relation[];
  /** true when there were more than 1,000 edges, or 4 MiB. */ truncated: boolean;
}

/** A handoff without its facts and conversations. */
export interface Handoff {
  id: string;
  handoff_type: "task_continuation" | "agent_switch" | "session_handoff" | "escalation";
  source_branch: string;
  target_branch: string;
  to_agent: string;
  context_summary: string;
  instructions: string;
  blockers: string[];
  /** verified: every fact is; partial: some are not; empty: there is no fact. */ verification_status: "verified" | "partial" | "empty";
  state: "pending" | "accepted" | "rejected";
  reason: string;
  /** Why facts are not in it, and how many. */ left_out: Record<string, unknown>;
  fact_count: number;
  message_count: number;
  /** Of the content; an erasure rewrites and hashes anew. */ sha256: string;
  /** The session that handed over. */ session_id: string;
  task_id: string;
  /** Who handed over. */ agent_id: string;
  created_by: string;
  created_at: string;
  /** When a receiver first read it. */ read_at: string | null;
  decided_at: string | null;
  decided_by: string;
  /** The share of the checklist that it meets, between 0 and 1. */ completeness: number;
  /** What it lacks of that. */ missing: ("summary" | "instructions" | "facts" | "verified" | "conversations")[];
}

/** Who accepts. */
export interface HandoffAcceptInput {
  /** An unknown session begins here. */ session_id?: string;
  task_id?: string;
  /** Who answers; the key's by default. */ agent_id?: string;
}

/** A conversation with the last of its messages. */
export interface HandoffConversation {
  id: string;
  title: string;
  messages: HandoffMessage[];
}

/** A fact as it was when it was handed over. */
export interface HandoffFact {
  id: string;
  fact_text: string;
  essence: string;
  category: string;
  kind: string;
  priority: string;
  confidence: number;
  verification_status: string;
  /** human, judge, heuristic; empty of what nobody judged, and in packets of earlier releases. */ verification_method: string;
  created_at: string;
}

/** A new handoff. */
export interface HandoffInput {
  /** Why it is handed over; task_continuation when it is not given. */ handoff_type?: "task_continuation" | "agent_switch" | "session_handoff" | "escalation";
  /** The branch whose facts are handed over; that of the session, else main. */ source_branch?: string;
  /** The branch on which the receiver works; the source branch when it is not given. */ target_branch?: string;
  /** Who receives it; anybody on the target branch when it is not given. */ to_agent?: string;
  /** What was found, up to 4,000 characters; made of the session's summary and the five best facts when it is not given. */ context_summary?: string;
  /** What the receiver should do next, up to 4,000 characters. */ instructions?: string;
  /** Up to 20 things that stand in the way, each up to 500 characters. */ blockers?: string[];
  /** Take unverified facts too; invalidated ones never are. */ include_unverified?: boolean;
  /** The facts to hand over, up to 200; by default the best that the session, else the branch, wrote. */ fact_ids?: string[];
  /** The session that hands over; 404 for an unknown one. */ session_id?: string;
  task_id?: string;
  /** Who hands over; 403 when the key is bound to another. */ agent_id?: string;
}

/** A message as it was when it was handed over. */
export interface HandoffMessage {
  id: string;
  role: string;
  sequence_num: number;
  content: string;
  /** Whether it was longer. */ truncated: boolean;
}

/** A handoff with all that its packet freezes. */
export interface HandoffPacket extends Handoff {
  /** The same as id. */ handoff_id: string;
  facts: HandoffFact[];
  conversations: HandoffConversation[];
}

export interface HandoffPage extends Cursors {
  results: Handoff[];
}

/** Who rejects, and why. */
export interface HandoffRejectInput {
  /** Why it is rejected, up to 1,000 characters. */ reason: string;
  /** An unknown session begins here. */ session_id?: string;
  task_id?: string;
  /** Who answers; the key's by default. */ agent_id?: string;
}

/** Ids, filters or both: what fits all of them is deleted. */
export interface HandoffsDeleteInput {
  /** Handoffs in this state. */ state?: "pending" | "accepted" | "rejected";
  /** Handoffs of this kind. */ handoff_type?: "task_continuation" | "agent_switch" | "session_handoff" | "escalation";
  /** Handoffs to this branch. */ target_branch?: string;
  /** Handoffs to this agent. */ to_agent?: string;
  /** Only these. */ ids?: string[];
  /** true deletes nothing, and answers what would be deleted. */ dry_run?: boolean;
}

/** ``status`` for everybody; the rest for callers with a key. */
export interface Health {
  status: "ok" | "degraded" | "failing";
  database?: "ok" | "damaged" | "error";
  /** Of a damaged store: found_at, error. */ damage?: Record<string, unknown>;
  storage?: "ok" | "low" | "full" | "read_only" | "failing";
  broker?: "ok" | "silent";
  worker?: "running" | "stopped" | "unknown";
  /** waiting, the age of the oldest: oldest_seconds; set_aside: tasks that stopped the worker. */ queue?: Record<string, unknown>;
  /** pending, failed, model, error, failed_error; change, while texts get vectors of another model, else null: previous, in_use (whether searches use that one meanwhile), done, total. */ embedding?: Record<string, unknown>;
  /** rows and bytes: what is used, and the limit, null for none; full: writes stop. */ quota?: Record<string, unknown>;
  /** Of the last check of the store: state (ok, problems or never), at, age_seconds, and how many problems by name. */ store_check?: Record<string, unknown>;
  /** Where the settings ask for nightly backups: at, age_seconds, overdue. */ backup?: Record<string, unknown>;
}

/** A fact that it hides, for whoever decides about it. */
export interface HiddenFact {
  id: string;
  branch: string;
  fact_text: string;
}

export interface Hit {
  fact: FoundFact;
  score: number;
  /** The parts of the score, by name. */ signals: Record<string, number>;
  /** The branches searched that show it. */ branches: string[];
  /** How likely it answers the query, between 0 and 1, for any query. */ evidence: number;
}

/** A person, a key or the command line; names may be those of several. */
export interface Identity {
  kind: string;
  id: string;
  label: string;
}

/** An import from another product. */
export interface Import {
  id: string;
  product: "basic-memory" | "claude-mem" | "engrava" | "graphiti" | "langgraph" | "letta" | "mcp-memory" | "mem0" | "zep";
  file: string;
  branch: string;
  state: "reading" | "finished" | "proposed";
  /** What became of the records of the last run, and how many. */ counts: Record<string, unknown>;
  /** The merge request of the rest. */ request: string | null;
  created_at: string;
  created_by: string;
  updated_at: string;
}

export interface ImportCount {
  new: number;
  duplicate: number;
  refused: number;
}

export interface ImportCounts {
  facts: ImportCount;
  conversations: ImportCount;
  messages: ImportCount;
  links: ImportCount;
  relations: ImportCount;
}

/** What could not be read. */
export interface ImportFinishInput {
  /** Why records were not sent, and how many. */ skipped?: Record<string, unknown>;
  /** Places that could not be read: file, line, reason. */ broken?: Record<string, unknown>[];
  /** The run that the counts named when it began: where another has begun since, this one is refused. */ run?: number | null;
}

/** What is imported. */
export interface ImportInput {
  /** What wrote the file. */ product: "basic-memory" | "claude-mem" | "engrava" | "graphiti" | "langgraph" | "letta" | "mcp-memory" | "mem0" | "zep";
  /** Its name, without the folder. */ file?: string;
  /** Where its facts stand; import/PRODUCT-FILE when it is not given, which is made of main. */ branch?: string;
}

/** A link between two records. */
export interface ImportLinkInput {
  /** The id of a record at its product. */ from: string;
  to: string;
  /** What the product calls it. */ type?: string;
}

export interface ImportPage extends Cursors {
  results: Import[];
}

/** What is left out. */
export interface ImportProposeInput {
  /** What is left out: junk, duplicate, echo and hostile when it is not given. */ without?: ("junk" | "duplicate" | "echo" | "hostile" | "secret" | "stale" | "contradictory" | "unsourced")[];
  /** Of the merge request. */ title?: string;
}

/** One memory of another product. */
export interface ImportRecordInput {
  /** Its id at its product. */ id: string;
  /** What it says. */ text: string;
  /** What the product calls its kind; it becomes the category. */ kind?: string;
  created_at?: string | null;
  updated_at?: string | null;
  /** Who said or wrote it. */ author?: string;
  /** Where it was said. */ session?: string;
  /** The document or the program that it is of. */ origin?: string;
  /** The end user whose memory this is about; 403 when the key is bound to another. */ user_id?: string;
  /** The app whose memory this is about; 403 when the key is bound to another. */ app_id?: string;
  tags?: string[];
  confidence?: number | null;
  valid_from?: string | null;
  valid_until?: string | null;
  expires_at?: string | null;
  /** Whether its product holds it for deleted, replaced or over. */ ended?: boolean;
  metadata?: Record<string, unknown>;
}

/** A portion of what a product remembered, at most 500 records. */
export interface ImportRecordsInput {
  /** At most 500. */ records?: ImportRecordInput[];
  /** Edges between entities: source_entity, relation_type, target_entity, valid_from, valid_until. */ relations?: Record<string, unknown>[];
  /** Links between records that have come. */ links?: ImportLinkInput[];
  /** The run that the counts named when it began: where another has begun since, this one is refused. */ run?: number | null;
}

/** An import with the report of its doctor. */
export interface ImportReport extends Import {
  findings: Findings;
  /** The first 3,000. */ named: Named[];
  /** Its facts that its branch shows now. */ facts: number;
}

/** The conversation of a document. */
export interface ImportedConversation extends Conversation {
  /** False: the same document was imported before. */ created: boolean;
}

/** A version of what a project wants remembered. */
export interface Instructions {
  /** 0 where none were set: those of the preset coding hold. */ number: number;
  preset: "coding" | "assistant" | "support" | "own";
  /** What a language model is told to note. */ text: string;
  /** In which it is noted. */ categories: string[];
  created_at: string;
  created_by: string;
}

/** What becomes the next version; a preset brings its text and categories. */
export interface InstructionsInput {
  preset?: "assistant" | "coding" | "support" | null;
  text?: string | null;
  /** Each a word or a few, of any script. */ categories?: string[] | null;
}

export interface InstructionsPage extends Cursors {
  results: Instructions[];
}

/** An invitation without its link. */
export interface Invitation {
  id: string;
  role: "viewer" | "curator" | "maintainer" | "owner";
  note: string;
  max_uses: number;
  /** How many accepted it. */ uses: number;
  state: "open" | "used" | "expired" | "revoked";
  expires_at: string;
  created_at: string;
  created_by: string;
  /** key, user, local (the command line), server (a key of it) or system; empty where nobody knows any more. */ created_by_kind: string;
  /** The id of the key or user; else empty. */ created_by_id: string;
  revoked_at: string | null;
}

/** A new invitation. */
export interface InvitationInput {
  /** The role of whoever accepts it. */ role?: "viewer" | "curator" | "maintainer" | "owner";
  /** For whom it is. */ note?: string;
  /** How many people may accept it. */ max_uses?: number;
  /** After how many days it expires. */ days?: number;
}

export interface InvitationPage extends Cursors {
  results: Invitation[];
}

/** An item, as visible on the requested branch. */
export interface Item {
  id: string;
  /** The branch that it was read through. */ branch: string;
  /** Grows by one with each change; the ETag begins with it. */ version: number;
  namespace: string;
  key: string;
  /** As it was put. */ value: Record<string, unknown> | unknown[] | string | number | boolean | null;
  /** What is searched of it. */ text: string;
  status: "created" | "active" | "done" | "superseded" | "archived";
  category: string;
  confidence: number;
  visibility: "private" | "selective" | "public";
  tags: string[];
  metadata: Record<string, unknown>;
  source: string;
  /** Where it was learned: its remote's address, or a folder; empty where that is unknown. */ repository: string;
  expires_at: string | null;
  session_id: string;
  task_id: string;
  agent_id: string;
  user_id: string;
  app_id: string;
  created_at: string;
  updated_at: string;
}

/** Calls: what is read is what stood before the writes, which are one commit. */
export interface ItemBatchInput {
  /** At most 1,000, of them 50 searches and lists of namespaces. What is read is what stood before the writes, which are one commit; of several writes of one key the last counts. */ calls: ItemCallInput[];
  /** main when it is not given; branch_name is understood too. */ branch?: string;
  /** An unknown session begins here. */ session_id?: string;
  task_id?: string;
  /** 403 when the key is bound to another agent. */ agent_id?: string;
  /** The end user whose memory this is about; 403 when the key is bound to another. */ user_id?: string;
  /** The app whose memory this is about; 403 when the key is bound to another. */ app_id?: string;
}

/** One of many calls: put, get and delete name an item, search and namespaces a prefix. */
export interface ItemCallInput {
  op: "put" | "get" | "delete" | "search" | "namespaces";
  /** Segments with slashes between them, such as users/ada. */ namespace?: string;
  /** Without a slash. */ key?: string;
  /** Any JSON, at most 64 KiB; it is stored as it is given, or refused. */ value?: Record<string, unknown> | unknown[] | string | number | boolean | null;
  /** What is searched of it; the value itself when it is not given. */ text?: string;
  /** True by default; false: it gets no vector, and words alone find it. */ embed?: boolean;
  /** Seconds until it is gone, from now on. */ ttl?: number | null;
  /** 412 where an item stands there already, as with If-None-Match: *. */ only_new?: boolean;
  /** 412 where no item stands there, as with If-Match: *. */ only_present?: boolean;
  /** Begin its ttl anew; needs the scope write. */ renew?: boolean;
  /** general when it is not given. */ category?: string;
  /** 0.7 by default. */ confidence?: number;
  visibility?: "private" | "selective" | "public";
  tags?: string[];
  /** At most 64 KiB of JSON, at most 64 levels deep. */ metadata?: Record<string, unknown>;
  /** The key's label when it is not given. */ source?: string;
  /** A remote's address in any form, or a folder; else where the session or the caller works. */ repository?: string;
  expires_at?: string | null;
  /** A namespace: its items and those of all below it. */ prefix?: string;
  /** The last segments of a namespace; * is any segment. */ suffix?: string;
  /** So many segments of each namespace. */ depth?: number | null;
  /** Of a put or a delete: only while the item is at this version. */ expected_version?: number;
  /** What is looked for; without it items come in their order. */ query?: string;
  /** Of a query; hybrid by default. */ search_type?: "hybrid" | "keyword" | "vector";
  /** Conditions on the value and metadata, as JSON: {"value.status": "open", "metadata.size": {"gte": 3}}, with eq, ne, gt, gte, lt, lte, in and contains. */ where?: Record<string, unknown> | unknown[] | string | number | boolean | null;
  /** So many results. */ limit?: number;
  /** How many are left out before the first. */ offset?: number;
}

/** What shall stand under the key. */
export interface ItemInput {
  /** Any JSON, at most 64 KiB; it is stored as it is given, or refused. */ value: Record<string, unknown> | unknown[] | string | number | boolean | null;
  /** main when it is not given; branch_name is understood too. */ branch?: string;
  /** What is searched of it; the value itself when it is not given. */ text?: string;
  /** Seconds until it is gone, from now on. */ ttl?: number | null;
  /** True by default; false: it gets no vector, and words alone find it. */ embed?: boolean;
  /** 412 where an item stands there already, as with If-None-Match: *. */ only_new?: boolean;
  /** 412 where no item stands there, as with If-Match: *. */ only_present?: boolean;
  /** 412 when the fact is at another. */ expected_version?: number;
  /** general when it is not given. */ category?: string;
  /** 0.7 by default. */ confidence?: number;
  visibility?: "private" | "selective" | "public";
  tags?: string[];
  /** At most 64 KiB of JSON, at most 64 levels deep. */ metadata?: Record<string, unknown>;
  /** The key's label when it is not given. */ source?: string;
  /** A remote's address in any form, or a folder; else where the session or the caller works. */ repository?: string;
  expires_at?: string | null;
  /** An unknown session begins here. */ session_id?: string;
  task_id?: string;
  /** 403 when the key is bound to another agent. */ agent_id?: string;
  /** The end user whose memory this is about; 403 when the key is bound to another. */ user_id?: string;
  /** The app whose memory this is about; 403 when the key is bound to another. */ app_id?: string;
}

export interface ItemPage extends Cursors {
  results: Item[];
}

/** What came of one call: of each kind the fields that it has. */
export interface ItemResult {
  op: string;
  /** Of a put; null where a later call deleted it. */ id?: string | null;
  /** Of a put. */ version?: number | null;
  /** Of a put: whether nothing stood there. */ created?: boolean;
  /** Of a get; null where nothing stands there. */ item?: Item | null;
  /** Of a delete: whether something stood there. */ deleted?: boolean;
  /** Of a search. */ items?: FoundItem[];
  /** Of a search: whether there are more. */ more?: boolean;
  namespaces?: string[];
}

export interface ItemResults {
  /** In the order of the calls. */ results: ItemResult[];
}

/** A job that verifies facts of a branch. */
export interface Job {
  id: string;
  branch: string;
  state: "queued" | "running" | "waiting" | "stopped" | "failed" | "done";
  /** Facts to verify. */ total: number;
  /** How many were gone through so far. */ done: number;
  /** verified, plausible, unverified, invalidated; judge, heuristic; refused: gone or retired since. */ counts: Record<string, number>;
  votes: number;
  /** Calls of the judge that it may make. */ budget: number;
  calls: number;
  input_tokens: number;
  output_tokens: number;
  /** What it waits for, or why it failed. */ note: string;
  /** Why it asks the judge no more. */ fallback: string;
  resume_at: string | null;
  created_at: string;
  created_by: string;
  finished_at: string | null;
}

export interface JobPage extends Cursors {
  results: Job[];
}

/** Who joins a task. */
export interface JoinInput {
  /** Who joins; that of the key by default. */ agent_id?: string;
}

/** A task that an agent joined. */
export interface JoinedTask {
  task: Task;
  agent: TaskAgent;
  /** A work handle on the agent's branch, for MCP; told once. */ work: string;
  /** False when the agent had joined already. */ created: boolean;
}

/** Facts in use that are worth a look; one may be in several. */
export interface Junk {
  in_use: number;
  /** Past their end. */ stale: number;
  /** With an open question whether another one is right. */ contradicted: number;
  /** With an open question whether another one says the same. */ near_duplicate: number;
  /** Invalidated, and not archived yet. */ rejected: number;
  /** Of those in use, from 0 to 1. */ shares: Record<string, number | null>;
}

/** A key; its token is not in it. */
export interface Key {
  id: string;
  label: string;
  /** The part of the token that may be shown. */ prefix: string;
  scopes: string[];
  branch_patterns: string[];
  agent_id: string;
  user_id: string;
  app_id: string;
  /** Where MCP works when a call names no branch; empty is main. */ default_branch: string;
  rate_per_minute: number;
  max_facts: number;
  max_bytes: number;
  max_daily_writes: number;
  max_streams: number;
  /** Counted while it has a quota. */ written_facts: number;
  /** Counted while it has a quota. */ written_bytes: number;
  created_at: string;
  created_by: string;
  /** key, user, local (the command line), server (a key of it) or system; empty where nobody knows any more. */ created_by_kind: string;
  /** The id of the key or user; else empty. */ created_by_id: string;
  /** The key in whose place it is; null where it was made anew or taken over. */ rotated_from: string | null;
  expires_at: string | null;
  last_used_at: string | null;
  revoked_at: string | null;
}

/** The scopes, branches, rate and expiry of a key. */
export interface KeyInput {
  label: string;
  scopes: ("read" | "propose" | "write" | "curate" | "merge" | "admin" | "owner" | "metrics" | "server")[];
  /** Every branch when it is empty. */ branch_patterns?: string[];
  /** Bind the key to this agent. */ agent_id?: string;
  /** Bind the key to this end user: it reads and writes no other memory. */ user_id?: string;
  /** Bind the key to this app: it reads and writes no other memory. */ app_id?: string;
  /** Where MCP works when a call names no branch; main when it is empty. */ default_branch?: string;
  rate_per_minute?: number;
  /** Facts that it may write, each version counted; any number by default. */ max_facts?: number;
  /** Bytes of texts that it may write; any number by default. */ max_bytes?: number;
  /** Versions of memory that it may write in a day, in UTC; any number by default. */ max_daily_writes?: number;
  /** Streams of events that it may have open in each process that serves; 100 by default. */ max_streams?: number;
  expires_at?: string | null;
}

export interface KeyPage extends Cursors {
  results: Key[];
}

/** An agent's part of a task, and the newest facts of its branch. */
export interface Learned {
  agent: TaskAgent;
  facts: LearnedFact[];
}

export interface LearnedFact {
  id: string;
  essence: string;
  category: string;
  confidence: number;
  verification_status: string;
  created_at: string;
}

/** A limit, and what is used of it. */
export interface LimitState {
  name: string;
  /** project, or key: of the key that asks. */ owner: string;
  unit: string;
  /** minute, day or month in which it is counted; empty for what is there now. */ window: string;
  /** null: none. */ limit: number | null;
  /** null where it is not counted: without a limit, or in each process by itself. */ used: number | null;
  remaining: number | null;
  /** Of tokens of models, those that no server told. */ estimated: number | null;
  /** When a count begins anew, in UTC. */ resets_at: string | null;
  /** What sets it: a field of the project or key, or limits, or quota of the server. */ setting: string;
  help: string;
}

export interface LimitStatePage extends Cursors {
  results: LimitState[];
}

/** A link, as visible on the requested branch. */
export interface Link {
  id: string;
  /** The branch that it was read through. */ branch: string;
  version: number;
  from_id: string;
  to_id: string;
  to_type: "fact" | "observation" | "message";
  link_type: "ASSOCIATED" | "DEPENDS_ON" | "DERIVED_FROM" | "MESSAGE_OF" | "BRIDGE" | "CONSOLIDATED_FROM" | "CONTESTED_BY";
  weight: number;
  valid_from: string | null;
  valid_until: string | null;
  session_id: string;
  task_id: string;
  agent_id: string;
  created_at: string;
}

/** The other end of a link, and its type. */
export interface LinkInput {
  /** main when it is not given; branch_name is understood too. */ branch?: string;
  to_id: string;
  to_type?: "fact" | "observation" | "message";
  link_type: "ASSOCIATED" | "DEPENDS_ON" | "DERIVED_FROM" | "MESSAGE_OF" | "BRIDGE" | "CONSOLIDATED_FROM" | "CONTESTED_BY";
  /** 1.0 by default. */ weight?: number;
  valid_from?: string | null;
  valid_until?: string | null;
  /** An unknown session begins here. */ session_id?: string;
  task_id?: string;
  /** 403 when the key is bound to another agent. */ agent_id?: string;
}

export interface LinkPage extends Cursors {
  results: Link[];
}

/** A decision on a conflict. */
export interface MadeDecision {
  choice: "source" | "target" | "both" | "edited" | "skip";
  text: string;
  by: string;
  at: string | null;
  /** false when the conflict has changed since, or another one has to be decided first. */ counts: boolean;
}

/** A person with a role in the project. */
export interface Member {
  /** Of the account: the actor_id of what the person does. */ id: string;
  username: string;
  role: "viewer" | "curator" | "maintainer" | "owner";
  /** What groups at the login provider give, a role or empty; people gave the rest. */ group_role: "" | "viewer" | "curator" | "maintainer" | "owner";
  /** Whether the account may log in. */ active: boolean;
  /** Whether the person keeps the whole server: members cannot remove or lower them. */ superuser: boolean;
  created_by: string;
  /** key, user, local (the command line), server (a key of it) or system; empty where nobody knows any more. */ created_by_kind: string;
  /** The id of the key or user; else empty. */ created_by_id: string;
}

/** A new member: an account of this server. */
export interface MemberInput {
  /** The name of an account of this server. */ username: string;
  role?: "viewer" | "curator" | "maintainer" | "owner";
}

export interface MemberPage extends Cursors {
  results: Member[];
}

/** A branch, at a point of it, or a merge request as if it were merged. */
export interface MemoryStateInput {
  branch?: string;
  /** A seq, the id of a commit or snapshot, or a time. */ at?: string;
  /** Its id or number. */ merge_request?: string;
}

/** A merge, or its plan with dry_run. */
export interface Merge {
  dry_run: boolean;
  source: string;
  /** null when there was nothing to do. */ source_seq: number | null;
  target: string;
  target_seq: number | null;
  strategy: "auto" | "ours" | "theirs" | "cherry_pick" | "squash" | "fast_forward";
  /** By type and class; empty for who may not read the target. */ counts: Record<string, Record<string, number>>;
  /** Conflicts that are left without a decision, or were skipped. null for who may not read the target. */ open_conflicts: number | null;
  /** Facts without a vector: they were compared with no other. */ unchecked: number;
  /** Why: they wait for it, or there is no embedder. */ unchecked_reason: string;
  results: PlanItem[];
  next: string | null;
  previous: string | null;
  /** What the policy of the target says; after a merge as it was then. */ checks: Check[];
  /** Whether all checks pass; false after a merge that was forced. */ mergeable: boolean;
  /** null for a plan, or with nothing to do. */ commit: Commit | null;
}

/** The merge to check. */
export interface MergeGateInput {
  source_branch: string;
  /** The parent by default. */ target_branch?: string;
  /** True by default. */ require_verified?: boolean;
}

/** A merge of the branch into another. */
export interface MergeInput {
  /** An unknown session begins here. */ session_id?: string;
  task_id?: string;
  /** 403 when the key is bound to another agent. */ agent_id?: string;
  message?: string;
  /** true merges in spite of gates and approvals: scope admin, audited. */ force?: boolean;
  /** main when it is not given. */ target?: string;
  /** Another name of target. */ into?: string;
  /** auto holds conflicts until they are decided; ours and theirs decide them for the target or the source; cherry_pick takes the memories in ids; squash makes one fact of all new ones; fast_forward refuses when the target has changes of its own. */ strategy?: "auto" | "ours" | "theirs" | "cherry_pick" | "squash" | "fast_forward";
  /** The memories that cherry_pick takes. */ ids?: string[];
  decisions?: DecisionInput[];
  /** true shows the plan, and does nothing. */ dry_run?: boolean;
  /** Of a plan: only this kind of memory. */ type?: string;
  /** Of a plan. */ limit?: number;
  /** Of a plan. */ cursor?: string;
  /** Of a plan: only these classes. */ class?: ("conflict" | "applied" | "identical" | "rejected")[];
}

export interface MergePlan {
  source: string;
  source_seq: number;
  target: string;
  target_seq: number;
  strategy: "auto" | "ours" | "theirs" | "cherry_pick" | "squash" | "fast_forward";
  /** By type and class; empty for who may not read the target. */ counts: Record<string, Record<string, number>>;
  /** Conflicts that are left without a decision, or were skipped. null for who may not read the target. */ open_conflicts: number | null;
  /** Facts without a vector: they were compared with no other. */ unchecked: number;
  /** Why: they wait for it, or there is no embedder. */ unchecked_reason: string;
  results: PlanItem[];
  next: string | null;
  previous: string | null;
}

/** Whether what a branch would bring passes the verification gate. */
export interface MergeReadiness {
  source: string;
  target: string;
  can_merge: boolean;
  verified: number;
  /** Plausible ones and those by a method that does not count included. */ unverified: number;
  invalidated: number;
  /** The first 100 facts that stop it. */ offending: string[];
  /** The first 1,000 that would pass once a person verifies them, which one action of POST /facts/actions on the source does. */ verifiable: string[];
}

/** A merge request. */
export interface MergeRequest {
  id: string;
  /** Counted in the project, from 1. */ number: number;
  title: string;
  description: string;
  source: string;
  target: string;
  strategy: "auto" | "ours" | "theirs" | "cherry_pick" | "squash" | "fast_forward";
  ids: string[];
  /** approved while the source has no newer commit than those that were approved. */ state: "open" | "approved" | "merged" | "reverted" | "rejected";
  author_kind: string;
  author_id: string;
  author_label: string;
  author_agent: string;
  created_at: string;
  /** Of the source, when it was checked. */ source_seq: number;
  /** Of the target, when it was checked. */ target_seq: number;
  closed_at: string | null;
  closed_by: string;
  closed_by_kind: string;
  /** Why it was rejected. */ reason: string;
  merge_commit: string | null;
  revert_commit: string | null;
}

/** A merge request with its approvals; while it is pending, with its checks. */
export interface MergeRequestDetail extends MergeRequest {
  approvals: Approval[];
  checks: Check[];
  /** Why there are no checks: it is closed, or a branch is archived; "" otherwise. */ not_checked: string;
  /** Whether all checks pass; false without any; null where no check fails and one is hidden. */ mergeable: boolean | null;
  /** By type and class; empty for who may not read the target. */ counts: Record<string, Record<string, number>>;
  /** When a decision was last made or taken back, else when it was opened; null where hidden. */ decided_at: string | null;
}

/** A merge request to open. */
export interface MergeRequestInput {
  /** Made from the two branches when it is not given. */ title?: string;
  /** What it is for, up to 16 KiB. */ description?: string;
  /** The branch to merge. */ source: string;
  /** main when it is not given. */ target?: string;
  /** auto holds conflicts until they are decided; ours and theirs decide them for the target or the source; cherry_pick takes the memories in ids; squash makes one fact of all new ones; fast_forward refuses when the target has changes of its own. */ strategy?: "auto" | "ours" | "theirs" | "cherry_pick" | "squash" | "fast_forward";
  /** The memories that cherry_pick takes. */ ids?: string[];
  /** An unknown session begins here. */ session_id?: string;
  task_id?: string;
  /** 403 when the key is bound to another agent. */ agent_id?: string;
}

/** The message of the commit, and whether gates are overruled. */
export interface MergeRequestMergeInput {
  message?: string;
  /** true merges in spite of gates and approvals: scope admin, audited. */ force?: boolean;
  /** An unknown session begins here. */ session_id?: string;
  task_id?: string;
  /** 403 when the key is bound to another agent. */ agent_id?: string;
}

export interface MergeRequestPage extends Cursors {
  results: MergeRequest[];
}

/** A merged request. */
export interface Merged extends MergeRequest {
  commit: Commit;
  /** Conflicts that are left without a decision, or were skipped. */ open_conflicts: number;
}

/** A message, as it is read. */
export interface Message {
  id: string;
  /** The branch that it was read through. */ branch: string;
  conversation_id: string;
  sequence_num: number;
  role: "user" | "assistant" | "tool_call" | "tool_result" | "system" | "developer";
  content: string;
  /** null without the scope curate. */ thinking: string | null;
  has_thinking: boolean;
  tool_calls: Record<string, unknown>[];
  token_count: number;
  model: string;
  metadata: Record<string, unknown>;
  /** Of a copy: the message that was picked. */ picked_from: string | null;
  session_id: string;
  task_id: string;
  agent_id: string;
  user_id: string;
  app_id: string;
  /** When it was said, if that was earlier. */ said_at: string | null;
  created_at: string;
}

/** A message, with its neighbours in ``context``. */
export interface MessageHit {
  message: FoundMessage;
  score: number;
  /** The parts of the score, by name. */ signals: Record<string, number>;
  /** How likely it answers the query, between 0 and 1, for any query. */ evidence: number;
  context: FoundMessage[];
}

/** A message to append; content or tool_calls is needed. */
export interface MessageInput extends MessageItemInput {
  /** main when it is not given; branch_name is understood too. */ branch?: string;
}

/** One message of many. */
export interface MessageItemInput {
  /** An unknown session begins here. */ session_id?: string;
  task_id?: string;
  /** 403 when the key is bound to another agent. */ agent_id?: string;
  /** The end user whose memory this is about; 403 when the key is bound to another. */ user_id?: string;
  /** The app whose memory this is about; 403 when the key is bound to another. */ app_id?: string;
  /** The next one. */ sequence_num?: number;
  role: "user" | "assistant" | "tool_call" | "tool_result" | "system" | "developer";
  /** At most 1 MiB in UTF-8. */ content?: string | null;
  /** Shown to curators only. */ thinking?: string;
  tool_calls?: Record<string, unknown>[];
  token_count?: number;
  model?: string;
  metadata?: Record<string, unknown>;
  /** Users and assistants by default. */ embed?: boolean;
  said_at?: string | null;
}

export interface MessagePage extends Cursors {
  results: Message[];
}

/** The messages that were written, in the order of the request. */
export interface Messages {
  results: Message[];
}

/** Ids, filters or both: what fits all of them is deleted. */
export interface MessagesDeleteInput {
  /** main when it is not given; branch_name is understood too. */ branch?: string;
  /** Only these. */ ids?: string[];
  /** true deletes nothing, and answers what would be deleted. */ dry_run?: boolean;
  /** Messages of one of these roles. */ role?: ("user" | "assistant" | "tool_call" | "tool_result" | "system" | "developer")[];
  /** Messages of this conversation. */ conversation_id?: string;
  /** Messages of one of these end users. */ user_id?: string[];
  /** Messages of one of these apps. */ app_id?: string[];
  /** Messages of this repository, in any form; * is any. */ repository?: string;
  /** Messages recorded at this time or later. */ after?: string;
  /** Messages recorded before this time. */ before?: string;
  /** An unknown session begins here. */ session_id?: string;
  task_id?: string;
  /** 403 when the key is bound to another agent. */ agent_id?: string;
}

/** The signals, recipe and duration of a text search. */
export interface MessagesFound {
  signals_used: string[];
  recipe: string;
  took_ms: number;
  /** How likely the best of all that is found answers the query, 0 to 1. */ evidence: number;
  /** Whether that reaches the project's least; else nothing is known. */ known: boolean;
  /** Whether texts are still being indexed: their words alone find them. */ incomplete: boolean;
  /** Where nothing is known: that, and what is nearest; else empty. */ note: string;
  results: MessageHit[];
}

/** Up to 1,000 messages: one commit, all or none. */
export interface MessagesInput {
  messages: MessageItemInput[];
  /** main when it is not given; branch_name is understood too. */ branch?: string;
  /** An unknown session begins here. */ session_id?: string;
  task_id?: string;
  /** 403 when the key is bound to another agent. */ agent_id?: string;
  /** The end user whose memory this is about; 403 when the key is bound to another. */ user_id?: string;
  /** The app whose memory this is about; 403 when the key is bound to another. */ app_id?: string;
}

/** The branch and the caller. */
export interface MoveInput {
  /** main when it is not given; branch_name is understood too. */ branch?: string;
  /** 412 when the fact is at another. */ expected_version?: number;
  /** An unknown session begins here. */ session_id?: string;
  task_id?: string;
  /** 403 when the key is bound to another agent. */ agent_id?: string;
  /** The end user whose memory this is about; 403 when the key is bound to another. */ user_id?: string;
  /** The app whose memory this is about; 403 when the key is bound to another. */ app_id?: string;
}

/** A record that is no fact of its own, or a place that could not be read. */
export interface Named {
  /** At its product; of a place the file and the line. */ id: string;
  state: "duplicate" | "refused" | "broken";
  reason: string;
  /** The fact that says the same; empty without one. */ fact: string;
}

export interface Namespaces {
  namespaces: string[];
}

/** An invitation with its link, which is returned this once. */
export interface NewInvitation extends Invitation {
  /** Where it is accepted; null in a replayed answer. */ link: string | null;
}

/** A new key. The token is returned once; it is null in the answer to a repeated request. */
export interface NewKey extends Key {
  token: string | null;
}

/** An account of this server and its role. */
export interface NewMemberInput {
  /** The name of an account of this server. */ username: string;
  role?: "viewer" | "curator" | "maintainer" | "owner";
}

/** A project that was made, with its first key where one was asked for. */
export interface NewProject extends Project {
  key: Key | null;
  /** Of the key; null in the answer to a repeated request. */ token: string | null;
}

/** A new project. All but its slug may be left out. */
export interface NewProjectInput {
  /** A template of projects: settings, policies, instructions and members to begin with. */ template?: string;
  /** Accounts of this server that become members. */ members?: NewMemberInput[];
  /** A first key of the project, whose token is answered once. */ key?: FirstKeyInput | null;
  /** Its name in addresses: lower-case letters, digits, hyphens and underscores. Another one needs the scope server; pages at the old one lead to the new one, REST does not know it any more. */ slug: string;
  /** What people call the project. */ name?: string;
  /** How search ranks where a call names no recipe; empty for the server's default. */ recipe?: string;
  /** A search whose hits have less evidence says that nothing is known; null for 0. */ least_evidence?: number | null;
  /** Whether passwords, tokens and keys are taken out of whatever is written. */ redact_secrets?: boolean;
  /** Whether members see the project with a second factor alone; keys are not touched. */ require_second_factor?: boolean;
  /** Categories of facts that outlive a task, separated by commas; empty for the server's default. */ durable_categories?: string;
  /** Whether facts that are expired, old or over the budget are archived every day. */ age_facts?: boolean;
  /** Category -> days after which its facts are archived, 1 to 3,650, for at most 50 categories. */ category_ttl_days?: Record<string, unknown>;
  /** Facts of priority P3 and P4 that nobody recalled, changed or confirmed for so long are stale; null: never. */ stale_after_days?: number | null;
  /** How many facts of its own a branch may have in use; null: any number. */ fact_budget?: number | null;
  /** Whether what agents learned twice on main is merged every night, with a fact that sums up. */ consolidate_agents?: boolean;
  /** Whether reflections of observations on main that are alike are proposed every night. */ propose_reflections?: boolean;
  /** A reflection stands for so many observations at least. */ dream_min_size?: number;
  /** Cosine of each observation to the middle of its group, at least. */ dream_cohesion?: number;
  /** Dreaming leaves out observations that are younger, in cycles of the branch; 0: none. */ dream_min_age_cycles?: number;
  /** The nightly run waits until the branch has gone on for so many cycles; 0: it does not wait. */ dream_every_n_cycles?: number;
  /** Whether dreaming reads observations that no second source confirmed. */ dream_allow_zero_confirmation?: boolean;
  /** Origins of the observations that dreaming reads, separated by commas; empty for EXPERIENCE. */ dream_origins?: string;
  /** How many members the project may have; null: any number. Needs the scope server. */ member_limit?: number | null;
  /** How many facts one end user may have on a branch; null: any number. */ user_fact_limit?: number | null;
  /** Limit -> number, 0 for none, of: requests, daily_writes, branches, bundles, streams, model_calls, model_tokens. The lower of it and the server's holds. */ limits?: Record<string, unknown>;
}

/** A webhook with a new secret, which is told once; it is null in the answer to a repeated request. */
export interface NewWebhook extends Webhook {
  secret: string | null;
}

/** What a session that begins now would be told. */
export interface NextContext {
  branch: string;
  repository: string;
  /** As its program gets it; empty where there is nothing to tell. */ context: string;
  tokens: number;
  fact_ids: string[];
}

export interface Node {
  entity: string;
  /** Edges away from the entity that was asked for. */ distance: number;
}

/** A step of a task. */
export interface Objective {
  /** Its number, from 1. */ n: number;
  text: string;
  state: "todo" | "active" | "done" | "blocked";
  note: string;
  /** Who said so last. */ agent_id: string;
  updated_at: string;
}

/** The next state of an objective, or what is noted of it. */
export interface ObjectiveInput {
  /** todo to active, active to done or blocked, and back. */ state?: "todo" | "active" | "done" | "blocked";
  /** What is worth knowing of it, up to 1,000 characters. */ note?: string;
  /** Who says so; that of the key by default. */ agent_id?: string;
}

/** An observation, as it is read. */
export interface Observation {
  id: string;
  /** The branch that it was read through. */ branch: string;
  observation_type: "tool_use" | "discovery" | "decision" | "error" | "insight";
  tool_name: string;
  summary: string;
  /** At most 2,000 characters; what was longer ends in a mark. */ raw_input: string;
  /** At most 2,000 characters; what was longer ends in a mark. */ raw_output: string;
  outcome: "success" | "error" | "timeout";
  /** The observation that it follows from. */ parent_id: string | null;
  /** The message that holds the full text. */ message_id: string | null;
  metadata: Record<string, unknown>;
  session_id: string;
  task_id: string;
  agent_id: string;
  user_id: string;
  app_id: string;
  created_at: string;
}

export interface ObservationHit {
  observation: FoundObservation;
  score: number;
  /** The parts of the score, by name. */ signals: Record<string, number>;
  /** How likely it answers the query, between 0 and 1, for any query. */ evidence: number;
}

/** A summary, or a tool call to summarise. Texts are cut at 2,000 characters, never refused. */
export interface ObservationInput {
  /** main when it is not given; branch_name is understood too. */ branch?: string;
  observation_type?: "tool_use" | "discovery" | "decision" | "error" | "insight";
  tool_name?: string;
  /** Made from the call when not given. */ summary?: string;
  /** A text or JSON. */ raw_input?: unknown;
  /** A text or JSON. Empty where `message_id` names a tool's result, which holds it in full. */ raw_output?: unknown;
  outcome?: "success" | "error" | "timeout";
  parent_id?: string | null;
  message_id?: string | null;
  metadata?: Record<string, unknown>;
  /** Not for plain tool calls, by default. */ embed?: boolean;
  /** An unknown session begins here. */ session_id?: string;
  task_id?: string;
  /** 403 when the key is bound to another agent. */ agent_id?: string;
  /** The end user whose memory this is about; 403 when the key is bound to another. */ user_id?: string;
  /** The app whose memory this is about; 403 when the key is bound to another. */ app_id?: string;
}

export interface ObservationPage extends Cursors {
  results: Observation[];
}

/** Ids, filters or both: what fits all of them is deleted. */
export interface ObservationsDeleteInput {
  /** main when it is not given; branch_name is understood too. */ branch?: string;
  /** Only these. */ ids?: string[];
  /** true deletes nothing, and answers what would be deleted. */ dry_run?: boolean;
  /** Observations of one of these types. */ observation_type?: ("tool_use" | "discovery" | "decision" | "error" | "insight")[];
  /** Observations with one of these outcomes. */ outcome?: ("success" | "error" | "timeout")[];
  /** Calls of one of these tools. */ tool_name?: string[];
  /** Observations of one of these end users. */ user_id?: string[];
  /** Observations of one of these apps. */ app_id?: string[];
  /** Observations of this repository, in any form; * is any. */ repository?: string;
  /** Observations recorded at this time or later. */ after?: string;
  /** Observations recorded before this time. */ before?: string;
  /** An unknown session begins here. */ session_id?: string;
  task_id?: string;
  /** 403 when the key is bound to another agent. */ agent_id?: string;
}

/** The signals, recipe and duration of a text search. */
export interface ObservationsFound {
  signals_used: string[];
  recipe: string;
  took_ms: number;
  /** How likely the best of all that is found answers the query, 0 to 1. */ evidence: number;
  /** Whether that reaches the project's least; else nothing is known. */ known: boolean;
  /** Whether texts are still being indexed: their words alone find them. */ incomplete: boolean;
  /** Where nothing is known: that, and what is nearest; else empty. */ note: string;
  results: ObservationHit[];
}

export interface Observed {
  total: number;
  by_type: Record<string, number>;
  tools_used: Record<string, number>;
}

/** The outcome for one fact. */
export interface Outcome {
  id: string;
  outcome: "done" | "unchanged" | "refused";
  /** Why it was refused, as in an error. */ code: string;
  message: string;
}

/** A branch as a whole, and what happened there in the last days. */
export interface Overview {
  branch: string;
  since: string;
  /** The end of the last day or hour. */ until: string;
  /** What the branch shows, by kind. */ counts: Record<string, number>;
  facts_by_status: Record<string, number>;
  /** The 50 most frequent. */ facts_by_category: Record<string, number>;
  /** Facts by the verdict on what they say now. */ verification: Record<string, number>;
  /** Of messages, by role. */ tokens: Record<string, number>;
  /** What judge and consolidation cost in the range. */ model_tokens: Record<string, number>;
  /** What was written in the range, and searches. */ activity: Record<string, number>;
  consolidation: Yield;
  /** From 0 to 1; null where there is nothing. */ verified_share: number | null;
}

/** A value of the first and one of the second. */
export interface Pair {
  first: number;
  second: number;
}

/** What a branch held at a point: a page of one kind of memory. */
export interface Past {
  branch: string;
  /** The point on the branch; below 0 one of an ancestor, before the fork. */ seq: number;
  /** The newest commit that it shows; null where there was none yet. */ commit: TitledCommit | null;
  type: string;
  /** Rows as the lists of this kind have them. */ results: Record<string, unknown>[];
  next: string | null;
  previous: string | null;
}

/** A run: its commit, how many it archived for each reason, and whether it is undone. */
export interface PastRun extends Commit {
  reasons: Record<string, number>;
  undone: boolean;
}

export interface PastRunPage extends Cursors {
  results: PastRun[];
}

/** What a cherry-pick has made, or had made before. */
export interface Pick {
  conversation: Conversation;
  messages: Message[];
  /** How many messages are new. */ added: number;
  /** Facts that are linked to the copies. */ fact_ids: string[];
}

/** One memory that the source changed, and what the merge does with it. */
export interface PlanItem {
  id: string;
  type: string;
  /** "", as the reason, for who may not read the target. */ class: "conflict" | "applied" | "identical" | "rejected" | "";
  /** Which conflict it is, or why it is rejected. */ reason: string;
  /** Names both versions: send it with a decision. */ token: string;
  /** As both, and where they differ the source, had it last. */ base: Record<string, unknown> | null;
  /** As the target shows it. */ ours: Record<string, unknown> | null;
  /** As the source shows it. */ theirs: Record<string, unknown> | null;
  /** Of what differs: [base, ours, theirs, merged]. */ fields: Record<string, unknown[]>;
  /** The fields that a decision settles, such as fact_text or metadata.owner; all others are merged. None where all is in conflict. */ conflicting: string[];
  /** Of fields about which both last agreed to different values: [the target's, the source's]. */ disagreed: Record<string, unknown[]>;
  /** The target's fact that it is nearly equal to. */ other: Record<string, unknown> | null;
  /** How near: the cosine of both texts. */ score: number | null;
  /** The fact that it replaces, or that replaces it, where a cherry_pick leaves that one out. */ left_half: string | null;
  decision: MadeDecision | null;
}

/** What was written from ``start`` on. */
export interface Point {
  start: string;
  facts: number;
  messages: number;
  conversations: number;
  observations: number;
  recalls: number;
  /** Searches that found nothing. */ misses: number;
}

/** The policy of a branch or a pattern of names. */
export interface Policy {
  /** The branch or pattern that it is for; empty in the defaults. */ pattern: string;
  direct_writes: "allow" | "propose" | "refuse";
  approvals: number;
  author_may_approve: boolean;
  gates: string[];
  /** Whose verdicts count as verified: human, judge. */ accept_methods: string[];
  updated_at: string | null;
  updated_by: string;
}

/** The policy in force on a branch; ``pattern`` names the entry that gave it. */
export interface PolicyInForce {
  /** The branch or pattern that it is for; empty in the defaults. */ pattern: string;
  direct_writes: "allow" | "propose" | "refuse";
  approvals: number;
  author_may_approve: boolean;
  gates: string[];
  /** Whose verdicts count as verified: human, judge. */ accept_methods: string[];
}

/** Rules of a policy; what is not given stays as it is. */
export interface PolicyInput {
  /** What happens to writes that no merge brings. propose: facts become proposals, except a curator's. */ direct_writes?: "allow" | "propose" | "refuse";
  /** How many people must approve a merge request. */ approvals?: number;
  /** Whether the author's own approval counts. */ author_may_approve?: boolean;
  /** The checks that a merge request must pass. */ gates?: ("conflicts" | "require_verified" | "secrets" | "recall")[];
  /** Whose verdicts count as verified: human, judge. heuristic is still taken, and counts for nothing. */ accept_methods?: ("human" | "judge" | "heuristic")[];
}

export interface PolicyPage extends Cursors {
  results: Policy[];
}

/** How full a branch is: facts in use against its budget, and what would go. */
export interface Pressure {
  branch: string;
  /** Facts of the branch's own that are in use. */ facts: number;
  budget: number | null;
  /** Facts through budget; above 1 it is over. */ share: number | null;
  /** Reason -> how many a run would archive now. */ counts: Record<string, number>;
  /** What the budget would take after those; without one, nothing. */ next: AgedFact[];
}

/** What a run would archive now, with a page of the facts; nothing is written. */
export interface Preview {
  branch: string;
  /** Facts of the branch's own that are in use. */ total: number;
  budget: number | null;
  /** How many would be archived, on all pages. */ count: number;
  /** Reason -> how many. */ counts: Record<string, number>;
  /** Why facts are left that would go -> how many. */ kept: Record<string, number>;
  /** The number of an open merge request from the branch: nothing ages there. */ blocked_by: number | null;
  results: AgedFact[];
  next: string | null;
  previous: string | null;
}

/** Which branch to look at, and what of it, as for a run. */
export interface PreviewInput {
  /** main when it is not given; branch_name is understood too. */ branch?: string;
  reasons?: ("expired" | "time_to_live" | "stale" | "over_budget")[];
  /** Only these, as far as they aged. */ fact_ids?: string[];
  /** Not these. */ exclude?: string[];
  /** Results on a page. */ limit?: number;
  /** ``next`` or ``previous`` of another page. */ cursor?: string;
}

/** A problem (RFC 9457), with a stable ``code``. */
export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  code: string;
  /** Which input is at fault, where one is. */ field?: string;
  /** What the sentence is made of, for programs. */ data?: Record<string, unknown>;
  /** As in the header X-Request-Id and in the log. */ request_id?: string;
}

/** A project with its settings. */
export interface Project {
  /** It stays when the slug changes. */ id: string;
  /** The project's name in addresses. */ slug: string;
  /** Of the settings: it grows with each change of them. */ version: number;
  name: string;
  recipe: string;
  least_evidence: number | null;
  redact_secrets: boolean;
  require_second_factor: boolean;
  durable_categories: string;
  age_facts: boolean;
  category_ttl_days: Record<string, unknown>;
  stale_after_days: number | null;
  fact_budget: number | null;
  consolidate_agents: boolean;
  propose_reflections: boolean;
  dream_min_size: number;
  dream_cohesion: number;
  dream_min_age_cycles: number;
  dream_every_n_cycles: number;
  dream_allow_zero_confirmation: boolean;
  dream_origins: string;
  member_limit: number | null;
  user_fact_limit: number | null;
  limits: Record<string, unknown>;
  created_at: string;
  /** open, or removing while it is taken away. */ state: string;
  /** How far the removal has come: since, rows, removed. null where it is not removed. */ removal: Record<string, unknown> | null;
}

/** Settings of a project; what is not given stays as it is. */
export interface ProjectInput {
  /** 412 when the fact is at another. */ expected_version?: number;
  /** Its name in addresses: lower-case letters, digits, hyphens and underscores. Another one needs the scope server; pages at the old one lead to the new one, REST does not know it any more. */ slug?: string;
  /** What people call the project. */ name?: string;
  /** How search ranks where a call names no recipe; empty for the server's default. */ recipe?: string;
  /** A search whose hits have less evidence says that nothing is known; null for 0. */ least_evidence?: number | null;
  /** Whether passwords, tokens and keys are taken out of whatever is written. */ redact_secrets?: boolean;
  /** Whether members see the project with a second factor alone; keys are not touched. */ require_second_factor?: boolean;
  /** Categories of facts that outlive a task, separated by commas; empty for the server's default. */ durable_categories?: string;
  /** Whether facts that are expired, old or over the budget are archived every day. */ age_facts?: boolean;
  /** Category -> days after which its facts are archived, 1 to 3,650, for at most 50 categories. */ category_ttl_days?: Record<string, unknown>;
  /** Facts of priority P3 and P4 that nobody recalled, changed or confirmed for so long are stale; null: never. */ stale_after_days?: number | null;
  /** How many facts of its own a branch may have in use; null: any number. */ fact_budget?: number | null;
  /** Whether what agents learned twice on main is merged every night, with a fact that sums up. */ consolidate_agents?: boolean;
  /** Whether reflections of observations on main that are alike are proposed every night. */ propose_reflections?: boolean;
  /** A reflection stands for so many observations at least. */ dream_min_size?: number;
  /** Cosine of each observation to the middle of its group, at least. */ dream_cohesion?: number;
  /** Dreaming leaves out observations that are younger, in cycles of the branch; 0: none. */ dream_min_age_cycles?: number;
  /** The nightly run waits until the branch has gone on for so many cycles; 0: it does not wait. */ dream_every_n_cycles?: number;
  /** Whether dreaming reads observations that no second source confirmed. */ dream_allow_zero_confirmation?: boolean;
  /** Origins of the observations that dreaming reads, separated by commas; empty for EXPERIENCE. */ dream_origins?: string;
  /** How many members the project may have; null: any number. Needs the scope server. */ member_limit?: number | null;
  /** How many facts one end user may have on a branch; null: any number. */ user_fact_limit?: number | null;
  /** Limit -> number, 0 for none, of: requests, daily_writes, branches, bundles, streams, model_calls, model_tokens. The lower of it and the server's holds. */ limits?: Record<string, unknown>;
}

export interface ProjectPage extends Cursors {
  results: Project[];
}

/** A template of projects; a part that it does not have is null. */
export interface ProjectTemplate {
  /** The name by which POST /projects takes it. */ name: string;
  settings: Record<string, unknown> | null;
  policies: Record<string, unknown>[] | null;
  instructions: Record<string, unknown> | null;
  rules_off: string[] | null;
  members: Record<string, unknown>[] | null;
  created_at: string;
  created_by: string;
  /** key, user, local (the command line), server (a key of it) or system; empty where nobody knows any more. */ created_by_kind: string;
  /** The id of the key or user; else empty. */ created_by_id: string;
}

/** A new template: what a project has, what is given, or both. */
export interface ProjectTemplateInput {
  /** The slug of a project: what it has is stored, but for the parts that are given. */ project?: string;
  /** Lower-case letters, digits, hyphens and underscores. */ name: string;
  /** Settings of the project as PATCH /projects takes them, without slug and name. */ settings?: Record<string, unknown>;
  /** Policies of branches: each a pattern with its rules, as PATCH /policies takes them. */ policies?: Record<string, unknown>[];
  /** What is to be remembered: preset, or text and categories, as POST /instructions takes them. */ instructions?: Record<string, unknown>;
  /** The rules of learning that are switched off. */ rules_off?: string[];
  /** Accounts of this server that become members: each a username and a role. */ members?: Record<string, unknown>[];
}

export interface ProjectTemplatePage extends Cursors {
  results: ProjectTemplate[];
}

/** A quarantine. */
export interface Quarantine {
  id: string;
  source: "session" | "agent" | "key" | "import";
  target: string;
  /** What people call the source. */ label: string;
  reason: string;
  state: "active" | "released";
  /** Kind of memory -> how many it hid at first. */ counts: Record<string, unknown>;
  created_at: string;
  created_by: string;
  released_at: string | null;
  released_by: string;
}

/** A quarantine with the newest facts that it hides now, or would hide. */
export interface QuarantineDetail extends Quarantine {
  facts: HiddenFact[];
  /** true when nothing was hidden or stored: its id leads nowhere. */ dry_run: boolean;
}

/** A new quarantine. */
export interface QuarantineInput {
  /** Only count what it would hide; nothing is hidden. */ dry_run?: boolean;
  /** What is put into quarantine. */ source: "session" | "agent" | "key" | "import";
  /** Its id: of the session, the agent or the key; of an import, that of one of its commits. */ target: string;
  /** Why. */ reason?: string;
}

export interface QuarantinePage extends Cursors {
  results: Quarantine[];
}

/** A question with its two facts as visible on its branch now; null where they are not. */
export interface Question {
  id: string;
  branch: string;
  kind: "near_duplicate" | "contested";
  status: "open" | "resolved";
  fact_id: string;
  other_id: string;
  score: number;
  resolution: string;
  details: Record<string, unknown>;
  created_at: string;
  resolved_at: string | null;
  resolved_by: string;
  fact: Fact | null;
  other: Fact | null;
}

/** A question of several. Ids that no branch has are taken too: a run names them. */
export interface QuestionLineInput {
  /** The question, as a search is asked it: up to 8,000 characters. */ text: string;
  /** The ids of the facts that a search should find, 1 to 20. */ expected: string[];
  /** Search among the facts of this category alone. */ category?: string;
  /** Search among the facts of this repository alone. */ repository?: string;
  /** Why it is asked, up to 500 characters. */ note?: string;
}

export interface QuestionPage extends Cursors {
  results: Question[];
}

/** Several questions, saved all or none. */
export interface QuestionsInput {
  questions: QuestionLineInput[];
  /** main when it is not given; branch_name is understood too. */ branch?: string;
}

/** A rating of a fact's text by the judge, or by the heuristic, which is no judgement. */
export interface Rating {
  id: string;
  fact_id: string;
  method: "human" | "judge" | "heuristic";
  /** By the average; the heuristic's is plausible or unverified. */ verdict: "unverified" | "plausible" | "verified" | "invalidated";
  average: number;
  scores: Score[];
  /** That judged; empty from the heuristic. */ model: string;
  /** Name and version of the prompt. */ prompt: string;
  votes: number;
  calls: number;
  input_tokens: number;
  output_tokens: number;
  took_ms: number;
  /** Why the heuristic stood in for the judge. */ fallback: string;
  /** Whether it became the fact's verdict, rather than a stronger one. */ applied: boolean;
  created_at: string;
  created_by: string;
}

/** One path from the fact to the other. */
export interface Reason {
  by: "link" | "parent" | "source" | "entity";
  /** Steps: a link is 1, over a source or an entity 2, and 1 a relation. */ distance: number;
  /** The type of the link, the kind of the source, the entity. */ name: string;
  /** Of the link or the source. */ id: string | null;
}

/** What the assistant said. */
export interface Reasoning {
  similarity: number;
  method: "vectors" | "words";
  aligned: number;
  diverged: number;
  segments: Pair;
  /** Aligned segments, the least alike first, at most 100. */ pairs: Segment[];
}

export interface Redaction {
  /** The fields that held secrets, which were not stored; missing for none. Those of one of several items are named with its place, such as facts[2].tags. */ redacted_fields?: string[];
}

/** Which facts of a run are rejected. */
export interface RejectChangesInput {
  fact_ids: string[];
}

/** Why it is not merged. */
export interface RejectInput {
  reason?: string;
  /** An unknown session begins here. */ session_id?: string;
  task_id?: string;
  /** 403 when the key is bound to another agent. */ agent_id?: string;
}

/** A relation, as it is read. */
export interface Relation {
  id: string;
  /** The branch that it was read through. */ branch: string;
  version: number;
  source_entity: string;
  relation_type: string;
  target_entity: string;
  properties: Record<string, unknown>;
  confidence: number;
  /** How often it was stated while open. */ strength: number;
  valid_from: string | null;
  /** null while it is open. */ valid_until: string | null;
  session_id: string;
  task_id: string;
  agent_id: string;
  created_at: string;
  updated_at: string;
}

/** An edge between two entities. */
export interface RelationInput {
  /** main when it is not given; branch_name is understood too. */ branch?: string;
  source_entity: string;
  /** type is understood too. */ relation_type: string;
  target_entity: string;
  properties?: Record<string, unknown>;
  /** 1.0 by default. */ confidence?: number;
  valid_from?: string | null;
  /** Later than valid_from. */ valid_until?: string | null;
  /** An unknown session begins here. */ session_id?: string;
  task_id?: string;
  /** 403 when the key is bound to another agent. */ agent_id?: string;
}

export interface RelationPage extends Cursors {
  results: Relation[];
}

export interface Relative {
  fact: FoundFact;
  /** Of the shortest way. */ distance: number;
  why: Reason[];
}

/** Related facts, nearest first. */
export interface Relatives {
  results: Relative[];
  /** Those that the fact names, and those connected to them. */ entities: Node[];
  /** true when there were more entities than were looked for. */ truncated: boolean;
}

/** What became of messages. */
export interface Remember {
  session_id: string;
  conversation_id: string;
  results: Remembered[];
  /** How many of each action. */ counts: Record<string, number>;
  /** Who read them: rules, or a language model. */ mode: "rules" | "llm";
  /** Why a model did not read all of them. */ note: string;
}

/** Messages to learn from. */
export interface RememberInput {
  /** Or texts of a person, or one text. */ messages: RememberedMessageInput[];
  /** They end its conversation; without it a session of their own begins. */ session_id?: string;
  agent_id?: string;
  task_id?: string;
  /** The end user whose memory they are. */ user_id?: string;
  /** The app whose memory they are. */ app_id?: string;
}

/** What became of a statement, or of a message of which nothing was learned, or is not yet. */
export interface Remembered {
  action: "added" | "updated" | "superseded" | "ignored" | "pending";
  /** Of the fact; of an ignored or pending message, its beginning. */ text: string;
  reason: string;
  /** What was added, updated or superseded. */ fact_id: string | null;
  /** Empty for a message of which nothing was learned. */ category: string;
  /** Whom a plain fact of a life is about: a name, a relation, or user for who speaks. */ person: string;
  /** The message that says it. */ message_id: string | null;
  /** Of a superseded fact: the one in its place. */ newer_id: string | null;
}

/** A message to learn from. */
export interface RememberedMessageInput {
  /** user by default. */ role?: "user" | "assistant" | "tool_call" | "tool_result" | "system" | "developer";
  /** A text, or a list of parts of which those of type text are read. */ content: string;
  /** Of the speaker. */ name?: string;
  /** When it was said, if that was earlier. */ said_at?: string;
  /** Kept with the message, as it is. */ metadata?: Record<string, unknown>;
}

/** A removal: of a project that is gone, or with the state removing of one that is being taken away. */
export interface Removal {
  id: string;
  slug: string;
  state: "removed" | "removing";
  /** How many there were, every version counted. */ rows: number;
  /** How many are gone. */ removed: number;
  /** Kind of row -> how many there were; {} later on. */ counts: Record<string, number>;
}

/** How a member is removed. */
export interface RemovalInput {
  /** true removes nothing, and answers what would end. */ dry_run?: boolean;
}

/** A replay, as it is read. */
export interface Replay {
  id: string;
  /** Of the fork. */ branch: string;
  /** The fork, which takes the messages. */ conversation_id: string;
  source_branch: string;
  /** The conversation that is replayed. */ source_id: string;
  /** The last message that both share. */ message_id: string;
  state: "ready" | "queued" | "running" | "waiting" | "done" | "stopped" | "failed" | "cancelled";
  model: string;
  temperature: number | null;
  max_tokens: number | null;
  tools_allow: string[];
  tools_deny: string[];
  system_prompt: string;
  extra_context: string;
  /** What memory gave. */ memory_context: string;
  max_steps: number;
  max_total_tokens: number | null;
  max_cost: number | null;
  score: boolean;
  /** Verdict, similarities and method (vectors or words), once it is done. */ comparison: Record<string, unknown>;
  /** That it belongs to. */ batch_id: string | null;
  steps: number;
  /** Requests to the model, failed ones too. */ calls: number;
  input_tokens: number;
  output_tokens: number;
  /** null without prices. */ cost: number | null;
  /** Calls of tools without a recorded result. */ unknown_calls: number;
  /** Why it waits, stopped or failed. */ note: string;
  resume_at: string | null;
  created_at: string;
  created_by: string;
  finished_at: string | null;
  /** The state of the memory that the context was told from. */ memory: Record<string, unknown>;
}

/** Replays of many conversations with the same parameters. */
export interface ReplayBatch {
  id: string;
  branch: string;
  name: string;
  /** The prompt at which each is forked. */ start: string;
  parameters: Record<string, unknown>;
  /** Money that its replays may cost together. */ max_total_cost: number | null;
  /** Conversation -> why it is not replayed. */ skipped: Record<string, string>;
  created_at: string;
  created_by: string;
}

/** Which conversations are replayed, by id or by filters, and with what; the newest by default. */
export interface ReplayBatchInput {
  /** main when it is not given; branch_name is understood too. */ branch?: string;
  conversation_ids?: string[];
  /** Those of the list of conversations. */ filters?: Record<string, unknown>;
  /** The prompt at which each is forked; the first by default. */ start?: "first" | "last";
  name?: string;
  memory?: MemoryStateInput;
  /** Money that all replays may cost together, by the prices. */ max_total_cost?: number | null;
  /** The one of the settings by default. */ model?: string;
  temperature?: number | null;
  /** Of one answer. */ max_tokens?: number | null;
  /** Names of tools; all by default. */ tools_allow?: string[];
  /** Names of tools that are not offered. */ tools_deny?: string[];
  /** In place of those of the conversation. */ system_prompt?: string;
  /** Behind the system prompt. */ extra_context?: string;
  /** Answers of the model, 20 by default. */ max_steps?: number;
  /** Of all requests and answers. */ max_total_tokens?: number | null;
  /** By the prices of the settings. */ max_cost?: number | null;
  /** Have judges rate both sides at the end; needs curate. */ score?: boolean;
  /** An unknown session begins here. */ session_id?: string;
  task_id?: string;
  /** 403 when the key is bound to another agent. */ agent_id?: string;
}

export interface ReplayBatchPage extends Cursors {
  results: ReplayBatch[];
}

/** What an agent goes on from, in the format of OpenAI's chat API. */
export interface ReplayContext {
  replay_id: string;
  model: string;
  messages: Record<string, unknown>[];
  tools: Record<string, unknown>[];
  /** About how many the messages have. */ tokens: number;
  temperature: number | null;
  max_tokens: number | null;
}

/** One of the events, or all of them. */
export interface ReplayFailuresInput {
  /** The number of one event; all of them without it. */ event?: number;
}

/** Where a conversation is forked, and what is changed; limits of steps, tokens and money. */
export interface ReplayInput {
  /** The last message that both share. */ message_id: string;
  /** main when it is not given; branch_name is understood too. */ branch?: string;
  /** A branch to create as of that message, for the fork. */ memory_branch?: string;
  memory?: MemoryStateInput;
  /** The one of the settings by default. */ model?: string;
  temperature?: number | null;
  /** Of one answer. */ max_tokens?: number | null;
  /** Names of tools; all by default. */ tools_allow?: string[];
  /** Names of tools that are not offered. */ tools_deny?: string[];
  /** In place of those of the conversation. */ system_prompt?: string;
  /** Behind the system prompt. */ extra_context?: string;
  /** Answers of the model, 20 by default. */ max_steps?: number;
  /** Of all requests and answers. */ max_total_tokens?: number | null;
  /** By the prices of the settings. */ max_cost?: number | null;
  /** Have judges rate both sides at the end; needs curate. */ score?: boolean;
  /** An unknown session begins here. */ session_id?: string;
  task_id?: string;
  /** 403 when the key is bound to another agent. */ agent_id?: string;
}

/** Limits that take the place of those that the replay had. */
export interface ReplayLimitsInput {
  /** Answers of the model, 20 by default. */ max_steps?: number;
  /** Of all requests and answers. */ max_total_tokens?: number | null;
  /** By the prices of the settings. */ max_cost?: number | null;
}

export interface ReplayPage extends Cursors {
  results: Replay[];
}

/** The outcome for each fact, in the order of the request. */
export interface Report {
  results: Outcome[];
  /** Reverting it undoes the action; null when nothing changed. */ commit: Commit | null;
  /** The fact with the new text in their place. */ new_fact_id: string | null;
  /** Whether that fact was written; false when it was there already. */ created: boolean;
}

/** The answer to a question. */
export interface ResolveInput {
  decision: "keep_both" | "supersede" | "same" | "archive" | "combine" | "dismiss";
  /** The fact that stays: supersede, same, archive. */ keep?: string | null;
  /** What takes the place of both, with combine. */ new_fact_text?: string;
  reason?: string;
  /** Ids, and the versions that were read. */ expected_versions?: Record<string, number>;
  /** An unknown session begins here. */ session_id?: string;
  task_id?: string;
  /** 403 when the key is bound to another agent. */ agent_id?: string;
}

/** A question with its answer. Reverting the commit opens it again. */
export interface Resolved extends Question {
  commit: Commit;
  /** The fact that was written in the place of both. */ new_fact_id: string | null;
}

/** A plan of a restore, or its result. */
export interface Restore {
  snapshot: Snapshot;
  dry_run: boolean;
  branches: BranchPlan[];
  /** Rows that the store had lost, by type. */ mended: Record<string, number>;
}

/** Options of a restore. */
export interface RestoreInput {
  /** true tells what would be done, and does nothing. */ dry_run?: boolean;
}

/** The branch and the caller. */
export interface RestoreMemoryInput {
  /** main when it is not given; branch_name is understood too. */ branch?: string;
  /** An unknown session begins here. */ session_id?: string;
  task_id?: string;
  /** 403 when the key is bound to another agent. */ agent_id?: string;
  /** The end user whose memory this is about; 403 when the key is bound to another. */ user_id?: string;
  /** The app whose memory this is about; 403 when the key is bound to another. */ app_id?: string;
}

/** Another role of a member. */
export interface RoleInput {
  role: "viewer" | "curator" | "maintainer" | "owner";
}

/** The grace period of the old key. */
export interface RotateInput {
  /** How long the old key still opens. */ grace_seconds?: number;
  /** true: the new key is yours alone. Else it ends with who made the first, and with you. */ take_over?: boolean;
}

/** The messages after what both share, aligned. */
export interface RowDiff {
  first_id: string;
  second_id: string;
  /** Messages at the begin that are the same rows in both. */ shared: number;
  divergence: Divergence | null;
  /** Rows by change, of all pages. */ counts: Record<string, number>;
  results: DiffRow[];
  next: string | null;
}

/** A rule by which sessions are learned from. */
export interface Rule {
  name: string;
  /** Whether sessions that end are learned from by it. */ enabled: boolean;
  /** Facts that it made on the branch, in any state. */ facts: number;
  /** How many of them a search finds. */ searched: number;
}

/** The switch of a rule. */
export interface RuleInput {
  enabled: boolean;
}

export interface RulePage extends Cursors {
  results: Rule[];
}

/** What a run archived. */
export interface Run {
  /** Reverting it undoes the run; null without any. */ commit: Commit | null;
  count: number;
  /** Reason -> how many. */ counts: Record<string, number>;
  /** How many wait for another run: a commit has at most 5,000. */ remaining: number;
  /** How many were changed while the run began, and are left. */ changed_meanwhile: number;
}

/** A fact that a run made, confirmed, saw repeated or kept of several, as it was then. */
export interface RunChange {
  action: "created" | "confirmed" | "repeated" | "merged";
  fact_id: string;
  fact_text: string;
  category: string;
  confidence: number;
  evidence: Evidence[];
  /** What a curator said of it. */ answer: "" | "accepted" | "rejected";
}

/** What to archive; without more than the branch, all that has aged. */
export interface RunInput {
  /** main when it is not given; branch_name is understood too. */ branch?: string;
  reasons?: ("expired" | "time_to_live" | "stale" | "over_budget")[];
  /** Only these, as far as they aged. */ fact_ids?: string[];
  /** Not these. */ exclude?: string[];
  /** Ids, and the versions that were read. */ expected_versions?: Record<string, number>;
  /** An unknown session begins here. */ session_id?: string;
  task_id?: string;
  /** 403 when the key is bound to another agent. */ agent_id?: string;
}

/** A saved question and the facts that a search should find. */
export interface SavedQuestion {
  id: string;
  text: string;
  expected: string[];
  category: string;
  repository: string;
  note: string;
  /** Where it was saved. */ branch: string;
  created_at: string;
  updated_at: string;
  created_by: string;
}

/** A new question. The branch shows the facts that it expects. */
export interface SavedQuestionInput {
  /** main when it is not given; branch_name is understood too. */ branch?: string;
  /** The question, as a search is asked it: up to 8,000 characters. */ text: string;
  /** The ids of the facts that a search should find, 1 to 20. */ expected: string[];
  /** Search among the facts of this category alone. */ category?: string;
  /** Search among the facts of this repository alone. */ repository?: string;
  /** Why it is asked, up to 500 characters. */ note?: string;
}

export interface SavedQuestionPage extends Cursors {
  results: SavedQuestion[];
}

/** Changed fields of a question. */
export interface SavedQuestionUpdateInput {
  /** The question, as a search is asked it: up to 8,000 characters. */ text?: string;
  /** The ids of the facts that a search should find, 1 to 20. */ expected?: string[];
  /** Search among the facts of this category alone. */ category?: string;
  /** Search among the facts of this repository alone. */ repository?: string;
  /** Why it is asked, up to 500 characters. */ note?: string;
}

/** The saved questions in the order given. */
export interface SavedQuestions {
  results: SavedQuestion[];
  /** How many are new: what the branch has already is not saved twice. */ created: number;
}

/** One dimension of a rating. */
export interface Score {
  dimension: string;
  /** 0 to 1. */ value: number;
  /** Why, in the judge's words; empty from the heuristic. */ explanation: string;
}

/** A score of a person or of an outside judge. */
export interface ScoreInput {
  /** main when it is not given; branch_name is understood too. */ branch?: string;
  /** What is rated. */ target_type: "fact" | "conversation";
  /** Its id. */ target_id: string;
  /** Lower-case letters, digits and _: helpfulness, or one of your own. */ dimension: string;
  /** 0 to 1. */ value: number;
  /** Why. */ explanation?: string;
  /** Who gives it; you by default. */ scorer?: string;
  /** A person, or an outside judge: a program. A key's is external by default. */ method?: "human" | "external";
}

/** The scores of a target; the newest of each scorer counts, a key or a person once. */
export interface ScoreSummary {
  dimensions: DimensionSummary[];
  /** Left out of them: scores of a heuristic, which are no judgement. */ guesses: number;
  /** Empty, or that nobody has judged yet. */ warning: string;
}

/** A rating of a conversation by judges. */
export interface Scoring {
  id: string;
  branch: string;
  conversation_id: string;
  state: "queued" | "running" | "waiting" | "failed" | "done";
  dimensions: string[];
  judges: string[];
  votes: number | null;
  /** What each vote gave, or why nothing. */ ballots: Record<string, unknown>[];
  /** judge, or heuristic: 0.5 each, which is no judgement. */ method: "judge" | "human" | "external" | "heuristic";
  average: number | null;
  /** How many the judges were shown. */ messages: number;
  /** Name and version of the prompt. */ prompt: string;
  /** Requests to judges, failed ones too. */ calls: number;
  input_tokens: number;
  output_tokens: number;
  /** What fell short, or what it waits for. */ warning: string;
  resume_at: string | null;
  created_at: string;
  created_by: string;
  finished_at: string | null;
  /** The median of the votes; empty until it is done. */ scores: GivenScore[];
}

export interface ScoringPage extends Cursors {
  results: Scoring[];
}

/** The query, branches, filters and options of a search. */
export interface SearchInput {
  /** main when it is not given; branch_name is understood too. */ branch?: string;
  /** hybrid by default. */ search_type?: "hybrid" | "keyword" | "vector";
  /** What a search leaves out otherwise. */ include?: ("superseded" | "archived" | "created" | "expired" | "outdated" | "invalidated")[];
  /** How scores are mixed. */ recipe?: "answers" | "default" | "hybrid" | "seed" | "timeless" | "words";
  /** 10 by default. */ limit?: number;
  /** The budget of ``context``. */ max_tokens?: number;
  /** ``next`` of another page of this search, whose limit and point hold; not with max_tokens. */ cursor?: string;
  /** A point in the branch's past: a seq, a commit's id or a time in ISO 8601. */ at?: number | string;
  /** Count ages in cycles up to this one. */ current_cycle?: number;
  query: string;
  /** Names or patterns such as task/*; branch_names is understood too. */ branches?: string[];
  time_range?: TimeRange;
  /** Facts of one of these categories. */ category?: string[];
  /** Facts of one of these kinds. */ kind?: ("OBSERVATION" | "BELIEF" | "TASK" | "OUTPUT_DRAFT" | "NOTE" | "REFLECTION")[];
  /** Facts in one of these states of their life. */ status?: ("created" | "active" | "done" | "superseded" | "archived")[];
  /** Facts written in one of these sessions. */ session_id?: string[];
  /** Facts written by one of these agents. */ agent_id?: string[];
  /** Facts written for one of these tasks. */ task_id?: string[];
  /** The end user whose memory this is about; 403 when the key is bound to another. */ user_id?: string;
  /** The app whose memory this is about; 403 when the key is bound to another. */ app_id?: string;
  /** Facts of one of these priorities. */ priority?: ("P1" | "P2" | "P3" | "P4")[];
  /** Facts of one of these visibilities. */ visibility?: ("private" | "selective" | "public")[];
  /** Facts that came about in one of these ways. */ source_type?: ("manual" | "observation" | "extraction" | "consolidation" | "merge" | "cherry_pick" | "bundle_import" | "import")[];
  /** Facts with one of these ids at their source. */ source_id?: string[];
  /** Facts of one of these origins. */ origin?: ("EXPERIENCE" | "SEEDED_LLM" | "DISTILLED_LLM" | "DREAMING")[];
  /** Facts that have all of these tags. */ tags?: string[];
  /** Facts with a tag that begins so. */ tag_prefix?: string;
  /** Facts with this verdict on what they say now. */ verification_status?: "unverified" | "plausible" | "verified" | "invalidated";
  /** Facts with at least this confidence, 0 to 1. */ min_confidence?: number;
  /** Facts with at most this confidence, 0 to 1. */ max_confidence?: number;
  /** Facts stored at this time or later. */ created_after?: string;
  /** Facts stored before this time. */ created_before?: string;
  /** Facts that were true at this time. */ valid_at?: string;
  /** Facts that were still true after this time. */ valid_after?: string;
  /** Facts that were true already before this time. */ valid_before?: string;
  /** Facts that are, or are not, pinned. */ pinned?: boolean;
  /** true: facts that the branch has written itself; false: those that it shows of others. */ own?: boolean;
  /** The facts that replace the fact with this id. */ parent_id?: string;
  /** Items of this namespace and of all below it. */ namespace?: string;
  /** Facts of this repository, in any form; * is any. */ repository?: string;
}

export interface Segment {
  first: string;
  second: string;
  similarity: number;
  /** Below 0.7. */ diverged: boolean;
}

/** How two conversations differ in what they do not share. No model is asked. */
export interface SemanticDiff {
  first_id: string;
  second_id: string;
  /** Messages at the begin that are the same rows in both. */ shared: number;
  divergence: Divergence | null;
  verdict: "equivalent" | "similar" | "divergent" | "mixed";
  actions: Actions;
  reasoning: Reasoning;
  outcome: DiffOutcome;
  notes: string[];
}

/** An entry of the server's trail. */
export interface ServerEntry {
  id: number;
  at: string;
  actor_kind: string;
  actor_id: string;
  actor_label: string;
  surface: string;
  action: string;
  target: string;
  detail: Record<string, unknown>;
}

export interface ServerEntryPage extends Cursors {
  results: ServerEntry[];
}

/** A session, as it is read. */
export interface Session {
  id: string;
  branch: string;
  status: "active" | "completed" | "abandoned";
  project_path: string;
  parent_session: string;
  task_id: string;
  agent_id: string;
  user_id: string;
  app_id: string;
  summary: string;
  started_at: string;
  /** When it was last heard of. */ active_at: string | null;
  ended_at: string | null;
}

/** The context of a session for its successor; ``conversations`` have their last messages. */
export interface SessionContext {
  session: Session;
  conversations: Record<string, unknown>[];
  facts: BriefFact[];
  observations_summary: Observed;
  parent_summary: string;
}

/** What a session did, on its branch. */
export interface SessionFigures {
  session_id: string;
  branch: string;
  agent_id: string;
  status: string;
  started_at: string;
  ended_at: string | null;
  conversations: number;
  messages: number;
  messages_by_role: Record<string, number>;
  tokens: Record<string, number>;
  facts: number;
  facts_by_status: Record<string, number>;
  facts_by_category: Record<string, number>;
  observations: number;
  observations_by_type: Record<string, number>;
  observations_by_outcome: Record<string, number>;
  tools: Tool[];
  /** Searches of the session. */ recalls: number;
}

/** A session; the id is the client's own. */
export interface SessionInput {
  /** main when it is not given; branch_name is understood too. */ branch?: string;
  session_id: string;
  /** Where the work is done: a remote's address in any form, or a folder. */ project_path?: string;
  parent_session?: string;
  task_id?: string;
  /** 403 when the key is bound to another agent. */ agent_id?: string;
  /** The end user whose memory this is about; 403 when the key is bound to another. */ user_id?: string;
  /** The app whose memory this is about; 403 when the key is bound to another. */ app_id?: string;
}

export interface SessionPage extends Cursors {
  results: Session[];
}

/** For whom. */
export interface SessionRestoreInput {
  /** The end user whose memory this is about; 403 when the key is bound to another. */ user_id?: string;
  /** The app whose memory this is about; 403 when the key is bound to another. */ app_id?: string;
}

/** Ids, filters or both: what fits all of them is deleted. */
export interface SessionsDeleteInput {
  /** Every branch when it is not given. */ branch?: string;
  /** Sessions in this state. */ status?: "active" | "completed" | "abandoned";
  /** Sessions of this agent. */ agent_id?: string;
  /** Sessions for this task. */ task_id?: string;
  /** Sessions of this repository, in any form; * is any. */ repository?: string;
  /** Only these. */ ids?: string[];
  /** true deletes nothing, and answers what would be deleted. */ dry_run?: boolean;
  /** The end user whose memory this is about; 403 when the key is bound to another. */ user_id?: string;
  /** The app whose memory this is about; 403 when the key is bound to another. */ app_id?: string;
}

/** A merge request after decisions. */
export interface Settled extends MergeRequest {
  decided: number;
  /** Conflicts that are left. */ undecided: number;
  /** Names these decisions where they are taken back; null without any. */ decided_at: string | null;
}

/** The public half of the key with which the project signs; the private half never leaves the server. */
export interface SigningKey {
  public_key: string;
  created_by: string;
  created_at: string;
}

export interface Snapshot {
  id: string;
  name: string;
  kind: "branch" | "store";
  description: string;
  /** null for a snapshot of the store. */ branch: string | null;
  seq: number | null;
  /** Bytes of the frozen copy, where it is a file. */ size: number;
  sha256: string;
  created_at: string;
  created_by: string;
}

/** A point of a branch, or a frozen copy of the store. */
export interface SnapshotInput {
  name: string;
  /** Default: branch. */ kind?: "branch" | "store";
  /** main when it is not given; branch_name is understood too. */ branch?: string;
  /** A point in the branch's past: a seq, a commit's id or a time in ISO 8601. */ at?: number | string;
  description?: string;
}

export interface SnapshotPage extends Cursors {
  results: Snapshot[];
}

/** What holds in a repository: verified, or decided by a person, and not contested. */
export interface Standing {
  repository: string;
  /** In the order in which they were said, at most 100. */ statements: Statement[];
}

/** The caller. */
export interface StatedInput {
  /** An unknown session begins here. */ session_id?: string;
  task_id?: string;
  /** 403 when the key is bound to another agent. */ agent_id?: string;
}

/** A statement that has standing in a repository. */
export interface Statement {
  id: string;
  /** As one line of at most 300 characters. */ text: string;
  said_at: string;
  /** Else a person decided it. */ verified: boolean;
}

export interface StoreCopy {
  kind: "snapshot" | "workspace" | "window" | "backup";
  /** Empty for a copy that another project made. */ name: string;
  own: boolean;
}

/** What verification says of a branch. */
export interface Summary {
  branch: string;
  facts: number;
  /** Facts by verdict. */ verification: Record<string, number>;
  /** Verdicts on present texts by method. */ methods: Record<string, number>;
  /** The model that judges; null: the heuristic alone rates. */ judge: string | null;
}

/** The new fact. Omitted fields are copied from the old one. */
export interface SupersedeInput {
  /** At most 64 KiB in UTF-8. */ new_fact_text: string;
  /** main when it is not given; branch_name is understood too. */ branch?: string;
  /** 412 when the fact is at another. */ expected_version?: number;
  /** True by default: the same text is returned, not doubled. */ deduplicate?: boolean;
  /** The line for a prompt; made from the text when it is not given. */ essence?: string;
  /** general when it is not given. */ category?: string;
  kind?: "OBSERVATION" | "BELIEF" | "TASK" | "OUTPUT_DRAFT" | "NOTE";
  priority?: "P1" | "P2" | "P3" | "P4";
  /** 0.7 by default. */ confidence?: number;
  source_id?: string;
  /** The key's label when it is not given. */ source?: string;
  /** A remote's address in any form, or a folder; else where the session or the caller works. */ repository?: string;
  visibility?: "private" | "selective" | "public";
  updated_cycle?: number;
  valid_from?: string | null;
  /** Later than valid_from. */ valid_until?: string | null;
  expires_at?: string | null;
  pinned?: boolean;
  tags?: string[];
  /** At most 64 KiB of JSON, at most 64 levels deep. */ metadata?: Record<string, unknown>;
  source_type?: "manual" | "observation" | "extraction" | "consolidation" | "merge" | "cherry_pick" | "bundle_import" | "import";
  origin?: "EXPERIENCE" | "SEEDED_LLM" | "DISTILLED_LLM";
  created_cycle?: number;
  /** An unknown session begins here. */ session_id?: string;
  task_id?: string;
  /** 403 when the key is bound to another agent. */ agent_id?: string;
  /** The end user whose memory this is about; 403 when the key is bound to another. */ user_id?: string;
  /** The app whose memory this is about; 403 when the key is bound to another. */ app_id?: string;
}

export interface TableChange {
  added: number;
  changed: number;
}

export interface TagCount {
  tag: string;
  /** Facts that have it. */ count: number;
}

export interface Tags {
  /** The most frequent first. */ tags: TagCount[];
  /** Whether there are others. */ more: boolean;
}

export interface Tally {
  added: number;
  changed: number;
  removed: number;
}

/** A task with its objectives and agents. */
export interface Task {
  id: string;
  name: string;
  slug: string;
  task_type: string;
  description: string;
  /** Where its agents' work comes together. */ branch: string;
  parent: string;
  state: "active" | "completed" | "cancelled";
  created_by: string;
  created_at: string;
  completed_at: string | null;
  /** The request that offers its durable facts to the parent. */ merge_request_id: string | null;
  /** How many facts that request offers. */ durable: number;
  result: string;
  objectives: Objective[];
  agents: TaskAgent[];
}

/** An agent's part of a task. */
export interface TaskAgent {
  agent_id: string;
  branch: string;
  /** left: the task ended before the agent completed its part, which was not merged. */ state: "working" | "completed" | "left";
  joined_at: string;
  completed_at: string | null;
  /** null when nothing was new. */ merge_commit: string | null;
  /** Kind of memory, class, number. */ merge_counts: Record<string, unknown>;
  /** Conflicts that its merge left for a decision. */ open_conflicts: number;
}

/** A memory that a merge left for a decision. */
export interface TaskConflict {
  id: string;
  /** The kind of memory, as a plan has it. */ type: string;
  reason: string;
  /** What the agent's branch says. */ line: string;
  /** Binds a decision to the two versions that differ. */ token: string;
  /** The branch to merge again, with decisions. */ branch: string;
  /** The branch that it is merged into. */ into: string;
}

/** How a task is consolidated. */
export interface TaskConsolidationInput {
  /** Answer the same, and write nothing. */ dry_run?: boolean;
}

/** What an agent should know of a task. */
export interface TaskContext {
  task: Task;
  agents: Learned[];
  /** The newest of the task's branch. */ facts: LearnedFact[];
  /** What merges of agents' branches left for a decision, the first of a few agents. */ conflicts: TaskConflict[];
  /** What the facts cost in a prompt. */ tokens: number;
  /** True when max_tokens left facts out. */ truncated: boolean;
  /** True when the task's branch is archived: nothing is merged into it, no conflict is listed. */ archived: boolean;
}

/** What came of a task. */
export interface TaskEndInput {
  /** What came of it, up to 2,000 characters. */ result?: string;
}

/** A new task. */
export interface TaskInput {
  /** What it is about, in a few words. */ name: string;
  /** The name of its branch after task/; made of the name when it is not given. */ slug?: string;
  /** The kind of work, such as bug_fix. */ task_type?: string;
  /** What is known of it at the start, up to 4,000 characters. */ description?: string;
  /** Up to 50 steps in their order, each up to 500 characters. */ objectives?: string[];
  /** The branch that it begins from and returns to; main when it is not given. */ parent?: string;
}

export interface TaskPage extends Cursors {
  results: Task[];
}

/** A template. */
export interface Template {
  id: string;
  name: string;
  description: string;
  task_types: string[];
  state: "active" | "deprecated";
  reason: string;
  /** The newest one. */ version: number;
  /** Branches that began from it. */ used: number;
  succeeded: number;
  failed: number;
  created_by: string;
  created_at: string;
  /** When its newest version was made. */ updated_at: string;
  /** The read-only branch of its newest version. */ branch: string;
  /** Of the work that ended; 0.5 before any did. */ success_rate: number;
}

/** Why it is not to be used any more. */
export interface TemplateDeprecateInput {
  /** Why it is deprecated, up to 1,000 characters. */ reason?: string;
  /** An unknown session begins here. */ session_id?: string;
  task_id?: string;
  /** 403 when the key is bound to another agent. */ agent_id?: string;
}

/** A template with its versions and uses. */
export interface TemplateDetail extends Template {
  /** The newest first. */ versions: TemplateVersion[];
  /** The newest 50, of branches that the key may use. */ uses: TemplateUse[];
}

/** A new template. */
export interface TemplateInput {
  /** What its first version holds; main when it is not given. */ source_branch?: string;
  /** A point in the branch's past: a seq, a commit's id or a time in ISO 8601. */ at?: number | string;
  /** a–z and 0–9, with single '.', '_' or '-' between them; not find. */ name: string;
  /** What work it is for and what it knows, up to 2,000 characters: it is found by its meaning. */ description?: string;
  /** Up to 20 kinds of work, such as bug_fix. */ task_types?: string[];
  /** An unknown session begins here. */ session_id?: string;
  task_id?: string;
  /** 403 when the key is bound to another agent. */ agent_id?: string;
}

/** A working branch that began from a template. */
export interface TemplateInstance extends TemplateUse {
  /** With the isolation database. */ workspace: Workspace | null;
}

/** A template that fits, and why. */
export interface TemplateMatch {
  template: Template;
  /** Whether it is for this kind of work. */ type_matches: boolean;
  /** How much of the description it is about: its words, or their vectors. */ meaning: number;
}

export interface TemplateMatches {
  /** The best first; none where none fits. */ results: TemplateMatch[];
}

/** The branch of the work, and what came of it. */
export interface TemplateOutcomeInput {
  /** main when it is not given; branch_name is understood too. */ branch?: string;
  /** success or failure. */ outcome: "success" | "failure";
  /** An unknown session begins here. */ session_id?: string;
  task_id?: string;
  /** 403 when the key is bound to another agent. */ agent_id?: string;
}

export interface TemplatePage extends Cursors {
  results: Template[];
}

/** A new version of a template. */
export interface TemplateUpdateInput {
  /** The branch that it holds. */ new_source: string;
  /** A point in the branch's past: a seq, a commit's id or a time in ISO 8601. */ at?: number | string;
  /** What work it is for and what it knows, up to 2,000 characters: it is found by its meaning. */ description?: string;
  /** Up to 20 kinds of work, such as bug_fix. */ task_types?: string[];
  /** An unknown session begins here. */ session_id?: string;
  task_id?: string;
  /** 403 when the key is bound to another agent. */ agent_id?: string;
}

/** A branch that began from a template. */
export interface TemplateUse {
  template: string;
  version: number;
  /** Where the work is done. */ branch: string;
  /** open: the work is not done; a completed task is a success, a cancelled one a failure. */ outcome: "open" | "success" | "failure";
  task_id: string;
  agent_id: string;
  created_by: string;
  created_at: string;
  ended_at: string | null;
}

/** A working branch that begins from a template. */
export interface TemplateUseInput {
  /** The name of the new branch. */ target_branch: string;
  /** The newest when it is not given. */ version?: number;
  /** database: also in a workspace, a copy of the store; needs admin. */ isolation?: "branch" | "database";
  /** An unknown session begins here. */ session_id?: string;
  task_id?: string;
  /** 403 when the key is bound to another agent. */ agent_id?: string;
}

/** A version of a template. */
export interface TemplateVersion {
  version: number;
  /** It is read-only. */ branch: string;
  source_branch: string;
  /** The commit of the source that it was forked at. */ source_seq: number;
  /** Of every status. */ fact_count: number;
  conversation_count: number;
  relation_count: number;
  created_by: string;
  created_at: string;
}

/** What a conversation has, with what it shares as a fork. */
export interface ThreadStats {
  messages: number;
  tokens: number;
  /** Of these, how many it shares with its sources. */ shared_messages: number;
  shared_tokens: number;
  /** Messages by role. */ roles: Record<string, number>;
  began_at: string | null;
  ended_at: string | null;
  /** How many forks lie between it and the first conversation. */ depth: number;
  /** Forks at its own messages. */ forks: number;
}

/** A time range from ``start`` on, and before ``end``. */
export interface TimeRange {
  start?: string;
  end?: string;
  /** created by default. */ field?: "created" | "valid";
}

/** A commit with its title: what a person or an agent wrote, else what changed. */
export interface TitledCommit extends Commit {
  title: string;
}

export interface TitledCommitPage extends Cursors {
  results: TitledCommit[];
}

/** Calls of a tool. */
export interface Tool {
  tool: string;
  calls: number;
  failed: number;
}

/** The branches, each after its parent, siblings by name. */
export interface Tree {
  /** Branches of each state, whatever is looked for; with the first page only. */ counts: Record<string, number> | null;
  /** How many match, on all pages. */ matching: number;
  results: TreeNode[];
  next: string | null;
  previous: string | null;
}

/** A branch in the tree: what it wrote or changed itself, and still has. */
export interface TreeNode extends Branch {
  /** How far from main: 0 is main itself. */ level: number;
  state: "live" | "expired" | "merged" | "archived";
  /** Since when it is expired, merged or archived. */ since: string | null;
  /** Branches that were made from it, in any state. */ children: number;
  /** Of its own, as the next two. */ facts: number;
  conversations: number;
  observations: number;
  /** Agents that committed on it. */ agents: number;
  last_activity: string;
  /** False for an ancestor of what was looked for. */ matches: boolean;
}

/** At most 400 points, each of ``periods`` days or hours. */
export interface Trends {
  branch: string;
  granularity: "day" | "hour";
  periods: number;
  since: string;
  /** The end of the last day or hour. */ until: string;
  points: Point[];
}

/** A key of somebody else whose signature the project trusts. */
export interface TrustedKey {
  name: string;
  public_key: string;
  created_by: string;
  created_at: string;
}

/** A key to trust. */
export interface TrustedKeyInput {
  /** Whose key it is. */ name: string;
  /** An Ed25519 public key: 32 bytes in base64. */ public_key: string;
}

export interface TrustedKeys {
  results: TrustedKey[];
}

export interface UpdatedId {
  id: string;
  /** The one that it had, where nothing was changed. */ version: number;
  status: "created" | "active" | "done" | "superseded" | "archived";
}

/** A person's verdict on the fact's present content; without one the judge is asked. */
export interface VerifyInput {
  /** main when it is not given; branch_name is understood too. */ branch?: string;
  verdict?: "verified" | "unverified" | "invalidated";
  /** With a verdict. */ reason?: string;
  /** 412 when the fact is at another. */ expected_version?: number;
  /** An unknown session begins here. */ session_id?: string;
  task_id?: string;
  /** 403 when the key is bound to another agent. */ agent_id?: string;
}

/** One version of a fact, with the commit that made it. */
export interface Version {
  id: string;
  /** The branch that it was read through. */ branch: string;
  /** Grows by one with each change; the ETag begins with it. */ version: number;
  fact_text: string;
  /** The line that goes into a prompt. */ essence: string;
  category: string;
  kind: "OBSERVATION" | "BELIEF" | "TASK" | "OUTPUT_DRAFT" | "NOTE" | "REFLECTION";
  priority: "P1" | "P2" | "P3" | "P4";
  status: "created" | "active" | "done" | "superseded" | "archived";
  confidence: number;
  /** The fact that this one replaces. */ parent_id: string | null;
  source_type: "manual" | "observation" | "extraction" | "consolidation" | "merge" | "cherry_pick" | "bundle_import" | "import";
  source_id: string;
  source: string;
  /** Where it was learned: its remote's address, or a folder; empty where that is unknown. */ repository: string;
  origin: "EXPERIENCE" | "SEEDED_LLM" | "DISTILLED_LLM" | "DREAMING";
  visibility: "private" | "selective" | "public";
  session_id: string;
  task_id: string;
  agent_id: string;
  user_id: string;
  app_id: string;
  created_cycle: number;
  updated_cycle: number;
  valid_from: string | null;
  valid_until: string | null;
  expires_at: string | null;
  pinned: boolean;
  tags: string[];
  metadata: Record<string, unknown>;
  /** Of an item: where its key stands, as segments with slashes between them. */ namespace: string | null;
  /** Of an item. */ key: string | null;
  /** Of an item: any JSON, as it was put. */ value: Record<string, unknown> | unknown[] | string | number | boolean | null;
  /** False: it has no vector, words alone find it. */ embed: boolean | null;
  /** SHA-256 of the text. */ content_hash: string;
  created_at: string;
  updated_at: string;
  /** True for the version that says: deleted here. */ deleted: boolean;
  commit: Commit | null;
}

export interface VersionPage extends Cursors {
  results: Version[];
}

/** A webhook; its secret is not in it. */
export interface Webhook {
  id: string;
  url: string;
  kinds: string[];
  branches: string[];
  /** active; paused; gone: its receiver answered 410. */ state: "active" | "paused" | "gone";
  /** The last event that is done with. */ position: number;
  /** How often the next event was sent in vain. */ tries: number;
  next_try_at: string | null;
  tried_at: string | null;
  /** Why the last try failed, if it did. */ last_error: string;
  created_at: string;
  created_by: string;
  /** key, user, local (the command line), server (a key of it) or system; empty where nobody knows any more. */ created_by_kind: string;
  /** The id of the key or user; else empty. */ created_by_id: string;
}

/** An event that a webhook did not take in all its tries. */
export interface WebhookFailure {
  /** The id of the event. */ position: number;
  kind: string;
  /** Why the last try failed. */ reason: string;
  failed_at: string;
  /** Whether it is about to be sent again. */ is_due: boolean;
}

export interface WebhookFailurePage extends Cursors {
  results: WebhookFailure[];
}

/** Where events are sent, and which. */
export interface WebhookInput {
  /** Where events are sent: https, on a public server. */ url: string;
  /** Kinds of events, such as fact.write or merge_request.*; all of them when it is empty. */ kinds?: string[];
  /** Names or patterns; every branch when it is empty. */ branches?: string[];
}

export interface WebhookPage extends Cursors {
  results: Webhook[];
}

/** The grace period of the old secret. */
export interface WebhookRotateInput {
  /** How long the old secret signs, too. */ grace_seconds?: number;
}

/** What is not given stays as it is. */
export interface WebhookUpdate {
  /** Where events are sent: https, on a public server. */ url?: string;
  /** Kinds of events, such as fact.write or merge_request.*; all of them when it is empty. */ kinds?: string[];
  /** Names or patterns; every branch when it is empty. */ branches?: string[];
  /** active sends, paused waits and loses nothing. */ state?: "active" | "paused";
}

export interface Window {
  /** So long the database keeps every state; 0 where it does not. */ days: number;
}

/** The retention of past states, in days. */
export interface WindowInput {
  days: number;
}

export interface Workspace {
  id: string;
  name: string;
  description: string;
  state: "open" | "promoted" | "dropped";
  /** Start a server on this folder of the data directory, or database. */ place: string;
  created_at: string;
  created_by: string;
  ended_at: string | null;
  ended_by: string;
}

export interface WorkspaceDiff {
  workspace: Workspace;
  branches: BranchChange[];
  tables: Record<string, TableChange>;
  /** Branches that moved in the store: nothing is promoted. */ moved: string[];
}

/** A workspace to create. */
export interface WorkspaceInput {
  name: string;
  description?: string;
}

export interface WorkspacePage extends Cursors {
  results: Workspace[];
}

/** What a fact is worth, by its parts; ``total`` is their sum. */
export interface Worth {
  /** 0.3 for P1, a quarter less for each one down. */ priority: number;
  /** 0.2 times the confidence. */ confidence: number;
  /** 0.2 when it is verified, 0.1 when it is not, 0 when it is invalidated. */ belief: number;
  /** 0.3, halved for each 30 days since its last recall, change or confirmation. */ recency: number;
  total: number;
}

/** A fact as stored; ``created`` is false when the same text existed already. */
export interface Written extends Fact {
  created: boolean;
}

export interface WrittenId {
  id: string;
  /** False when the same text was there already. */ created: boolean;
  /** created: it became a proposal. */ status: "created" | "active" | "done" | "superseded" | "archived";
}

/** An item as stored; ``created`` is false where one stood under the key already. */
export interface WrittenItem extends Item {
  created: boolean;
}

/** A relation as stored; ``created`` is false when an open one was strengthened. */
export interface WrittenRelation extends Relation {
  created: boolean;
}

/** A session as stored; ``created`` is false when it existed already. */
export interface WrittenSession extends Session {
  created: boolean;
}

/** Facts that consolidation of sessions made of the messages and observations that it read. */
export interface Yield {
  runs: number;
  /** Messages and observations that were read. */ processed: number;
  /** Facts that came of them. */ created: number;
  rate: number | null;
  /** From 5 to 15 %; null where nothing was read. */ healthy: boolean | null;
}

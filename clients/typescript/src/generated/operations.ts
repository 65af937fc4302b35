// Written by `python -m clients.generate_typescript`; do not edit.

import type { EventOptions } from "../events.js";
import { at, Group, type Options, type Pages, type Sender } from "../group.js";
import type { Defaults } from "../group.js";
import type { Transport } from "../transport.js";
import type * as s from "./schemas.js";

export class AgeingGroup extends Group {
  /** List what a run archived, and why: `GET /ageing/runs/{commit_id}`. */
  getRun(commitId: string | number, params: { /** ``next`` or ``previous`` of another page. */ cursor?: string; /** Results on a page. */ limit?: number; } = {}, options: Options = {}): Pages<s.AgedFact, s.AgedFactPage> {
    return this.pages({ method: "GET", path: at`/ageing/runs/${commitId}` }, options, params);
  }

  /** How full a branch is: `GET /ageing/pressure`. */
  pressure(params: { /** The branch to look at. */ branch?: string; } = {}, options: Options = {}): Promise<s.Pressure> {
    return this.call({ method: "GET", path: "/ageing/pressure", fills: ["branch"] }, options, params);
  }

  /** Show what has aged on a branch, and why: `POST /ageing/preview`. */
  preview(params: s.PreviewInput = {}, options: Options = {}): Promise<s.Preview & s.Redaction> {
    return this.call({ method: "POST", path: "/ageing/preview", keyed: true, fills: ["branch"] }, options, params);
  }

  /** Archive what has aged on a branch: `POST /ageing/run`. */
  run(params: s.RunInput = {}, options: Options = {}): Promise<s.Run & s.Redaction> {
    return this.call({ method: "POST", path: "/ageing/run", keyed: true, fills: ["branch", "agent_id"] }, options, params);
  }

  /** List the runs of a branch, newest first: `GET /ageing/runs`. */
  runs(params: { /** The branch to look at. */ branch?: string; /** ``next`` or ``previous`` of another page. */ cursor?: string; /** Results on a page. */ limit?: number; } = {}, options: Options = {}): Pages<s.PastRun, s.PastRunPage> {
    return this.pages({ method: "GET", path: "/ageing/runs", fills: ["branch"] }, options, params);
  }
}

export class AnalyticsGroup extends Group {
  /** What an agent did: `GET /analytics/agents/{agent_id}`. */
  agents(agentId: string | number, params: { /** A point in the branch's past: a seq, a commit's id or a time in ISO 8601. */ at?: number | string; /** When it is not given: main, else where it is found. */ branch?: string; /** csv, as with Accept: text/csv. */ format?: "json" | "csv"; } = {}, options: Options = {}): Promise<s.AgentFigures> {
    return this.call({ method: "GET", path: at`/analytics/agents/${agentId}` }, options, params);
  }

  /** Who said how much: `GET /analytics/conversations/{conversation_id}`. */
  conversations(conversationId: string | number, params: { /** A point in the branch's past: a seq, a commit's id or a time in ISO 8601. */ at?: number | string; /** When it is not given: main, else where it is found. */ branch?: string; /** csv, as with Accept: text/csv. */ format?: "json" | "csv"; } = {}, options: Options = {}): Promise<s.ConversationFigures> {
    return this.call({ method: "GET", path: at`/analytics/conversations/${conversationId}` }, options, params);
  }

  /** Verdicts, answers and junk: `GET /analytics/curation`. */
  curation(params: { /** A point in the branch's past: a seq, a commit's id or a time in ISO 8601. */ at?: number | string; /** The branch to look at. */ branch?: string; /** The last days, today included. */ days?: number; /** csv, as with Accept: text/csv. */ format?: "json" | "csv"; } = {}, options: Options = {}): Promise<s.CurationFigures> {
    return this.call({ method: "GET", path: "/analytics/curation", fills: ["branch"] }, options, params);
  }

  /** What a branch holds of each end user: `GET /analytics/end-users`. */
  endUsers(params: { /** The app whose memory this is about; 403 when the key is bound to another. */ app_id?: string; /** A point in the branch's past: a seq, a commit's id or a time in ISO 8601. */ at?: number | string; /** The branch to look at. */ branch?: string; /** csv, as with Accept: text/csv. */ format?: "json" | "csv"; /** The end user whose memory this is about; 403 when the key is bound to another. */ user_id?: string; } = {}, options: Options = {}): Promise<s.EndUsers> {
    return this.call({ method: "GET", path: "/analytics/end-users", fills: ["branch", "user_id", "app_id"] }, options, params);
  }

  /** What a branch holds and what happened: `GET /analytics/overview`. */
  overview(params: { /** A point in the branch's past: a seq, a commit's id or a time in ISO 8601. */ at?: number | string; /** The branch to look at. */ branch?: string; /** The last days, today included. */ days?: number; /** csv, as with Accept: text/csv. */ format?: "json" | "csv"; } = {}, options: Options = {}): Promise<s.Overview> {
    return this.call({ method: "GET", path: "/analytics/overview", fills: ["branch"] }, options, params);
  }

  /** What a session did: `GET /analytics/sessions/{session_id}`. */
  sessions(sessionId: string | number, params: { /** csv, as with Accept: text/csv. */ format?: "json" | "csv"; } = {}, options: Options = {}): Promise<s.SessionFigures> {
    return this.call({ method: "GET", path: at`/analytics/sessions/${sessionId}` }, options, params);
  }

  /** What was written over time: `GET /analytics/trends`. */
  trends(params: { /** A point in the branch's past: a seq, a commit's id or a time in ISO 8601. */ at?: number | string; /** The branch to look at. */ branch?: string; /** The last days, today included. */ days?: number; /** csv, as with Accept: text/csv. */ format?: "json" | "csv"; /** Of the points, in UTC. */ granularity?: "day" | "hour"; /** Instead of days. */ since?: string; /** The end of the range. */ until?: string; } = {}, options: Options = {}): Promise<s.Trends> {
    return this.call({ method: "GET", path: "/analytics/trends", fills: ["branch"] }, options, params);
  }
}

export class AuditGroup extends Group {
  /** List the entries of the audit, newest first: `GET /audit`. */
  list(params: { /** Entries of this action. */ action?: "fact.write" | "fact.update" | "fact.supersede" | "fact.accept" | "fact.refuse" | "fact.archive" | "fact.age" | "fact.restore" | "fact.delete" | "fact.verify" | "fact.bulk" | "item.put" | "item.delete" | "item.renew" | "item.batch" | "fact.import" | "link.write" | "link.delete" | "review.resolve" | "verification.batch" | "quarantine.create" | "quarantine.release" | "view.save" | "view.rename" | "view.share" | "view.delete" | "commit.revert" | "branch.create" | "branch.merge" | "branch.enrich" | "branch.archive" | "branch.restore" | "merge_request.create" | "merge_request.decide" | "merge_request.approve" | "merge_request.withdraw" | "merge_request.reject" | "merge_request.merge" | "merge_request.revert" | "merge_request.redo" | "merge.force" | "policy.set" | "policy.delete" | "observation.write" | "observation.delete" | "observation.restore" | "message.write" | "message.delete" | "message.restore" | "message.update" | "conversation.create" | "conversation.fork" | "conversation.cherry-pick" | "conversation.close" | "conversation.compact" | "conversation.evaluate" | "conversation.import" | "conversation.delete" | "conversation.restore" | "score.create" | "relation.write" | "relation.close" | "consolidate.session" | "consolidate.agent" | "consolidate.task" | "consolidate.verdict" | "consolidate.dreaming" | "consolidation.run" | "consolidation.accepted" | "consolidation.rejected" | "consolidation.undo" | "learning.on" | "learning.off" | "instructions.set" | "question.create" | "question.update" | "question.delete" | "hook.ingest" | "hook.transcript" | "key.address" | "key.create" | "key.rotate" | "key.revoke" | "connection.grant" | "connection.replay" | "connection.reuse" | "connection.revoke" | "connection.open" | "connection.renew" | "invitation.create" | "invitation.revoke" | "login" | "login.connect" | "login.link" | "login.failed" | "login.throttled" | "password.change" | "member.add" | "member.join" | "second_factor.add" | "second_factor.remove" | "second_factor.reset" | "second_factor.failed" | "second_factor.recovery" | "member.keep" | "member.role" | "member.remove" | "member.close" | "project.create" | "project.remove" | "project.removed" | "project_template.create" | "project_template.delete" | "project.update" | "session.create" | "session.resume" | "session.end" | "session.delete" | "session.restore" | "erasure.begin" | "erasure.done" | "import.begin" | "handoff.create" | "handoff.accept" | "handoff.reject" | "handoff.delete" | "handoff.restore" | "handoff.erase" | "template.create" | "template.update" | "template.instantiate" | "template.outcome" | "template.deprecate" | "bundle.create" | "bundle.export" | "bundle.upload" | "bundle.import" | "bundle.key" | "bundle.trust" | "bundle.delete" | "bundle.restore" | "bundle.erase" | "bundle.distrust" | "webhook.create" | "webhook.update" | "webhook.rotate" | "webhook.replay" | "webhook.gone" | "webhook.delete" | "task.create" | "task.join" | "task.objective" | "task.agent_complete" | "task.complete" | "task.cancel" | "snapshot.create" | "snapshot.restore" | "store.salvage" | "snapshot.drop" | "snapshot.window" | "workspace.create" | "workspace.promote" | "workspace.drop" | "data.export" | "demo.begin" | "demo.load" | ""; /** Entries recorded at this time or later. */ after?: string; /** Entries recorded before this time. */ before?: string; /** Entries of this actor: a label, or user:7, key:0197…, local:. */ by?: string; /** ``next`` or ``previous`` of another page. */ cursor?: string; /** Entries of this kind of actor. */ kind?: string; /** Results on a page. */ limit?: number; /** What to sort by; with ``-`` downwards. */ ordering?: "-at" | "at"; /** Entries of this request. */ request_id?: string; /** Entries about this. */ target?: string; } = {}, options: Options = {}): Pages<s.Audit, s.AuditPage> {
    return this.pages({ method: "GET", path: "/audit" }, options, params);
  }
}

export class BranchesGroup extends Group {
  /** Archive such branches, or tell which: `POST /branches/auto-archive`. */
  autoArchive(params: s.ArchiveInput = {}, options: Options = {}): Promise<s.ArchiveReport & s.Redaction> {
    return this.call({ method: "POST", path: "/branches/auto-archive", keyed: true }, options, params);
  }

  /** Make a branch: `POST /branches`. */
  create(params: s.BranchInput, options: Options = {}): Promise<s.Branch & s.Redaction> {
    return this.call({ method: "POST", path: "/branches", keyed: true, fills: ["agent_id"] }, options, params);
  }

  /** Archive a branch; nothing is deleted: `DELETE /branches/{name}`. */
  delete(name: string | number, params: { /** Who asks. */ agent_id?: string; /** Who asks. */ session_id?: string; /** Who asks. */ task_id?: string; } = {}, options: Options = {}): Promise<s.Branch> {
    return this.call({ method: "DELETE", path: at`/branches/${name}`, fills: ["agent_id"] }, options, params);
  }

  /** Compare a branch with another point: `GET /branches/{name}/diff`. */
  diff(name: string | number, params: { /** The branch to compare with; the parent when not given. */ against?: string; /** A point of that branch, of the parent when none is named. */ against_at?: number | string; /** A point in the branch's past: a seq, a commit's id or a time in ISO 8601. */ at?: number | string; /** ancestor: what the branch changed since the two had the same history last. point: all that it shows otherwise than the other, what came later there included; the default with against_at. */ base?: "ancestor" | "point"; /** Only these. */ change?: ("added" | "changed" | "removed")[]; /** ``next`` or ``previous`` of another page. */ cursor?: string; /** Results on a page. */ limit?: number; /** What to list. */ type?: "fact" | "relation" | "observation" | "conversation" | "message" | "link"; } = {}, options: Options = {}): Pages<s.Difference, s.Diff> {
    return this.pages({ method: "GET", path: at`/branches/${name}/diff` }, options, params);
  }

  /** Change what is kept about a branch: `POST /branches/{name}/enrich`. */
  enrich(name: string | number, params: s.BranchDetailsInput = {}, options: Options = {}): Promise<s.Branch & s.Redaction> {
    return this.call({ method: "POST", path: at`/branches/${name}/enrich`, keyed: true, fills: ["agent_id"] }, options, params);
  }

  /** Branches whose days are over, or that were merged whole: `GET /branches/expired`. */
  expired(params: { /** ``next`` or ``previous`` of another page. */ cursor?: string; /** Results on a page. */ limit?: number; } = {}, options: Options = {}): Pages<s.Expired, s.ExpiredPage> {
    return this.pages({ method: "GET", path: "/branches/expired" }, options, params);
  }

  /** Read a branch: `GET /branches/{name}`. */
  get(name: string | number, options: Options = {}): Promise<s.Branch> {
    return this.call({ method: "GET", path: at`/branches/${name}` }, options, {});
  }

  /** List branches by name: `GET /branches`. */
  list(params: { /** true lists archived branches too. */ archived?: boolean; /** ``next`` or ``previous`` of another page. */ cursor?: string; /** Results on a page. */ limit?: number; /** Branches whose names have this part. */ name?: string; /** What to sort by; with ``-`` downwards. */ ordering?: "name" | "-name" | "-head_at" | "head_at" | "-head" | "head" | "-created_at" | "created_at"; /** Branches of this owner. */ owner?: string; /** Branches with this tag. */ tag?: string; } = {}, options: Options = {}): Pages<s.Branch, s.BranchPage> {
    return this.pages({ method: "GET", path: "/branches" }, options, params);
  }

  /** The branch's own commits, newest first: `GET /branches/{name}/log`. */
  log(name: string | number, params: { /** ``next`` or ``previous`` of another page. */ cursor?: string; /** Results on a page. */ limit?: number; } = {}, options: Options = {}): Pages<s.TitledCommit, s.TitledCommitPage> {
    return this.pages({ method: "GET", path: at`/branches/${name}/log` }, options, params);
  }

  /** Merge a branch, or show the plan: `POST /branches/{name}/merge`. */
  merge(name: string | number, params: s.MergeInput = {}, options: Options = {}): Promise<s.Merge & s.Redaction> {
    return this.call({ method: "POST", path: at`/branches/${name}/merge`, keyed: true, fills: ["agent_id"] }, options, params);
  }

  /** The policy in force on a branch: `GET /branches/{name}/policy`. */
  policy(name: string | number, options: Options = {}): Promise<s.PolicyInForce> {
    return this.call({ method: "GET", path: at`/branches/${name}/policy` }, options, {});
  }

  /** Take an archived branch back into use: `POST /branches/{name}/restore`. */
  restore(name: string | number, params: s.StatedInput = {}, options: Options = {}): Promise<s.Branch & s.Redaction> {
    return this.call({ method: "POST", path: at`/branches/${name}/restore`, keyed: true, fills: ["agent_id"] }, options, params);
  }

  /** What a branch holds and who works on it: `GET /branches/{name}/stats`. */
  stats(name: string | number, options: Options = {}): Promise<s.BranchStats> {
    return this.call({ method: "GET", path: at`/branches/${name}/stats` }, options, {});
  }

  /** The tree of branches: `GET /branches/topology`. */
  topology(params: { /** ``next`` or ``previous`` of another page. */ cursor?: string; /** Branches. */ limit?: number; /** A part of the name. */ name?: string; /** Only those of this owner. */ owner?: string; /** Only branches in these states; all but archived ones when not given. */ state?: ("live" | "expired" | "merged" | "archived")[]; /** Only those with this tag. */ tag?: string; } = {}, options: Options = {}): Pages<s.TreeNode, s.Tree> {
    return this.pages({ method: "GET", path: "/branches/topology" }, options, params);
  }

  /** Change what is kept about a branch, as POST does: `PATCH /branches/{name}/enrich`. */
  update(name: string | number, params: s.BranchDetailsInput = {}, options: Options = {}): Promise<s.Branch & s.Redaction> {
    return this.call({ method: "PATCH", path: at`/branches/${name}/enrich`, fills: ["agent_id"] }, options, params);
  }
}

export class BundlesGroup extends Group {
  /** Make a bundle of a branch: `POST /bundles`. */
  create(params: s.BundleInput, options: Options = {}): Promise<s.Bundle & s.Redaction> {
    return this.call({ method: "POST", path: "/bundles", keyed: true, fills: ["branch", "agent_id"] }, options, params);
  }

  /** Delete a bundle: `DELETE /bundles/{id}`. */
  delete(id: string | number, params: { /** true removes the content for good, from every branch and its history; needs the scope admin on all branches. Default: it is hidden, and can be restored. */ erase?: boolean; } = {}, options: Options = {}): Promise<s.Erasure | void> {
    return this.call({ method: "DELETE", path: at`/bundles/${id}`, empty: true }, options, params);
  }

  /** Delete the bundles that fit: `POST /bundles/delete`. */
  deleteMany(params: s.BundlesDeleteInput = {}, options: Options = {}): Promise<s.Deletion & s.Redaction> {
    return this.call({ method: "POST", path: "/bundles/delete", keyed: true }, options, params);
  }

  /** Export the document: `GET /bundles/{id}/export`. */
  export(id: string | number, options: Options = {}): Promise<s.BundleDocument> {
    return this.call({ method: "GET", path: at`/bundles/${id}/export` }, options, {});
  }

  /** Read what a bundle holds: `GET /bundles/{id}`. */
  get(id: string | number, options: Options = {}): Promise<s.Bundle> {
    return this.call({ method: "GET", path: at`/bundles/${id}` }, options, {});
  }

  /** Import a bundle on a branch: `POST /bundles/{id}/import`. */
  import(id: string | number, params: s.BundleImportInput = {}, options: Options = {}): Promise<s.BundleReport & s.Redaction> {
    return this.call({ method: "POST", path: at`/bundles/${id}/import`, keyed: true, fills: ["agent_id"] }, options, params);
  }

  /** List bundles, newest first: `GET /bundles`. */
  list(params: { /** ``next`` or ``previous`` of another page. */ cursor?: string; /** Results on a page. */ limit?: number; /** The versions of this name. */ name?: string; /** What to sort by; with ``-`` downwards. */ ordering?: "-created_at" | "created_at" | "name" | "-name" | "-size" | "size"; /** Made here, or uploaded. */ origin?: "created" | "uploaded" | ""; } = {}, options: Options = {}): Pages<s.Bundle, s.BundlePage> {
    return this.pages({ method: "GET", path: "/bundles" }, options, params);
  }

  /** Restore a deleted bundle: `POST /bundles/{id}/restore`. */
  restore(id: string | number, options: Options = {}): Promise<s.Bundle & s.Redaction> {
    return this.call({ method: "POST", path: at`/bundles/${id}/restore`, keyed: true }, options, {});
  }

  /** Keep a document, and import it: `POST /bundles/upload`. */
  upload(body: s.BundleDocument, params: { /** Import it on this branch; without it and dry_run it is only kept. */ branch?: string; /** true tells what an import would do, and writes nothing. */ dry_run?: boolean; /** true imports it without a branch too: on one of its own. */ import?: boolean; /** Keep it under another name. */ name?: string; /** true refuses an import that nobody trusted has signed. */ require_trusted?: boolean; } = {}, options: Options = {}): Promise<s.BundleUpload & s.Redaction> {
    return this.call({ method: "POST", path: "/bundles/upload", keyed: true, query: ["branch", "dry_run", "import", "name", "require_trusted"] }, options, params, body);
  }
}

export class CommitsGroup extends Group {
  /** Read a commit: `GET /commits/{id}`. */
  get(id: string | number, options: Options = {}): Promise<s.CommitDetail> {
    return this.call({ method: "GET", path: at`/commits/${id}` }, options, {});
  }

  /** Undo a commit: `POST /commits/{id}/revert`. */
  revert(id: string | number, params: s.StatedInput = {}, options: Options = {}): Promise<s.Commit & s.Redaction> {
    return this.call({ method: "POST", path: at`/commits/${id}/revert`, keyed: true, fills: ["agent_id"] }, options, params);
  }
}

export class ConnectionsGroup extends Group {
  /** List the connected programs, newest first: `GET /connections`. */
  list(params: { /** ``next`` or ``previous`` of another page. */ cursor?: string; /** Results on a page. */ limit?: number; /** What to sort by; with ``-`` downwards. */ ordering?: "-created_at" | "created_at"; } = {}, options: Options = {}): Pages<s.Connection, s.ConnectionPage> {
    return this.pages({ method: "GET", path: "/connections" }, options, params);
  }

  /** End what a connected program may do: `POST /connections/{id}/revoke`. */
  revoke(id: string | number, options: Options = {}): Promise<s.Connection & s.Redaction> {
    return this.call({ method: "POST", path: at`/connections/${id}/revoke`, keyed: true }, options, {});
  }
}

export class ConsolidationGroup extends Group {
  /** Accept facts of a run as true: `POST /consolidation/runs/{run_id}/accept`. */
  accept(runId: string | number, params: s.AcceptChangesInput = {}, options: Options = {}): Promise<s.ConsolidationDetail & s.Redaction> {
    return this.call({ method: "POST", path: at`/consolidation/runs/${runId}/accept`, keyed: true }, options, params);
  }

  /** Read a run, with what it did: `GET /consolidation/runs/{run_id}`. */
  getRun(runId: string | number, options: Options = {}): Promise<s.ConsolidationDetail> {
    return this.call({ method: "GET", path: at`/consolidation/runs/${runId}` }, options, {});
  }

  /** Undo what it did to some facts: `POST /consolidation/runs/{run_id}/reject`. */
  reject(runId: string | number, params: s.RejectChangesInput, options: Options = {}): Promise<s.ConsolidationDetail & s.Redaction> {
    return this.call({ method: "POST", path: at`/consolidation/runs/${runId}/reject`, keyed: true }, options, params);
  }

  /** Consolidate a session, an agent's facts or a task, or dream on a branch: `POST /consolidation/runs`. */
  run(params: s.ConsolidationInput, options: Options = {}): Promise<s.ConsolidationDetail & s.Redaction> {
    return this.call({ method: "POST", path: "/consolidation/runs", keyed: true, fills: ["branch"] }, options, params);
  }

  /** List runs, newest first: `GET /consolidation/runs`. */
  runs(params: { /** Runs on this branch; on every branch when it is not given. */ branch?: string; /** ``next`` or ``previous`` of another page. */ cursor?: string; /** Of this level. */ level?: "session" | "agent" | "task" | "dreaming" | ""; /** Results on a page. */ limit?: number; /** What to sort by; with ``-`` downwards. */ ordering?: "-started_at" | "started_at" | "target" | "-target" | "-finished_at" | "finished_at"; /** In this state. */ state?: "queued" | "running" | "done" | "partial" | "failed" | "undone" | ""; /** Of this session, agent or task. */ target?: string; } = {}, options: Options = {}): Pages<s.Consolidation, s.ConsolidationPage> {
    return this.pages({ method: "GET", path: "/consolidation/runs" }, options, params);
  }

  /** Undo a run whole: `POST /consolidation/runs/{run_id}/undo`. */
  undo(runId: string | number, options: Options = {}): Promise<s.Consolidation & s.Redaction> {
    return this.call({ method: "POST", path: at`/consolidation/runs/${runId}/undo`, keyed: true }, options, {});
  }
}

export class ConversationsGroup extends Group {
  /** Append a message: `POST /conversations/{id}/messages`. */
  addMessage(id: string | number, params: s.MessageInput & { /** indexed: the answer comes when searches find what was written, by words and by meaning, or after about ten seconds; `indexed` in it says which. */ wait?: "indexed"; }, options: Options = {}): Promise<s.Message & s.Redaction> {
    return this.call({ method: "POST", path: at`/conversations/${id}/messages`, keyed: true, query: ["wait"], fills: ["branch", "user_id", "app_id", "agent_id"] }, options, params);
  }

  /** Append up to 1,000 messages, all or none: `POST /conversations/{id}/messages/batch`. */
  addMessages(id: string | number, params: s.MessagesInput & { /** indexed: the answer comes when searches find what was written, by words and by meaning, or after about ten seconds; `indexed` in it says which. */ wait?: "indexed"; }, options: Options = {}): Promise<s.Messages & s.Redaction> {
    return this.call({ method: "POST", path: at`/conversations/${id}/messages/batch`, keyed: true, query: ["wait"], fills: ["branch", "user_id", "app_id", "agent_id"] }, options, params);
  }

  /** Copy messages to another conversation; again, it adds nothing: `POST /conversations/{id}/cherry-pick`. */
  cherryPick(id: string | number, params: s.CherryPickInput, options: Options = {}): Promise<s.Pick & s.Redaction> {
    return this.call({ method: "POST", path: at`/conversations/${id}/cherry-pick`, keyed: true, fills: ["branch", "agent_id"] }, options, params);
  }

  /** Summarize the earlier messages of a conversation, which stay as they are: `POST /conversations/{id}/compact`. */
  compact(id: string | number, params: s.CompactInput = {}, options: Options = {}): Promise<s.Compaction & s.Redaction> {
    return this.call({ method: "POST", path: at`/conversations/${id}/compact`, keyed: true, fills: ["branch", "agent_id"] }, options, params);
  }

  /** The summary of a conversation's earlier messages, and those behind it: `GET /conversations/{id}/compact`. */
  compaction(id: string | number, params: { /** The branch to look at. */ branch?: string; /** Messages behind it at most. */ limit?: number; } = {}, options: Options = {}): Promise<s.Compact> {
    return this.call({ method: "GET", path: at`/conversations/${id}/compact`, fills: ["branch"] }, options, params);
  }

  /** End a conversation: `POST /conversations/{id}/complete`. */
  complete(id: string | number, params: s.CompleteInput = {}, options: Options = {}): Promise<s.Conversation & s.Redaction> {
    return this.call({ method: "POST", path: at`/conversations/${id}/complete`, keyed: true, fills: ["branch", "user_id", "app_id", "agent_id"] }, options, params);
  }

  /** Begin a conversation: `POST /conversations`. */
  create(params: s.ConversationInput = {}, options: Options = {}): Promise<s.Conversation & s.Redaction> {
    return this.call({ method: "POST", path: "/conversations", keyed: true, fills: ["branch", "user_id", "app_id", "agent_id"] }, options, params);
  }

  /** Delete a conversation with its messages: `DELETE /conversations/{id}`. */
  delete(id: string | number, params: { /** Who asks. */ agent_id?: string; /** The app whose memory this is about; 403 when the key is bound to another. */ app_id?: string; /** The branch to look at. */ branch?: string; /** With erase: true drops the copies of the store that hold it too. Default: false. */ drop_copies?: boolean; /** true removes the content for good, from every branch and its history; needs the scope admin on all branches. Default: it is hidden, and can be restored. */ erase?: boolean; /** 412 when the fact is at another. */ expected_version?: number; /** Who asks. */ session_id?: string; /** Who asks. */ task_id?: string; /** The end user whose memory this is about; 403 when the key is bound to another. */ user_id?: string; } = {}, options: Options = {}): Promise<s.Erasure | void> {
    return this.call({ method: "DELETE", path: at`/conversations/${id}`, empty: true, fills: ["branch", "user_id", "app_id", "agent_id"] }, options, params);
  }

  /** Delete the conversations that fit, with their messages: `POST /conversations/delete`. */
  deleteMany(params: s.ConversationsDeleteInput = {}, options: Options = {}): Promise<s.Deletion & s.Redaction> {
    return this.call({ method: "POST", path: "/conversations/delete", keyed: true, fills: ["branch", "user_id", "app_id", "agent_id"] }, options, params);
  }

  /** List the deleted conversations that can be restored: `GET /conversations/deleted`. */
  deleted(params: { /** The app whose memory this is about; 403 when the key is bound to another. */ app_id?: string; /** The branch to look at. */ branch?: string; /** ``next`` or ``previous`` of another page. */ cursor?: string; /** Results on a page. */ limit?: number; /** Who asks. */ session_id?: string; /** The end user whose memory this is about; 403 when the key is bound to another. */ user_id?: string; } = {}, options: Options = {}): Pages<s.Conversation, s.ConversationPage> {
    return this.pages({ method: "GET", path: "/conversations/deleted", fills: ["branch", "user_id", "app_id"] }, options, params);
  }

  /** The differences of two conversations, message by message: `GET /conversations/{id}/diff/{other}`. */
  diff(id: string | number, other: string | number, params: { /** The branch to look at. */ branch?: string; /** ``next`` or ``previous`` of another page. */ cursor?: string; /** Results on a page. */ limit?: number; /** The branch of the second conversation; the first's by default. */ other_branch?: string; } = {}, options: Options = {}): Pages<s.DiffRow, s.RowDiff> {
    return this.pages({ method: "GET", path: at`/conversations/${id}/diff/${other}`, fills: ["branch"] }, options, params);
  }

  /** Have judges rate a conversation: 202 while they are at it, 200 where they had rated it before: `POST /conversations/{id}/evaluate`. */
  evaluate(id: string | number, params: s.EvaluateInput & { /** Seconds to wait for the judge; the rating is then the answer. */ wait?: number; } = {}, options: Options = {}): Promise<s.Scoring & s.Redaction> {
    return this.call({ method: "POST", path: at`/conversations/${id}/evaluate`, keyed: true, query: ["wait"], fills: ["branch"] }, options, params);
  }

  /** A conversation as a document, without secrets: `GET /conversations/{id}/export`. */
  export(id: string | number, params: { /** A point in the branch's past: a seq, a commit's id or a time in ISO 8601. */ at?: number | string; /** The branch to look at. */ branch?: string; /** Of the document; json by default. */ format?: "json" | "markdown"; } = {}, options: Options = {}): Promise<s.ConversationDocument> {
    return this.call({ method: "GET", path: at`/conversations/${id}/export`, fills: ["branch"] }, options, params);
  }

  /** Fork a conversation at a message: both share what came before: `POST /conversations/{id}/fork`. */
  fork(id: string | number, params: s.ForkInput, options: Options = {}): Promise<s.Conversation & s.Redaction> {
    return this.call({ method: "POST", path: at`/conversations/${id}/fork`, keyed: true, fills: ["branch", "agent_id"] }, options, params);
  }

  /** Read a conversation: `GET /conversations/{id}`. */
  get(id: string | number, params: { /** The app whose memory this is about; 403 when the key is bound to another. */ app_id?: string; /** A point in the branch's past: a seq, a commit's id or a time in ISO 8601. */ at?: number | string; /** The branch to look at. */ branch?: string; /** The end user whose memory this is about; 403 when the key is bound to another. */ user_id?: string; } = {}, options: Options = {}): Promise<s.Conversation> {
    return this.call({ method: "GET", path: at`/conversations/${id}`, fills: ["branch", "user_id", "app_id"] }, options, params);
  }

  /** Import the document of a conversation; again, it adds nothing: `POST /conversations/import`. */
  import(body: s.ConversationDocumentInput, params: { /** The branch to look at. */ branch?: string; } = {}, options: Options = {}): Promise<s.ImportedConversation & s.Redaction> {
    return this.call({ method: "POST", path: "/conversations/import", keyed: true, query: ["branch"], fills: ["branch"] }, options, params, body);
  }

  /** List conversations, newest first: `GET /conversations`. */
  list(params: { /** Conversations of one of these agents. */ agent_id?: string[]; /** Conversations of one of these apps. */ app_id?: string[]; /** A point in the branch's past: a seq, a commit's id or a time in ISO 8601. */ at?: number | string; /** The branch to look at. */ branch?: string; /** ``next`` or ``previous`` of another page. */ cursor?: string; /** true lists forks alone, false none. */ fork?: boolean; /** Results on a page. */ limit?: number; /** What to sort by; with ``-`` downwards. */ ordering?: "-created_at" | "created_at"; /** Forks of one of these conversations. */ parent_conversation_id?: string; /** Conversations of this repository, in any form; * is any. */ repository?: string; /** Conversations of one of these sessions. */ session_id?: string[]; /** Conversations in one of these states. */ status?: ("active" | "completed" | "archived")[]; /** Conversations held for one of these tasks. */ task_id?: string[]; /** Conversations of one of these end users. */ user_id?: string[]; } = {}, options: Options = {}): Pages<s.Conversation, s.ConversationPage> {
    return this.pages({ method: "GET", path: "/conversations", fills: ["branch", "user_id", "app_id"] }, options, params);
  }

  /** The messages of a conversation, in order: `GET /conversations/{id}/messages`. */
  messages(id: string | number, params: { /** The app whose memory this is about; 403 when the key is bound to another. */ app_id?: string; /** A point in the branch's past: a seq, a commit's id or a time in ISO 8601. */ at?: number | string; /** The branch to look at. */ branch?: string; /** ``next`` or ``previous`` of another page. */ cursor?: string; /** Results on a page. */ limit?: number; /** asc by default; desc: the last message first. */ order?: "asc" | "desc"; /** Messages of one of these roles. */ role?: ("user" | "assistant" | "tool_call" | "tool_result" | "system" | "developer")[]; /** The end user whose memory this is about; 403 when the key is bound to another. */ user_id?: string; } = {}, options: Options = {}): Pages<s.Message, s.MessagePage> {
    return this.pages({ method: "GET", path: at`/conversations/${id}/messages`, fills: ["branch", "user_id", "app_id"] }, options, params);
  }

  /** Make a replay: a fork with other parameters, to go on with: `POST /conversations/{id}/replay`. */
  replay(id: string | number, params: s.ReplayInput, options: Options = {}): Promise<s.Replay & s.Redaction> {
    return this.call({ method: "POST", path: at`/conversations/${id}/replay`, keyed: true, fills: ["branch", "agent_id"] }, options, params);
  }

  /** Restore a deleted conversation with its messages: `POST /conversations/{id}/restore`. */
  restore(id: string | number, params: s.RestoreMemoryInput = {}, options: Options = {}): Promise<s.Conversation & s.Redaction> {
    return this.call({ method: "POST", path: at`/conversations/${id}/restore`, keyed: true, fills: ["branch", "user_id", "app_id", "agent_id"] }, options, params);
  }

  /** How two conversations differ in actions, reasoning and outcome: `GET /conversations/{id}/semantic-diff/{other}`. */
  semanticDiff(id: string | number, other: string | number, params: { /** The branch to look at. */ branch?: string; /** The branch of the second conversation; the first's by default. */ other_branch?: string; } = {}, options: Options = {}): Promise<s.SemanticDiff> {
    return this.call({ method: "GET", path: at`/conversations/${id}/semantic-diff/${other}`, fills: ["branch"] }, options, params);
  }

  /** Statistics of a conversation, with what it shares as a fork: `GET /conversations/{id}/stats`. */
  stats(id: string | number, params: { /** The app whose memory this is about; 403 when the key is bound to another. */ app_id?: string; /** A point in the branch's past: a seq, a commit's id or a time in ISO 8601. */ at?: number | string; /** The branch to look at. */ branch?: string; /** The end user whose memory this is about; 403 when the key is bound to another. */ user_id?: string; } = {}, options: Options = {}): Promise<s.ThreadStats> {
    return this.call({ method: "GET", path: at`/conversations/${id}/stats`, fills: ["branch", "user_id", "app_id"] }, options, params);
  }
}

export class ErasuresGroup extends Group {
  /** Erase, or say what would be erased: `POST /erasures`. */
  create(params: s.ErasureInput, options: Options = {}): Promise<s.ErasurePlan & s.Redaction | s.Erasure & s.Redaction> {
    return this.call({ method: "POST", path: "/erasures", keyed: true }, options, params);
  }

  /** Read an erasure, and check that it holds: `GET /erasures/{id}`. */
  get(id: string | number, options: Options = {}): Promise<s.ErasureCheck> {
    return this.call({ method: "GET", path: at`/erasures/${id}` }, options, {});
  }

  /** List erasures, newest first: `GET /erasures`. */
  list(params: { /** ``next`` or ``previous`` of another page. */ cursor?: string; /** Results on a page. */ limit?: number; /** What to sort by; with ``-`` downwards. */ ordering?: "-requested_at" | "requested_at" | "scope" | "-scope" | "-done_at" | "done_at"; /** Those of this kind. */ scope?: "fact" | "session" | "agent" | "actor" | "user" | "app" | "match" | "memory" | ""; /** Pending ones, or done. */ state?: "pending" | "done" | ""; } = {}, options: Options = {}): Pages<s.Erasure, s.ErasurePage> {
    return this.pages({ method: "GET", path: "/erasures" }, options, params);
  }
}

export class EvalsGroup extends Group {
  /** Put all questions to a branch: `POST /evals`. */
  create(params: s.EvalInput = {}, options: Options = {}): Promise<s.EvalDetail & s.Redaction> {
    return this.call({ method: "POST", path: "/evals", keyed: true, fills: ["branch"] }, options, params);
  }

  /** Read a run with the ranks of each question: `GET /evals/{id}`. */
  get(id: string | number, options: Options = {}): Promise<s.EvalDetail> {
    return this.call({ method: "GET", path: at`/evals/${id}` }, options, {});
  }

  /** List runs, newest first: `GET /evals`. */
  list(params: { /** ``next`` or ``previous`` of another page. */ cursor?: string; /** Results on a page. */ limit?: number; } = {}, options: Options = {}): Pages<s.Eval, s.EvalPage> {
    return this.pages({ method: "GET", path: "/evals" }, options, params);
  }
}

export class EventsGroup extends Group {
  /** Follow what happens: `GET /events`. */
  follow(options: EventOptions = {}): AsyncGenerator<s.Event> {
    return this.stream(options);
  }
}

export class FactsGroup extends Group {
  /** Do something to up to 1,000 facts: `POST /facts/actions`. */
  actions(params: s.ActionInput, options: Options = {}): Promise<s.Report & s.Redaction> {
    return this.call({ method: "POST", path: "/facts/actions", keyed: true, fills: ["branch", "agent_id"] }, options, params);
  }

  /** Retire a fact: `POST /facts/{id}/archive`. */
  archive(id: string | number, params: s.MoveInput = {}, options: Options = {}): Promise<s.Fact & s.Redaction> {
    return this.call({ method: "POST", path: at`/facts/${id}/archive`, keyed: true, fills: ["branch", "user_id", "app_id", "agent_id"] }, options, params);
  }

  /** Write a fact: `POST /facts`. */
  create(params: s.FactInput & { /** indexed: the answer comes when searches find what was written, by words and by meaning, or after about ten seconds; `indexed` in it says which. */ wait?: "indexed"; }, options: Options = {}): Promise<s.Written & s.Redaction> {
    return this.call({ method: "POST", path: "/facts", keyed: true, query: ["wait"], fills: ["branch", "user_id", "app_id", "agent_id"] }, options, params);
  }

  /** Write up to 1,000 facts, all or none: `POST /facts/bulk`. */
  createMany(params: s.FactsInput & { /** indexed: the answer comes when searches find what was written, by words and by meaning, or after about ten seconds; `indexed` in it says which. */ wait?: "indexed"; }, options: Options = {}): Promise<s.Bulk & s.Redaction> {
    return this.call({ method: "POST", path: "/facts/bulk", keyed: true, query: ["wait"], fills: ["branch", "user_id", "app_id", "agent_id"] }, options, params);
  }

  /** Delete a fact on this branch: `DELETE /facts/{id}`. */
  delete(id: string | number, params: { /** Who asks. */ agent_id?: string; /** The app whose memory this is about; 403 when the key is bound to another. */ app_id?: string; /** The branch to look at. */ branch?: string; /** 412 when the fact is at another. */ expected_version?: number; /** Who asks. */ session_id?: string; /** Who asks. */ task_id?: string; /** The end user whose memory this is about; 403 when the key is bound to another. */ user_id?: string; } = {}, options: Options = {}): Promise<void> {
    return this.call({ method: "DELETE", path: at`/facts/${id}`, empty: true, fills: ["branch", "user_id", "app_id", "agent_id"] }, options, params);
  }

  /** Why a query finds a fact, or why not: `GET /facts/{id}/explain`. */
  explain(id: string | number, params: { /** What to look for. */ q: string; /** Facts written by one of these agents. */ agent_id?: string[]; /** The app whose memory this is about; 403 when the key is bound to another. */ app_id?: string; /** A point in the branch's past: a seq, a commit's id or a time in ISO 8601. */ at?: number | string; /** The branch to look at. */ branch?: string; /** Facts of one of these categories. */ category?: string[]; /** Facts stored at this time or later. */ created_after?: string; /** Facts stored before this time. */ created_before?: string; /** Count ages in cycles up to this one. */ current_cycle?: number; /** What a search leaves out otherwise. */ include?: ("superseded" | "archived" | "created" | "expired" | "outdated" | "invalidated")[]; /** Facts of one of these kinds. */ kind?: ("OBSERVATION" | "BELIEF" | "TASK" | "OUTPUT_DRAFT" | "NOTE" | "REFLECTION")[]; /** 10 by default. */ limit?: number; /** Facts with at most this confidence, 0 to 1. */ max_confidence?: number; /** Facts with at least this confidence, 0 to 1. */ min_confidence?: number; /** Items of this namespace and of all below it. */ namespace?: string; /** Facts of one of these origins. */ origin?: ("EXPERIENCE" | "SEEDED_LLM" | "DISTILLED_LLM" | "DREAMING")[]; /** true: facts that the branch has written itself; false: those that it shows of others. */ own?: boolean; /** The facts that replace the fact with this id. */ parent_id?: string; /** Facts that are, or are not, pinned. */ pinned?: boolean; /** Facts of one of these priorities. */ priority?: ("P1" | "P2" | "P3" | "P4")[]; /** How scores are mixed. */ recipe?: "answers" | "default" | "hybrid" | "seed" | "timeless" | "words"; /** Facts of this repository, in any form; * is any. */ repository?: string; /** hybrid by default. */ search_type?: "hybrid" | "keyword" | "vector"; /** Facts written in one of these sessions. */ session_id?: string[]; /** Facts with one of these ids at their source. */ source_id?: string[]; /** Facts that came about in one of these ways. */ source_type?: ("manual" | "observation" | "extraction" | "consolidation" | "merge" | "cherry_pick" | "bundle_import" | "import")[]; /** Facts in one of these states of their life. */ status?: ("created" | "active" | "done" | "superseded" | "archived")[]; /** Facts with a tag that begins so. */ tag_prefix?: string; /** Facts that have all of these tags. */ tags?: string[]; /** Facts written for one of these tasks. */ task_id?: string[]; /** The end user whose memory this is about; 403 when the key is bound to another. */ user_id?: string; /** Facts that were still true after this time. */ valid_after?: string; /** Facts that were true at this time. */ valid_at?: string; /** Facts that were true already before this time. */ valid_before?: string; /** Facts with this verdict on what they say now. */ verification_status?: "unverified" | "plausible" | "verified" | "invalidated" | ""; /** Facts of one of these visibilities. */ visibility?: ("private" | "selective" | "public")[]; }, options: Options = {}): Promise<s.Explanation> {
    return this.call({ method: "GET", path: at`/facts/${id}/explain`, fills: ["branch", "user_id", "app_id"] }, options, params);
  }

  /** Read a fact: `GET /facts/{id}`. */
  get(id: string | number, params: { /** The app whose memory this is about; 403 when the key is bound to another. */ app_id?: string; /** A point in the branch's past: a seq, a commit's id or a time in ISO 8601. */ at?: number | string; /** The branch to look at. */ branch?: string; /** The end user whose memory this is about; 403 when the key is bound to another. */ user_id?: string; } = {}, options: Options = {}): Promise<s.Fact> {
    return this.call({ method: "GET", path: at`/facts/${id}`, fills: ["branch", "user_id", "app_id"] }, options, params);
  }

  /** Every version, newest first: `GET /facts/{id}/history`. */
  history(id: string | number, params: { /** The app whose memory this is about; 403 when the key is bound to another. */ app_id?: string; /** The branch to look at. */ branch?: string; /** ``next`` or ``previous`` of another page. */ cursor?: string; /** Results on a page. */ limit?: number; /** The end user whose memory this is about; 403 when the key is bound to another. */ user_id?: string; } = {}, options: Options = {}): Pages<s.Version, s.VersionPage> {
    return this.pages({ method: "GET", path: at`/facts/${id}/history`, fills: ["branch", "user_id", "app_id"] }, options, params);
  }

  /** Link a fact to another: `POST /facts/{id}/links`. */
  link(id: string | number, params: s.LinkInput, options: Options = {}): Promise<s.Link & s.Redaction> {
    return this.call({ method: "POST", path: at`/facts/${id}/links`, keyed: true, fills: ["branch", "agent_id"] }, options, params);
  }

  /** The links from and to a fact: `GET /facts/{id}/links`. */
  links(id: string | number, params: { /** A point in the branch's past: a seq, a commit's id or a time in ISO 8601. */ at?: number | string; /** The branch to look at. */ branch?: string; /** ``next`` or ``previous`` of another page. */ cursor?: string; /** Results on a page. */ limit?: number; } = {}, options: Options = {}): Pages<s.Link, s.LinkPage> {
    return this.pages({ method: "GET", path: at`/facts/${id}/links`, fills: ["branch"] }, options, params);
  }

  /** List facts, newest first: `GET /facts`. */
  list(params: { /** Facts written by one of these agents. */ agent_id?: string[]; /** Facts of one of these apps. */ app_id?: string[]; /** A point in the branch's past: a seq, a commit's id or a time in ISO 8601. */ at?: number | string; /** The branch to look at. */ branch?: string; /** Facts of one of these categories. */ category?: string[]; /** Facts stored at this time or later. */ created_after?: string; /** Facts stored before this time. */ created_before?: string; /** ``next`` or ``previous`` of another page. */ cursor?: string; /** Facts of one of these kinds. */ kind?: ("OBSERVATION" | "BELIEF" | "TASK" | "OUTPUT_DRAFT" | "NOTE" | "REFLECTION")[]; /** Results on a page. */ limit?: number; /** Facts with at most this confidence, 0 to 1. */ max_confidence?: number; /** Facts with at least this confidence, 0 to 1. */ min_confidence?: number; /** Items of this namespace and of all below it. */ namespace?: string; /** What to sort by; with ``-`` downwards. */ ordering?: "-created_at" | "created_at"; /** Facts of one of these origins. */ origin?: ("EXPERIENCE" | "SEEDED_LLM" | "DISTILLED_LLM" | "DREAMING")[]; /** true: facts that the branch has written itself; false: those that it shows of others. */ own?: boolean; /** The facts that replace the fact with this id. */ parent_id?: string; /** Facts that are, or are not, pinned. */ pinned?: boolean; /** Facts of one of these priorities. */ priority?: ("P1" | "P2" | "P3" | "P4")[]; /** Facts of this repository, in any form; * is any. */ repository?: string; /** Facts written in one of these sessions. */ session_id?: string[]; /** Facts with one of these ids at their source. */ source_id?: string[]; /** Facts that came about in one of these ways. */ source_type?: ("manual" | "observation" | "extraction" | "consolidation" | "merge" | "cherry_pick" | "bundle_import" | "import")[]; /** Facts in one of these states of their life. */ status?: ("created" | "active" | "done" | "superseded" | "archived")[]; /** Facts with a tag that begins so. */ tag_prefix?: string; /** Facts that have all of these tags. */ tags?: string[]; /** Facts written for one of these tasks. */ task_id?: string[]; /** Facts of one of these end users. */ user_id?: string[]; /** Facts that were still true after this time. */ valid_after?: string; /** Facts that were true at this time. */ valid_at?: string; /** Facts that were true already before this time. */ valid_before?: string; /** Facts with this verdict on what they say now. */ verification_status?: "unverified" | "plausible" | "verified" | "invalidated" | ""; /** Facts of one of these visibilities. */ visibility?: ("private" | "selective" | "public")[]; } = {}, options: Options = {}): Pages<s.Fact, s.FactPage> {
    return this.pages({ method: "GET", path: "/facts", fills: ["branch", "user_id", "app_id"] }, options, params);
  }

  /** Facts that have to do with a fact: `GET /facts/{id}/related`. */
  related(id: string | number, params: { /** A point in the branch's past: a seq, a commit's id or a time in ISO 8601. */ at?: number | string; /** The branch to look at. */ branch?: string; /** Relations between. */ depth?: number; /** Facts at most. */ limit?: number; } = {}, options: Options = {}): Promise<s.Relatives> {
    return this.call({ method: "GET", path: at`/facts/${id}/related`, fills: ["branch"] }, options, params);
  }

  /** Bring an archived fact back: `POST /facts/{id}/restore`. */
  restore(id: string | number, params: s.MoveInput = {}, options: Options = {}): Promise<s.Fact & s.Redaction> {
    return this.call({ method: "POST", path: at`/facts/${id}/restore`, keyed: true, fills: ["branch", "user_id", "app_id", "agent_id"] }, options, params);
  }

  /** Search facts, told in the body: `POST /facts/search`. */
  search(params: s.SearchInput, options: Options = {}): Pages<s.Hit, s.Found> {
    return this.pages({ method: "POST", path: "/facts/search", session: true, fills: ["branch", "user_id", "app_id"] }, options, params);
  }

  /** Search facts: `GET /facts/search`. */
  searchGet(params: { /** What to look for. */ q: string; /** Facts written by one of these agents. */ agent_id?: string[]; /** The app whose memory this is about; 403 when the key is bound to another. */ app_id?: string; /** A point in the branch's past: a seq, a commit's id or a time in ISO 8601. */ at?: number | string; /** The branch to look at. */ branch?: string; /** Names or patterns, instead of branch; branch_names is understood too. */ branches?: string[]; /** Facts of one of these categories. */ category?: string[]; /** Facts stored at this time or later. */ created_after?: string; /** Facts stored before this time. */ created_before?: string; /** Count ages in cycles up to this one. */ current_cycle?: number; /** ``next`` of another page of this search, whose limit and point hold; not with max_tokens. */ cursor?: string; /** What a search leaves out otherwise. */ include?: ("superseded" | "archived" | "created" | "expired" | "outdated" | "invalidated")[]; /** Facts of one of these kinds. */ kind?: ("OBSERVATION" | "BELIEF" | "TASK" | "OUTPUT_DRAFT" | "NOTE" | "REFLECTION")[]; /** 10 by default. */ limit?: number; /** Facts with at most this confidence, 0 to 1. */ max_confidence?: number; /** The budget of ``context``. */ max_tokens?: number; /** Facts with at least this confidence, 0 to 1. */ min_confidence?: number; /** Items of this namespace and of all below it. */ namespace?: string; /** Facts of one of these origins. */ origin?: ("EXPERIENCE" | "SEEDED_LLM" | "DISTILLED_LLM" | "DREAMING")[]; /** true: facts that the branch has written itself; false: those that it shows of others. */ own?: boolean; /** The facts that replace the fact with this id. */ parent_id?: string; /** Facts that are, or are not, pinned. */ pinned?: boolean; /** Facts of one of these priorities. */ priority?: ("P1" | "P2" | "P3" | "P4")[]; /** How scores are mixed. */ recipe?: "answers" | "default" | "hybrid" | "seed" | "timeless" | "words"; /** Facts of this repository, in any form; * is any. */ repository?: string; /** hybrid by default. */ search_type?: "hybrid" | "keyword" | "vector"; /** Facts written in one of these sessions. */ session_id?: string[]; /** Facts with one of these ids at their source. */ source_id?: string[]; /** Facts that came about in one of these ways. */ source_type?: ("manual" | "observation" | "extraction" | "consolidation" | "merge" | "cherry_pick" | "bundle_import" | "import")[]; /** Facts in one of these states of their life. */ status?: ("created" | "active" | "done" | "superseded" | "archived")[]; /** Facts with a tag that begins so. */ tag_prefix?: string; /** Facts that have all of these tags. */ tags?: string[]; /** Facts written for one of these tasks. */ task_id?: string[]; /** The end user whose memory this is about; 403 when the key is bound to another. */ user_id?: string; /** Facts that were still true after this time. */ valid_after?: string; /** Facts that were true at this time. */ valid_at?: string; /** Facts that were true already before this time. */ valid_before?: string; /** Facts with this verdict on what they say now. */ verification_status?: "unverified" | "plausible" | "verified" | "invalidated" | ""; /** Facts of one of these visibilities. */ visibility?: ("private" | "selective" | "public")[]; }, options: Options = {}): Pages<s.Hit, s.Found> {
    return this.pages({ method: "GET", path: "/facts/search", session: true, fills: ["branch", "user_id", "app_id"] }, options, params);
  }

  /** Replace a fact by a new one: `POST /facts/{id}/supersede`. */
  supersede(id: string | number, params: s.SupersedeInput & { /** indexed: the answer comes when searches find what was written, by words and by meaning, or after about ten seconds; `indexed` in it says which. */ wait?: "indexed"; }, options: Options = {}): Promise<s.Written & s.Redaction> {
    return this.call({ method: "POST", path: at`/facts/${id}/supersede`, keyed: true, query: ["wait"], fills: ["branch", "user_id", "app_id", "agent_id"] }, options, params);
  }

  /** The tags of facts, and how many have each: `GET /facts/tags`. */
  tags(params: { /** Facts written by one of these agents. */ agent_id?: string[]; /** Facts of one of these apps. */ app_id?: string[]; /** A point in the branch's past: a seq, a commit's id or a time in ISO 8601. */ at?: number | string; /** The branch to look at. */ branch?: string; /** Facts of one of these categories. */ category?: string[]; /** Facts stored at this time or later. */ created_after?: string; /** Facts stored before this time. */ created_before?: string; /** Facts of one of these kinds. */ kind?: ("OBSERVATION" | "BELIEF" | "TASK" | "OUTPUT_DRAFT" | "NOTE" | "REFLECTION")[]; /** So many tags. */ limit?: number; /** Facts with at most this confidence, 0 to 1. */ max_confidence?: number; /** Facts with at least this confidence, 0 to 1. */ min_confidence?: number; /** Items of this namespace and of all below it. */ namespace?: string; /** Facts of one of these origins. */ origin?: ("EXPERIENCE" | "SEEDED_LLM" | "DISTILLED_LLM" | "DREAMING")[]; /** true: facts that the branch has written itself; false: those that it shows of others. */ own?: boolean; /** The facts that replace the fact with this id. */ parent_id?: string; /** Facts that are, or are not, pinned. */ pinned?: boolean; /** Tags that begin so. */ prefix?: string; /** Facts of one of these priorities. */ priority?: ("P1" | "P2" | "P3" | "P4")[]; /** Facts of this repository, in any form; * is any. */ repository?: string; /** Facts written in one of these sessions. */ session_id?: string[]; /** Facts with one of these ids at their source. */ source_id?: string[]; /** Facts that came about in one of these ways. */ source_type?: ("manual" | "observation" | "extraction" | "consolidation" | "merge" | "cherry_pick" | "bundle_import" | "import")[]; /** Facts in one of these states of their life. */ status?: ("created" | "active" | "done" | "superseded" | "archived")[]; /** Facts with a tag that begins so. */ tag_prefix?: string; /** Facts that have all of these tags. */ tags?: string[]; /** Facts written for one of these tasks. */ task_id?: string[]; /** Facts of one of these end users. */ user_id?: string[]; /** Facts that were still true after this time. */ valid_after?: string; /** Facts that were true at this time. */ valid_at?: string; /** Facts that were true already before this time. */ valid_before?: string; /** Facts with this verdict on what they say now. */ verification_status?: "unverified" | "plausible" | "verified" | "invalidated" | ""; /** Facts of one of these visibilities. */ visibility?: ("private" | "selective" | "public")[]; } = {}, options: Options = {}): Promise<s.Tags> {
    return this.call({ method: "GET", path: "/facts/tags", fills: ["branch", "user_id", "app_id"] }, options, params);
  }

  /** Take a link away: `DELETE /facts/{id}/links/{link_id}`. */
  unlink(id: string | number, linkId: string | number, params: { /** Who asks. */ agent_id?: string; /** The branch to look at. */ branch?: string; /** Who asks. */ session_id?: string; /** Who asks. */ task_id?: string; } = {}, options: Options = {}): Promise<void> {
    return this.call({ method: "DELETE", path: at`/facts/${id}/links/${linkId}`, empty: true, fills: ["branch", "agent_id"] }, options, params);
  }

  /** Correct a fact: `PATCH /facts/{id}`. */
  update(id: string | number, params: s.FactUpdateInput & { /** indexed: the answer comes when searches find what was written, by words and by meaning, or after about ten seconds; `indexed` in it says which. */ wait?: "indexed"; } = {}, options: Options = {}): Promise<s.Fact & s.Redaction> {
    return this.call({ method: "PATCH", path: at`/facts/${id}`, query: ["wait"], fills: ["branch", "user_id", "app_id", "agent_id"] }, options, params);
  }

  /** Correct up to 1,000 facts, all or none: `PATCH /facts/bulk`. */
  updateMany(params: s.FactUpdatesInput & { /** indexed: the answer comes when searches find what was written, by words and by meaning, or after about ten seconds; `indexed` in it says which. */ wait?: "indexed"; }, options: Options = {}): Promise<s.BulkUpdate & s.Redaction> {
    return this.call({ method: "PATCH", path: "/facts/bulk", query: ["wait"], fills: ["branch", "user_id", "app_id", "agent_id"] }, options, params);
  }

  /** The verdict on a fact, and its newest rating: `GET /facts/{id}/verification`. */
  verification(id: string | number, params: { /** A point in the branch's past: a seq, a commit's id or a time in ISO 8601. */ at?: number | string; /** The branch to look at. */ branch?: string; } = {}, options: Options = {}): Promise<s.FactVerification> {
    return this.call({ method: "GET", path: at`/facts/${id}/verification`, fills: ["branch"] }, options, params);
  }

  /** Give a verdict on a fact, or ask the judge for a rating: `POST /facts/{id}/verify`. */
  verify(id: string | number, params: s.VerifyInput & { /** Seconds to wait for the judge; the rating is then the answer. */ wait?: number; } = {}, options: Options = {}): Promise<s.Fact & s.Redaction | s.Job & s.Redaction> {
    return this.call({ method: "POST", path: at`/facts/${id}/verify`, keyed: true, query: ["wait"], fills: ["branch", "agent_id"] }, options, params);
  }
}

export class HandoffsGroup extends Group {
  /** Accept a handoff: `POST /handoffs/{id}/accept`. */
  accept(id: string | number, params: s.HandoffAcceptInput = {}, options: Options = {}): Promise<s.HandoffPacket & s.Redaction> {
    return this.call({ method: "POST", path: at`/handoffs/${id}/accept`, keyed: true, fills: ["agent_id"] }, options, params);
  }

  /** Hand over: `POST /handoffs`. */
  create(params: s.HandoffInput = {}, options: Options = {}): Promise<s.HandoffPacket & s.Redaction> {
    return this.call({ method: "POST", path: "/handoffs", keyed: true, fills: ["agent_id"] }, options, params);
  }

  /** Delete a handoff: `DELETE /handoffs/{id}`. */
  delete(id: string | number, params: { /** true removes the content for good, from every branch and its history; needs the scope admin on all branches. Default: it is hidden, and can be restored. */ erase?: boolean; } = {}, options: Options = {}): Promise<s.Erasure | void> {
    return this.call({ method: "DELETE", path: at`/handoffs/${id}`, empty: true }, options, params);
  }

  /** Delete the handoffs that fit: `POST /handoffs/delete`. */
  deleteMany(params: s.HandoffsDeleteInput = {}, options: Options = {}): Promise<s.Deletion & s.Redaction> {
    return this.call({ method: "POST", path: "/handoffs/delete", keyed: true }, options, params);
  }

  /** Read a handoff with its packet: `GET /handoffs/{id}`. */
  get(id: string | number, options: Options = {}): Promise<s.HandoffPacket> {
    return this.call({ method: "GET", path: at`/handoffs/${id}` }, options, {});
  }

  /** List handoffs, newest first: `GET /handoffs`. */
  list(params: { /** ``next`` or ``previous`` of another page. */ cursor?: string; /** Handoffs of this kind. */ handoff_type?: "task_continuation" | "agent_switch" | "session_handoff" | "escalation" | ""; /** Results on a page. */ limit?: number; /** What to sort by; with ``-`` downwards. */ ordering?: "-created_at" | "created_at" | "-fact_count" | "fact_count"; /** Handoffs in this state. */ state?: "pending" | "accepted" | "rejected" | ""; /** Handoffs to this branch. */ target_branch?: string; /** Handoffs to this agent. */ to_agent?: string; } = {}, options: Options = {}): Pages<s.Handoff, s.HandoffPage> {
    return this.pages({ method: "GET", path: "/handoffs" }, options, params);
  }

  /** Reject a handoff: `POST /handoffs/{id}/reject`. */
  reject(id: string | number, params: s.HandoffRejectInput, options: Options = {}): Promise<s.Handoff & s.Redaction> {
    return this.call({ method: "POST", path: at`/handoffs/${id}/reject`, keyed: true, fills: ["agent_id"] }, options, params);
  }

  /** Restore a deleted handoff: `POST /handoffs/{id}/restore`. */
  restore(id: string | number, options: Options = {}): Promise<s.Handoff & s.Redaction> {
    return this.call({ method: "POST", path: at`/handoffs/${id}/restore`, keyed: true }, options, {});
  }
}

export class HealthGroup extends Group {
  /** How the server is: `GET /health`. */
  get(options: Options = {}): Promise<s.Health> {
    return this.call({ method: "GET", path: "/health" }, options, {});
  }

  /** Whether the process answers: `GET /health/live`. */
  live(options: Options = {}): Promise<s.Health> {
    return this.call({ method: "GET", path: "/health/live" }, options, {});
  }

  /** Whether the database answers: `GET /health/ready`. */
  ready(options: Options = {}): Promise<s.Health> {
    return this.call({ method: "GET", path: "/health/ready" }, options, {});
  }
}

export class ImportsGroup extends Group {
  /** Begin an import from another product, or begin it again: `POST /imports`. */
  create(params: s.ImportInput, options: Options = {}): Promise<s.Import & s.Redaction> {
    return this.call({ method: "POST", path: "/imports", keyed: true }, options, params);
  }

  /** Finish an import: `POST /imports/{id}/finish`. */
  finish(id: string | number, params: s.ImportFinishInput = {}, options: Options = {}): Promise<s.ImportReport & s.Redaction> {
    return this.call({ method: "POST", path: at`/imports/${id}/finish`, keyed: true }, options, params);
  }

  /** Read an import with its report: `GET /imports/{id}`. */
  get(id: string | number, options: Options = {}): Promise<s.ImportReport> {
    return this.call({ method: "GET", path: at`/imports/${id}` }, options, {});
  }

  /** List imports, newest first: `GET /imports`. */
  list(params: { /** ``next`` or ``previous`` of another page. */ cursor?: string; /** Results on a page. */ limit?: number; /** What to sort by; with ``-`` downwards. */ ordering?: "-created_at" | "created_at" | "-updated_at" | "updated_at" | "file" | "-file"; /** Of this product. */ product?: "basic-memory" | "claude-mem" | "engrava" | "graphiti" | "langgraph" | "letta" | "mcp-memory" | "mem0" | "zep" | ""; /** In this state. */ state?: "reading" | "finished" | "proposed" | ""; } = {}, options: Options = {}): Pages<s.Import, s.ImportPage> {
    return this.pages({ method: "GET", path: "/imports" }, options, params);
  }

  /** Ask for a merge of what is good of an import: `POST /imports/{id}/propose`. */
  propose(id: string | number, params: s.ImportProposeInput = {}, options: Options = {}): Promise<s.MergeRequest & s.Redaction> {
    return this.call({ method: "POST", path: at`/imports/${id}/propose`, keyed: true }, options, params);
  }

  /** Write records of an import: `POST /imports/{id}/records`. */
  records(id: string | number, params: s.ImportRecordsInput = {}, options: Options = {}): Promise<s.Import & s.Redaction> {
    return this.call({ method: "POST", path: at`/imports/${id}/records`, keyed: true }, options, params);
  }
}

export class IngestGroup extends Group {
  /** Take in events of an agent's program: `POST /ingest/hook`. */
  hook(body: Record<string, unknown> | unknown[], params: { /** The branch to look at. */ branch?: string; /** The program that sends them, such as claude-code. */ client?: string; } = {}, options: Options = {}): Promise<void> {
    return this.call({ method: "POST", path: "/ingest/hook", keyed: true, empty: true, query: ["branch", "client"], fills: ["branch"] }, options, params, body);
  }
}

export class InstructionsGroup extends Group {
  /** Read what the project wants remembered: `GET /instructions`. */
  get(options: Options = {}): Promise<s.Instructions> {
    return this.call({ method: "GET", path: "/instructions" }, options, {});
  }

  /** Set what the project wants remembered: `POST /instructions`. */
  set(params: s.InstructionsInput = {}, options: Options = {}): Promise<s.Instructions & s.Redaction> {
    return this.call({ method: "POST", path: "/instructions", keyed: true }, options, params);
  }

  /** What holds in a repository, for its files of instructions: `GET /instructions/standing`. */
  standing(params: { /** The branch to look at. */ branch?: string; /** As its hooks name it, such as github.com/acme/shop. */ repository?: string; } = {}, options: Options = {}): Promise<s.Standing> {
    return this.call({ method: "GET", path: "/instructions/standing", fills: ["branch"] }, options, params);
  }

  /** List the versions, the newest first: `GET /instructions/versions`. */
  versions(params: { /** ``next`` or ``previous`` of another page. */ cursor?: string; /** Results on a page. */ limit?: number; } = {}, options: Options = {}): Pages<s.Instructions, s.InstructionsPage> {
    return this.pages({ method: "GET", path: "/instructions/versions" }, options, params);
  }
}

export class InvitationsGroup extends Group {
  /** Invite by link: `POST /invitations`. */
  create(params: s.InvitationInput = {}, options: Options = {}): Promise<s.NewInvitation & s.Redaction> {
    return this.call({ method: "POST", path: "/invitations", keyed: true }, options, params);
  }

  /** List invitations, newest first: `GET /invitations`. */
  list(params: { /** ``next`` or ``previous`` of another page. */ cursor?: string; /** Results on a page. */ limit?: number; /** What to sort by; with ``-`` downwards. */ ordering?: "-created_at" | "created_at" | "expires_at" | "-expires_at"; } = {}, options: Options = {}): Pages<s.Invitation, s.InvitationPage> {
    return this.pages({ method: "GET", path: "/invitations" }, options, params);
  }

  /** Revoke an invitation: `POST /invitations/{id}/revoke`. */
  revoke(id: string | number, options: Options = {}): Promise<s.Invitation & s.Redaction> {
    return this.call({ method: "POST", path: at`/invitations/${id}/revoke`, keyed: true }, options, {});
  }
}

export class ItemsGroup extends Group {
  /** Put, get, delete and search up to 1,000 items at once: `POST /items/batch`. */
  batch(params: s.ItemBatchInput & { /** indexed: the answer comes when searches find what was written, by words and by meaning, or after about ten seconds; `indexed` in it says which. */ wait?: "indexed"; }, options: Options = {}): Promise<s.ItemResults & s.Redaction> {
    return this.call({ method: "POST", path: "/items/batch", keyed: true, query: ["wait"], fills: ["branch", "user_id", "app_id", "agent_id"] }, options, params);
  }

  /** Delete the item under a key: `DELETE /items/{namespace}/{key}`. */
  delete(namespace: string | number, key: string | number, params: { /** Who asks. */ agent_id?: string; /** The app whose memory this is about; 403 when the key is bound to another. */ app_id?: string; /** The branch to look at. */ branch?: string; /** 412 when the fact is at another. */ expected_version?: number; /** Who asks. */ session_id?: string; /** Who asks. */ task_id?: string; /** The end user whose memory this is about; 403 when the key is bound to another. */ user_id?: string; } = {}, options: Options = {}): Promise<void> {
    return this.call({ method: "DELETE", path: at`/items/${namespace}/${key}`, empty: true, fills: ["branch", "user_id", "app_id", "agent_id"] }, options, params);
  }

  /** Read the item under a key: `GET /items/{namespace}/{key}`. */
  get(namespace: string | number, key: string | number, params: { /** The app whose memory this is about; 403 when the key is bound to another. */ app_id?: string; /** A point in the branch's past: a seq, a commit's id or a time in ISO 8601. */ at?: number | string; /** The branch to look at. */ branch?: string; /** Begin its ttl anew; needs the scope write. */ renew?: boolean; /** The end user whose memory this is about; 403 when the key is bound to another. */ user_id?: string; } = {}, options: Options = {}): Promise<s.Item> {
    return this.call({ method: "GET", path: at`/items/${namespace}/${key}`, fills: ["branch", "user_id", "app_id"] }, options, params);
  }

  /** List items in the order of namespace and key: `GET /items`. */
  list(params: { /** The app whose memory this is about; 403 when the key is bound to another. */ app_id?: string; /** A point in the branch's past: a seq, a commit's id or a time in ISO 8601. */ at?: number | string; /** The branch to look at. */ branch?: string; /** ``next`` or ``previous`` of another page. */ cursor?: string; /** Results on a page. */ limit?: number; /** A namespace: its items and those of all below it. */ prefix?: string; /** The end user whose memory this is about; 403 when the key is bound to another. */ user_id?: string; /** Conditions on the value and metadata, as JSON: {"value.status": "open", "metadata.size": {"gte": 3}}, with eq, ne, gt, gte, lt, lte, in and contains. */ where?: string; } = {}, options: Options = {}): Pages<s.Item, s.ItemPage> {
    return this.pages({ method: "GET", path: "/items", fills: ["branch", "user_id", "app_id"] }, options, params);
  }

  /** List the namespaces of items: `GET /items/namespaces`. */
  namespaces(params: { /** The app whose memory this is about; 403 when the key is bound to another. */ app_id?: string; /** A point in the branch's past: a seq, a commit's id or a time in ISO 8601. */ at?: number | string; /** The branch to look at. */ branch?: string; /** So many segments of each namespace. */ depth?: number; /** So many results. */ limit?: number; /** How many are left out before the first. */ offset?: number; /** The first segments of a namespace; * is any segment. */ prefix?: string; /** The last segments of a namespace; * is any segment. */ suffix?: string; /** The end user whose memory this is about; 403 when the key is bound to another. */ user_id?: string; } = {}, options: Options = {}): Promise<s.Namespaces> {
    return this.call({ method: "GET", path: "/items/namespaces", fills: ["branch", "user_id", "app_id"] }, options, params);
  }

  /** Make or replace the item under a key: `PUT /items/{namespace}/{key}`. */
  put(namespace: string | number, key: string | number, params: s.ItemInput & { /** indexed: the answer comes when searches find what was written, by words and by meaning, or after about ten seconds; `indexed` in it says which. */ wait?: "indexed"; }, options: Options = {}): Promise<s.WrittenItem & s.Redaction> {
    return this.call({ method: "PUT", path: at`/items/${namespace}/${key}`, query: ["wait"], fills: ["branch", "user_id", "app_id", "agent_id"] }, options, params);
  }
}

export class JobsGroup extends Group {
  /** Read how far a job is: `GET /jobs/{id}`. */
  get(id: string | number, options: Options = {}): Promise<s.Job> {
    return this.call({ method: "GET", path: at`/jobs/${id}` }, options, {});
  }

  /** List jobs, newest first: `GET /jobs`. */
  list(params: { /** ``next`` or ``previous`` of another page. */ cursor?: string; /** Results on a page. */ limit?: number; /** What to sort by; with ``-`` downwards. */ ordering?: "-created_at" | "created_at" | "-total" | "total" | "-finished_at" | "finished_at"; } = {}, options: Options = {}): Pages<s.Job, s.JobPage> {
    return this.pages({ method: "GET", path: "/jobs" }, options, params);
  }
}

export class KeysGroup extends Group {
  /** Make an API key; its token is told once: `POST /keys`. */
  create(params: s.KeyInput, options: Options = {}): Promise<s.NewKey & s.Redaction> {
    return this.call({ method: "POST", path: "/keys", keyed: true }, options, params);
  }

  /** List the project's keys, newest first: `GET /keys`. */
  list(params: { /** Keys bound to this agent. */ agent_id?: string; /** ``next`` or ``previous`` of another page. */ cursor?: string; /** Results on a page. */ limit?: number; /** What to sort by; with ``-`` downwards. */ ordering?: "-created_at" | "created_at" | "label" | "-label" | "agent_id" | "-agent_id" | "-last_used_at" | "last_used_at" | "expires_at" | "-expires_at"; /** Keys in this state. */ state?: "valid" | "expired" | "revoked" | ""; /** Keys bound to this end user. */ user_id?: string; } = {}, options: Options = {}): Pages<s.Key, s.KeyPage> {
    return this.pages({ method: "GET", path: "/keys" }, options, params);
  }

  /** End a key: `POST /keys/{id}/revoke`. */
  revoke(id: string | number, options: Options = {}): Promise<s.Key & s.Redaction> {
    return this.call({ method: "POST", path: at`/keys/${id}/revoke`, keyed: true }, options, {});
  }

  /** A new key in the place of an old one: `POST /keys/{id}/rotate`. */
  rotate(id: string | number, params: s.RotateInput = {}, options: Options = {}): Promise<s.NewKey & s.Redaction> {
    return this.call({ method: "POST", path: at`/keys/${id}/rotate`, keyed: true }, options, params);
  }
}

export class LearningGroup extends Group {
  /** The rules of learning, and what they made: `GET /learning`. */
  list(params: { /** The branch to look at. */ branch?: string; } = {}, options: Options = {}): Promise<s.RulePage> {
    return this.call({ method: "GET", path: "/learning", fills: ["branch"] }, options, params);
  }

  /** Switch a rule on or off: `PATCH /learning/{name}`. */
  update(name: string | number, params: s.RuleInput, options: Options = {}): Promise<s.Rule & s.Redaction> {
    return this.call({ method: "PATCH", path: at`/learning/${name}` }, options, params);
  }
}

export class LimitsGroup extends Group {
  /** List the limits of the project and of this key, with what is used: `GET /limits`. */
  list(options: Options = {}): Promise<s.LimitStatePage> {
    return this.call({ method: "GET", path: "/limits" }, options, {});
  }
}

export class MembersGroup extends Group {
  /** Add a member: `POST /members`. */
  create(params: s.MemberInput, options: Options = {}): Promise<s.Member & s.Redaction> {
    return this.call({ method: "POST", path: "/members", keyed: true }, options, params);
  }

  /** Read a member: `GET /members/{username}`. */
  get(username: string | number, options: Options = {}): Promise<s.Member> {
    return this.call({ method: "GET", path: at`/members/${username}` }, options, {});
  }

  /** List members: `GET /members`. */
  list(params: { /** ``next`` or ``previous`` of another page. */ cursor?: string; /** Results on a page. */ limit?: number; /** Members whose names have this part. */ name?: string; /** What to sort by; with ``-`` downwards. */ ordering?: "joined_at" | "-joined_at" | "name" | "-name" | "role" | "-role"; /** Members with this role. */ role?: "viewer" | "curator" | "maintainer" | "owner" | ""; } = {}, options: Options = {}): Pages<s.Member, s.MemberPage> {
    return this.pages({ method: "GET", path: "/members" }, options, params);
  }

  /** Remove a member, with the keys, invitations and logins of theirs: `POST /members/{username}/remove`. */
  remove(username: string | number, params: s.RemovalInput = {}, options: Options = {}): Promise<s.Departure & s.Redaction> {
    return this.call({ method: "POST", path: at`/members/${username}/remove`, keyed: true }, options, params);
  }

  /** Change the role of a member: `PATCH /members/{username}`. */
  update(username: string | number, params: s.RoleInput, options: Options = {}): Promise<s.Member & s.Redaction> {
    return this.call({ method: "PATCH", path: at`/members/${username}` }, options, params);
  }
}

export class MergeRequestsGroup extends Group {
  /** Approve it as the source is now: `POST /merge-requests/{id}/approve`. */
  approve(id: string | number, params: s.ApproveInput = {}, options: Options = {}): Promise<s.MergeRequestDetail & s.Redaction> {
    return this.call({ method: "POST", path: at`/merge-requests/${id}/approve`, keyed: true, fills: ["agent_id"] }, options, params);
  }

  /** Ask for a merge: `POST /merge-requests`. */
  create(params: s.MergeRequestInput, options: Options = {}): Promise<s.MergeRequest & s.Redaction> {
    return this.call({ method: "POST", path: "/merge-requests", keyed: true, fills: ["agent_id"] }, options, params);
  }

  /** Decide conflicts, one by one or by rule: `POST /merge-requests/{id}/decisions`. */
  decide(id: string | number, params: s.DecisionsInput = {}, options: Options = {}): Promise<s.Settled & s.Redaction> {
    return this.call({ method: "POST", path: at`/merge-requests/${id}/decisions`, keyed: true, fills: ["agent_id"] }, options, params);
  }

  /** Read a merge request with its checks: `GET /merge-requests/{id}`. */
  get(id: string | number, options: Options = {}): Promise<s.MergeRequestDetail> {
    return this.call({ method: "GET", path: at`/merge-requests/${id}` }, options, {});
  }

  /** List merge requests, newest first: `GET /merge-requests`. */
  list(params: { /** ``next`` or ``previous`` of another page. */ cursor?: string; /** Results on a page. */ limit?: number; /** What to sort by; with ``-`` downwards. */ ordering?: "-created_at" | "created_at" | "title" | "-title" | "-closed_at" | "closed_at"; /** Requests to merge this branch. */ source?: string; /** Requests in this state. */ state?: "open" | "approved" | "merged" | "reverted" | "rejected" | ""; /** Requests to merge into this branch. */ target?: string; } = {}, options: Options = {}): Pages<s.MergeRequest, s.MergeRequestPage> {
    return this.pages({ method: "GET", path: "/merge-requests" }, options, params);
  }

  /** Merge it: `POST /merge-requests/{id}/merge`. */
  merge(id: string | number, params: s.MergeRequestMergeInput = {}, options: Options = {}): Promise<s.Merged & s.Redaction> {
    return this.call({ method: "POST", path: at`/merge-requests/${id}/merge`, keyed: true, fills: ["agent_id"] }, options, params);
  }

  /** What it would merge, and what was decided: `GET /merge-requests/{id}/plan`. */
  plan(id: string | number, params: { /** Only these. */ class?: ("conflict" | "applied" | "identical" | "rejected")[]; /** ``next`` or ``previous`` of another page. */ cursor?: string; /** Results on a page. */ limit?: number; /** Only this kind of memory. */ type?: string; } = {}, options: Options = {}): Pages<s.PlanItem, s.MergePlan> {
    return this.pages({ method: "GET", path: at`/merge-requests/${id}/plan` }, options, params);
  }

  /** Close it without a merge: `POST /merge-requests/{id}/reject`. */
  reject(id: string | number, params: s.RejectInput = {}, options: Options = {}): Promise<s.MergeRequest & s.Redaction> {
    return this.call({ method: "POST", path: at`/merge-requests/${id}/reject`, keyed: true, fills: ["agent_id"] }, options, params);
  }

  /** Take its merge back by a new commit: `POST /merge-requests/{id}/revert`. */
  revert(id: string | number, params: s.StatedInput = {}, options: Options = {}): Promise<s.MergeRequest & s.Redaction> {
    return this.call({ method: "POST", path: at`/merge-requests/${id}/revert`, keyed: true, fills: ["agent_id"] }, options, params);
  }

  /** Take one's own approval back: `DELETE /merge-requests/{id}/approve`. */
  withdrawApproval(id: string | number, params: { /** Who asks. */ agent_id?: string; /** Who asks. */ session_id?: string; /** Who asks. */ task_id?: string; } = {}, options: Options = {}): Promise<s.MergeRequest> {
    return this.call({ method: "DELETE", path: at`/merge-requests/${id}/approve`, fills: ["agent_id"] }, options, params);
  }

  /** Make conflicts undecided again: `DELETE /merge-requests/{id}/decisions`. */
  withdrawDecision(id: string | number, params: { /** The memory that was decided. */ id?: string; /** Who asks. */ agent_id?: string; /** Without an id: what you decided in one call, whose answer has this time. */ decided_at?: string; /** Who asks. */ session_id?: string; /** Who asks. */ task_id?: string; /** Only this kind of memory. */ type?: string; } = {}, options: Options = {}): Promise<s.MergeRequest> {
    return this.call({ method: "DELETE", path: at`/merge-requests/${id}/decisions`, fills: ["agent_id"] }, options, params);
  }
}

export class MessagesGroup extends Group {
  /** Delete a message: `DELETE /messages/{id}`. */
  delete(id: string | number, params: { /** Who asks. */ agent_id?: string; /** The app whose memory this is about; 403 when the key is bound to another. */ app_id?: string; /** The branch to look at. */ branch?: string; /** With erase: true drops the copies of the store that hold it too. Default: false. */ drop_copies?: boolean; /** true removes the content for good, from every branch and its history; needs the scope admin on all branches. Default: it is hidden, and can be restored. */ erase?: boolean; /** 412 when the fact is at another. */ expected_version?: number; /** Who asks. */ session_id?: string; /** Who asks. */ task_id?: string; /** The end user whose memory this is about; 403 when the key is bound to another. */ user_id?: string; } = {}, options: Options = {}): Promise<s.Erasure | void> {
    return this.call({ method: "DELETE", path: at`/messages/${id}`, empty: true, fills: ["branch", "user_id", "app_id", "agent_id"] }, options, params);
  }

  /** Delete the messages that fit: `POST /messages/delete`. */
  deleteMany(params: s.MessagesDeleteInput = {}, options: Options = {}): Promise<s.Deletion & s.Redaction> {
    return this.call({ method: "POST", path: "/messages/delete", keyed: true, fills: ["branch", "user_id", "app_id", "agent_id"] }, options, params);
  }

  /** List the deleted messages that can be restored: `GET /messages/deleted`. */
  deleted(params: { /** The app whose memory this is about; 403 when the key is bound to another. */ app_id?: string; /** The branch to look at. */ branch?: string; /** ``next`` or ``previous`` of another page. */ cursor?: string; /** Results on a page. */ limit?: number; /** Who asks. */ session_id?: string; /** The end user whose memory this is about; 403 when the key is bound to another. */ user_id?: string; } = {}, options: Options = {}): Pages<s.Message, s.MessagePage> {
    return this.pages({ method: "GET", path: "/messages/deleted", fills: ["branch", "user_id", "app_id"] }, options, params);
  }

  /** Read a message: `GET /messages/{id}`. */
  get(id: string | number, params: { /** The app whose memory this is about; 403 when the key is bound to another. */ app_id?: string; /** A point in the branch's past: a seq, a commit's id or a time in ISO 8601. */ at?: number | string; /** The branch to look at. */ branch?: string; /** The end user whose memory this is about; 403 when the key is bound to another. */ user_id?: string; } = {}, options: Options = {}): Promise<s.Message> {
    return this.call({ method: "GET", path: at`/messages/${id}`, fills: ["branch", "user_id", "app_id"] }, options, params);
  }

  /** Store messages and learn from them at once: `POST /remember`. */
  remember(params: s.RememberInput & { /** The branch to look at. */ branch?: string; /** indexed: the answer comes when searches find what was written, by words and by meaning, or after about ten seconds; `indexed` in it says which. */ wait?: "indexed"; }, options: Options = {}): Promise<s.Remember & s.Redaction> {
    return this.call({ method: "POST", path: "/remember", keyed: true, query: ["branch", "wait"], fills: ["branch", "user_id", "app_id"] }, options, params);
  }

  /** Restore a deleted message in its place: `POST /messages/{id}/restore`. */
  restore(id: string | number, params: s.RestoreMemoryInput = {}, options: Options = {}): Promise<s.Message & s.Redaction> {
    return this.call({ method: "POST", path: at`/messages/${id}/restore`, keyed: true, fills: ["branch", "user_id", "app_id", "agent_id"] }, options, params);
  }

  /** Search messages: `GET /messages/search`. */
  search(params: { /** What to look for. */ q: string; /** Messages recorded at this time or later. */ after?: string; /** Messages of one of these agents. */ agent_id?: string[]; /** Messages of one of these apps. */ app_id?: string[]; /** A point in the branch's past: a seq, a commit's id or a time in ISO 8601. */ at?: number | string; /** Messages recorded before this time. */ before?: string; /** The branch to look at. */ branch?: string; /** Messages of this conversation. */ conversation_id?: string; /** 10 by default. */ limit?: number; /** How scores are mixed. */ recipe?: "answers" | "default" | "hybrid" | "seed" | "timeless" | "words"; /** Messages of this repository, in any form; * is any. */ repository?: string; /** Messages of one of these roles. */ role?: ("user" | "assistant" | "tool_call" | "tool_result" | "system" | "developer")[]; /** hybrid by default. */ search_type?: "hybrid" | "keyword" | "vector"; /** Messages of one of these sessions. */ session_id?: string[]; /** Messages of one of these end users. */ user_id?: string[]; }, options: Options = {}): Promise<s.MessagesFound> {
    return this.call({ method: "GET", path: "/messages/search", fills: ["branch", "user_id", "app_id"] }, options, params);
  }
}

export class ObservationsGroup extends Group {
  /** Record an observation: `POST /observations`. */
  create(params: s.ObservationInput = {}, options: Options = {}): Promise<s.Observation & s.Redaction> {
    return this.call({ method: "POST", path: "/observations", keyed: true, fills: ["branch", "user_id", "app_id", "agent_id"] }, options, params);
  }

  /** Delete an observation: `DELETE /observations/{id}`. */
  delete(id: string | number, params: { /** Who asks. */ agent_id?: string; /** The app whose memory this is about; 403 when the key is bound to another. */ app_id?: string; /** The branch to look at. */ branch?: string; /** With erase: true drops the copies of the store that hold it too. Default: false. */ drop_copies?: boolean; /** true removes the content for good, from every branch and its history; needs the scope admin on all branches. Default: it is hidden, and can be restored. */ erase?: boolean; /** 412 when the fact is at another. */ expected_version?: number; /** Who asks. */ session_id?: string; /** Who asks. */ task_id?: string; /** The end user whose memory this is about; 403 when the key is bound to another. */ user_id?: string; } = {}, options: Options = {}): Promise<s.Erasure | void> {
    return this.call({ method: "DELETE", path: at`/observations/${id}`, empty: true, fills: ["branch", "user_id", "app_id", "agent_id"] }, options, params);
  }

  /** Delete the observations that fit: `POST /observations/delete`. */
  deleteMany(params: s.ObservationsDeleteInput = {}, options: Options = {}): Promise<s.Deletion & s.Redaction> {
    return this.call({ method: "POST", path: "/observations/delete", keyed: true, fills: ["branch", "user_id", "app_id", "agent_id"] }, options, params);
  }

  /** List the deleted observations that can be restored: `GET /observations/deleted`. */
  deleted(params: { /** The app whose memory this is about; 403 when the key is bound to another. */ app_id?: string; /** The branch to look at. */ branch?: string; /** ``next`` or ``previous`` of another page. */ cursor?: string; /** Results on a page. */ limit?: number; /** Who asks. */ session_id?: string; /** The end user whose memory this is about; 403 when the key is bound to another. */ user_id?: string; } = {}, options: Options = {}): Pages<s.Observation, s.ObservationPage> {
    return this.pages({ method: "GET", path: "/observations/deleted", fills: ["branch", "user_id", "app_id"] }, options, params);
  }

  /** Read an observation: `GET /observations/{id}`. */
  get(id: string | number, params: { /** The app whose memory this is about; 403 when the key is bound to another. */ app_id?: string; /** A point in the branch's past: a seq, a commit's id or a time in ISO 8601. */ at?: number | string; /** The branch to look at. */ branch?: string; /** The end user whose memory this is about; 403 when the key is bound to another. */ user_id?: string; } = {}, options: Options = {}): Promise<s.Observation> {
    return this.call({ method: "GET", path: at`/observations/${id}`, fills: ["branch", "user_id", "app_id"] }, options, params);
  }

  /** List observations, newest first: `GET /observations`. */
  list(params: { /** Observations recorded at this time or later. */ after?: string; /** Observations of one of these agents. */ agent_id?: string[]; /** Observations of one of these apps. */ app_id?: string[]; /** A point in the branch's past: a seq, a commit's id or a time in ISO 8601. */ at?: number | string; /** Observations recorded before this time. */ before?: string; /** The branch to look at. */ branch?: string; /** ``next`` or ``previous`` of another page. */ cursor?: string; /** Results on a page. */ limit?: number; /** Observations of one of these types. */ observation_type?: ("tool_use" | "discovery" | "decision" | "error" | "insight")[]; /** What to sort by; with ``-`` downwards. */ ordering?: "-created_at" | "created_at"; /** Observations with one of these outcomes. */ outcome?: ("success" | "error" | "timeout")[]; /** Observations of this repository, in any form; * is any. */ repository?: string; /** Observations of one of these sessions. */ session_id?: string[]; /** Observations made for one of these tasks. */ task_id?: string[]; /** Calls of one of these tools. */ tool_name?: string[]; /** Observations of one of these end users. */ user_id?: string[]; } = {}, options: Options = {}): Pages<s.Observation, s.ObservationPage> {
    return this.pages({ method: "GET", path: "/observations", fills: ["branch", "user_id", "app_id"] }, options, params);
  }

  /** Restore a deleted observation: `POST /observations/{id}/restore`. */
  restore(id: string | number, params: s.RestoreMemoryInput = {}, options: Options = {}): Promise<s.Observation & s.Redaction> {
    return this.call({ method: "POST", path: at`/observations/${id}/restore`, keyed: true, fills: ["branch", "user_id", "app_id", "agent_id"] }, options, params);
  }

  /** Search observations: `GET /observations/search`. */
  search(params: { /** What to look for. */ q: string; /** Observations recorded at this time or later. */ after?: string; /** Observations of one of these agents. */ agent_id?: string[]; /** Observations of one of these apps. */ app_id?: string[]; /** A point in the branch's past: a seq, a commit's id or a time in ISO 8601. */ at?: number | string; /** Observations recorded before this time. */ before?: string; /** The branch to look at. */ branch?: string; /** 10 by default. */ limit?: number; /** Observations of one of these types. */ observation_type?: ("tool_use" | "discovery" | "decision" | "error" | "insight")[]; /** Observations with one of these outcomes. */ outcome?: ("success" | "error" | "timeout")[]; /** How scores are mixed. */ recipe?: "answers" | "default" | "hybrid" | "seed" | "timeless" | "words"; /** Observations of this repository, in any form; * is any. */ repository?: string; /** hybrid by default. */ search_type?: "hybrid" | "keyword" | "vector"; /** Observations of one of these sessions. */ session_id?: string[]; /** Observations made for one of these tasks. */ task_id?: string[]; /** Calls of one of these tools. */ tool_name?: string[]; /** Observations of one of these end users. */ user_id?: string[]; }, options: Options = {}): Promise<s.ObservationsFound> {
    return this.call({ method: "GET", path: "/observations/search", fills: ["branch", "user_id", "app_id"] }, options, params);
  }

  /** What was observed between two times: `GET /observations/timeline`. */
  timeline(params: { /** Observations recorded at this time or later. */ after?: string; /** Observations of one of these agents. */ agent_id?: string[]; /** Observations of one of these apps. */ app_id?: string[]; /** Observations recorded before this time. */ before?: string; /** The branch to look at. */ branch?: string; /** ``next`` or ``previous`` of another page. */ cursor?: string; /** Results on a page. */ limit?: number; /** Observations of one of these types. */ observation_type?: ("tool_use" | "discovery" | "decision" | "error" | "insight")[]; /** Observations with one of these outcomes. */ outcome?: ("success" | "error" | "timeout")[]; /** Observations of this repository, in any form; * is any. */ repository?: string; /** Observations of one of these sessions. */ session_id?: string[]; /** Observations made for one of these tasks. */ task_id?: string[]; /** Calls of one of these tools. */ tool_name?: string[]; /** Observations of one of these end users. */ user_id?: string[]; } = {}, options: Options = {}): Pages<s.Observation, s.ObservationPage> {
    return this.pages({ method: "GET", path: "/observations/timeline", fills: ["branch", "user_id", "app_id"] }, options, params);
  }
}

export class PoliciesGroup extends Group {
  /** Delete a policy: `DELETE /policies/{pattern}`. */
  delete(pattern: string | number, options: Options = {}): Promise<void> {
    return this.call({ method: "DELETE", path: at`/policies/${pattern}`, empty: true }, options, {});
  }

  /** Read the policy of a pattern: `GET /policies/{pattern}`. */
  get(pattern: string | number, options: Options = {}): Promise<s.Policy> {
    return this.call({ method: "GET", path: at`/policies/${pattern}` }, options, {});
  }

  /** List policies by pattern: `GET /policies`. */
  list(params: { /** ``next`` or ``previous`` of another page. */ cursor?: string; /** Results on a page. */ limit?: number; } = {}, options: Options = {}): Pages<s.Policy, s.PolicyPage> {
    return this.pages({ method: "GET", path: "/policies" }, options, params);
  }

  /** Set rules of a policy, or make one: `PATCH /policies/{pattern}`. */
  update(pattern: string | number, params: s.PolicyInput = {}, options: Options = {}): Promise<s.Policy & s.Redaction> {
    return this.call({ method: "PATCH", path: at`/policies/${pattern}` }, options, params);
  }
}

export class ProjectTemplatesGroup extends Group {
  /** Make a template of projects, of a project or of what is given: `POST /project-templates`. */
  create(params: s.ProjectTemplateInput, options: Options = {}): Promise<s.ProjectTemplate & s.Redaction> {
    return this.call({ method: "POST", path: "/project-templates", keyed: true }, options, params);
  }

  /** Delete a template of projects: `DELETE /project-templates/{name}`. */
  delete(name: string | number, options: Options = {}): Promise<void> {
    return this.call({ method: "DELETE", path: at`/project-templates/${name}`, empty: true }, options, {});
  }

  /** Read a template of projects: `GET /project-templates/{name}`. */
  get(name: string | number, options: Options = {}): Promise<s.ProjectTemplate> {
    return this.call({ method: "GET", path: at`/project-templates/${name}` }, options, {});
  }

  /** List templates of projects by name: `GET /project-templates`. */
  list(params: { /** ``next`` or ``previous`` of another page. */ cursor?: string; /** Results on a page. */ limit?: number; } = {}, options: Options = {}): Pages<s.ProjectTemplate, s.ProjectTemplatePage> {
    return this.pages({ method: "GET", path: "/project-templates" }, options, params);
  }
}

export class ProjectsGroup extends Group {
  /** Make a project, with what a template says, members and a first key: `POST /projects`. */
  create(params: s.NewProjectInput, options: Options = {}): Promise<s.NewProject & s.Redaction> {
    return this.call({ method: "POST", path: "/projects", keyed: true }, options, params);
  }

  /** Remove a project with all that it holds: `DELETE /projects/{slug}`. */
  delete(slug: string | number, params: { /** The slug of the project once more: nothing is removed without it. */ confirm?: string; } = {}, options: Options = {}): Promise<s.Removal> {
    return this.call({ method: "DELETE", path: at`/projects/${slug}` }, options, params);
  }

  /** Read the settings of a project: `GET /projects/{slug}`. */
  get(slug: string | number, options: Options = {}): Promise<s.Project> {
    return this.call({ method: "GET", path: at`/projects/${slug}` }, options, {});
  }

  /** List the project of this key; all projects for a key of the server: `GET /projects`. */
  list(params: { /** ``next`` or ``previous`` of another page. */ cursor?: string; /** Results on a page. */ limit?: number; /** Projects whose names have this part. */ name?: string; /** What to sort by; with ``-`` downwards. */ ordering?: "slug" | "-slug" | "name" | "-name" | "-created_at" | "created_at"; /** The project of this slug. */ slug?: string; } = {}, options: Options = {}): Pages<s.Project, s.ProjectPage> {
    return this.pages({ method: "GET", path: "/projects" }, options, params);
  }

  /** Change settings of a project: `PATCH /projects/{slug}`. */
  update(slug: string | number, params: s.ProjectInput = {}, options: Options = {}): Promise<s.Project & s.Redaction> {
    return this.call({ method: "PATCH", path: at`/projects/${slug}` }, options, params);
  }
}

export class QuarantineGroup extends Group {
  /** Put a source into quarantine, or preview that: `POST /quarantine`. */
  create(params: s.QuarantineInput, options: Options = {}): Promise<s.QuarantineDetail & s.Redaction> {
    return this.call({ method: "POST", path: "/quarantine", keyed: true }, options, params);
  }

  /** Read a quarantine: `GET /quarantine/{id}`. */
  get(id: string | number, options: Options = {}): Promise<s.QuarantineDetail> {
    return this.call({ method: "GET", path: at`/quarantine/${id}` }, options, {});
  }

  /** List quarantines, newest first: `GET /quarantine`. */
  list(params: { /** ``next`` or ``previous`` of another page. */ cursor?: string; /** Results on a page. */ limit?: number; /** What to sort by; with ``-`` downwards. */ ordering?: "-created_at" | "created_at" | "label" | "-label" | "-released_at" | "released_at"; /** Of this kind. */ source?: "session" | "agent" | "key" | "import" | ""; /** In this state. */ state?: "active" | "released" | ""; } = {}, options: Options = {}): Pages<s.Quarantine, s.QuarantinePage> {
    return this.pages({ method: "GET", path: "/quarantine" }, options, params);
  }

  /** Release a quarantine: `POST /quarantine/{id}/release`. */
  release(id: string | number, options: Options = {}): Promise<s.Quarantine & s.Redaction> {
    return this.call({ method: "POST", path: at`/quarantine/${id}/release`, keyed: true }, options, {});
  }
}

export class QuestionsGroup extends Group {
  /** Save a question: `POST /questions`. */
  create(params: s.SavedQuestionInput, options: Options = {}): Promise<s.SavedQuestion & s.Redaction> {
    return this.call({ method: "POST", path: "/questions", keyed: true, fills: ["branch"] }, options, params);
  }

  /** Save several questions: `POST /questions/bulk`. */
  createMany(params: s.QuestionsInput, options: Options = {}): Promise<s.SavedQuestions & s.Redaction> {
    return this.call({ method: "POST", path: "/questions/bulk", keyed: true, fills: ["branch"] }, options, params);
  }

  /** Delete a question: `DELETE /questions/{id}`. */
  delete(id: string | number, options: Options = {}): Promise<void> {
    return this.call({ method: "DELETE", path: at`/questions/${id}`, empty: true }, options, {});
  }

  /** Read a question: `GET /questions/{id}`. */
  get(id: string | number, options: Options = {}): Promise<s.SavedQuestion> {
    return this.call({ method: "GET", path: at`/questions/${id}` }, options, {});
  }

  /** List questions, newest first: `GET /questions`. */
  list(params: { /** Questions about facts of this category. */ category?: string; /** ``next`` or ``previous`` of another page. */ cursor?: string; /** Results on a page. */ limit?: number; /** What to sort by; with ``-`` downwards. */ ordering?: "-created_at" | "created_at" | "branch" | "-branch" | "category" | "-category"; } = {}, options: Options = {}): Pages<s.SavedQuestion, s.SavedQuestionPage> {
    return this.pages({ method: "GET", path: "/questions" }, options, params);
  }

  /** Change a question: `PATCH /questions/{id}`. */
  update(id: string | number, params: s.SavedQuestionUpdateInput = {}, options: Options = {}): Promise<s.SavedQuestion & s.Redaction> {
    return this.call({ method: "PATCH", path: at`/questions/${id}` }, options, params);
  }
}

export class RelationsGroup extends Group {
  /** Say until when it was true: `POST /relations/{id}/close`. */
  close(id: string | number, params: s.CloseInput = {}, options: Options = {}): Promise<s.Relation & s.Redaction> {
    return this.call({ method: "POST", path: at`/relations/${id}/close`, keyed: true, fills: ["branch", "agent_id"] }, options, params);
  }

  /** State a relation: `POST /relations`. */
  create(params: s.RelationInput, options: Options = {}): Promise<s.WrittenRelation & s.Redaction> {
    return this.call({ method: "POST", path: "/relations", keyed: true, fills: ["branch", "agent_id"] }, options, params);
  }

  /** Read a relation: `GET /relations/{id}`. */
  get(id: string | number, params: { /** A point in the branch's past: a seq, a commit's id or a time in ISO 8601. */ at?: number | string; /** The branch to look at. */ branch?: string; } = {}, options: Options = {}): Promise<s.Relation> {
    return this.call({ method: "GET", path: at`/relations/${id}`, fills: ["branch"] }, options, params);
  }

  /** What is connected to an entity: `GET /relations/graph`. */
  graph(params: { /** Where to begin. */ entity: string; /** A point in the branch's past: a seq, a commit's id or a time in ISO 8601. */ at?: number | string; /** The branch to look at. */ branch?: string; /** Edges away. */ depth?: number; /** Only edges of this type; type is understood too. */ relation_type?: string; }, options: Options = {}): Promise<s.Graph> {
    return this.call({ method: "GET", path: "/relations/graph", fills: ["branch"] }, options, params);
  }

  /** List relations: `GET /relations`. */
  list(params: { /** A point in the branch's past: a seq, a commit's id or a time in ISO 8601. */ at?: number | string; /** The branch to look at. */ branch?: string; /** ``next`` or ``previous`` of another page. */ cursor?: string; /** Results on a page. */ limit?: number; /** true leaves out what was closed. */ open_only?: boolean; /** What to sort by; with ``-`` downwards. */ ordering?: "-created_at" | "created_at"; /** Relations of this type. */ relation_type?: string; /** Relations from this entity. */ source?: string; /** Relations to this entity. */ target?: string; } = {}, options: Options = {}): Pages<s.Relation, s.RelationPage> {
    return this.pages({ method: "GET", path: "/relations", fills: ["branch"] }, options, params);
  }
}

export class ReplayBatchesGroup extends Group {
  /** Replay many conversations in the background: `POST /replay-batches`. */
  create(params: s.ReplayBatchInput = {}, options: Options = {}): Promise<s.BatchReport & s.Redaction> {
    return this.call({ method: "POST", path: "/replay-batches", keyed: true, fills: ["branch", "agent_id"] }, options, params);
  }

  /** What a batch of replays has come to: `GET /replay-batches/{id}`. */
  get(id: string | number, options: Options = {}): Promise<s.BatchReport> {
    return this.call({ method: "GET", path: at`/replay-batches/${id}` }, options, {});
  }

  /** List batches of replays, newest first: `GET /replay-batches`. */
  list(params: { /** ``next`` or ``previous`` of another page. */ cursor?: string; /** Results on a page. */ limit?: number; /** What to sort by; with ``-`` downwards. */ ordering?: "-created_at" | "created_at" | "name" | "-name"; } = {}, options: Options = {}): Pages<s.ReplayBatch, s.ReplayBatchPage> {
    return this.pages({ method: "GET", path: "/replay-batches" }, options, params);
  }

  /** Go on with the replays of a batch that stopped or failed: `POST /replay-batches/{id}/run`. */
  run(id: string | number, params: s.BatchLimitsInput = {}, options: Options = {}): Promise<s.BatchReport & s.Redaction> {
    return this.call({ method: "POST", path: at`/replay-batches/${id}/run`, keyed: true }, options, params);
  }

  /** Stop the replays of a batch that are not done: `POST /replay-batches/{id}/stop`. */
  stop(id: string | number, options: Options = {}): Promise<s.BatchReport & s.Redaction> {
    return this.call({ method: "POST", path: at`/replay-batches/${id}/stop`, keyed: true }, options, {});
  }
}

export class ReplaysGroup extends Group {
  /** Cancel a replay: `POST /replays/{id}/cancel`. */
  cancel(id: string | number, options: Options = {}): Promise<s.Replay & s.Redaction> {
    return this.call({ method: "POST", path: at`/replays/${id}/cancel`, keyed: true }, options, {});
  }

  /** Mark a replay that went on by hand as done: `POST /replays/{id}/complete`. */
  complete(id: string | number, options: Options = {}): Promise<s.Replay & s.Redaction> {
    return this.call({ method: "POST", path: at`/replays/${id}/complete`, keyed: true }, options, {});
  }

  /** What an agent goes on from, in chat format: `GET /replays/{id}/context`. */
  context(id: string | number, options: Options = {}): Promise<s.ReplayContext> {
    return this.call({ method: "GET", path: at`/replays/${id}/context` }, options, {});
  }

  /** The differences of source and replay, message by message: `GET /replays/{id}/diff`. */
  diff(id: string | number, params: { /** ``next`` or ``previous`` of another page. */ cursor?: string; /** Results on a page. */ limit?: number; } = {}, options: Options = {}): Pages<s.DiffRow, s.RowDiff> {
    return this.pages({ method: "GET", path: at`/replays/${id}/diff` }, options, params);
  }

  /** Read a replay: `GET /replays/{id}`. */
  get(id: string | number, options: Options = {}): Promise<s.Replay> {
    return this.call({ method: "GET", path: at`/replays/${id}` }, options, {});
  }

  /** List replays, newest first: `GET /replays`. */
  list(params: { /** Of this conversation. */ conversation_id?: string; /** ``next`` or ``previous`` of another page. */ cursor?: string; /** Results on a page. */ limit?: number; /** What to sort by; with ``-`` downwards. */ ordering?: "-created_at" | "created_at" | "model" | "-model" | "-steps" | "steps" | "-finished_at" | "finished_at"; /** In one of these states. */ state?: ("ready" | "queued" | "running" | "waiting" | "done" | "stopped" | "failed" | "cancelled")[]; } = {}, options: Options = {}): Pages<s.Replay, s.ReplayPage> {
    return this.pages({ method: "GET", path: "/replays" }, options, params);
  }

  /** Have the model go on, in the background; again, after its last step: `POST /replays/{id}/run`. */
  run(id: string | number, params: s.ReplayLimitsInput = {}, options: Options = {}): Promise<s.Replay & s.Redaction> {
    return this.call({ method: "POST", path: at`/replays/${id}/run`, keyed: true }, options, params);
  }

  /** How source and replay differ in actions, reasoning and outcome: `GET /replays/{id}/semantic-diff`. */
  semanticDiff(id: string | number, options: Options = {}): Promise<s.SemanticDiff> {
    return this.call({ method: "GET", path: at`/replays/${id}/semantic-diff` }, options, {});
  }
}

export class ReviewItemsGroup extends Group {
  /** Read a question: `GET /review-items/{id}`. */
  get(id: string | number, options: Options = {}): Promise<s.Question> {
    return this.call({ method: "GET", path: at`/review-items/${id}` }, options, {});
  }

  /** What waits for a person, newest first: `GET /review-items`. */
  list(params: { /** Questions about this branch; every branch when it is not given. */ branch?: string; /** ``next`` or ``previous`` of another page. */ cursor?: string; /** Questions about this fact. */ fact_id?: string; /** Questions of this kind. */ kind?: "near_duplicate" | "contested" | ""; /** Results on a page. */ limit?: number; /** Open or resolved questions. */ status?: "open" | "resolved" | ""; } = {}, options: Options = {}): Pages<s.Question, s.QuestionPage> {
    return this.pages({ method: "GET", path: "/review-items" }, options, params);
  }

  /** Answer a question: `POST /review-items/{id}/resolve`. */
  resolve(id: string | number, params: s.ResolveInput, options: Options = {}): Promise<s.Resolved & s.Redaction> {
    return this.call({ method: "POST", path: at`/review-items/${id}/resolve`, keyed: true, fills: ["agent_id"] }, options, params);
  }
}

export class ScoresGroup extends Group {
  /** Give a fact or a conversation a score: `POST /scores`. */
  create(params: s.ScoreInput, options: Options = {}): Promise<s.GivenScore & s.Redaction> {
    return this.call({ method: "POST", path: "/scores", keyed: true, fills: ["branch"] }, options, params);
  }

  /** List the scores of a fact or a conversation, newest first: `GET /scores`. */
  list(params: { /** Its id. */ target_id: string; /** What is rated. */ target_type: "fact" | "conversation"; /** The branch to look at. */ branch?: string; /** ``next`` or ``previous`` of another page. */ cursor?: string; /** In this dimension. */ dimension?: string; /** Results on a page. */ limit?: number; /** Given by these. */ method?: "judge" | "human" | "external" | "heuristic" | ""; }, options: Options = {}): Pages<s.GivenScore, s.GivenScorePage> {
    return this.pages({ method: "GET", path: "/scores", fills: ["branch"] }, options, params);
  }

  /** Count, average, least and greatest score in each dimension: `GET /scores/summary/{target_type}/{target_id}`. */
  summary(targetType: string | number, targetId: string | number, params: { /** The branch to look at. */ branch?: string; } = {}, options: Options = {}): Promise<s.ScoreSummary> {
    return this.call({ method: "GET", path: at`/scores/summary/${targetType}/${targetId}`, fills: ["branch"] }, options, params);
  }
}

export class ScoringsGroup extends Group {
  /** Read a rating of a conversation: `GET /scorings/{id}`. */
  get(id: string | number, options: Options = {}): Promise<s.Scoring> {
    return this.call({ method: "GET", path: at`/scorings/${id}` }, options, {});
  }

  /** List ratings of conversations, newest first: `GET /scorings`. */
  list(params: { /** Of this conversation. */ conversation_id?: string; /** ``next`` or ``previous`` of another page. */ cursor?: string; /** Results on a page. */ limit?: number; /** What to sort by; with ``-`` downwards. */ ordering?: "-created_at" | "created_at" | "-average" | "average" | "-calls" | "calls"; /** In this state. */ state?: "queued" | "running" | "waiting" | "failed" | "done" | ""; } = {}, options: Options = {}): Pages<s.Scoring, s.ScoringPage> {
    return this.pages({ method: "GET", path: "/scorings" }, options, params);
  }
}

export class ServerGroup extends Group {
  /** List what was done with projects, their templates and keys of the server, newest first: `GET /server/trail`. */
  trail(params: { /** Entries of this action, such as project.remove. */ action?: string; /** ``next`` or ``previous`` of another page. */ cursor?: string; /** Results on a page. */ limit?: number; /** Entries about this project, template or key. */ target?: string; } = {}, options: Options = {}): Pages<s.ServerEntry, s.ServerEntryPage> {
    return this.pages({ method: "GET", path: "/server/trail" }, options, params);
  }
}

export class SessionsGroup extends Group {
  /** What was said, learned and done in a session: `GET /sessions/{session_id}/context`. */
  context(sessionId: string | number, params: { /** The app whose memory this is about; 403 when the key is bound to another. */ app_id?: string; /** Facts. */ fact_limit?: number; /** Messages. */ message_limit?: number; /** The end user whose memory this is about; 403 when the key is bound to another. */ user_id?: string; } = {}, options: Options = {}): Promise<s.SessionContext> {
    return this.call({ method: "GET", path: at`/sessions/${sessionId}/context`, fills: ["user_id", "app_id"] }, options, params);
  }

  /** Begin a session: `POST /sessions`. */
  create(params: s.SessionInput, options: Options = {}): Promise<s.WrittenSession & s.Redaction> {
    return this.call({ method: "POST", path: "/sessions", keyed: true, fills: ["branch", "user_id", "app_id", "agent_id"] }, options, params);
  }

  /** Delete a session with what it captured: `DELETE /sessions/{session_id}`. */
  delete(sessionId: string | number, params: { /** The app whose memory this is about; 403 when the key is bound to another. */ app_id?: string; /** With erase: true drops the copies of the store that hold it too. Default: false. */ drop_copies?: boolean; /** true removes the content for good, from every branch and its history; needs the scope admin on all branches. Default: it is hidden, and can be restored. */ erase?: boolean; /** The end user whose memory this is about; 403 when the key is bound to another. */ user_id?: string; } = {}, options: Options = {}): Promise<s.Erasure | void> {
    return this.call({ method: "DELETE", path: at`/sessions/${sessionId}`, empty: true, fills: ["user_id", "app_id"] }, options, params);
  }

  /** Delete the sessions that fit: `POST /sessions/delete`. */
  deleteMany(params: s.SessionsDeleteInput = {}, options: Options = {}): Promise<s.Deletion & s.Redaction> {
    return this.call({ method: "POST", path: "/sessions/delete", keyed: true, fills: ["user_id", "app_id"] }, options, params);
  }

  /** End a session: `POST /sessions/{session_id}/end`. */
  end(sessionId: string | number, params: s.EndInput = {}, options: Options = {}): Promise<s.Session & s.Redaction> {
    return this.call({ method: "POST", path: at`/sessions/${sessionId}/end`, keyed: true, fills: ["user_id", "app_id"] }, options, params);
  }

  /** Read a session: `GET /sessions/{session_id}`. */
  get(sessionId: string | number, params: { /** The app whose memory this is about; 403 when the key is bound to another. */ app_id?: string; /** The end user whose memory this is about; 403 when the key is bound to another. */ user_id?: string; } = {}, options: Options = {}): Promise<s.Session> {
    return this.call({ method: "GET", path: at`/sessions/${sessionId}`, fills: ["user_id", "app_id"] }, options, params);
  }

  /** List sessions, the last begun first: `GET /sessions`. */
  list(params: { /** Sessions of this agent. */ agent_id?: string; /** The app whose memory this is about; 403 when the key is bound to another. */ app_id?: string; /** Every branch when it is not given. */ branch?: string; /** ``next`` or ``previous`` of another page. */ cursor?: string; /** Results on a page. */ limit?: number; /** What to sort by; with ``-`` downwards. */ ordering?: "-created_at" | "created_at" | "id" | "-id"; /** Sessions of this repository, in any form; * is any. */ repository?: string; /** Sessions in this state. */ status?: "active" | "completed" | "abandoned" | ""; /** Sessions for this task. */ task_id?: string; /** The end user whose memory this is about; 403 when the key is bound to another. */ user_id?: string; } = {}, options: Options = {}): Pages<s.Session, s.SessionPage> {
    return this.pages({ method: "GET", path: "/sessions", fills: ["user_id", "app_id"] }, options, params);
  }

  /** What the next session would be told at its start; nothing is counted as told: `GET /sessions/next-context`. */
  nextContext(params: { /** The branch to look at. */ branch?: string; /** As its hooks name it, such as github.com/acme/shop. */ repository?: string; } = {}, options: Options = {}): Promise<s.NextContext> {
    return this.call({ method: "GET", path: "/sessions/next-context", fills: ["branch"] }, options, params);
  }

  /** Restore a deleted session: `POST /sessions/{session_id}/restore`. */
  restore(sessionId: string | number, params: s.SessionRestoreInput = {}, options: Options = {}): Promise<s.Session & s.Redaction> {
    return this.call({ method: "POST", path: at`/sessions/${sessionId}/restore`, keyed: true, fills: ["user_id", "app_id"] }, options, params);
  }
}

export class SigningKeyGroup extends Group {
  /** Make the project's key, or a new one: `POST /signing-key`. */
  create(options: Options = {}): Promise<s.SigningKey & s.Redaction> {
    return this.call({ method: "POST", path: "/signing-key", keyed: true }, options, {});
  }

  /** Read the public key of the project: `GET /signing-key`. */
  get(options: Options = {}): Promise<s.SigningKey> {
    return this.call({ method: "GET", path: "/signing-key" }, options, {});
  }
}

export class SnapshotsGroup extends Group {
  /** Keep a point of a branch, or the store: `POST /snapshots`. */
  create(params: s.SnapshotInput, options: Options = {}): Promise<s.Snapshot & s.Redaction> {
    return this.call({ method: "POST", path: "/snapshots", keyed: true, fills: ["branch"] }, options, params);
  }

  /** Forget a snapshot, and remove its copy: `DELETE /snapshots/{id}`. */
  delete(id: string | number, options: Options = {}): Promise<void> {
    return this.call({ method: "DELETE", path: at`/snapshots/${id}`, empty: true }, options, {});
  }

  /** Read a snapshot: `GET /snapshots/{id}`. */
  get(id: string | number, options: Options = {}): Promise<s.Snapshot> {
    return this.call({ method: "GET", path: at`/snapshots/${id}` }, options, {});
  }

  /** List snapshots, newest first: `GET /snapshots`. */
  list(params: { /** Points of this branch. */ branch?: string; /** ``next`` or ``previous`` of another page. */ cursor?: string; /** Points of branches, or of the store. */ kind?: "branch" | "store" | ""; /** Results on a page. */ limit?: number; /** What to sort by; with ``-`` downwards. */ ordering?: "-created_at" | "created_at" | "name" | "-name"; } = {}, options: Options = {}): Pages<s.Snapshot, s.SnapshotPage> {
    return this.pages({ method: "GET", path: "/snapshots" }, options, params);
  }

  /** Go back to a snapshot: `POST /snapshots/{id}/restore`. */
  restore(id: string | number, params: s.RestoreInput = {}, options: Options = {}): Promise<s.Restore & s.Redaction> {
    return this.call({ method: "POST", path: at`/snapshots/${id}/restore`, keyed: true }, options, params);
  }

  /** Set it: `POST /snapshots/window`. */
  setWindow(params: s.WindowInput, options: Options = {}): Promise<s.Window & s.Redaction> {
    return this.call({ method: "POST", path: "/snapshots/window", keyed: true }, options, params);
  }

  /** How long the database keeps every state: `GET /snapshots/window`. */
  window(options: Options = {}): Promise<s.Window> {
    return this.call({ method: "GET", path: "/snapshots/window" }, options, {});
  }
}

export class TasksGroup extends Group {
  /** Cancel a task and archive its branches: `POST /tasks/{task}/cancel`. */
  cancel(task: string | number, params: s.TaskEndInput = {}, options: Options = {}): Promise<s.Task & s.Redaction> {
    return this.call({ method: "POST", path: at`/tasks/${task}/cancel`, keyed: true }, options, params);
  }

  /** Complete a task: offer its durable facts to the parent: `POST /tasks/{task}/complete`. */
  complete(task: string | number, params: s.TaskEndInput = {}, options: Options = {}): Promise<s.CompletedTask & s.Redaction> {
    return this.call({ method: "POST", path: at`/tasks/${task}/complete`, keyed: true }, options, params);
  }

  /** Complete an agent's part: merge its branch into the task's: `POST /tasks/{task}/agents/{agent_id}/complete`. */
  completeAgent(task: string | number, agentId: string | number, options: Options = {}): Promise<s.CompletedAgent & s.Redaction> {
    return this.call({ method: "POST", path: at`/tasks/${task}/agents/${agentId}/complete`, keyed: true }, options, {});
  }

  /** Make one of what the agents of a task learned twice: `POST /tasks/{task}/consolidate`. */
  consolidate(task: string | number, params: s.TaskConsolidationInput = {}, options: Options = {}): Promise<s.ConsolidationDetail & s.Redaction> {
    return this.call({ method: "POST", path: at`/tasks/${task}/consolidate`, keyed: true }, options, params);
  }

  /** What an agent should know of a task: `GET /tasks/{task}/context`. */
  context(task: string | number, params: { /** What the facts may cost in a prompt. */ max_tokens?: number; } = {}, options: Options = {}): Promise<s.TaskContext> {
    return this.call({ method: "GET", path: at`/tasks/${task}/context` }, options, params);
  }

  /** Make a task with its branch: `POST /tasks`. */
  create(params: s.TaskInput, options: Options = {}): Promise<s.CreatedTask & s.Redaction> {
    return this.call({ method: "POST", path: "/tasks", keyed: true }, options, params);
  }

  /** Read a task: `GET /tasks/{task}`. */
  get(task: string | number, options: Options = {}): Promise<s.Task> {
    return this.call({ method: "GET", path: at`/tasks/${task}` }, options, {});
  }

  /** Join a task: a branch of one's own: `POST /tasks/{task}/join`. */
  join(task: string | number, params: s.JoinInput = {}, options: Options = {}): Promise<s.JoinedTask & s.Redaction> {
    return this.call({ method: "POST", path: at`/tasks/${task}/join`, keyed: true, fills: ["agent_id"] }, options, params);
  }

  /** List tasks, newest first: `GET /tasks`. */
  list(params: { /** Tasks that this agent has joined. */ agent_id?: string; /** ``next`` or ``previous`` of another page. */ cursor?: string; /** Results on a page. */ limit?: number; /** What to sort by; with ``-`` downwards. */ ordering?: "-created_at" | "created_at" | "name" | "-name" | "-completed_at" | "completed_at"; /** Tasks in this state. */ state?: "active" | "completed" | "cancelled" | ""; } = {}, options: Options = {}): Pages<s.Task, s.TaskPage> {
    return this.pages({ method: "GET", path: "/tasks" }, options, params);
  }

  /** Change an objective: `PATCH /tasks/{task}/objectives/{n}`. */
  updateObjective(task: string | number, n: string | number, params: s.ObjectiveInput = {}, options: Options = {}): Promise<s.Objective & s.Redaction> {
    return this.call({ method: "PATCH", path: at`/tasks/${task}/objectives/${n}`, fills: ["agent_id"] }, options, params);
  }
}

export class TemplatesGroup extends Group {
  /** Make a template of a branch: `POST /templates`. */
  create(params: s.TemplateInput, options: Options = {}): Promise<s.Template & s.Redaction> {
    return this.call({ method: "POST", path: "/templates", keyed: true, fills: ["agent_id"] }, options, params);
  }

  /** Deprecate a template: `POST /templates/{name}/deprecate`. */
  deprecate(name: string | number, params: s.TemplateDeprecateInput = {}, options: Options = {}): Promise<s.Template & s.Redaction> {
    return this.call({ method: "POST", path: at`/templates/${name}/deprecate`, keyed: true, fills: ["agent_id"] }, options, params);
  }

  /** Compare two versions: `GET /templates/{name}/diff`. */
  diff(name: string | number, params: { /** A version. */ before: number; /** Another; the newest when it is not given. */ after?: number; /** Only these. */ change?: ("added" | "changed" | "removed")[]; /** ``next`` or ``previous`` of another page. */ cursor?: string; /** Results on a page. */ limit?: number; /** What to list. */ type?: "fact" | "relation" | "observation" | "conversation" | "message" | "link"; }, options: Options = {}): Pages<s.Difference, s.Diff> {
    return this.pages({ method: "GET", path: at`/templates/${name}/diff` }, options, params);
  }

  /** Find the template for a task: `GET /templates/find`. */
  find(params: { /** What the work is. */ description?: string; /** How many to return. */ limit?: number; /** The kind of work, in any case of its letters. */ task_type?: string; } = {}, options: Options = {}): Promise<s.TemplateMatches> {
    return this.call({ method: "GET", path: "/templates/find" }, options, params);
  }

  /** Read a template: `GET /templates/{name}`. */
  get(name: string | number, options: Options = {}): Promise<s.TemplateDetail> {
    return this.call({ method: "GET", path: at`/templates/${name}` }, options, {});
  }

  /** Begin a branch from a template: `POST /templates/{name}/instantiate`. */
  instantiate(name: string | number, params: s.TemplateUseInput, options: Options = {}): Promise<s.TemplateInstance & s.Redaction> {
    return this.call({ method: "POST", path: at`/templates/${name}/instantiate`, keyed: true, fills: ["agent_id"] }, options, params);
  }

  /** List templates by name: `GET /templates`. */
  list(params: { /** ``next`` or ``previous`` of another page. */ cursor?: string; /** Results on a page. */ limit?: number; /** What to sort by; with ``-`` downwards. */ ordering?: "name" | "-name" | "-updated_at" | "updated_at" | "-created_at" | "created_at"; /** Templates in this state. */ state?: "active" | "deprecated" | ""; /** Templates for this kind of work. */ task_type?: string; } = {}, options: Options = {}): Pages<s.Template, s.TemplatePage> {
    return this.pages({ method: "GET", path: "/templates" }, options, params);
  }

  /** Say what came of the work: `POST /templates/{name}/outcome`. */
  outcome(name: string | number, params: s.TemplateOutcomeInput, options: Options = {}): Promise<s.TemplateUse & s.Redaction> {
    return this.call({ method: "POST", path: at`/templates/${name}/outcome`, keyed: true, fills: ["branch", "agent_id"] }, options, params);
  }

  /** Add a version: `POST /templates/{name}/update`. */
  update(name: string | number, params: s.TemplateUpdateInput, options: Options = {}): Promise<s.Template & s.Redaction> {
    return this.call({ method: "POST", path: at`/templates/${name}/update`, keyed: true, fills: ["agent_id"] }, options, params);
  }
}

export class TimeTravelGroup extends Group {
  /** Read what a branch held at a point; with the filters of this kind's list: `GET /time-travel`. */
  list(params: { /** A point in the branch's past: a seq, a commit's id or a time in ISO 8601. */ at: number | string; /** The branch to look at. */ branch?: string; /** Whose messages; needed for them, and for them alone. */ conversation_id?: string; /** ``next`` or ``previous`` of another page. */ cursor?: string; /** Results on a page. */ limit?: number; /** What to read. */ type?: "fact" | "relation" | "observation" | "conversation" | "message"; }, options: Options = {}): Pages<Record<string, unknown>, s.Past> {
    return this.pages({ method: "GET", path: "/time-travel", fills: ["branch"] }, options, params);
  }
}

export class TrustedKeysGroup extends Group {
  /** Trust a key: `POST /trusted-keys`. */
  create(params: s.TrustedKeyInput, options: Options = {}): Promise<s.TrustedKey & s.Redaction> {
    return this.call({ method: "POST", path: "/trusted-keys", keyed: true }, options, params);
  }

  /** Trust a key no more: `DELETE /trusted-keys/{name}`. */
  delete(name: string | number, options: Options = {}): Promise<void> {
    return this.call({ method: "DELETE", path: at`/trusted-keys/${name}`, empty: true }, options, {});
  }

  /** List trusted keys by name: `GET /trusted-keys`. */
  list(options: Options = {}): Promise<s.TrustedKeys> {
    return this.call({ method: "GET", path: "/trusted-keys" }, options, {});
  }
}

export class VerificationGroup extends Group {
  /** Verify facts of a branch in the background: `POST /verification/batch`. */
  batch(params: s.BatchInput = {}, options: Options = {}): Promise<s.Job & s.Redaction> {
    return this.call({ method: "POST", path: "/verification/batch", keyed: true, fills: ["branch", "agent_id"] }, options, params);
  }

  /** Compare the judge with people's verdicts: `GET /verification/calibration`. */
  calibration(options: Options = {}): Promise<s.CalibrationPage> {
    return this.call({ method: "GET", path: "/verification/calibration" }, options, {});
  }

  /** Check whether a merge passes the verification gate: `POST /verification/merge-gate`. */
  mergeGate(params: s.MergeGateInput, options: Options = {}): Promise<s.MergeReadiness & s.Redaction> {
    return this.call({ method: "POST", path: "/verification/merge-gate", keyed: true }, options, params);
  }

  /** Count the facts of a branch by verdict: `GET /verification/summary/{branch_name}`. */
  summary(branchName: string | number, options: Options = {}): Promise<s.Summary> {
    return this.call({ method: "GET", path: at`/verification/summary/${branchName}` }, options, {});
  }
}

export class WebhooksGroup extends Group {
  /** Make a webhook; its secret is told once: `POST /webhooks`. */
  create(params: s.WebhookInput, options: Options = {}): Promise<s.NewWebhook & s.Redaction> {
    return this.call({ method: "POST", path: "/webhooks", keyed: true }, options, params);
  }

  /** Delete a webhook: `DELETE /webhooks/{id}`. */
  delete(id: string | number, options: Options = {}): Promise<void> {
    return this.call({ method: "DELETE", path: at`/webhooks/${id}`, empty: true }, options, {});
  }

  /** List the events that a webhook did not take: `GET /webhooks/{id}/failures`. */
  failures(id: string | number, params: { /** ``next`` or ``previous`` of another page. */ cursor?: string; /** Results on a page. */ limit?: number; } = {}, options: Options = {}): Pages<s.WebhookFailure, s.WebhookFailurePage> {
    return this.pages({ method: "GET", path: at`/webhooks/${id}/failures` }, options, params);
  }

  /** Read a webhook: `GET /webhooks/{id}`. */
  get(id: string | number, options: Options = {}): Promise<s.Webhook> {
    return this.call({ method: "GET", path: at`/webhooks/${id}` }, options, {});
  }

  /** List the webhooks, newest first: `GET /webhooks`. */
  list(params: { /** ``next`` or ``previous`` of another page. */ cursor?: string; /** Results on a page. */ limit?: number; /** What to sort by; with ``-`` downwards. */ ordering?: "-created_at" | "created_at"; } = {}, options: Options = {}): Pages<s.Webhook, s.WebhookPage> {
    return this.pages({ method: "GET", path: "/webhooks" }, options, params);
  }

  /** Send events again that a webhook did not take: `POST /webhooks/{id}/replay`. */
  replay(id: string | number, params: s.ReplayFailuresInput = {}, options: Options = {}): Promise<s.Webhook & s.Redaction> {
    return this.call({ method: "POST", path: at`/webhooks/${id}/replay`, keyed: true }, options, params);
  }

  /** Give a webhook a new secret: `POST /webhooks/{id}/rotate`. */
  rotate(id: string | number, params: s.WebhookRotateInput = {}, options: Options = {}): Promise<s.NewWebhook & s.Redaction> {
    return this.call({ method: "POST", path: at`/webhooks/${id}/rotate`, keyed: true }, options, params);
  }

  /** Change, pause or resume a webhook: `PATCH /webhooks/{id}`. */
  update(id: string | number, params: s.WebhookUpdate = {}, options: Options = {}): Promise<s.Webhook & s.Redaction> {
    return this.call({ method: "PATCH", path: at`/webhooks/${id}` }, options, params);
  }
}

export class WorkspacesGroup extends Group {
  /** Copy the store to work in apart: `POST /workspaces`. */
  create(params: s.WorkspaceInput, options: Options = {}): Promise<s.Workspace & s.Redaction> {
    return this.call({ method: "POST", path: "/workspaces", keyed: true }, options, params);
  }

  /** What was done in a workspace: `GET /workspaces/{id}/diff`. */
  diff(id: string | number, options: Options = {}): Promise<s.WorkspaceDiff> {
    return this.call({ method: "GET", path: at`/workspaces/${id}/diff` }, options, {});
  }

  /** Throw a workspace away: `POST /workspaces/{id}/drop`. */
  drop(id: string | number, options: Options = {}): Promise<s.Workspace & s.Redaction> {
    return this.call({ method: "POST", path: at`/workspaces/${id}/drop`, keyed: true }, options, {});
  }

  /** Read a workspace: `GET /workspaces/{id}`. */
  get(id: string | number, options: Options = {}): Promise<s.Workspace> {
    return this.call({ method: "GET", path: at`/workspaces/${id}` }, options, {});
  }

  /** List workspaces, newest first: `GET /workspaces`. */
  list(params: { /** ``next`` or ``previous`` of another page. */ cursor?: string; /** Results on a page. */ limit?: number; /** What to sort by; with ``-`` downwards. */ ordering?: "-created_at" | "created_at" | "name" | "-name" | "-ended_at" | "ended_at"; /** Open, promoted or dropped ones. */ state?: "open" | "promoted" | "dropped" | ""; } = {}, options: Options = {}): Pages<s.Workspace, s.WorkspacePage> {
    return this.pages({ method: "GET", path: "/workspaces" }, options, params);
  }

  /** Take over what was done in it: `POST /workspaces/{id}/promote`. */
  promote(id: string | number, options: Options = {}): Promise<s.WorkspaceDiff & s.Redaction> {
    return this.call({ method: "POST", path: at`/workspaces/${id}/promote`, keyed: true }, options, {});
  }
}

/** Every operation of the API, grouped by noun. */
export abstract class Operations implements Sender {
  abstract readonly transport: Transport;
  abstract readonly defaults: Defaults;
  readonly ageing = new AgeingGroup(this);
  readonly analytics = new AnalyticsGroup(this);
  readonly audit = new AuditGroup(this);
  readonly branches = new BranchesGroup(this);
  readonly bundles = new BundlesGroup(this);
  readonly commits = new CommitsGroup(this);
  readonly connections = new ConnectionsGroup(this);
  readonly consolidation = new ConsolidationGroup(this);
  readonly conversations = new ConversationsGroup(this);
  readonly erasures = new ErasuresGroup(this);
  readonly evals = new EvalsGroup(this);
  readonly events = new EventsGroup(this);
  readonly facts = new FactsGroup(this);
  readonly handoffs = new HandoffsGroup(this);
  readonly health = new HealthGroup(this);
  readonly imports = new ImportsGroup(this);
  readonly ingest = new IngestGroup(this);
  readonly instructions = new InstructionsGroup(this);
  readonly invitations = new InvitationsGroup(this);
  readonly items = new ItemsGroup(this);
  readonly jobs = new JobsGroup(this);
  readonly keys = new KeysGroup(this);
  readonly learning = new LearningGroup(this);
  readonly limits = new LimitsGroup(this);
  readonly members = new MembersGroup(this);
  readonly mergeRequests = new MergeRequestsGroup(this);
  readonly messages = new MessagesGroup(this);
  readonly observations = new ObservationsGroup(this);
  readonly policies = new PoliciesGroup(this);
  readonly projectTemplates = new ProjectTemplatesGroup(this);
  readonly projects = new ProjectsGroup(this);
  readonly quarantine = new QuarantineGroup(this);
  readonly questions = new QuestionsGroup(this);
  readonly relations = new RelationsGroup(this);
  readonly replayBatches = new ReplayBatchesGroup(this);
  readonly replays = new ReplaysGroup(this);
  readonly reviewItems = new ReviewItemsGroup(this);
  readonly scores = new ScoresGroup(this);
  readonly scorings = new ScoringsGroup(this);
  readonly server = new ServerGroup(this);
  readonly sessions = new SessionsGroup(this);
  readonly signingKey = new SigningKeyGroup(this);
  readonly snapshots = new SnapshotsGroup(this);
  readonly tasks = new TasksGroup(this);
  readonly templates = new TemplatesGroup(this);
  readonly timeTravel = new TimeTravelGroup(this);
  readonly trustedKeys = new TrustedKeysGroup(this);
  readonly verification = new VerificationGroup(this);
  readonly webhooks = new WebhooksGroup(this);
  readonly workspaces = new WorkspacesGroup(this);
}

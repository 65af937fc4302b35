// Written by `python -m clients.generate_typescript`; do not edit.

import { Day1Error } from "../problem.js";

/** 400: a value that cannot be accepted; a body that is no JSON object */
export class Invalid extends Day1Error {
  override name = "Invalid";
}
/** 400: a field or query parameter that does not exist */
export class UnknownField extends Day1Error {
  override name = "UnknownField";
}
/** 400: the kind `REFLECTION` or the origin `DREAMING`, which only Day1 itself gives */
export class ReservedValue extends Day1Error {
  override name = "ReservedValue";
}
/** 400: a query of more than 8,000 characters */
export class QueryTooLong extends Day1Error {
  override name = "QueryTooLong";
}
/** 401: no key, or one that is unknown, expired or revoked */
export class Unauthenticated extends Day1Error {
  override name = "Unauthenticated";
}
/** 429: the project's budget of models is used up; no route answers it, runs say it and go on later */
export class BudgetSpent extends Day1Error {
  override name = "BudgetSpent";
}
/** 403: the project is at its quota: `data` has the `part` (`bytes` or `rows`), what is `used` and the `limit`. Nothing is stored; reads go on. `Retry-After` is an hour: what is stored is then counted anew */
export class QuotaExceeded extends Day1Error {
  override name = "QuotaExceeded";
}
/** 403: the key lacks a scope, or is bound to another agent; one bound to an agent decides nothing for the project (policies, forced merges, settings, members, others' keys, signing, erasures, copies of the store, quarantines) */
export class ScopeMissing extends Day1Error {
  override name = "ScopeMissing";
}
/** 403: the key may not use this branch */
export class BranchForbidden extends Day1Error {
  override name = "BranchForbidden";
}
/** 404: no such address, branch or row; another project's row is no row */
export class NotFound extends Day1Error {
  override name = "NotFound";
}
/** 405: the address does not know this method */
export class MethodNotAllowed extends Day1Error {
  override name = "MethodNotAllowed";
}
/** 408: a body that did not arrive within 30 seconds; the connection is closed */
export class TooSlow extends Day1Error {
  override name = "TooSlow";
}
/** 409: a branch, a pending merge request of the same two branches, a task's short name, a link, a message's number, a snapshot or an open workspace that is there already */
export class Exists extends Day1Error {
  override name = "Exists";
}
/** 409: a move that the life of a fact does not have, such as superseding an archived one; one that an objective does not have; joining or completing a task that is over; closing a relation again; anything for a merge request that is closed */
export class IllegalTransition extends Day1Error {
  override name = "IllegalTransition";
}
/** 409: a write to an archived branch, or a merge from or into one */
export class BranchArchived extends Day1Error {
  override name = "BranchArchived";
}
/** 409: a write to a branch whose policy takes merges and proposals only; `data` names the `branch` */
export class DirectWritesRefused extends Day1Error {
  override name = "DirectWritesRefused";
}
/** 409: an Idempotency-Key used with another request; archiving main; a key that has ended; a question answered already; undoing what has changed since; an objective that another agent is at; a message to a conversation that has ended; a merge whose checks fail; a decision on a conflict that has changed since; an approval by the author; a change of what was erased, a write to a session that was erased or deleted, erasing it again, or erasing what copies of the store hold */
export class Conflict extends Day1Error {
  override name = "Conflict";
}
/** 412: an item stands under the key already, and the put was for a new one */
export class KeyTaken extends Day1Error {
  override name = "KeyTaken";
}
/** 412: the fact has changed since it was read; `data` has the current version */
export class StaleVersion extends Day1Error {
  override name = "StaleVersion";
}
/** 413: a fact over 64 KiB, a message over 1 MiB, a list over 1,000 rows, a body over 8 MiB */
export class TooLarge extends Day1Error {
  override name = "TooLarge";
}
/** 415: a body that is not sent as `application/json` */
export class UnsupportedMediaType extends Day1Error {
  override name = "UnsupportedMediaType";
}
/** 429: more requests in a minute or writes in a day than the key or its project may make, or too many streams of events; `data` names the limit, what is `used` and the `limit`; `Retry-After` says how long to wait. See limits in headers */
export class RateLimited extends Day1Error {
  override name = "RateLimited";
}
/** 500: a fault of the server; its log has more */
export class ServerFault extends Day1Error {
  override name = "ServerFault";
}
/** 503: the database was too busy to answer in time or cannot be reached, or the server has more than 1,000 requests, 500 streams of events, or 128 MiB of bodies, at once; try again */
export class Unavailable extends Day1Error {
  override name = "Unavailable";
}
/** 503: a part of the store that this needs cannot be read, or nothing is written to a damaged store until it is repaired; the rest is read as before. To send it again helps after the repair: see a damaged store */
export class StoreDamaged extends Day1Error {
  override name = "StoreDamaged";
}
/** 503: the store was migrated by a newer release than the code that serves it: see going back */
export class StoreNewer extends Day1Error {
  override name = "StoreNewer";
}
/** 503: the store was made by an earlier Day1 and lacks what this code no longer adds: start it once with the commit that the sentence names */
export class StoreOutdated extends Day1Error {
  override name = "StoreOutdated";
}
/** 503: the database that the server is pointed at is one of another program, which is left as it is */
export class NoStore extends Day1Error {
  override name = "NoStore";
}
/** 503: the connection to the database was lost during the commit: it may have been stored or not; send it again with the same Idempotency-Key */
export class OutcomeUnknown extends Day1Error {
  override name = "OutcomeUnknown";
}
/** 503: a model did not answer, where the caller asked to wait for it */
export class ProviderUnavailable extends Day1Error {
  override name = "ProviderUnavailable";
}

export const CODES: Record<string, typeof Day1Error> = {
  invalid: Invalid,
  unknown_field: UnknownField,
  reserved_value: ReservedValue,
  query_too_long: QueryTooLong,
  unauthenticated: Unauthenticated,
  budget_spent: BudgetSpent,
  quota_exceeded: QuotaExceeded,
  scope_missing: ScopeMissing,
  branch_forbidden: BranchForbidden,
  not_found: NotFound,
  method_not_allowed: MethodNotAllowed,
  too_slow: TooSlow,
  exists: Exists,
  illegal_transition: IllegalTransition,
  branch_archived: BranchArchived,
  direct_writes_refused: DirectWritesRefused,
  conflict: Conflict,
  key_taken: KeyTaken,
  stale_version: StaleVersion,
  too_large: TooLarge,
  unsupported_media_type: UnsupportedMediaType,
  rate_limited: RateLimited,
  error: ServerFault,
  unavailable: Unavailable,
  store_damaged: StoreDamaged,
  store_newer: StoreNewer,
  store_outdated: StoreOutdated,
  no_store: NoStore,
  outcome_unknown: OutcomeUnknown,
  provider_unavailable: ProviderUnavailable,
};

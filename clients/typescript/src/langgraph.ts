/** A store of LangGraph over items of Day1: with history, on branches, found by words and by meaning. */

import {
  BaseStore,
  getTextAtPath,
  validateNamespace,
  type Item,
  type ListNamespacesOperation,
  type Operation,
  type OperationResults,
  type PutOperation,
  type SearchItem,
  type SearchOperation,
} from "@langchain/langgraph-checkpoint";
import { Day1 } from "./client.js";
import { readKey, readNamespace, writeKey, writeNamespace } from "./names.js";
import type { Item as Row, FoundItem, ItemCallInput, ItemResult } from "./generated/schemas.js";

const MAX_CALLS = 1000; // of a request, at most MAX_SEARCHES of them searches
const MAX_SEARCHES = 50;

export interface StoreOptions {
  /** Which server, branch and end user; the environment says it where it is left out. */
  memory?: Day1;
  /** What a search looks at unless a put says it, as paths in the value; the whole value by default. */
  fields?: string[];
  searchType?: "hybrid" | "keyword" | "vector";
}

/** A store whose values are items. What goes wrong is a Day1Error; a bad namespace LangGraph's InvalidNamespaceError. */
export class Day1Store extends BaseStore {
  readonly memory: Day1;
  private readonly fields: string[];
  private readonly searchType: "hybrid" | "keyword" | "vector";

  constructor({ memory, fields = [], searchType = "hybrid" }: StoreOptions = {}) {
    super();
    this.memory = memory ?? new Day1();
    this.fields = fields;
    this.searchType = searchType;
  }

  /** Answer operations in their order; the writes of up to 1,000 are one commit. */
  override async batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    const found: unknown[] = [];
    for (const part of split(operations)) {
      const wait = part.some((op) => "value" in op) ? ("indexed" as const) : undefined;
      const answer = await this.memory.items.batch({ calls: part.map((op) => this.writeCall(op)), wait });
      found.push(...part.map((op, n) => readResult(op, answer.results[n]!)));
    }
    return found as OperationResults<Op>;
  }

  private writeCall(op: Operation): ItemCallInput {
    if ("namespacePrefix" in op) return this.writeSearch(op);
    if (!("namespace" in op)) return writeNamespaces(op);
    validateNamespace(op.namespace, { allowReservedRoot: true });
    return "value" in op ? this.writePut(op) : { op: "get", ...place(op.namespace, op.key) };
  }

  private writePut(op: PutOperation): ItemCallInput {
    if (op.value === null) return { op: "delete", ...place(op.namespace, op.key) };
    const call = { op: "put" as const, ...place(op.namespace, op.key), value: op.value };
    if (op.index === false) return { ...call, embed: false, text: op.key.trim() || "-" }; // get and filters find it
    const texts = (op.index ?? this.fields).flatMap((path) => getTextAtPath(op.value, path));
    const text = texts.filter((one) => one.trim()).join("\n");
    return text ? { ...call, text } : call;
  }

  private writeSearch(op: SearchOperation): ItemCallInput {
    validateNamespace(op.namespacePrefix, { allowEmpty: true, allowReservedRoot: true });
    const conditions = Object.entries(op.filter ?? {}).map(([name, one]) => [
      `value.${name}`,
      condition(one),
    ]);
    const where = Object.fromEntries(conditions) as Record<string, unknown>;
    const { limit = 10, offset = 0 } = op;
    const call = { op: "search" as const, prefix: writeNamespace(op.namespacePrefix), limit, offset, where };
    return op.query?.trim() ? { ...call, query: op.query, search_type: this.searchType } : call;
  }
}

function* split(operations: Operation[]): Generator<Operation[]> {
  let part: Operation[] = [];
  let searches = 0;
  for (const op of operations) {
    const looks = "namespacePrefix" in op || !("namespace" in op) ? 1 : 0;
    if (part.length === MAX_CALLS || searches + looks > MAX_SEARCHES) {
      yield part;
      part = [];
      searches = 0;
    }
    searches += looks;
    part.push(op);
  }
  if (part.length) yield part;
}

function place(namespace: string[], key: string): { namespace: string; key: string } {
  return { namespace: writeNamespace(namespace), key: writeKey(key) };
}

/** Write a condition in Day1's words; an object without operators is a value. */
function condition(value: unknown): Record<string, unknown> {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  const parts = isObject ? Object.entries(value) : [];
  if (!parts.length || !parts.every(([name]) => name.startsWith("$"))) return { eq: value };
  return Object.fromEntries(parts.map(([name, one]) => [name.slice(1), one]));
}

function writeNamespaces(op: ListNamespacesOperation): ItemCallInput {
  const call: ItemCallInput = { op: "namespaces", limit: op.limit ?? 100, offset: op.offset ?? 0 };
  for (const { matchType, path } of op.matchConditions ?? []) {
    if (call[matchType] !== undefined) throw new Error(`Day1 takes one ${matchType} at a time.`);
    call[matchType] = writeNamespace(path, "*");
  }
  return op.maxDepth === undefined ? call : { ...call, depth: op.maxDepth };
}

function readResult(op: Operation, result: ItemResult): Item | SearchItem[] | string[][] | null | undefined {
  if ("namespacePrefix" in op) {
    return result.items!.map((row) => ({ ...readItem(row), score: row.score ?? undefined }));
  }
  if (!("namespace" in op)) return result.namespaces!.map(readNamespace);
  if ("value" in op) return undefined;
  return result.item ? readItem(result.item) : null;
}

function readItem(row: Row | FoundItem): Item {
  return {
    value: row.value as Record<string, unknown>,
    key: readKey(row.key),
    namespace: readNamespace(row.namespace),
    createdAt: new Date(row.created_at),
    updatedAt: new Date(row.updated_at),
  };
}

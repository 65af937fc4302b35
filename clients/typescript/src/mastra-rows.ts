/** Rows of Mastra as items of Day1: loaded into Mastra's storage in memory, and what changed there written back. */

import type { InMemoryDB } from "@mastra/core/storage";
import type { Day1 } from "./client.js";
import type { Item, ItemCallInput } from "./generated/schemas.js";
import { readKey, writeKey } from "./names.js";

const MAX_CALLS = 1000; // of a request
const MAX_OFFSET = 9001; // of a search, with its limit
const THREADS = "mastra/threads";
const RESOURCES = "mastra/resources";
const MESSAGES = "mastra/messages"; // below it a namespace for each thread
const PLACES = "mastra/places"; // in which thread each message is

/** Which rows a call is about. */
export interface Wanted {
  threads?: string[];
  everyThread?: boolean;
  resources?: string[];
  messages?: string[];
  /** Also the threads of those messages. */
  theirThreads?: boolean;
  /** All messages of these threads. */
  messagesOf?: string[];
  /** All messages of the threads of these ones. */
  around?: string[];
  everything?: boolean;
}

type Table = "threads" | "resources" | "messages";
type Row = { id: string; createdAt: Date; updatedAt?: Date; thread_id?: string };
type Kept = { table: Table; namespace: string; id: string; text: string; version: number; order: number };

let lastOrder = 0;

export class MastraRows {
  private readonly kept = new Map<string, Kept>(); // as they were, by namespace and id
  private readonly places = new Map<string, string>(); // threads of messages

  constructor(
    private readonly memory: Day1,
    private readonly db: InMemoryDB,
  ) {}

  async load(wanted: Wanted): Promise<void> {
    const { threads = [], resources = [], messages = [], around = [], messagesOf = [] } = wanted;
    const first = [...threads.map((id) => [THREADS, id]), ...resources.map((id) => [RESOURCES, id])];
    await this.loadNames([...first, ...[...messages, ...around].map((id) => [PLACES, id])]);
    const near = around.flatMap((id) => this.places.get(id) ?? []);
    const placed = messages
      .filter((id) => this.places.has(id))
      .map((id) => [this.places.get(id)!, id] as const);
    const theirs = wanted.theirThreads ? placed.map(([thread]) => [THREADS, thread]) : [];
    await this.loadNames([...placed.map(([thread, id]) => [findNamespace(thread), id]), ...theirs]);
    const every = wanted.everything ? [RESOURCES, MESSAGES] : [];
    if (wanted.everyThread || wanted.everything) every.push(THREADS);
    every.push(...[...messagesOf, ...near].map(findNamespace));
    for (const prefix of new Set(every)) await this.loadAll(prefix);
    this.fill();
  }

  /** Write what changed as one commit. Throws StaleVersion or KeyTaken where another writer was quicker. */
  async save(): Promise<void> {
    const calls: ItemCallInput[] = [];
    const found = new Set<string>();
    for (const table of ["threads", "resources", "messages"] as const) {
      for (const row of (this.db[table] as Map<string, Row>).values()) {
        const namespace = table === "messages" ? findNamespace(row.thread_id ?? "") : `mastra/${table}`;
        const name = `${namespace}/${row.id}`;
        found.add(name);
        calls.push(...this.writeRow(this.kept.get(name), namespace, row, table));
      }
    }
    for (const [name, one] of this.kept) if (!found.has(name)) calls.push(...this.deleteRow(one));
    for (let n = 0; n < calls.length; n += MAX_CALLS) {
      await this.memory.items.batch({ calls: calls.slice(n, n + MAX_CALLS) });
    }
  }

  private writeRow(kept: Kept | undefined, namespace: string, row: Row, table: Table): ItemCallInput[] {
    const text = JSON.stringify(row);
    if (kept?.text === text) return [];
    const order = kept?.order ?? (lastOrder = Math.max(lastOrder + 1, Date.now() * 1000));
    const bound = kept ? { expected_version: kept.version } : { only_new: true };
    const rest = { key: writeKey(row.id), embed: false, text: row.id.trim() || "-" }; // no search of facts finds it
    const value = { ...(JSON.parse(text) as object), order };
    const calls: ItemCallInput[] = [{ op: "put", namespace, value, ...bound, ...rest }];
    if (table === "messages" && !kept)
      calls.push({ op: "put", namespace: PLACES, value: row.thread_id!, ...rest });
    return calls;
  }

  private deleteRow({ table, namespace, id, version }: Kept): ItemCallInput[] {
    const key = writeKey(id);
    const gone: ItemCallInput[] = [{ op: "delete", namespace, key, expected_version: version }];
    const isMoved = this.db.messages.has(id); // its place is that of the other thread by then
    return table !== "messages" || isMoved ? gone : [...gone, { op: "delete", namespace: PLACES, key }];
  }

  private async loadNames(names: string[][]): Promise<void> {
    const calls = [...new Map(names.map((name) => [name.join("//"), name])).values()].map(
      ([namespace, id]) => {
        return { op: "get" as const, namespace, key: writeKey(id!) };
      },
    );
    for (let n = 0; n < calls.length; n += MAX_CALLS) {
      const { results } = await this.memory.items.batch({ calls: calls.slice(n, n + MAX_CALLS) });
      for (const { item } of results) if (item) this.keep(item);
    }
  }

  /** Load what is below a prefix: a thousand at once as far as that goes, else by pages. */
  private async loadAll(prefix: string): Promise<void> {
    for (let offset = 0; offset < MAX_OFFSET;) {
      const call = { op: "search" as const, prefix, limit: MAX_CALLS, offset };
      const { items = [], more } = (await this.memory.items.batch({ calls: [call] })).results[0]!;
      for (const item of items) this.keep(item);
      offset += items.length;
      if (!more) return;
    }
    for await (const item of this.memory.items.list({ prefix, limit: 100 })) this.keep(item);
  }

  private keep({
    namespace,
    key,
    value,
    version,
  }: Pick<Item, "namespace" | "key" | "value" | "version">): void {
    const id = readKey(key);
    if (namespace === PLACES) return void this.places.set(id, value as string);
    const { order, ...row } = value as Row & { order: number };
    const table = namespace === THREADS ? "threads" : namespace === RESOURCES ? "resources" : "messages";
    this.kept.set(`${namespace}/${id}`, { table, namespace, id, text: JSON.stringify(row), version, order });
  }

  /** Put what was loaded into the storage in memory, in the order in which it was saved. */
  private fill(): void {
    for (const one of [...this.kept.values()].sort((a, b) => a.order - b.order)) {
      const row = JSON.parse(one.text) as Row;
      row.createdAt = new Date(row.createdAt);
      if (row.updatedAt) row.updatedAt = new Date(row.updatedAt);
      (this.db[one.table] as Map<string, Row>).set(one.id, row);
    }
  }
}

function findNamespace(thread: string): string {
  return `${MESSAGES}/${writeKey(thread)}`;
}

/** Rows of Mastra as items of Day1: loaded into Mastra's storage in memory, and what changed there written back. */

import type { InMemoryDB } from "@mastra/core/storage";
import type { Day1 } from "./client.js";
import type { Item, ItemCallInput } from "./generated/schemas.js";
import { readKey, writeKey, writeNamespace } from "./names.js";

const MAX_CALLS = 1000; // of a request
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

const TABLES: Table[] = ["threads", "resources", "messages"];
let lastOrder = 0;

export class MastraRows {
  private readonly kept = new Map<string, Kept>(); // as they were, by namespace and id

  constructor(
    private readonly memory: Day1,
    private readonly db: InMemoryDB,
  ) {}

  async load(wanted: Wanted): Promise<void> {
    const { threads = [], resources = [], messages = [], around = [], messagesOf = [] } = wanted;
    const places = await this.findPlaces([...messages, ...around]);
    const near = around.flatMap((id) => places.get(id) ?? []);
    const theirs = wanted.theirThreads ? messages.flatMap((id) => places.get(id) ?? []) : [];
    await this.loadKeys(
      "threads",
      unique([...threads, ...theirs]).map((id) => ["mastra/threads", id]),
    );
    await this.loadKeys(
      "resources",
      unique(resources).map((id) => ["mastra/resources", id]),
    );
    const placed = unique(messages).filter((id) => places.has(id));
    await this.loadKeys(
      "messages",
      placed.map((id) => [findNamespace(places.get(id)!), id]),
    );
    if (wanted.everyThread || wanted.everything) await this.loadAll("threads", "mastra/threads");
    if (wanted.everything) await this.loadAll("resources", "mastra/resources");
    if (wanted.everything) await this.loadAll("messages", "mastra/messages");
    for (const id of unique([...messagesOf, ...near])) await this.loadAll("messages", findNamespace(id));
    this.fill();
  }

  /** Write what changed as one commit. Throws StaleVersion or KeyTaken where another writer was quicker. */
  async save(): Promise<void> {
    const calls: ItemCallInput[] = [];
    const found = new Set<string>();
    for (const table of TABLES) {
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
    const value = { ...(JSON.parse(text) as object), order };
    const put = { op: "put" as const, namespace, key: writeKey(row.id), value, ...bound, embed: false };
    if (table !== "messages" || kept) return [put];
    return [
      put,
      { op: "put", namespace: PLACES, key: writeKey(row.id), value: row.thread_id!, embed: false },
    ];
  }

  private deleteRow({ table, namespace, id, version }: Kept): ItemCallInput[] {
    const key = writeKey(id);
    const gone: ItemCallInput[] = [{ op: "delete", namespace, key, expected_version: version }];
    const isMoved = this.db.messages.has(id); // its place is that of the other thread by then
    return table !== "messages" || isMoved ? gone : [...gone, { op: "delete", namespace: PLACES, key }];
  }

  private async findPlaces(ids: string[]): Promise<Map<string, string>> {
    const items = await this.readKeys(unique(ids).map((id) => [PLACES, id]));
    return new Map(items.map((item) => [readKey(item.key), item.value as string]));
  }

  private async loadKeys(table: Table, names: [string, string][]): Promise<void> {
    for (const item of await this.readKeys(names)) this.keep(table, item);
  }

  private async readKeys(names: [string, string][]): Promise<Item[]> {
    const calls = names.map(([namespace, id]) => ({ op: "get" as const, namespace, key: writeKey(id) }));
    const found: Item[] = [];
    for (let n = 0; n < calls.length; n += MAX_CALLS) {
      const { results } = await this.memory.items.batch({ calls: calls.slice(n, n + MAX_CALLS) });
      found.push(...results.flatMap((one) => one.item ?? []));
    }
    return found;
  }

  private async loadAll(table: Table, prefix: string): Promise<void> {
    for await (const item of this.memory.items.list({ prefix, limit: 100 })) this.keep(table, item);
  }

  private keep(table: Table, { namespace, key, value, version }: Item): void {
    const { order, ...row } = value as Row & { order: number };
    const id = readKey(key);
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
  return writeNamespace(["mastra", "messages"]) + "/" + writeKey(thread);
}

function unique(texts: string[]): string[] {
  return [...new Set(texts)];
}

/** The memory of Mastra's storage over items of Day1: threads, messages and resources, with history and on branches.
 *
 * Mastra's own storage in memory plays a call on the rows that it is about; what changed is written as one commit.
 */

import { ErrorCategory, ErrorDomain, MastraError } from "@mastra/core/error";
import { InMemoryDB, InMemoryMemory, MastraCompositeStore, MemoryStorage } from "@mastra/core/storage";
import { Day1 } from "./client.js";
import { KeyTaken, StaleVersion } from "./generated/codes.js";
import type { Item, ItemCallInput } from "./generated/schemas.js";
import { batchItems, getItems, listItems } from "./items.js";
import { readKey, writeKey } from "./names.js";
import { Day1Error } from "./problem.js";

const TRIES = 10;
const THREADS = "mastra/threads";
const RESOURCES = "mastra/resources";
const PLACES = "mastra/places"; // in which thread each message is
const MESSAGES = "mastra/messages"; // below it a namespace for each thread
const PLAYED = /^((get|save|update|delete)(Thread|Message|Resource)|list|copyThread|dangerouslyClearAll)/;
const READS_MESSAGES = /^(listMessages|deleteThread|copyThread)$/;
const EVERY = { listThreads: [THREADS], dangerouslyClearAll: [THREADS, RESOURCES, MESSAGES] };

type Row = { id: string; createdAt: Date; updatedAt?: Date; thread_id?: string };
type Kept = { item: Item; text: string; order: number };
type Call = (...args: never[]) => Promise<unknown>;

const findNamespace = (thread: string) => `${MESSAGES}/${writeKey(thread)}`;
const findPlace = (id: string) => [PLACES, id] as const;
let lastOrder = 0;

/** Storage for `new Mastra({ storage })` and `new Memory({ storage })`. What is no memory goes to `other`. */
export class Day1Store extends MastraCompositeStore {
  constructor(options: { memory?: Day1; other?: MastraCompositeStore; id?: string } = {}) {
    const { memory, other, id = "day1" } = options;
    super({ id, name: "Day1Store", default: other, domains: { memory: new Day1Memory(memory) } });
  }
}

/** The memory domain by itself, for a MastraCompositeStore of your own. What goes wrong is a MastraError. */
export class Day1Memory extends InMemoryMemory {
  constructor(private readonly memory: Day1 = new Day1()) {
    super({ db: new InMemoryDB() }); // which stays empty: each call has one of its own
    Object.assign(this, { supportsObservationalMemory: false });
  }

  override async listMessagesByResourceId(args: Parameters<MemoryStorage["listMessagesByResourceId"]>[0]) {
    const { threads } = await this.listThreads({ filter: { resourceId: args.resourceId }, perPage: false });
    const about = { threadId: threads.map((one) => one.id), include: args.include };
    return this.play("listMessages", about, (rows) => rows.listMessagesByResourceId(args));
  }

  /** Play a method of Mastra's storage in memory, and write what it changed; again if another writer was quicker. */
  async play<T>(name: string, args: unknown, work: (rows: InMemoryMemory) => Promise<T>): Promise<T> {
    for (let count = 1; ; count++) {
      const db = new InMemoryDB();
      try {
        const kept = await this.load(db, name, args);
        const answer = await work(new InMemoryMemory({ db }));
        await this.save(db, kept);
        return answer;
      } catch (error) {
        const isOvertaken = error instanceof StaleVersion || error instanceof KeyTaken;
        if (!isOvertaken || count === TRIES) throw this.explain(error);
      }
    }
  }

  private async load(db: InMemoryDB, method: string, args: unknown): Promise<Map<string, Kept>> {
    const { ids, threads, resources } = readNames(args);
    const places = await getItems(this.memory, ids.map(findPlace));
    const near = [...new Set([...threads, ...places.map((one) => one.value as string)])];
    const items = await getItems(this.memory, [
      ...near.map((id) => [THREADS, id] as const),
      ...resources.map((id) => [RESOURCES, id] as const),
      ...places.map((one) => [findNamespace(one.value as string), readKey(one.key)] as const),
    ]);
    const every = READS_MESSAGES.test(method)
      ? near.map(findNamespace)
      : ((EVERY as Record<string, string[]>)[method] ?? []);
    for (const prefix of every) items.push(...(await listItems(this.memory, prefix)));
    const kept = new Map<string, Kept>();
    for (const item of items) {
      const { order, ...row } = item.value as Row & { order: number };
      kept.set(`${item.namespace}/${row.id}`, { item, text: JSON.stringify(row), order });
    }
    for (const { item, text } of [...kept.values()].sort((a, b) => a.order - b.order)) {
      const row = JSON.parse(text) as Row;
      row.createdAt = new Date(row.createdAt);
      if (row.updatedAt) row.updatedAt = new Date(row.updatedAt);
      (db[item.namespace.split("/")[1] as "messages"] as Map<string, Row>).set(row.id, row);
    }
    return kept;
  }

  /** Write what changed as one commit. Throws StaleVersion or KeyTaken where another writer was quicker. */
  private async save(db: InMemoryDB, kept: Map<string, Kept>): Promise<void> {
    const [calls, gone] = [[] as ItemCallInput[], new Map(kept)];
    for (const table of ["threads", "resources", "messages"] as const) {
      for (const row of (db[table] as Map<string, Row>).values()) {
        const namespace = table === "messages" ? findNamespace(row.thread_id ?? "") : `mastra/${table}`;
        const [old, text] = [kept.get(`${namespace}/${row.id}`), JSON.stringify(row)];
        gone.delete(`${namespace}/${row.id}`);
        if (old?.text === text) continue;
        const order = old?.order ?? (lastOrder = Math.max(lastOrder + 1, Date.now() * 1000));
        const bound = old ? { expected_version: old.item.version } : { only_new: true };
        const put = { op: "put" as const, key: writeKey(row.id), embed: false, text: row.id.trim() || "-" };
        calls.push({ ...put, namespace, value: { ...(JSON.parse(text) as object), order }, ...bound });
        if (table === "messages" && !old) calls.push({ ...put, namespace: PLACES, value: row.thread_id! });
      }
    }
    for (const { item: old } of gone.values()) {
      const [namespace, key] = [old.namespace, old.key];
      calls.push({ op: "delete", namespace, key, expected_version: old.version });
      const isLost = namespace.startsWith(MESSAGES) && !db.messages.has(readKey(key)); // and not moved
      if (isLost) calls.push({ op: "delete", namespace: PLACES, key });
    }
    await batchItems(this.memory, calls);
  }

  private explain(error: unknown): unknown {
    if (!(error instanceof Day1Error)) return error;
    const details = { code: error.code, status: error.status, url: this.memory.transport.url };
    const id = `DAY1_${error.code.toUpperCase()}` as Uppercase<string>;
    const place = { domain: ErrorDomain.STORAGE, category: ErrorCategory.THIRD_PARTY };
    return new MastraError({ id, ...place, text: error.message, details }, error);
  }
}

/** Return the ids that the arguments of a call name. */
function readNames(args: any): { ids: string[]; threads: string[]; resources: string[] } {
  const { threadId, sourceThreadId, newThreadId, id, thread, resourceId, resource, messageIds = [] } = args;
  const rows: any[] = args.messages ?? args.include ?? [];
  const list = (...found: unknown[]) => [...new Set(found.flat().filter((one) => typeof one === "string"))];
  return {
    ids: list(Array.isArray(args) ? args : messageIds, ...rows.map((one) => one.id)),
    threads: list(threadId, sourceThreadId, newThreadId, id, thread?.id, ...rows.map((one) => one.threadId)),
    resources: list(resourceId, resource?.id),
  };
}

// What is not played is as in MemoryStorage, which says that it is not supported.
for (const name of Object.getOwnPropertyNames(InMemoryMemory.prototype)) {
  function method(this: Day1Memory, args: unknown = {}): Promise<unknown> {
    return this.play(name, args, (rows) => (rows as unknown as Record<string, Call>)[name]!(args as never));
  }
  const value: unknown = PLAYED.test(name) ? method : Reflect.get(MemoryStorage.prototype, name);
  if (value && !Object.hasOwn(Day1Memory.prototype, name))
    Object.defineProperty(Day1Memory.prototype, name, { value, configurable: true, writable: true });
}

/** The memory of Mastra's storage over items of Day1: threads, messages and resources, with history and on branches.
 *
 * A call loads the rows that it is about into Mastra's own storage in memory, which plays it, and writes what changed
 * as one commit. Whom another writer overtook plays it again.
 */

import { ErrorCategory, ErrorDomain, MastraError } from "@mastra/core/error";
import { InMemoryDB, InMemoryMemory, MastraCompositeStore, MemoryStorage } from "@mastra/core/storage";
import { Day1 } from "./client.js";
import { KeyTaken, StaleVersion } from "./generated/codes.js";
import { MastraRows, type Wanted } from "./mastra-rows.js";
import { Day1Error } from "./problem.js";

const TRIES = 10;

type Played = Omit<
  {
    [Name in keyof InMemoryMemory as InMemoryMemory[Name] extends Call ? Name : never]: InMemoryMemory[Name];
  },
  "listMessagesByResourceId"
>;
type Call = (...args: never[]) => Promise<unknown>;
type Wants = { [Name in keyof Played]?: (args: Parameters<Extract<Played[Name], Call>>[0]) => Wanted };

const threadsOf = (messages: { threadId?: string }[]) => messages.flatMap((one) => one.threadId ?? []);
const idsOf = (messages: { id: string }[] = []) => messages.map((one) => one.id);

/** What is loaded for each method. */
const WANTED: Wants = {
  getThreadById: ({ threadId }) => ({ threads: [threadId] }),
  saveThread: ({ thread }) => ({ threads: [thread.id] }),
  updateThread: ({ id }) => ({ threads: [id] }),
  deleteThread: ({ threadId }) => ({ threads: [threadId], messagesOf: [threadId] }),
  listThreads: () => ({ everyThread: true }),
  copyThread: ({ sourceThreadId: from, newThreadId: to }) => ({
    threads: to ? [from, to] : [from],
    messagesOf: [from],
  }),
  listMessages: ({ threadId, include }) => ({ messagesOf: [threadId].flat(), around: idsOf(include) }),
  listMessagesById: ({ messageIds }) => ({ messages: messageIds }),
  saveMessages: ({ messages }) => ({
    threads: threadsOf(messages),
    messages: idsOf(messages),
    theirThreads: true,
  }),
  updateMessages: ({ messages }) => ({
    threads: threadsOf(messages),
    messages: idsOf(messages),
    theirThreads: true,
  }),
  deleteMessages: (ids) => ({ messages: ids, theirThreads: true }),
  getResourceById: ({ resourceId }) => ({ resources: [resourceId] }),
  saveResource: ({ resource }) => ({ resources: [resource.id] }),
  updateResource: ({ resourceId }) => ({ resources: [resourceId] }),
  dangerouslyClearAll: () => ({ everything: true }),
};

/** Storage for `new Mastra({ storage })` and `new Memory({ storage })`. What is no memory goes to `other`. */
export class Day1Store extends MastraCompositeStore {
  constructor({
    memory,
    other,
    id = "day1",
  }: { memory?: Day1; other?: MastraCompositeStore; id?: string } = {}) {
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
    const wanted = { messagesOf: idsOf(threads), around: idsOf(args.include) };
    return this.play(wanted, (rows) => rows.listMessagesByResourceId(args));
  }

  /** Play a method of Mastra's storage in memory on what it is about, and write what it changed. */
  async play<T>(wanted: Wanted, work: (rows: InMemoryMemory) => Promise<T>): Promise<T> {
    for (let count = 1; ; count++) {
      const db = new InMemoryDB();
      const rows = new MastraRows(this.memory, db);
      try {
        await rows.load(wanted);
        const answer = await work(new InMemoryMemory({ db }));
        await rows.save();
        return answer;
      } catch (error) {
        const isOvertaken = error instanceof StaleVersion || error instanceof KeyTaken;
        if (!isOvertaken || count === TRIES) throw this.explain(error);
      }
    }
  }

  private explain(error: unknown): unknown {
    if (!(error instanceof Day1Error)) return error;
    const details = { code: error.code, status: error.status, url: this.memory.transport.url };
    const id = `DAY1_${error.code.toUpperCase()}` as Uppercase<string>;
    const place = { domain: ErrorDomain.STORAGE, category: ErrorCategory.THIRD_PARTY };
    return new MastraError({ id, ...place, text: error.message, details }, error);
  }
}

// What is not played is as in MemoryStorage, which says that it is not supported.
for (const name of Object.getOwnPropertyNames(InMemoryMemory.prototype)) {
  const find = WANTED[name as keyof Wants] as ((args: unknown) => Wanted) | undefined;
  function method(this: Day1Memory, args: unknown): Promise<unknown> {
    return this.play(find!(args), (rows) => (rows as unknown as Record<string, Call>)[name]!(args as never));
  }
  const value: unknown = find ? method : Reflect.get(MemoryStorage.prototype, name);
  const isOwn = Object.hasOwn(Day1Memory.prototype, name);
  if (value && !isOwn)
    Object.defineProperty(Day1Memory.prototype, name, { value, configurable: true, writable: true });
}

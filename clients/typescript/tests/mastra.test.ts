import { InMemoryDB, InMemoryMemory, type MemoryStorage } from "@mastra/core/storage";
import { MastraError } from "@mastra/core/error";
import type { MastraDBMessage } from "@mastra/core/agent";
import { Agent } from "@mastra/core/agent";
import { Memory } from "@mastra/memory";
import { MockLanguageModelV4 } from "ai/test";
import { describe, expect, test } from "vitest";
import { Day1 } from "../src/index.js";
import { Day1Memory, Day1Store } from "../src/mastra.js";
import { makeClient } from "./doubles.js";
import { answer } from "./model.js";

const T0 = new Date("2026-01-01T00:00:00.000Z");
const at = (n: number) => new Date(T0.getTime() + n * 1000);
const thread = (id: string, resourceId = "ada", more = {}) => ({
  id,
  resourceId,
  title: id,
  createdAt: T0,
  updatedAt: T0,
  ...more,
});
const message = (id: string, n: number, threadId = "t1", resourceId = "ada"): MastraDBMessage => ({
  id,
  threadId,
  resourceId,
  role: n % 2 ? "assistant" : "user",
  type: "text",
  createdAt: at(n),
  content: { format: 2, parts: [{ type: "text", text: `Text ${n}` }], metadata: { n } },
});

type Case = (memory: MemoryStorage) => Promise<unknown>;

/** Each is played on Mastra's own storage in memory and on Day1: they answer alike. */
const CASES: Record<string, Case> = {
  "a thread is saved, read, and read with its resource": async (memory) => {
    await memory.saveThread({ thread: thread("t/1", "ada", { metadata: { a: 1 } }) });
    const read = (resourceId?: string) => memory.getThreadById({ threadId: "t/1", resourceId });
    return [
      await read(),
      await read("ada"),
      await read("bob"),
      await memory.getThreadById({ threadId: "no" }),
    ];
  },
  "an update of a thread leaves what it does not name": async (memory) => {
    await memory.saveThread({ thread: thread("t1", "ada", { metadata: { a: 1 } }) });
    await memory.updateThread({ id: "t1", metadata: { b: 2 } });
    await memory.updateThread({ id: "t1", title: "New" });
    const { updatedAt: _at, ...found } = (await memory.getThreadById({ threadId: "t1" }))!;
    return found;
  },
  "an update of no thread is refused": (memory) =>
    memory.updateThread({ id: "no", title: "x" }).catch(String),
  "threads are listed by resource, metadata, order and page": async (memory) => {
    for (const n of [1, 2, 3, 4]) {
      const more = { createdAt: at(n), metadata: { even: n % 2 === 0 } };
      await memory.saveThread({ thread: thread(`t${n}`, n < 4 ? "ada" : "bob", more) });
    }
    const list = async (args: Parameters<MemoryStorage["listThreads"]>[0]) => {
      const { threads, ...page } = await memory.listThreads(args);
      return [threads.map((one) => one.id), page];
    };
    return [
      await list({ filter: { resourceId: "ada" }, perPage: 2 }),
      await list({ filter: { resourceId: "ada" }, perPage: 2, page: 1 }),
      await list({ filter: { metadata: { even: true } }, orderBy: { field: "createdAt", direction: "ASC" } }),
      await list({ perPage: false }),
    ];
  },
  "messages come in order, in pages, from either end": async (memory) => {
    await memory.saveThread({ thread: thread("t1") });
    await memory.saveMessages({ messages: [3, 1, 2, 5, 4].map((n) => message(`m${n}`, n)) });
    return [
      await memory.listMessages({ threadId: "t1" }),
      await memory.listMessages({
        threadId: "t1",
        perPage: 2,
        orderBy: { field: "createdAt", direction: "DESC" },
      }),
      await memory.listMessages({ threadId: "t1", perPage: 2, page: 2 }),
      await memory.listMessages({
        threadId: "t1",
        filter: { dateRange: { start: at(2), end: at(4), endExclusive: true } },
      }),
      await memory.listMessages({ threadId: "t1", filter: { metadata: { n: 3 } } }),
    ];
  },
  "messages of one moment keep the order in which they were saved": async (memory) => {
    await memory.saveThread({ thread: thread("t1") });
    await memory.saveMessages({ messages: ["z", "a", "m"].map((id) => message(id, 1)) });
    await memory.saveMessages({ messages: [message("b", 1)] });
    return (await memory.listMessages({ threadId: "t1" })).messages.map((one) => one.id);
  },
  "messages around one of another thread are included": async (memory) => {
    await memory.saveMessages({ messages: [1, 2, 3].map((n) => message(`a${n}`, n, "t1")) });
    await memory.saveMessages({ messages: [4, 5, 6, 7].map((n) => message(`b${n}`, n, "t2")) });
    const include = [{ id: "b5", threadId: "t2", withPreviousMessages: 1, withNextMessages: 1 }];
    return memory.listMessages({ threadId: "t1", include, perPage: 1 });
  },
  "messages of a resource come from all its threads": async (memory) => {
    for (const id of ["t1", "t2"]) await memory.saveThread({ thread: thread(id) });
    await memory.saveThread({ thread: thread("t3", "bob") });
    const all = [message("m1", 1, "t1"), message("m2", 2, "t2"), message("m3", 3, "t3", "bob")];
    await memory.saveMessages({ messages: all });
    return memory.listMessagesByResourceId({ resourceId: "ada" });
  },
  "messages are found by id, what is not there is left out": async (memory) => {
    await memory.saveMessages({ messages: [message("m1", 1), message("m2", 2, "t2")] });
    return memory.listMessagesById({ messageIds: ["m2", "no", "m1"] });
  },
  "a message saved again is replaced": async (memory) => {
    await memory.saveMessages({ messages: [message("m1", 1)] });
    await memory.saveMessages({ messages: [message("m1", 2)] });
    return memory.listMessages({ threadId: "t1" });
  },
  "an update of a message keeps the rest, and moves it": async (memory) => {
    for (const id of ["t1", "t2"]) await memory.saveThread({ thread: thread(id) });
    await memory.saveMessages({ messages: [message("m1", 1), message("m2", 2)] });
    await memory.updateMessages({
      messages: [{ id: "m1", content: { metadata: { seen: true } } as never }, { id: "no" }],
    });
    await memory.updateMessages({ messages: [{ id: "m2", threadId: "t2" }] });
    const list = (threadId: string) => memory.listMessages({ threadId });
    return [await list("t1"), await list("t2"), await memory.listMessagesById({ messageIds: ["m2"] })];
  },
  "messages are deleted, and threads with theirs": async (memory) => {
    for (const id of ["t1", "t2"]) await memory.saveThread({ thread: thread(id) });
    await memory.saveMessages({ messages: [message("m1", 1), message("m2", 2), message("m3", 3, "t2")] });
    await memory.deleteMessages(["m1", "no"]);
    const left = await memory.listMessages({ threadId: "t1" });
    await memory.deleteThread({ threadId: "t1" });
    const [one, other] = [
      await memory.listMessages({ threadId: "t1" }),
      await memory.listMessages({ threadId: "t2" }),
    ];
    return [left, one, other, await memory.getThreadById({ threadId: "t1" })];
  },
  "a thread is copied with its last messages": async (memory) => {
    await memory.saveThread({ thread: thread("t1") });
    await memory.saveMessages({ messages: [1, 2, 3].map((n) => message(`m${n}`, n)) });
    await memory.copyThread({ sourceThreadId: "t1", newThreadId: "t2", options: { messageLimit: 2 } });
    const { messages } = await memory.listMessages({ threadId: "t2" });
    return [(await memory.getThreadById({ threadId: "t2" }))?.title, messages.map((one) => one.content)];
  },
  "working memory of a resource is saved and changed": async (memory) => {
    const none = await memory.getResourceById({ resourceId: "ada" });
    await memory.saveResource({
      resource: { id: "ada", workingMemory: "# Ada", createdAt: T0, updatedAt: T0 },
    });
    await memory.updateResource({ resourceId: "ada", metadata: { a: 1 } });
    const { updatedAt: _at, ...found } = (await memory.getResourceById({ resourceId: "ada" }))!;
    return [none, found];
  },
  "everything is cleared": async (memory) => {
    await memory.saveThread({ thread: thread("t1") });
    await memory.saveMessages({ messages: [message("m1", 1)] });
    await memory.dangerouslyClearAll();
    return [await memory.getThreadById({ threadId: "t1" }), await memory.listMessages({ threadId: "t1" })];
  },
};

describe("Day1 answers as Mastra's own storage", () => {
  test.each(Object.entries(CASES))("%s", async (_name, play) => {
    const told = await play(new InMemoryMemory({ db: new InMemoryDB() }));
    expect(await play(new Day1Memory(await makeClient()))).toEqual(told);
  });
});

test("six who save messages of one thread at once lose none", async () => {
  const memory = new Day1Memory(await makeClient());
  await memory.saveThread({ thread: thread("t1") });
  const save = (n: number) => memory.saveMessages({ messages: [message(`m${n}`, n)] });
  await Promise.all(Array.from({ length: 6 }, (_, n) => save(n)));
  expect((await memory.listMessages({ threadId: "t1" })).total).toBe(6);
});

test("an agent of Mastra remembers a thread from one process to the next", async () => {
  const client = await makeClient();
  const prompts: string[] = [];
  const talk = async (text: string) => {
    const memory = new Memory({ storage: new Day1Store({ memory: client }), options: { lastMessages: 10 } });
    const model = new MockLanguageModelV4({ doGenerate: answer("Noted.", prompts) });
    const agent = new Agent({ id: "a", name: "a", instructions: "Be brief.", model: model as never, memory });
    return (await agent.generate(text, { memory: { thread: "t1", resource: "ada" } })).text;
  };
  expect(await talk("My name is Ada.")).toBe("Noted.");
  expect(await talk("What is my name?")).toBe("Noted.");
  expect(prompts[1]).toContain("My name is Ada.");
});

test("a long thread is read whole, and no search of facts finds it", async () => {
  const client = await makeClient();
  const memory = new Day1Memory(client);
  await memory.saveMessages({ messages: Array.from({ length: 1001 }, (_, n) => message(`m${n}`, n)) });
  const { messages, total } = await memory.listMessages({ threadId: "t1", perPage: 1, page: 1000 });
  expect([messages[0]?.id, total]).toEqual(["m1000", 1001]);
  expect((await client.recall("Text")).facts).toEqual([]);
});

test("an absent server is Mastra's own error", async () => {
  const memory = new Day1Memory(new Day1({ url: "http://127.0.0.1:9", key: "k", retries: 0 }));
  const error = await memory.getThreadById({ threadId: "t1" }).catch((one: unknown) => one);
  expect(error).toBeInstanceOf(MastraError);
  expect(error).toMatchObject({ id: "DAY1_UNREACHABLE", domain: "STORAGE", category: "THIRD_PARTY" });
});

import {
  InMemoryStore,
  InvalidNamespaceError,
  type BaseStore,
  type Item,
  type Operation,
} from "@langchain/langgraph-checkpoint";
import { MessagesAnnotation, StateGraph, type LangGraphRunnableConfig } from "@langchain/langgraph";
import { describe, expect, test } from "vitest";
import { Day1, ServerTooOld, Unreachable } from "../src/index.js";
import { Day1Store } from "../src/langgraph.js";
import { json, makeClient, problem, serve } from "./doubles.js";

type Case = (store: BaseStore) => Promise<unknown>;

const bare = (item: Item | null) => item && { key: item.key, namespace: item.namespace, value: item.value };
const keys = (items: Item[]) => items.map((one) => one.key).sort();
const fill = async (
  store: BaseStore,
  namespace: string[],
  values: Record<string, Record<string, unknown>>,
) => {
  await store.batch(Object.entries(values).map(([key, value]) => ({ namespace, key, value })));
};

/** Each is played on LangGraph's own store in memory and on Day1: they answer alike. */
const CASES: Record<string, Case> = {
  "what is put is read": async (store) => {
    await store.put(["users", "ada"], "color", { name: "green", deep: [1, { a: null }] });
    return bare(await store.get(["users", "ada"], "color"));
  },
  "a put replaces, and keeps when it was made": async (store) => {
    await store.put(["a"], "k", { n: 1 });
    const first = { ...(await store.get(["a"], "k"))! };
    await new Promise((done) => setTimeout(done, 5));
    await store.put(["a"], "k", { n: 2 });
    const second = (await store.get(["a"], "k"))!;
    return [second.value, +second.createdAt === +first.createdAt, +second.updatedAt > +first.updatedAt];
  },
  "nothing stands where nothing was put": (store) => store.get(["a"], "k"),
  "a delete takes away, also what is not there": async (store) => {
    await store.put(["a"], "k", { n: 1 });
    await store.delete(["a"], "k");
    await store.delete(["a"], "never");
    return [await store.get(["a"], "k"), await store.search(["a"])];
  },
  "answers come in the order of the operations": async (store) => {
    await store.batch([
      { namespace: ["a"], key: "x", value: { n: 1 } },
      { namespace: ["b"], key: "y", value: { n: 2 } },
    ]);
    const found: unknown[] = await store.batch([
      { namespace: ["b"], key: "y" },
      { namespacePrefix: ["a"] },
      { matchConditions: undefined, limit: 10, offset: 0 },
      { namespace: ["a"], key: "none" },
      { namespace: ["a"], key: "x" },
    ] as Operation[]);
    return [bare(found[0] as Item), keys(found[1] as Item[]), ...found.slice(2, 4), bare(found[4] as Item)];
  },
  "of several puts of a key the last counts": async (store) => {
    await store.batch([1, 2, 3].map((n) => ({ namespace: ["a"], key: "k", value: { n } })));
    return bare(await store.get(["a"], "k"));
  },
  "a search sees a namespace and all below, not its neighbours": async (store) => {
    for (const path of [["a"], ["a", "b"], ["ab"], ["c", "a"]]) await store.put(path, path.join("-"), {});
    return [keys(await store.search(["a"])), keys(await store.search([])), keys(await store.search(["no"]))];
  },
  "a search has filters": async (store) => {
    const rows = { a: { n: 1, on: true, s: "x" }, b: { n: 2, on: false, s: "y" }, c: { n: 3, on: true } };
    await fill(store, ["f"], rows);
    const filters = [
      { on: true },
      { n: { $gt: 1 } },
      { n: { $gte: 2, $lt: 3 } },
      { s: "x" },
      { n: { $ne: 2 } },
      { n: { $eq: 3 } },
    ];
    return Promise.all(filters.map(async (filter) => keys(await store.search(["f"], { filter }))));
  },
  "a search has a limit and an offset": async (store) => {
    await fill(
      store,
      ["p"],
      Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`k${String(n).padStart(2, "0")}`, { n }])),
    );
    const sizes = [{}, { limit: 5 }, { limit: 5, offset: 10 }, { offset: 20 }];
    return Promise.all(sizes.map(async (one) => (await store.search(["p"], one)).length));
  },
  "namespaces are listed by their ends and depth": async (store) => {
    const paths = [["a", "b", "c"], ["a", "b", "d"], ["a", "x", "c"], ["z"]];
    for (const path of paths) await store.put(path, "k", { n: 1 });
    const asked = [
      {},
      { prefix: ["a"] },
      { suffix: ["c"] },
      { prefix: ["a", "*", "c"] },
      { maxDepth: 2 },
      { limit: 2, offset: 1 },
    ];
    return Promise.all(asked.map((one) => store.listNamespaces(one)));
  },
  "names hold what they hold": async (store) => {
    const names = ["a/b", "50 %", "ü", "a'(b)*!", "~"];
    for (const name of names) await store.put(["n", name], `${name}.k`, { name });
    const found = await Promise.all(names.map((name) => store.get(["n", name], `${name}.k`)));
    return [found.map(bare), (await store.listNamespaces({ prefix: ["n"] })).length];
  },
  "keys of dots and none": async (store) => {
    for (const key of [".", "..", ""]) await store.put(["n"], key, { key });
    return [keys(await store.search(["n"])), bare(await store.get(["n"], ""))];
  },
  "namespaces that LangGraph refuses": async (store) => {
    const paths = [[], [""], ["a.b"], ["langgraph"]];
    return Promise.all(paths.map((path) => store.put(path, "k", {}).catch((error: Error) => error.name)));
  },
};

describe("Day1 answers as LangGraph's own store", () => {
  test.each(Object.entries(CASES))("%s", async (_name, play) => {
    const told = await play(new InMemoryStore());
    expect(await play(new Day1Store({ memory: await makeClient() }))).toEqual(told);
  });
});

test("a query finds by words what was put, and what a put leaves out is not found", async () => {
  const store = new Day1Store({ memory: await makeClient(), fields: ["text"], searchType: "keyword" });
  await store.put(["notes"], "a", { text: "Ada likes green tea.", hidden: "walrus" });
  await store.put(["notes"], "b", { text: "The port is 8765." });
  await store.put(["notes"], "c", { text: "Green is the build." }, false);
  const found = await store.search(["notes"], { query: "green tea" });
  expect(found.map((one) => one.key)).toEqual(["a"]);
  expect(found[0]!.score).toBeGreaterThan(0);
  expect(await store.search(["notes"], { query: "walrus" })).toEqual([]);
  const mixed = new Day1Store({ memory: store.memory });
  const [nearest] = await mixed.search(["notes"], { query: "green tea" }); // others may follow, by meaning
  expect([nearest!.key, nearest!.score! > 0]).toEqual(["a", true]);
});

test("many operations go in parts that a request takes", async () => {
  const store = new Day1Store({ memory: await makeClient() });
  await store.batch(
    Array.from({ length: 1001 }, (_, n) => ({
      namespace: ["m"],
      key: `k${n}`,
      value: { n },
      index: false as const,
    })),
  );
  const found = await store.batch(Array.from({ length: 60 }, () => ({ namespacePrefix: ["m"], limit: 1 })));
  expect(found.map((one) => one.length)).toEqual(Array(60).fill(1));
});

test("a graph of LangGraph keeps what a node puts, on a branch with history", async () => {
  const memory = await makeClient();
  const note = async (_state: typeof MessagesAnnotation.State, config: LangGraphRunnableConfig) => {
    await config.store!.put(["users", "ada"], "name", { text: "Ada" });
    return {
      messages: [
        {
          role: "assistant",
          content: (await config.store!.get(["users", "ada"], "name"))!.value["text"] as string,
        },
      ],
    };
  };
  const graph = new StateGraph(MessagesAnnotation)
    .addNode("note", note)
    .addEdge("__start__", "note")
    .compile({ store: new Day1Store({ memory }) });
  const { messages } = await graph.invoke({ messages: [{ role: "user", content: "I am Ada." }] });
  expect(messages.at(-1)?.content).toBe("Ada");
  expect((await memory.items.get("users/ada", "name")).value).toEqual({ text: "Ada" });
});

test("an absent server, an older one, and a bad namespace", async () => {
  const away = new Day1Store({ memory: new Day1({ url: "http://127.0.0.1:9", key: "k", retries: 0 }) });
  await expect(away.get(["a"], "k")).rejects.toBeInstanceOf(Unreachable);
  await expect(away.put(["a.b"], "k", {})).rejects.toBeInstanceOf(InvalidNamespaceError);
  const noRoute = problem(404, "not_found", "There is no such address: GET /api/v1/ tells which there are.");
  const old = await serve(noRoute, json({ name: "Day1", version: "0.0.9" }));
  const store = new Day1Store({ memory: new Day1({ url: old.url, key: "k" }) });
  await expect(store.get(["a"], "k")).rejects.toBeInstanceOf(ServerTooOld);
});

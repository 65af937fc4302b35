import { expect, inject, test } from "vitest";
import { Day1, NotFound, StaleVersion, Exists, Invalid, NotModified, type Fact } from "../src/index.js";
import { makeClient } from "./doubles.js";

test("what is remembered is recalled, with a context for a prompt", async () => {
  const memory = await makeClient();
  const fact = await memory.remember("Access tokens expire after 15 minutes.", { category: "security" });
  const found = await memory.recall("access tokens expire", { max_tokens: 800 });
  expect(fact).toMatchObject({ created: true, category: "security", branch: memory.defaults.branch });
  expect(found.facts.map((one) => one.id)).toEqual([fact.id]);
  expect([...found].length).toBe(1);
  expect(`${found}`).toContain("Access tokens expire after 15 minutes.");
  expect(`${await memory.recall("access tokens expire")}`).toBe("Access tokens expire after 15 minutes.");
  const learned = await memory.remember(["We always deploy on Tuesdays."]);
  expect(learned.results.length).toBe(1);
});

test("a list is its first page when awaited, and all rows when iterated over", async () => {
  const memory = await makeClient();
  await memory.facts.createMany({
    facts: Array.from({ length: 7 }, (_, n) => ({ fact_text: `Fact ${n}.` })),
  });
  const page = await memory.facts.list({ limit: 3 });
  expect(page.results.length).toBe(3);
  expect(page.next).toBeTypeOf("string");
  const texts: string[] = [];
  for await (const fact of memory.facts.list({ limit: 3 })) texts.push(fact.fact_text);
  expect(texts.sort()).toEqual(Array.from({ length: 7 }, (_, n) => `Fact ${n}.`));
  const sizes: number[] = [];
  for await (const one of memory.facts.list({ limit: 3 }).pages()) sizes.push(one.results.length);
  expect(sizes).toEqual([3, 3, 1]);
  let hits = 0;
  for await (const _hit of memory.facts.search({ query: "fact", limit: 2 })) hits++;
  expect(hits).toBe(7);
});

test("a branch sees its parent, is merged, and is discarded where it is said", async () => {
  const memory = await makeClient();
  const parent = memory.defaults.branch!;
  await memory.remember("The port is 8765.");
  const task = await memory.branch(`${parent}/a`, { purpose: "Try another port." });
  await task.remember("The other port is 9000.");
  const texts = async (client: Day1) =>
    (await client.facts.list()).results.map((fact: Fact) => fact.fact_text).sort();
  expect(await texts(task)).toEqual(["The other port is 9000.", "The port is 8765."]);
  expect(await texts(memory)).toEqual(["The port is 8765."]);
  const merged = await task.merge({ force: true });
  expect(merged.commit).not.toBeNull();
  expect(await texts(memory)).toEqual(["The other port is 9000.", "The port is 8765."]);
  {
    await using other = await memory.branch(`${parent}/b`, { then: "discard" });
    await other.remember("This comes to nothing.");
  }
  expect((await memory.branches.get(`${parent}/b`)).archived_at).not.toBeNull();
  await expect(memory.branches.create({ name: `${parent}/a` })).rejects.toBeInstanceOf(Exists);
});

test("items are put, read, changed under their version, and deleted", async () => {
  const memory = await makeClient();
  await memory.items.put("users/ada", "theme", { value: { color: "dark" } });
  const item = await memory.items.get("users/ada", "theme");
  expect([item.value, item.namespace, item.key]).toEqual([{ color: "dark" }, "users/ada", "theme"]);
  const late = memory.items.put("users/ada", "theme", { value: 1 }, { ifMatch: '"99-0"' });
  await expect(late).rejects.toBeInstanceOf(StaleVersion);
  const listed: unknown[] = [];
  for await (const one of memory.items.list({ prefix: "users" })) listed.push(one.value);
  expect(listed).toEqual([{ color: "dark" }]);
  await memory.items.delete("users/ada", "theme");
  await expect(memory.items.get("users/ada", "theme")).rejects.toBeInstanceOf(NotFound);
});

test("a client of one end user reads and writes that user's memory alone", async () => {
  const memory = await makeClient();
  const alice = memory.on({ user: "alice" });
  await alice.remember("Alice is allergic to nuts.");
  await memory.on({ user: "bob" }).remember("Bob likes nuts.");
  const found = await alice.recall("nuts");
  expect(found.facts.map((one) => one.fact_text)).toEqual(["Alice is allergic to nuts."]);
  expect((await memory.recall("nuts", { user_id: "alice" })).facts.length).toBe(1);
  expect((await alice.facts.list()).results.length).toBe(1);
  expect((await memory.facts.list()).results.length).toBe(2);
  expect((await alice.observations.deleteMany({ dry_run: true })).count).toBe(0);
});

test("the same Idempotency-Key writes once", async () => {
  const memory = await makeClient();
  const send = () =>
    memory.facts.create(
      { fact_text: "Sent twice.", deduplicate: false },
      { idempotencyKey: memory.defaults.branch },
    );
  const [one, other] = [await send(), await send()];
  expect(other.id).toBe(one.id);
  expect((await memory.facts.list()).results.length).toBe(1);
});

test("lists in queries, names with commas and slashes, dates and values that are not there", async () => {
  const memory = await makeClient();
  await memory.facts.create({ fact_text: "A, b.", category: "x,y", tags: ["t"] });
  await memory.facts.create({ fact_text: "C.", category: "z" });
  const texts = async (category: string[]) =>
    (await memory.facts.list({ category })).results.map((one) => one.fact_text);
  expect(await texts(["z"])).toEqual(["C."]);
  expect((await texts(["z", "general"])).length).toBe(1);
  const past = await memory.facts.list({ created_before: "2020-01-01T00:00:00Z", agent_id: undefined });
  expect(past.results).toEqual([]);
  await expect(memory.facts.get("")).rejects.toBeInstanceOf(Invalid);
});

test("what has not changed is not read again", async () => {
  const memory = await makeClient();
  const fact = await memory.remember("It stays.");
  const answer = await fetch(`${inject("url")}/api/v1/facts/${fact.id}?branch=${memory.defaults.branch}`, {
    headers: { Authorization: `Bearer ${inject("key")}` },
  });
  const read = memory.facts.get(fact.id, {}, { ifNoneMatch: answer.headers.get("etag")! });
  await expect(read).rejects.toBeInstanceOf(NotModified);
});

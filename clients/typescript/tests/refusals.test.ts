import { expect, inject, test } from "vitest";
import {
  Day1,
  NotDay1,
  RateLimited,
  ServerTooOld,
  Unauthenticated,
  Unreachable,
  VERSION,
} from "../src/index.js";
import { hangUp, json, makeClient, problem, serve, stayAway, type Answer } from "./doubles.js";

const FACT = { id: "f1", fact_text: "One." };
const NO_ROUTE = problem(404, "not_found", "There is no such address: GET /api/v1/ tells which there are.");
const at = (url: string, more = {}) => new Day1({ url, key: "k", ...more });

test("a wrong key is refused", async () => {
  const error = await new Day1({ url: inject("url"), key: "wrong" }).facts
    .list()
    .first()
    .catch((one: unknown) => one);
  expect(error).toBeInstanceOf(Unauthenticated);
  expect(error).toMatchObject({ code: "unauthenticated", status: 401 });
});

test("an error names the input at fault", async () => {
  const error = await (
    await makeClient()
  ).facts
    .create({ fact_text: "One.", confidence: 2 })
    .catch((one: unknown) => one);
  expect(error).toMatchObject({ name: "Invalid", code: "invalid", field: "confidence", status: 400 });
});

test("a write whose answer was lost is sent again under one key", async () => {
  const server = await serve(
    hangUp,
    problem(503, "outcome_unknown", "Lost.", { "Retry-After": "0" }),
    json(FACT, 201),
  );
  expect(await at(server.url).facts.create({ fact_text: "One." })).toEqual(FACT);
  const keys = server.asked.map((one) => one.headers["idempotency-key"]);
  expect(keys.length).toBe(3);
  expect(new Set(keys).size).toBe(1);
  expect(server.asked.map((one) => one.headers.authorization)).toEqual(Array(3).fill("Bearer k"));
});

test("what has no key and may have happened is sent once, what did not happen again", async () => {
  const lost = await serve(hangUp);
  await expect(at(lost.url).facts.delete("f1")).rejects.toBeInstanceOf(Unreachable);
  expect(lost.asked.length).toBe(1);
  const busy = await serve(problem(503, "unavailable", "Busy.", { "Retry-After": "0" }), json(FACT));
  expect(await at(busy.url).facts.update("f1", { confidence: 1 })).toEqual(FACT);
  expect(busy.asked.length).toBe(2);
});

test("a put whose answer was lost is sent again unless it has a condition", async () => {
  const put = async (fields: object, options = {}) => {
    const server = await serve(hangUp, json(FACT));
    const done = await at(server.url)
      .items.put("a", "k", { value: 1, ...fields }, options)
      .then(() => "done", String);
    return [done.slice(0, 11), server.asked.length];
  };
  expect(await put({})).toEqual(["done", 2]);
  const bound = [put({ only_new: true }), put({}, { ifMatch: '"1-a"' }), put({}, { ifNoneMatch: "*" })];
  expect(await Promise.all(bound)).toEqual(Array(3).fill(["Unreachable", 1]));
});

test("a server that asks for a long wait gets no further try", async () => {
  const server = await serve(problem(429, "rate_limited", "Slowly.", { "Retry-After": "3600" }));
  const error = await at(server.url)
    .facts.list()
    .catch((one: unknown) => one);
  expect(error).toBeInstanceOf(RateLimited);
  expect(error).toMatchObject({ retryAfter: 3600 });
  expect(server.asked.length).toBe(1);
});

test("no server, and no answer in time", async () => {
  const error = await at("http://127.0.0.1:9", { retries: 1 })
    .facts.list()
    .catch((one: unknown) => one);
  expect(error).toMatchObject({ name: "Unreachable", code: "unreachable", status: 0 });
  expect((error as Error).message).toBe("Day1 at http://127.0.0.1:9 cannot be reached.");
  const slow = await serve(stayAway);
  const late = at(slow.url, { timeout: 50 }).facts.list();
  await expect(late).rejects.toThrow(`Day1 at ${slow.url} did not answer within 0.05 s.`);
  expect(slow.asked.length).toBe(1);
});

test("a call, and the wait between two tries, end with their signal", async () => {
  const slow = await serve(stayAway);
  const reason = new Error("enough");
  const call = at(slow.url).facts.list({}, { signal: AbortSignal.timeout(50) });
  await expect(call).rejects.toMatchObject({ name: "TimeoutError" });
  const busy = await serve(problem(503, "unavailable", "Busy.", { "Retry-After": "20" }));
  const stop = new AbortController();
  const waits = at(busy.url).facts.list({}, { signal: stop.signal });
  setTimeout(() => stop.abort(reason), 100);
  await expect(waits).rejects.toBe(reason);
  await expect(at(busy.url).facts.list({}, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
});

test("what says no server or no key is refused before anything is sent", () => {
  for (const url of ["localhost:8765", "http://a:b@c", "http://a?b"])
    expect(() => new Day1({ url, key: "k" })).toThrow(TypeError);
  expect(() => new Day1({ url: "http://127.0.0.1:9", key: "" })).toThrow(Unauthenticated);
});

test("a key of another project is refused with the first call", async () => {
  const server = await serve(problem(404, "not_found", "No such project."), json({ slug: "b" }), json(FACT));
  const memory = at(server.url, { project: "b" });
  await expect(memory.facts.get("f1")).rejects.toThrow("The key is not of the project b.");
  expect(await memory.facts.get("f1")).toEqual(FACT);
  const paths = server.asked.map((one) => one.path.replace("/api/v1", ""));
  expect(paths).toEqual(["/projects/b", "/projects/b", "/facts/f1"]);
});

test("a project that could not be looked at is asked again, by streams too", async () => {
  const server = await serve(problem(503, "unavailable"), problem(404, "not_found", "No such project."));
  const memory = at(server.url, { project: "b", retries: 0 });
  await expect(memory.facts.get("f1")).rejects.toThrow("unavailable");
  await expect(memory.facts.get("f1")).rejects.toThrow("The key is not of the project b.");
  await expect(memory.events.follow().next()).rejects.toThrow("The key is not of the project b.");
  expect(server.asked.map((one) => one.path)).toEqual(Array(3).fill("/api/v1/projects/b"));
});

test("no name leads to another operation, and no user is everybody or several", async () => {
  const server = await serve(json(FACT));
  const memory = at(server.url);
  const calls = [
    () => memory.facts.get(".."),
    () => memory.items.delete("../facts", "f1"),
    () => memory.items.put("a/./b", "c", { value: 1 }),
  ];
  for (const call of calls) await expect(call()).rejects.toMatchObject({ code: "invalid", status: 0 });
  expect(server.asked).toEqual([]);
  for (const user of ["", " ", "alice,bob"]) {
    expect(() => at(server.url, { user })).toThrow(TypeError);
    expect(() => memory.on({ user })).toThrow(TypeError);
  }
});

test("a search says its session, other calls do not", async () => {
  const server = await serve(json({ results: [] }));
  const memory = at(server.url, { session: "run-1" });
  await memory.recall("what?");
  await memory.facts.list();
  expect(server.asked.map((one) => one.headers["day1-session"])).toEqual(["run-1", undefined]);
});

const NONSENSE: [string, Answer][] = [
  ["a page", (_, response) => response.end("<html>Log in</html>")],
  ["a number", json(42)],
  ["nothing", (_, response) => response.end()],
  ["half of it", (_, response) => response.end('{"id": "f')],
  ["another address", (_, response) => response.writeHead(301, { Location: "/b" }).end()],
  ["a proxy's refusal", json({ error: "no" }, 400)],
];

test.each(NONSENSE)("nonsense is named: %s", async (_name, answer) => {
  const server = await serve(answer);
  await expect(at(server.url).facts.get("f1")).rejects.toBeInstanceOf(NotDay1);
  expect(server.asked.length).toBe(1);
});

test("a server of another version is told apart, with both versions", async () => {
  const old = await serve(NO_ROUTE, json({ name: "Day1", version: "0.0.9" }));
  const error = await at(old.url)
    .items.batch({ calls: [] })
    .catch((one: unknown) => one);
  expect(error).toBeInstanceOf(ServerTooOld);
  expect(error).toMatchObject({ code: "server_too_old", data: { server: "0.0.9", client: VERSION } });
  expect((error as Error).message).toContain(`The server is Day1 0.0.9, this client is for ${VERSION}.`);
  const newer = await serve(
    problem(400, "unknown_field", "No such field."),
    json({ name: "Day1", version: "99.0.0" }),
  );
  const other = at(newer.url).facts.list();
  await expect(other).rejects.toMatchObject({ name: "UnknownField", data: { server: "99.0.0" } });
  const same = await serve(NO_ROUTE, json({ name: "Day1", version: VERSION }));
  await expect(at(same.url).items.batch({ calls: [] })).rejects.toMatchObject({
    name: "NotFound",
    data: {},
  });
});

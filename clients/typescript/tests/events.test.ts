import { expect, test } from "vitest";
import { Day1, Unauthenticated, Unreachable, type Event } from "../src/index.js";
import { hangUp, makeClient, problem, serve, type Answer } from "./doubles.js";

const event = (id: number) => `id: ${id}\ndata: ${JSON.stringify({ id, kind: "fact.write" })}\n\n`;
const mark = (id: number) => `retry: 10\nevent: start\nid: ${id}\ndata: {"id": ${id}}\n\n`;

const at = (url: string) => new Day1({ url, key: "k" });

/** Answer with a stream; `cut` breaks the connection behind it. */
function stream(text: string, cut = true): Answer {
  return (_request, response) => {
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    response.write(text, () => cut && setTimeout(() => response.destroy(), 20));
  };
}

async function take(events: AsyncIterable<Event>, count: number): Promise<number[]> {
  const found: number[] = [];
  for await (const one of events) if (found.push(one.id) === count) break;
  return found;
}

test("what happens is told as it happens", async () => {
  const memory = await makeClient();
  const branch = memory.defaults.branch!;
  const events = memory.events.follow({
    branch: [branch],
    kind: ["fact.*"],
    signal: AbortSignal.timeout(20_000),
  });
  const next = events.next();
  const timer = setInterval(() => void memory.facts.create({ fact_text: "Now.", deduplicate: false }), 300);
  const { value } = await next;
  clearInterval(timer);
  await events.return(undefined);
  expect(value).toMatchObject({ kind: "fact.write", branch });
});

test("a stream that breaks goes on where it was, and says so", async () => {
  const server = await serve(
    stream(mark(4) + event(5) + event(6).slice(0, 9)),
    hangUp,
    problem(503, "unavailable", "Busy.", { "Retry-After": "0" }),
    stream(mark(5).replace("retry: 10\n", "") + event(6) + event(7), false),
  );
  const breaks: number[] = [];
  const events = at(server.url).events.follow({
    onBreak: (_error, wait) => breaks.push(wait),
  });
  expect(await take(events, 3)).toEqual([5, 6, 7]);
  expect(server.asked.map((one) => one.headers["last-event-id"])).toEqual([undefined, "5", "5", "5"]);
  expect(breaks).toEqual([10, 20, 0]);
});

test("a stream begins after the event that it is told", async () => {
  const server = await serve(stream(event(8), false));
  expect(await take(at(server.url).events.follow({ lastEventId: 7 }), 1)).toEqual([8]);
  expect(server.asked[0]!.headers["last-event-id"]).toBe("7");
});

test("a refusal and an absent server end a stream; so does its signal", async () => {
  const refused = await serve(problem(401, "unauthenticated"));
  await expect(at(refused.url).events.follow().next()).rejects.toBeInstanceOf(Unauthenticated);
  const absent = at("http://127.0.0.1:9").events.follow({ retries: 0 });
  await expect(absent.next()).rejects.toBeInstanceOf(Unreachable);
  const page = await serve((_request, response) => response.end("<html>"));
  await expect(at(page.url).events.follow().next()).rejects.toMatchObject({
    code: "not_day1",
  });
  const quiet = await serve(stream(mark(1), false));
  const events = at(quiet.url).events.follow({ signal: AbortSignal.timeout(100) });
  await expect(events.next()).rejects.toMatchObject({ name: "TimeoutError" });
});

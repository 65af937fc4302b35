/**
 * What the adapters cost: milliseconds of calls over HTTP, the median and the quickest of 40, beside a bare search.
 *
 *     npm ci && npm run build && DAY1_URL=… DAY1_KEY=… node bench.mjs
 *
 * asks a server that runs, as an end user of its own with 1,000 facts.
 */

import { generateText, wrapLanguageModel } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { Day1 } from "day1-client";
import { memoryMiddleware } from "day1-client/ai-sdk";
import { Day1Store } from "day1-client/langgraph";
import { Day1Memory } from "day1-client/mastra";

const FACTS = 1000;
const CALLS = 40;
const THINGS = "invoice recipe ticket holiday cluster garden budget window coffee library".split(" ");
const user = `bench-${Date.now().toString(36)}`;
const memory = new Day1({ user });

const say = (n) => `In ${2000 + (n % 25)} the team moved the ${THINGS[n % 10]} to shelf ${n}.`;
const ask = (n) => `Where did the team move the ${THINGS[n % 10]} number ${n}?`;

async function measure(label, call) {
  const times = [];
  for (let n = 0; n < CALLS; n++) {
    const started = performance.now();
    await call(n);
    times.push(performance.now() - started);
  }
  times.sort((a, b) => a - b);
  console.log(`${label}\tmedian ${times[CALLS / 2].toFixed(0)} ms\tquickest ${times[0].toFixed(0)} ms`);
}

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};
const content = [{ type: "text", text: "Noted." }];
const said = { content, finishReason: { unified: "stop", raw: "stop" }, usage, warnings: [] };
const plain = new MockLanguageModelV4({ doGenerate: () => Promise.resolve(said) });
const wrap = (options) => wrapLanguageModel({ model: plain, middleware: memoryMiddleware(memory, options) });

for (let first = 0; first < FACTS; first += 100) {
  const facts = Array.from({ length: 100 }, (_, n) => ({ fact_text: say(first + n) }));
  await memory.facts.createMany({ facts, wait: "indexed" });
}
await measure("bare search", (n) => memory.facts.search({ q: ask(n) }));
await measure("a call of the AI SDK alone", (n) => generateText({ model: plain, prompt: ask(n) }));
for (const learn of [false, true]) {
  const model = wrap({ learn });
  await measure(`with memory, learn: ${learn}`, (n) => generateText({ model, prompt: ask(n) }));
}

const store = new Day1Store({ memory, fields: ["text"] });
await measure("LangGraph.js put", (n) => store.put(["bench"], `${n}`, { text: say(n) }));
await measure("LangGraph.js get", (n) => store.get(["bench"], `${n}`));
await measure("LangGraph.js search", (n) => store.search(["bench"], { query: ask(n) }));

const mastra = new Day1Memory(memory);
const at = { createdAt: new Date(), updatedAt: new Date() };
await mastra.saveThread({ thread: { id: user, resourceId: user, title: "bench", ...at } });
const write = (n, role) => ({
  id: `${user}-${n}-${role}`,
  threadId: user,
  resourceId: user,
  role,
  createdAt: new Date(at.createdAt.getTime() + n * 1000),
  content: { format: 2, parts: [{ type: "text", text: say(n) }] },
});
const save = (n) => mastra.saveMessages({ messages: [write(n, "user"), write(n + 0.5, "assistant")] });
await measure("Mastra two messages saved", save);
for (let n = CALLS; n < 50; n++) await save(n); // a hundred messages
await measure("Mastra last ten of a hundred", () => mastra.listMessages({ threadId: user, perPage: 10 }));

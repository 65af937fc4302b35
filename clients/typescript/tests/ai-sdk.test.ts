import { APICallError, generateText, RetryError, stepCountIs, streamText, wrapLanguageModel } from "ai";
import { MockLanguageModelV4, simulateReadableStream } from "ai/test";
import { expect, test } from "vitest";
import { memoryMiddleware, memoryTools } from "../src/ai-sdk.js";
import { Day1 } from "../src/index.js";
import { makeClient, problem, serve } from "./doubles.js";
import { answer } from "./model.js";

test("a model remembers and recalls with tools", async () => {
  const memory = await makeClient();
  const prompts: string[] = [];
  const steps = [
    { tool: "remember", input: { text: "Ada is allergic to nuts.", category: "health" } },
    { tool: "recall", input: { query: "allergic nuts" } },
    "She is allergic to nuts.",
  ];
  const model = new MockLanguageModelV4({ doGenerate: answer(steps, prompts) });
  const { text } = await generateText({
    model,
    prompt: "Remember it.",
    tools: memoryTools(memory),
    stopWhen: stepCountIs(5),
  });
  expect(text).toBe("She is allergic to nuts.");
  expect((await memory.facts.list()).results.map((one) => [one.fact_text, one.category])).toEqual([
    ["Ada is allergic to nuts.", "health"],
  ]);
  expect(prompts[2]).toContain("Ada is allergic to nuts.");
});

test("a tool that fails is told to the model, and the call goes on", async () => {
  const memory = new Day1({ url: "http://127.0.0.1:9", key: "k", retries: 0 });
  const prompts: string[] = [];
  const model = new MockLanguageModelV4({
    doGenerate: answer([{ tool: "recall", input: { query: "x" } }, "I do not know."], prompts),
  });
  const { text } = await generateText({
    model,
    prompt: "What?",
    tools: memoryTools(memory),
    stopWhen: stepCountIs(3),
  });
  expect(text).toBe("I do not know.");
  expect(prompts[1]).toContain("cannot be reached");
});

test("the middleware tells what is known on a question, and learns from it", async () => {
  const memory = await makeClient();
  await memory.remember("Access tokens expire after 15 minutes.");
  const prompts: string[] = [];
  const model = wrapLanguageModel({
    model: new MockLanguageModelV4({ doGenerate: answer("15 minutes.", prompts) }),
    middleware: memoryMiddleware(memory),
  });
  await generateText({
    model,
    instructions: "Be brief.",
    prompt: "When do access tokens expire? We always deploy on Tuesdays.",
  });
  expect(prompts[0]).toContain("<day1-memory>");
  expect(prompts[0]).toContain("Access tokens expire after 15 minutes.");
  expect(prompts[0]!.indexOf("Be brief.")).toBeLessThan(prompts[0]!.indexOf("<day1-memory>"));
  const texts = (await memory.facts.list()).results.map((one) => one.fact_text);
  expect(texts.some((text) => text.includes("deploy on Tuesdays"))).toBe(true);
});

test("the middleware serves streams, and says nothing where nothing is known", async () => {
  const memory = await makeClient();
  const prompts: string[] = [];
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  };
  const inner = new MockLanguageModelV4({
    doStream: async ({ prompt }) => {
      prompts.push(JSON.stringify(prompt));
      return {
        stream: simulateReadableStream({
          chunks: [
            { type: "text-start", id: "1" },
            { type: "text-delta", id: "1", delta: "No idea." },
            { type: "text-end", id: "1" },
            { type: "finish", finishReason: { unified: "stop", raw: "stop" }, usage },
          ],
        }),
      };
    },
  });
  const model = wrapLanguageModel({ model: inner, middleware: memoryMiddleware(memory, { learn: false }) });
  const { textStream } = streamText({ model, prompt: "Where is the walrus?" });
  let text = "";
  for await (const part of textStream) text += part;
  expect(text).toBe("No idea.");
  expect(prompts[0]).not.toContain("day1-memory");
  expect((await memory.facts.list()).results).toEqual([]);
});

test("an absent server is the SDK's own error, which it tries again; a refusal is not", async () => {
  const model = (url: string) =>
    wrapLanguageModel({
      model: new MockLanguageModelV4({ doGenerate: answer("Never said.") }),
      middleware: memoryMiddleware(new Day1({ url, key: "k", retries: 0 })),
    });
  const call = (url: string) =>
    generateText({ model: model(url), prompt: "x", maxRetries: 1 }).catch((one: unknown) => one);
  const away = await call("http://127.0.0.1:9");
  expect(RetryError.isInstance(away) && APICallError.isInstance(away.lastError)).toBe(true);
  const refused = await serve(problem(401, "unauthenticated", "No such key."));
  const error = await call(refused.url);
  expect(APICallError.isInstance(error) && [error.statusCode, error.isRetryable]).toEqual([401, false]);
  expect(refused.asked.length).toBe(1);
});

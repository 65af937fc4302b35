import * as graph from "@langchain/langgraph";
import * as agent from "@mastra/core/agent";
import * as mastraMemory from "@mastra/memory";
import * as ai from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { readFileSync } from "node:fs";
import { beforeEach, expect, inject, test, vi } from "vitest";
import * as aiSdk from "../src/ai-sdk.js";
import * as client from "../src/index.js";
import * as langgraph from "../src/langgraph.js";
import * as mastra from "../src/mastra.js";
import { answer, type Step } from "./model.js";

const OWN = {
  "day1-client": client,
  "day1-client/ai-sdk": aiSdk,
  "day1-client/langgraph": langgraph,
  "day1-client/mastra": mastra,
};
const FRAMEWORKS = {
  ai,
  "@langchain/langgraph": graph,
  "@mastra/core/agent": agent,
  "@mastra/memory": mastraMemory,
};

beforeEach(() => {
  vi.stubEnv("DAY1_URL", inject("url"));
  vi.stubEnv("DAY1_KEY", inject("key"));
});

/** Return the first example of a page, or of a section of it. */
function readExample(page: string, section = ""): string {
  const text = readFileSync(new URL(`../../../${page}`, import.meta.url), "utf8");
  return /```ts\n(.*?)```/s.exec(text.slice(text.indexOf(section)))![1]!;
}

/** Run an example as it is written; its model says the steps. Return what it prints, and what the model was asked. */
async function play(code: string, ...steps: Step[]): Promise<{ printed: string[]; prompts: string[] }> {
  const printed: string[] = [];
  const prompts: string[] = [];
  const model = new MockLanguageModelV4({ doGenerate: answer(steps, prompts) });
  const modules = { ...OWN, ...FRAMEWORKS, "@ai-sdk/openai": { openai: () => model } };
  const lines = code.replace(/^import (\{.*\}) from (".*");$/gm, "const $1 = modules[$2];");
  type Run = (...args: unknown[]) => Promise<void>;
  const AsyncFunction = (async () => undefined).constructor as new (...names: string[]) => Run;
  await new AsyncFunction("modules", "console", lines)(modules, {
    log: (text: string) => printed.push(text),
  });
  return { printed, prompts };
}

test("the README of the package", async () => {
  for (let count = 0; count < 2; count++) {
    // a program runs more than once
    const { printed } = await play(readExample("clients/typescript/README.md"));
    expect(printed[0]).toContain("Access tokens expire after 15 minutes.");
    expect(printed.slice(1)).toContain("Access tokens expire after 15 minutes.");
  }
  const merge = (await new client.Day1().branch("try-this")).merge();
  await expect(merge).rejects.toThrow("Have a person verify them"); // as a new project's policy of main says
});

test("the page on TypeScript", async () => {
  const { printed } = await play(readExample("docs/typescript.md"));
  expect(printed[0]).toContain("Access tokens expire after 15 minutes.");
  expect(printed.slice(1)).toEqual(["Alice is allergic to nuts."]);
});

test("its section on the Vercel AI SDK", async () => {
  const recall = { tool: "recall", input: { query: "When do we deploy?" } };
  const code = readExample("docs/typescript.md", "## Vercel AI SDK");
  const { printed, prompts } = await play(code, "Any.", recall, "On Tuesdays.");
  expect(printed).toEqual(["On Tuesdays."]);
  expect(prompts[1]).toMatch(/<day1-memory>.*always deploy on Tuesdays.*When do we deploy/);
  expect(prompts[2]).toMatch(/tool-result.*always deploy on Tuesdays/);
});

test("its section on LangGraph.js", async () => {
  const { printed } = await play(readExample("docs/typescript.md", "## LangGraph.js"));
  expect(printed).toEqual(["Ada is allergic to nuts."]);
});

test("its section on Mastra", async () => {
  const code = readExample("docs/typescript.md", "## Mastra");
  const { printed, prompts } = await play(code, "Hello, Ada.", "Ada.");
  expect(printed).toEqual(["Ada."]);
  expect(prompts[1]).toContain("My name is Ada.");
});

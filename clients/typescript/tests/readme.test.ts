import { readFileSync } from "node:fs";
import { expect, inject, test, vi } from "vitest";
import * as client from "../src/index.js";

const README = readFileSync(new URL("../README.md", import.meta.url), "utf8");

/** Run an example as it is written, with what it imports. */
async function play(code: string, modules: Record<string, object>): Promise<string[]> {
  const lines = code.replace(
    /^import (\{.*\}) from "(.*)";$/gm,
    (_all, names, from) => `const ${names} = modules["${from}"];`,
  );
  const printed: string[] = [];
  const AsyncFunction = (async () => undefined).constructor as new (
    ...names: string[]
  ) => (...args: unknown[]) => Promise<void>;
  await new AsyncFunction("modules", "console", lines)(modules, {
    log: (text: string) => printed.push(text),
  });
  return printed;
}

test("the first example of the README runs as it is written", async () => {
  vi.stubEnv("DAY1_URL", inject("url"));
  vi.stubEnv("DAY1_KEY", inject("key"));
  const code = /```ts\n(.*?)```/s.exec(README)![1]!;
  const printed = await play(code, { "day1-client": client });
  expect(printed[0]).toContain("Access tokens expire after 15 minutes.");
  expect(printed.slice(1)).toEqual(["Access tokens expire after 15 minutes."]);
  expect((await new client.Day1().branches.get("try-this")).archived_at).not.toBeNull();
});

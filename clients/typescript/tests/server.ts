/** The Day1 server of a run: that of DAY1_TEST_URL and DAY1_TEST_KEY, else one of this checkout on a new store. */

import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { TestProject } from "vitest/node";

const ROOT = resolve(import.meta.dirname, "../../..");
const START_SECONDS = 120;

declare module "vitest" {
  interface ProvidedContext {
    url: string;
    key: string;
  }
}

export default async function start(project: TestProject): Promise<(() => void) | undefined> {
  const { DAY1_TEST_URL: url, DAY1_TEST_KEY: key } = process.env;
  if (url && key) {
    project.provide("url", url);
    project.provide("key", key);
    return undefined;
  }
  const folder = mkdtempSync(join(tmpdir(), "day1-vitest-"));
  const words = ["manage.py", "up", "--port", "0", "--data-dir", folder];
  const env = { ...process.env, DAY1_EMBEDDER: "off", DAY1_NO_BOOTSTRAP: "1", DAY1_PROCESSES: "1" };
  const python = existsSync(join(ROOT, ".venv")) ? join(ROOT, ".venv/bin/python") : "python3";
  const server = spawn(python, words, { cwd: ROOT, env, stdio: "ignore" });
  const found = await readKey(join(folder, "first-key.json"), () => server.exitCode);
  project.provide("url", found.url);
  project.provide("key", found.key);
  return () => {
    server.once("exit", () => rmSync(folder, { recursive: true, force: true }));
    server.kill("SIGTERM");
  };
}

async function readKey(path: string, ended: () => number | null): Promise<{ url: string; key: string }> {
  for (let count = 0; count < START_SECONDS * 5 && ended() === null; count++) {
    if (existsSync(path)) {
      const found = JSON.parse(readFileSync(path, "utf8")) as { url: string; key: string };
      if (
        await fetch(`${found.url}/api/v1/health/ready`).then(
          (answer) => answer.ok,
          () => false,
        )
      )
        return found;
    }
    await new Promise((done) => setTimeout(done, 200));
  }
  throw new Error(`Day1 did not start (exit status ${ended()}): try python3 manage.py up`);
}

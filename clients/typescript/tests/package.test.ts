import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, inject, test } from "vitest";

const PACKAGE = new URL("..", import.meta.url).pathname;
const SAMPLE = `
import { Day1, NotFound, type Fact } from "day1-client";
const memory = new Day1();
const fact: Fact = await memory.remember("It is installed.");
try {
  await memory.facts.get("01890000-0000-7000-8000-000000000000");
} catch (error) {
  if (!(error instanceof NotFound)) throw error;
  console.log(fact.fact_text, error.code);
}
// @ts-expect-error a field that there is not
await memory.facts.list({ colour: "red" }).catch((error: { code: string }) => console.log(error.code));
`;

const folder = mkdtempSync(join(tmpdir(), "day1-package-"));
const env = () => ({ ...process.env, DAY1_URL: inject("url"), DAY1_KEY: inject("key") });
const run = (program: string, words: string[], cwd = folder) =>
  execFileSync(program, words, { cwd, env: env(), encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });

let packed: { filename: string; files: { path: string }[]; unpackedSize: number };

beforeAll(() => {
  packed = (
    JSON.parse(run("npm", ["pack", "--json", "--silent", "--pack-destination", folder], PACKAGE)) as [
      typeof packed,
    ]
  )[0];
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module", private: true }));
  run("npm", ["install", "--offline", "--no-audit", "--no-fund", join(folder, packed.filename)]);
}, 120_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("the package has what is built, and nothing else", () => {
  const kinds = new Set(packed.files.map(({ path }) => path.replace(/^dist\/.*\.(js|d\.ts)$/, "dist/*.$1")));
  expect([...kinds].sort()).toEqual(["README.md", "dist/*.d.ts", "dist/*.js", "package.json"]);
  const { exports, dependencies } = JSON.parse(
    readFileSync(join(folder, "node_modules/day1-client/package.json"), "utf8"),
  ) as {
    exports: Record<string, Record<string, string>>;
    dependencies?: object;
  };
  const told = Object.values(exports).flatMap((one) => Object.values(one).map((path) => path.slice(2)));
  expect(told.filter((path) => !packed.files.some((file) => file.path === path))).toEqual([]);
  expect(dependencies).toBeUndefined();
});

test("plain Node uses it", { timeout: 120_000 }, () => {
  writeFileSync(
    join(folder, "sample.mjs"),
    SAMPLE.replace("type Fact", "").replace(": Fact", "").replace(": { code: string }", ""),
  );
  expect(run("node", ["sample.mjs"]).split("\n")).toEqual([
    "It is installed. not_found",
    "unknown_field",
    "",
  ]);
});

test(
  "a strict program in TypeScript compiles against it, without types of Node",
  { timeout: 120_000 },
  () => {
    writeFileSync(join(folder, "sample.ts"), SAMPLE);
    const words = [
      "--strict",
      "--noEmit",
      "--target",
      "es2022",
      "--lib",
      "es2022,dom",
      "--module",
      "nodenext",
      "sample.ts",
    ];
    run(join(PACKAGE, "node_modules/.bin/tsc"), words);
  },
);

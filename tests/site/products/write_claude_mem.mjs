// Write a database of claude-mem with its own SessionStore, in bun: bun write_claude_mem.mjs DIST FILE MEMORIES.json
import { readFileSync } from "node:fs";

const [dist, file, source] = process.argv.slice(2);
const { SessionStore } = await import(dist);
const store = new SessionStore(file);
const memories = JSON.parse(readFileSync(source, "utf-8"));
for (const name of new Set(memories.map((one) => one.session))) {
  const row = store.createSDKSession(name, "shop", `Go on with ${name}.`);
  store.updateMemorySessionId?.(row, `memory-${name}`);
  store.ensureMemorySessionIdRegistered?.(row, `memory-${name}`);
}
let number = 0;
for (const one of memories) {
  const about = { type: "discovery", title: one.session, subtitle: null, narrative: one.text, concepts: ["systems"] };
  const files = { files_read: [], files_modified: ["ledger.py"] };
  const facts = number % 5 === 0 ? [`Fact ${number} of ${one.session} is kept by ${one.user}.`] : [];
  store.storeObservation(`memory-${one.session}`, "shop", { ...about, ...files, facts }, number, 0, Date.parse(one.time));
  number += 1;
}
process.exit(0);

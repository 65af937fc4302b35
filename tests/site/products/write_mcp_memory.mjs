// Write a memory of @modelcontextprotocol/server-memory with its own manager: node write_mcp_memory.mjs DIST FILE MEMORIES.json
import { readFileSync } from "node:fs";

const [dist, file, source] = process.argv.slice(2);
process.env.MEMORY_FILE_PATH = file;
const { KnowledgeGraphManager } = await import(dist);
const manager = new KnowledgeGraphManager(file);
const memories = JSON.parse(readFileSync(source, "utf-8"));
const names = [...new Set(memories.map((one) => one.session))];
await manager.createEntities(names.map((name) => ({ name, entityType: "talk", observations: [] })));
await manager.addObservations(
  names.map((name) => ({
    entityName: name,
    contents: memories.filter((one) => one.session === name).map((one) => one.text),
  })),
);
await manager.createRelations(
  names.slice(1).map((name, place) => ({ from: names[place], to: name, relationType: "comes before" })),
);
process.exit(0);

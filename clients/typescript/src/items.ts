/** Many items at once, in as few requests as that takes. */

import type { Day1 } from "./client.js";
import type { Item, ItemCallInput, ItemResult } from "./generated/schemas.js";
import { writeKey } from "./names.js";

const MAX_CALLS = 1000; // of a request
const MAX_OFFSET = 9001; // of a search, with its limit

/** Carry out calls in their order; the writes of up to 1,000 are one commit. */
export async function batchItems(memory: Day1, calls: ItemCallInput[]): Promise<ItemResult[]> {
  const results: ItemResult[] = [];
  for (let n = 0; n < calls.length; n += MAX_CALLS)
    results.push(...(await memory.items.batch({ calls: calls.slice(n, n + MAX_CALLS) })).results);
  return results;
}

/** Return those items of some that are there; each is named by its namespace and the text that is its key. */
export async function getItems(memory: Day1, names: (readonly [string, string])[]): Promise<Item[]> {
  const calls = names.map(([namespace, id]) => ({ op: "get" as const, namespace, key: writeKey(id) }));
  return (await batchItems(memory, calls)).flatMap(({ item }) => item ?? []);
}

/** Return the items below a prefix: a thousand at once as far as that goes, then by pages. */
export async function listItems(memory: Day1, prefix: string): Promise<Item[]> {
  const found: Item[] = [];
  while (found.length < MAX_OFFSET) {
    const call = { op: "search" as const, prefix, limit: MAX_CALLS, offset: found.length };
    const [answer] = await batchItems(memory, [call]);
    found.push(...(answer?.items ?? []));
    if (!answer?.more) return found;
  }
  found.length = 0;
  for await (const item of memory.items.list({ prefix, limit: 100 })) found.push(item);
  return found;
}

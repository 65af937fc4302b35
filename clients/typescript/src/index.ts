export { Branch, Day1, Recall, type BranchFields, type Place, type Said } from "./client.js";
export type { EventOptions } from "./events.js";
export * from "./generated/codes.js";
export * from "./generated/operations.js";
export type * from "./generated/schemas.js"; // of which Branch is the row: see BranchRow
export type { Branch as BranchRow } from "./generated/schemas.js";
export { VERSION } from "./generated/version.js";
export { Pages, type Defaults } from "./group.js";
export * from "./problem.js";
export { Transport, type Options, type Settings } from "./transport.js";

/** Answers, read: the body of a success, the error of a refusal. */

import { CODES } from "./generated/codes.js";
import { VERSION } from "./generated/version.js";
import { Day1Error, NotDay1, NotModified, ServerTooOld, type ProblemFields } from "./problem.js";

/** Return the body of an answer; undefined where it may be empty, and is. Throws NotDay1 for what is no JSON. */
export async function readBody(answer: Response, empty = false): Promise<unknown> {
  const text = await answer.text();
  if (empty && !text) return undefined;
  const found = parseObject(text);
  if (found === undefined) throw new NotDay1(text, answer.status);
  return found;
}

/** Return the error of an answer that refuses. */
export async function readError(answer: Response): Promise<Day1Error> {
  if (answer.status === 304) return new NotModified();
  if (answer.type === "opaqueredirect" || (answer.status >= 300 && answer.status < 400)) {
    const place = answer.headers.get("location") ?? "another address";
    return new NotDay1(`it leads to ${place}: give that address`, answer.status);
  }
  const text = await answer.text();
  const problem = parseObject(text) as (ProblemFields & { detail?: string }) | undefined;
  if (typeof problem?.code !== "string") return new NotDay1(text, answer.status);
  const seconds = Number(answer.headers.get("retry-after") ?? problem.data?.["retry_after"] ?? NaN);
  const retryAfter = Number.isFinite(seconds) ? seconds : undefined;
  const kind = CODES[problem.code] ?? Day1Error;
  return new kind(problem.detail ?? problem.code, { ...problem, status: answer.status, retryAfter });
}

function parseObject(text: string): object | undefined {
  try {
    const found: unknown = JSON.parse(text);
    return found !== null && typeof found === "object" ? found : undefined;
  } catch {
    return undefined;
  }
}

/** Tell whether a server of another version may answer so. */
export function mayBeVersion(error: unknown): error is Day1Error {
  if (!(error instanceof Day1Error)) return false;
  const isRoute = error.code === "not_found" && error.message.startsWith("There is no such address");
  return isRoute || ["unknown_field", "method_not_allowed"].includes(error.code);
}

/** Return the error with what it comes from: the server is of another version than this client. */
export function nameVersions(error: Day1Error, server: string): Day1Error {
  if (!server || server === VERSION) return error;
  const text = `${error.message} The server is Day1 ${server}, this client is for ${VERSION}.`;
  const isOld = compareVersions(server, VERSION) < 0;
  const fields = {
    ...error,
    code: isOld ? "server_too_old" : error.code,
    data: { ...error.data, server, client: VERSION },
  };
  const kind = isOld ? ServerTooOld : (CODES[error.code] ?? Day1Error);
  return new kind(text, fields, { cause: error });
}

export function compareVersions(one: string, other: string): number {
  const [left, right] = [one, other].map((text) =>
    text.split(/[.\-+]/).map((part) => parseInt(part, 10) || 0),
  );
  const at = left!.findIndex((part, n) => part !== (right![n] ?? 0));
  return at < 0 ? 0 : left![at]! - (right![at] ?? 0);
}

/** Requests: the address, the key, deadlines and further tries. */

import { mayBeVersion, nameVersions, readBody, readError } from "./answers.js";
import { Invalid, NotFound, Unauthenticated } from "./generated/codes.js";
import { Day1Error, NotDay1, Unreachable } from "./problem.js";

const URL_HERE = "http://127.0.0.1:8765"; // of `python3 manage.py up` on this machine

const FIRST_WAIT = 0.25; // seconds before the second try; each later wait is twice as long
const USUAL_WAIT = 8; // at most
const LONGEST_WAIT = 60; // a server that asks for more gets no further try
const NOTHING_DONE = ["rate_limited", "unavailable"]; // what was refused has left nothing behind
const CONDITIONS = ["only_new", "only_present", "expected_version"]; // of a put
const NEVER_SENT = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "UND_ERR_CONNECT_TIMEOUT"]; // of Node and Bun

export interface Settings {
  /** Address of the server, such as `http://127.0.0.1:8765`; else `DAY1_URL`. */
  url?: string;
  /** The key; else `DAY1_KEY`. */
  key?: string;
  /** That of the key: where the key is of another one, the first call is refused. */
  project?: string;
  /** The session that searches are said in; else `DAY1_SESSION`. */
  session?: string;
  /** Milliseconds for each try; 60,000 when not given. */
  timeout?: number;
  /** Further tries of what failed and may be sent again; 3 when not given. */
  retries?: number;
  /** Headers of every request, such as `Day1-Repository`. */
  headers?: Record<string, string>;
  /** In place of the global one. */
  fetch?: typeof fetch;
}

/** What one call may have of its own. */
export interface Options {
  signal?: AbortSignal;
  timeout?: number;
  retries?: number;
  /** Made anew for each call that takes one. */
  idempotencyKey?: string;
  /** Write only while this `ETag` stands; `*`: while something stands there. */
  ifMatch?: string;
  /** Of a read: NotModified is thrown while this `ETag` stands. Of a put: `*` writes only where nothing stands. */
  ifNoneMatch?: string;
  /** In whose name a search is sent: what it finds counts as given to that session. */
  session?: string;
  headers?: Record<string, string>;
}

export interface Request {
  method: string;
  path: string;
  /** Whether it takes an Idempotency-Key. */
  keyed?: boolean;
  /** Whether it takes the header Day1-Session. */
  session?: boolean;
  /** Whether a success may be without a body. */
  empty?: boolean;
  query?: Record<string, unknown>;
  body?: unknown;
}

export class Transport {
  readonly url: string;
  private readonly settings: Settings;
  private version?: Promise<string>;
  private project?: string; // that of the key, until it was looked at

  constructor(settings: Settings) {
    const env = (globalThis as { process?: { env?: Record<string, string | undefined> } }).process?.env ?? {};
    const { url = env["DAY1_URL"] || URL_HERE, key = env["DAY1_KEY"] } = settings;
    if (!/^https?:\/\/[^/@?#\s]+(\/[^?#\s]*)?$/.test(url))
      throw new TypeError(`url must be an address such as ${URL_HERE}, not "${url}".`);
    if (!key) throw new Unauthenticated("No key: say key: …, or set DAY1_KEY.", { code: "unauthenticated" });
    this.url = url.replace(/\/+$/, "").replace(/\/api\/v1$/, "");
    this.settings = { ...settings, key, session: settings.session ?? env["DAY1_SESSION"] };
    this.project = settings.project;
  }

  /** Return the body of the answer. Throws a Day1Error, or the reason of an aborted signal. */
  async send<T>(request: Request, options: Options = {}): Promise<T> {
    await this.checkProject(options.signal);
    return this.sendOften(request, options);
  }

  private async sendOften<T>(request: Request, options: Options): Promise<T> {
    const idempotencyKey = request.keyed ? (options.idempotencyKey ?? crypto.randomUUID()) : undefined;
    const retries = options.retries ?? this.settings.retries ?? 3;
    const read = (answer: Response) => readBody(answer, request.empty);
    for (let count = 0; ; count++) {
      try {
        return (await this.open(request, { ...options, idempotencyKey }, read)) as T;
      } catch (error) {
        const wait = count < retries ? findWait(error, isSafe(request, options), count) : undefined;
        if (wait === undefined) throw await this.explain(error);
        await sleep(wait * 1000, options.signal);
      }
    }
  }

  /** Refuse a key of another project than the one that was said. Every call is, until one check came to its end. */
  async checkProject(signal?: AbortSignal): Promise<void> {
    const project = this.project;
    if (!project) return;
    try {
      await this.sendOften({ method: "GET", path: `/projects/${encodeURIComponent(project)}` }, { signal });
      this.project = undefined;
    } catch (error) {
      if (!(error instanceof NotFound)) throw error;
      throw new NotFound(`The key is not of the project ${project}.`, { ...error }, { cause: error });
    }
  }

  /** Send once, and return what `read` makes of a success. The deadline is over when it returns. */
  async open<T>(request: Request, options: Options, read: (answer: Response) => T | Promise<T>): Promise<T> {
    const deadline = new AbortController();
    const milliseconds = options.timeout ?? this.settings.timeout ?? 60_000;
    const timer = setTimeout(() => deadline.abort(), milliseconds);
    const signal = options.signal ? AbortSignal.any([options.signal, deadline.signal]) : deadline.signal;
    try {
      const answer = await (this.settings.fetch ?? fetch)(this.address(request), {
        method: request.method,
        headers: this.makeHeaders(request, options),
        redirect: "manual", // another address would get a GET without the key
        signal,
        ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
      });
      if (!answer.ok) throw await readError(answer);
      return await read(answer);
    } catch (error) {
      if (error instanceof Day1Error) throw error;
      options.signal?.throwIfAborted();
      const isLate = deadline.signal.aborted;
      const what = isLate ? `did not answer within ${milliseconds / 1000} s` : "cannot be reached";
      throw new Unreachable(`Day1 at ${this.url} ${what}.`, { data: { isLate }, cause: error });
    } finally {
      clearTimeout(timer);
    }
  }

  private address(request: Request): string {
    const names = decodeURIComponent(request.path).split("/");
    if (names.some((name) => name === "." || name === ".."))
      throw new Invalid("A name may not have a segment of dots alone.", { code: "invalid" }); // it would lead to another operation
    return `${this.url}/api/v1${request.path}${writeQuery(request.query)}`;
  }

  private makeHeaders(request: Request, options: Options): Record<string, string> {
    const { key, headers } = this.settings;
    const own = {
      Authorization: key && `Bearer ${key}`,
      "Content-Type": request.body === undefined ? undefined : "application/json",
      "Idempotency-Key": options.idempotencyKey,
      "If-Match": options.ifMatch,
      "If-None-Match": options.ifNoneMatch,
      "Day1-Session": request.session ? (options.session ?? this.settings.session) : undefined,
    };
    const said = Object.entries(own).filter((entry): entry is [string, string] => Boolean(entry[1]));
    return { Accept: "application/json", ...Object.fromEntries(said), ...headers, ...options.headers };
  }

  /** Return the error, with both versions where the server is of another one, which may be why. */
  async explain(error: unknown): Promise<unknown> {
    return mayBeVersion(error) ? nameVersions(error, await this.readVersion().catch(() => "")) : error;
  }

  /** Return the version of the server, which is asked once. */
  readVersion(): Promise<string> {
    const found = (this.version ??= this.open({ method: "GET", path: "/" }, {}, (answer) =>
      readBody(answer),
    ).then((index) => {
      const { name, version } = index as { name?: string; version?: string };
      if (name !== "Day1" || !version) throw new NotDay1(JSON.stringify(index), 200);
      return version;
    }));
    found.catch(() => (this.version = undefined));
    return found;
  }
}

/** Tell whether a second request does no more than one whose answer was lost. */
function isSafe(request: Request, options: Options): boolean {
  if (request.method !== "PUT") return Boolean(request.keyed) || request.method === "GET";
  const names = Object.keys(request.body as object); // done already, it would not meet its own condition
  return !options.ifMatch && !options.ifNoneMatch && !names.some((name) => CONDITIONS.includes(name));
}

/** Return the seconds to wait before another try, or undefined where there is none. */
function findWait(error: unknown, safe: boolean, count: number): number | undefined {
  if (!(error instanceof Day1Error) || !mayRepeat(error, safe)) return undefined;
  const usual = Math.min(FIRST_WAIT * 2 ** count, USUAL_WAIT) * (0.75 + Math.random() / 2);
  const wait = error.retryAfter ?? usual;
  return wait <= LONGEST_WAIT ? wait : undefined;
}

function mayRepeat(error: Day1Error, safe: boolean): boolean {
  if (error instanceof Unreachable) {
    const { code } = ((error.cause as Error | undefined)?.cause ?? {}) as { code?: string };
    return !error.data["isLate"] && (safe || NEVER_SENT.includes(code ?? "")); // who set a deadline waits no longer
  }
  const isGateway = error instanceof NotDay1 && [502, 503, 504].includes(error.status);
  return NOTHING_DONE.includes(error.code) || (safe && (isGateway || error.code === "outcome_unknown"));
}

export function writeQuery(query: Record<string, unknown> = {}): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    const texts = (Array.isArray(value) ? value : [value]).map(writeValue);
    const isSplit = texts.length === 1 && Array.isArray(value) && texts[0]!.includes(",");
    for (const text of isSplit ? [...texts, ...texts] : texts) params.append(name, text); // else split at its commas
  }
  return params.size ? `?${params.toString()}` : "";
}

function writeValue(value: unknown): string {
  if (value instanceof Date) return value.toISOString();
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** Wait; throws the reason of the signal when it is aborted meanwhile. */
export async function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve) => {
    const timer = setTimeout(done, milliseconds);
    function done(): void {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    }
    signal?.addEventListener("abort", done);
  });
  signal?.throwIfAborted();
}

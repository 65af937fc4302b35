/** What the generated methods stand on: a call, a list in pages, an address. */

import { followEvents, type EventOptions } from "./events.js";
import type { Event } from "./generated/schemas.js";
import type { Options, Request, Transport } from "./transport.js";

export type { Options } from "./transport.js";

/** What every call is about that does not say otherwise. */
export interface Defaults {
  branch?: string;
  user_id?: string;
  app_id?: string;
  agent_id?: string;
}

interface Spec extends Omit<Request, "query" | "body"> {
  /** Parameters that go into the address although there is a body. */
  query?: string[];
  /** Defaults that it takes. */
  fills?: (keyof Defaults)[];
}

/** What sends: the client itself. */
export interface Sender {
  readonly transport: Transport;
  readonly defaults: Defaults;
}

export abstract class Group {
  constructor(private readonly sender: Sender) {}

  protected call<T>(spec: Spec, options: Options, params: object, body?: unknown): Promise<T> {
    return this.sender.transport.send<T>(build(spec, this.sender.defaults, params, body), options);
  }

  protected stream(options: EventOptions): AsyncGenerator<Event> {
    return followEvents(this.sender.transport, options);
  }

  protected pages<Row, Page>(spec: Spec, options: Options, params: object): Pages<Row, Page> {
    return new Pages((cursor) => this.call<Page>(spec, options, cursor ? { ...params, cursor } : params));
  }
}

/** A list: awaited it is its first page, iterated over it is all its rows. */
export class Pages<Row, Page = { results: Row[]; next: string | null }>
  implements AsyncIterable<Row>, PromiseLike<Page>
{
  constructor(private readonly read: (cursor?: string) => Promise<Page>) {}

  /** The first page. */
  first(): Promise<Page> {
    return this.read();
  }

  then<A = Page, B = never>(
    done?: ((page: Page) => A | PromiseLike<A>) | null,
    failed?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.first().then(done, failed);
  }

  catch<B = never>(failed?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<Page | B> {
    return this.first().catch(failed);
  }

  /** All pages, one after the other. */
  async *pages(): AsyncGenerator<Page> {
    let cursor: string | undefined;
    do {
      const page = await this.read(cursor);
      yield page;
      cursor = (page as { next?: string | null }).next ?? undefined;
    } while (cursor);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Row> {
    for await (const page of this.pages()) yield* (page as { results: Row[] }).results;
  }
}

function build(spec: Spec, defaults: Defaults, params: object, body?: unknown): Request {
  const { query: names = [], fills = [], ...request } = spec;
  const all = fill(fills, defaults, { ...params });
  if (body !== undefined) return { ...request, body, query: all };
  if (request.method === "GET" || request.method === "DELETE") return { ...request, query: all };
  const query = Object.fromEntries(names.map((name) => [name, all[name]]));
  for (const name of names) delete all[name];
  return { ...request, query, body: all };
}

function fill(
  names: (keyof Defaults)[],
  defaults: Defaults,
  params: Record<string, unknown>,
): Record<string, unknown> {
  for (const name of names) {
    const isGiven = params[name] !== undefined || (name === "branch" && params["branches"] !== undefined);
    if (!isGiven && defaults[name] !== undefined) params[name] = defaults[name];
  }
  return params;
}

/** Write an address, with what stands in it encoded. An empty value is a blank: without it the list would be meant. */
export function at(parts: TemplateStringsArray, ...values: (string | number)[]): string {
  return parts.reduce((path, part, n) => path + (encodeURIComponent(values[n - 1]!) || "%20") + part);
}

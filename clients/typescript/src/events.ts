/** Live events: a stream that goes on where it broke. */

import { Day1Error, NotDay1 } from "./problem.js";
import type { Event } from "./generated/schemas.js";
import { sleep, type Options, type Transport } from "./transport.js";

const SILENCE = 45_000; // the server says something every 15 seconds: a connection this silent is dead
const LONGEST_WAIT = 30_000;

export interface EventOptions extends Pick<Options, "signal" | "timeout" | "retries" | "headers"> {
  /** Branches or patterns such as `task/*`; all when not given. */
  branch?: string[];
  /** Kinds or patterns such as `fact.*`; all when not given. */
  kind?: string[];
  /** Go on after this event; else from now on. */
  lastEventId?: number | string;
  /** Told of each break, and in how many milliseconds it goes on. */
  onBreak?: (error: unknown, wait: number) => void;
}

interface Message {
  name: string;
  id?: string;
  data: string;
  retry?: number;
}

/** Follow what happens, without end: leave the loop, or abort the signal. What is refused is thrown. */
export async function* followEvents(transport: Transport, options: EventOptions): AsyncGenerator<Event> {
  await transport.checkProject(options.signal);
  let last = options.lastEventId?.toString();
  let retry = 2000;
  let failures = 0;
  for (;;) {
    try {
      for await (const message of readStream(transport, options, last)) {
        failures = 0;
        last = message.id ?? last;
        retry = message.retry ?? retry;
        if (!message.name && message.data) yield JSON.parse(message.data) as Event;
      }
      throw new Error("The server ended the stream.");
    } catch (error) {
      options.signal?.throwIfAborted();
      if (isFinal(error) || (last === undefined && failures >= (options.retries ?? 3))) {
        throw await transport.explain(error);
      }
      const wait = Math.min(
        (error as Day1Error).retryAfter ?? (retry / 1000) * 2 ** failures++,
        LONGEST_WAIT / 1000,
      );
      options.onBreak?.(error, wait * 1000);
      await sleep(wait * 1000, options.signal);
    }
  }
}

async function* readStream(
  transport: Transport,
  options: EventOptions,
  last?: string,
): AsyncGenerator<Message> {
  const silence = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, silence.signal]) : silence.signal;
  const headers = {
    ...options.headers,
    Accept: "text/event-stream",
    ...(last ? { "Last-Event-ID": last } : {}),
  };
  const query = { branch: options.branch, kind: options.kind };
  const request = { method: "GET", path: "/events", query };
  const body = await transport.open(request, { signal, headers, timeout: options.timeout }, takeBody);
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  try {
    for (;;) {
      const timer = setTimeout(() => silence.abort(), SILENCE);
      const { done, value } = await reader.read().finally(() => clearTimeout(timer));
      if (done) return;
      text += decoder.decode(value, { stream: true });
      const blocks = text.split(/\r?\n\r?\n/);
      text = blocks.pop()!;
      yield* blocks.map(parseMessage);
    }
  } finally {
    silence.abort();
  }
}

function takeBody(answer: Response): ReadableStream<Uint8Array> {
  const isStream = answer.headers.get("content-type")?.startsWith("text/event-stream");
  if (!isStream || !answer.body) throw new NotDay1("no stream of events", answer.status);
  return answer.body;
}

function parseMessage(block: string): Message {
  const message: Message = { name: "", data: "" };
  for (const line of block.split(/\r?\n/)) {
    const [, field, value = ""] = /^(\w+)(?:: ?(.*))?$/.exec(line) ?? [];
    if (field === "event") message.name = value;
    else if (field === "id") message.id = value;
    else if (field === "retry") message.retry = Number(value) || undefined;
    else if (field === "data") message.data += (message.data && "\n") + value;
  }
  return message;
}

/** Tell whether another try would end in the same way: the server refused, or is none. */
function isFinal(error: unknown): boolean {
  return (
    error instanceof SyntaxError ||
    (error instanceof Day1Error && error.status > 0 && error.status < 500 && error.status !== 429)
  );
}

/** Servers that answer from a script, and a client of the real one. */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { inject, onTestFinished } from "vitest";
import { Day1, type Branch } from "../src/index.js";

export type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => void;

/** Return a client of the real server, on an empty branch of its own, so that tests do not meet. */
export async function makeClient(): Promise<Branch> {
  return new Day1({ url: inject("url"), key: inject("key") }).branch(`t/${crypto.randomUUID()}`, { at: 0 });
}

/** Serve the answers one after the other, the last one again and again; return the address and what was asked. */
export async function serve(...answers: Answer[]): Promise<{ url: string; asked: Asked[] }> {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (part: Buffer) => (body += part.toString()));
    request.on("end", () => {
      const answer = answers[Math.min(asked.length, answers.length - 1)]!;
      asked.push({ method: request.method!, path: request.url!, headers: request.headers, body });
      answer(request, response, body);
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(() => void (server.closeAllConnections(), server.close()));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

export interface Asked {
  method: string;
  path: string;
  headers: IncomingMessage["headers"];
  body: string;
}

export function json(body: unknown, status = 200, headers: Record<string, string> = {}): Answer {
  return (_request, response) => {
    response.writeHead(status, { "Content-Type": "application/json", ...headers });
    response.end(JSON.stringify(body));
  };
}

export function problem(
  status: number,
  code: string,
  detail = code,
  headers: Record<string, string> = {},
): Answer {
  return json({ type: `/errors/${code}`, status, code, detail }, status, headers);
}

export const hangUp: Answer = (request) => void request.socket.destroy();
export const stayAway: Answer = () => undefined;

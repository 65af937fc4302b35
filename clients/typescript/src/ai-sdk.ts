/** Day1 for the Vercel AI SDK: tools that a model calls, and a middleware that needs no call. */

import { APICallError, jsonSchema, tool, type LanguageModelMiddleware, type Tool } from "ai";
import { Day1 } from "./client.js";
import { Day1Error } from "./problem.js";

export interface MemoryOptions {
  /** What recalled facts may cost in a prompt. */
  maxTokens?: number;
  /** Whose words they are: what was recalled in a session is not learned from it again. */
  session?: string;
}

export interface MiddlewareOptions extends MemoryOptions {
  /** Whether Day1 learns from what the user says; true when not given. */
  learn?: boolean;
}

/** Return two tools, `remember` and `recall`, for `generateText` and the like. */
export function memoryTools(memory: Day1 = new Day1(), { maxTokens = 800, session }: MemoryOptions = {}) {
  const remember: Tool<{ text: string; category?: string }, { id: string; created: boolean }> = tool({
    description:
      "Store one lasting fact: a decision, a preference, how something works. Not what is only of this moment.",
    inputSchema: jsonSchema<{ text: string; category?: string }>({
      type: "object",
      properties: {
        text: { type: "string", description: "The fact, as one sentence that is clear by itself." },
        category: { type: "string", description: "One word, such as preference or decision." },
      },
      required: ["text"],
      additionalProperties: false,
    }),
    execute: async ({ text, category }, { abortSignal }) => {
      const fields = { category, session_id: session };
      const { id, created } = await memory.remember(text, fields, { signal: abortSignal });
      return { id, created };
    },
  });
  const recall: Tool<{ query: string }, string> = tool({
    description: "Search what is remembered. Each line has its date and status: check before you rely on it.",
    inputSchema: jsonSchema<{ query: string }>({
      type: "object",
      properties: { query: { type: "string", description: "What you want to know, in your own words." } },
      required: ["query"],
      additionalProperties: false,
    }),
    execute: async ({ query }, { abortSignal }) =>
      `${await memory.recall(query, { max_tokens: maxTokens }, { signal: abortSignal, session })}`,
  });
  return { remember, recall };
}

type Params = Parameters<NonNullable<LanguageModelMiddleware["transformParams"]>>[0]["params"];
type Prompt = Params["prompt"];

/** Return a middleware for `wrapLanguageModel`: before each call it adds what is known on the user's question.
 *
 * Where Day1 cannot be reached, or refuses, the call ends with an APICallError, which the AI SDK tries again if that helps.
 */
export function memoryMiddleware(
  memory: Day1 = new Day1(),
  options: MiddlewareOptions = {},
): LanguageModelMiddleware {
  const { maxTokens = 800, session, learn = true } = options;
  const told = new WeakMap<object, Promise<string>>(); // by message: the steps of a call have one context

  async function ask(question: string, signal?: AbortSignal): Promise<string> {
    const found = await memory.recall(question, { max_tokens: maxTokens }, { signal, session });
    if (learn) await memory.remember([question], { session_id: session }, { signal });
    return found.known ? `${found}` : "";
  }

  return {
    specificationVersion: "v4",
    transformParams: async ({ params }) => {
      const index = params.prompt.findLastIndex((message) => message.role === "user");
      const question = readText(params.prompt, index);
      if (!question) return params;
      const message = params.prompt[index]!;
      const context = told.get(message) ?? ask(question, params.abortSignal);
      told.set(message, context);
      return { ...params, prompt: addContext(params.prompt, index, await context.catch(fail(memory))) };
    },
  };
}

function readText(prompt: Prompt, index: number): string {
  const message = prompt[index];
  if (message?.role !== "user") return "";
  return message.content
    .map((part) => (part.type === "text" ? part.text : ""))
    .join("\n")
    .trim();
}

/** Return the prompt with what is known before the user's words; what stands before stays, for the cache. */
function addContext(prompt: Prompt, index: number, context: string): Prompt {
  const message = prompt[index]!;
  if (!context || message.role !== "user") return prompt;
  const text = `<day1-memory>\n${context}\n</day1-memory>`;
  return prompt.with(index, { ...message, content: [{ type: "text", text }, ...message.content] });
}

function fail(memory: Day1): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof Day1Error)) throw error;
    throw new APICallError({
      message: error.message,
      url: memory.transport.url,
      requestBodyValues: {},
      statusCode: error.status || undefined,
      isRetryable: ["unreachable", "unavailable", "rate_limited"].includes(error.code),
      cause: error,
    });
  };
}

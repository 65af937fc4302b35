/** A scripted model: it says what it is told to, and keeps what it was asked. */

import type { MockLanguageModelV4 } from "ai/test";

type Generate = Extract<ConstructorParameters<typeof MockLanguageModelV4>[0] & object, object>["doGenerate"];

const USAGE = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

export type Step = string | { tool: string; input: object };

/** Answer with the steps one after the other, the last one again and again. */
export function answer(
  steps: Step | Step[],
  prompts: string[] = [],
): Extract<Generate, (...args: never[]) => unknown> {
  const script = [steps].flat();
  let count = 0;
  return async ({ prompt }) => {
    prompts.push(JSON.stringify(prompt));
    const step = script[Math.min(count++, script.length - 1)]!;
    if (typeof step === "string") {
      const finishReason = { unified: "stop" as const, raw: "stop" };
      return { content: [{ type: "text", text: step }], finishReason, usage: USAGE, warnings: [] };
    }
    const call = {
      type: "tool-call" as const,
      toolCallId: `c${count}`,
      toolName: step.tool,
      input: JSON.stringify(step.input),
    };
    const finishReason = { unified: "tool-calls" as const, raw: "tool_calls" };
    return { content: [call], finishReason, usage: USAGE, warnings: [] };
  };
}

import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    globalSetup: "tests/server.ts",
    include: ["tests/**/*.test.ts"],
    maxWorkers: 1,
    testTimeout: 30_000,
  },
});

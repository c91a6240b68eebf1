// Two test projects: fast in-process tests share one module graph; tests that spawn the product or change
// process-wide state run isolated.
import { defineConfig } from "vitest/config"

/** CI reads the numbers from a file: see scripts/ci.mjs. */
const report = process.env["DSH_TEST_REPORT"]

export default defineConfig({
  test: {
    pool: "threads",
    isolate: false,
    testTimeout: 20_000,
    setupFiles: ["scripts/test/setup.ts"],
    reporters: report === undefined ? ["default"] : ["default", ["json", { outputFile: report }]],
    projects: [
      {
        extends: true,
        test: { name: "unit", include: ["{packages,apps}/*/test/**/*.test.ts"], exclude: ["**/*.e2e.test.ts"] }
      },
      {
        extends: true,
        test: {
          name: "e2e",
          pool: "forks",
          isolate: true,
          testTimeout: 120_000,
          include: [
            "{packages,apps}/*/test/**/*.e2e.test.ts",
            "scratchpad/test/**/*.test.ts",
            "scratchpad/cookbook/glossary/test/*.test.ts",
            "scripts/test/**/*.test.ts"
          ]
        }
      }
    ],
    coverage: { provider: "v8", include: ["{packages,apps}/*/src/**"], reporter: ["text-summary"] }
  }
})

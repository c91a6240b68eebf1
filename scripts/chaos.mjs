// `pnpm test:chaos [TRIALS]`: the tests that kill and damage, many times instead of a few. CHAOS_SEED=N repeats a run.
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"

const vitest = fileURLToPath(new URL("../node_modules/vitest/vitest.mjs", import.meta.url))
const [trials = "500"] = process.argv.slice(2)

const { status } = spawnSync(
  process.execPath,
  [
    vitest,
    "run",
    "--config",
    "vitest.workspace.ts",
    "apps/cli/test/Kill.e2e.test.ts",
    "apps/cli/test/Faults.e2e.test.ts"
  ],
  { stdio: "inherit", env: { ...process.env, CHAOS_TRIALS: trials } }
)
process.exitCode = status ?? 1

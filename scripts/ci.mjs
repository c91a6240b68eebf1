// What CI runs on a clean checkout, with nothing but Node, npm and git: install, the README's test command,
// the checks, the build. The last line counts every test and every other step.
import { spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))
const scratch = mkdtempSync(join(tmpdir(), "dsh-ci-"))
const report = join(scratch, "tests.json")

const pnpm = (...args) => {
  console.log(`\n$ npx -y pnpm@12.4.2 ${args.join(" ")}`)
  const options = {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...process.env, CI: "1", DSH_TEST_REPORT: report }
  }
  return spawnSync("npx", ["-y", "pnpm@12.4.2", ...args], options).status === 0
}

// The sandbox tests need it, and say that they were skipped where it cannot be had.
const found = (program) => spawnSync(program, ["--version"], { stdio: "ignore" }).status === 0
if (process.platform === "linux" && !found("bwrap") && found("apt-get")) {
  console.log("\n$ apt-get install -y bubblewrap")
  const apt = (...args) =>
    spawnSync("apt-get", [...args, "-qq"], { stdio: ["ignore", "ignore", "inherit"] }).status === 0
  if (!apt("install", "-y", "bubblewrap") && apt("update")) apt("install", "-y", "bubblewrap")
}

let passed = 0
let failed = 0
const count = (ok) => (ok ? passed++ : failed++)

/** Vitest's own numbers; a run that left no report, or failed outside any test, is one failure. */
const countTests = (ok) => {
  try {
    const { numPassedTests, numFailedTests } = JSON.parse(readFileSync(report, "utf8"))
    passed += numPassedTests
    failed += numFailedTests
    if (!ok && numFailedTests === 0) failed++
  } catch {
    failed++
  }
}

count(pnpm("install", "--frozen-lockfile"))
countTests(pnpm("test"))
count(pnpm("check"))
count(pnpm("build"))
rmSync(scratch, { recursive: true, force: true })

console.log(`\n${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1

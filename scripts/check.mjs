// `pnpm check`: everything a change must pass besides its tests. One line per step; a failing step shows its output.
import { spawn } from "node:child_process"
import { delimiter, join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))

const steps = [
  ["types", ["node", "scripts/tsc.mjs"]],
  ["lint and boundaries", ["oxlint"]],
  ["format", ["oxfmt", "--check"]],
  ["package versions", ["sherif"]],
  ["package manifests", ["node", "scripts/check/manifests.mjs"]],
  ["generated pages", ["node", "scripts/catalog.mjs", "--check"]],
  ["unused code", ["knip", "--no-progress", "--no-config-hints"]]
]

const env = {
  ...process.env,
  NO_COLOR: "1",
  FORCE_COLOR: "0",
  PATH: join(root, "node_modules", ".bin") + delimiter + process.env.PATH
}

const run = ([command, ...args]) =>
  new Promise((resolve) => {
    let output = ""
    const child = spawn(command, args, { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] })
    const keep = (data) => (output += data)
    child.stdout.setEncoding("utf8").on("data", keep)
    child.stderr.setEncoding("utf8").on("data", keep)
    child.once("error", (error) => resolve({ passed: false, output: `${command}: ${error.message}\n` }))
    child.once("close", (code) => resolve({ passed: code === 0, output }))
  })

let failed = 0
for (const [name, command] of steps) {
  const started = performance.now()
  const { passed, output } = await run(command)
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  console.log(`${passed ? "pass" : "FAIL"}  ${name} (${seconds} s)`)
  if (!passed) {
    failed++
    console.log(output.trimEnd().replace(/^/gm, "      "))
  }
}
console.log(`check: ${steps.length - failed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1

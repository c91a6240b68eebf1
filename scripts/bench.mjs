// `pnpm bench [WORD…]`: measures the product against bare Node and prints the table; words select rows by name.
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { bundle } from "./bundle.mjs"

const root = fileURLToPath(new URL("..", import.meta.url))

await import("./build.mjs")
const main = await bundle({ input: `${root}/apps/bench/src/Main.ts`, out: `${root}/apps/bench/dist` })

// Reading extra certificates would more than double the start-up time of every Node process that is measured.
const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env
const { status } = spawnSync(process.execPath, ["--expose-gc", main, ...process.argv.slice(2)], {
  cwd: root,
  env,
  stdio: "inherit"
})
process.exitCode = status ?? 1

// Runs the type checker with Effect diagnostics: @effect/tsgo's own tsc where it has a binary, plain tsc elsewhere.
import { spawnSync } from "node:child_process"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"

const require = createRequire(import.meta.url)

const find = () => {
  try {
    const effect = createRequire(require.resolve("@effect/tsgo/package.json"))
    const dir = dirname(effect.resolve(`@effect/tsgo-${process.platform}-${process.arch}/package.json`))
    return [join(dir, "lib", process.platform === "win32" ? "tsc.exe" : "tsc")]
  } catch {
    return [process.execPath, join(dirname(require.resolve("typescript/package.json")), "bin", "tsc")]
  }
}

const [command, ...rest] = find()
const args = process.argv.length > 2 ? process.argv.slice(2) : ["-p", "tsconfig.json"]
process.exit(spawnSync(command, [...rest, "--singleThreaded", ...args], { stdio: "inherit" }).status ?? 1)

/**
 * A harness in small for the tests of the watcher: starts what its arguments or the lines of its input say, each in bash. With the end
 * of its input it ends in order; with arguments it goes on until somebody ends it. With PTY in its environment each is on a terminal.
 */
import * as Effect from "effect/Effect"
import { createInterface } from "node:readline"
import type { Subprocess } from "../../src/Subprocess.ts"
import * as SubprocessLocal from "../../src/SubprocessLocal.ts"

const output = { maxBytes: 1000 }
const scripts = process.argv.slice(2)

const start = (subprocess: Subprocess["Type"], script: string) => {
  const spec = { argv: ["bash", "-c", script], cwd: "/", env: { PROGRAM: process.argv[1] } }
  return process.env["PTY"] === undefined
    ? subprocess.spawn({ ...spec, stdin: "ignore", stdout: output, stderr: output })
    : subprocess.openPty({ ...spec, rows: 40, cols: 160 })
}

async function* stdin() {
  for await (const line of createInterface({ input: process.stdin })) yield line
}

const program = Effect.gen(function* () {
  // As many agents may have services of their own.
  const services = [yield* SubprocessLocal.make(), yield* SubprocessLocal.make()]
  if (scripts.length > 0) {
    for (const [n, script] of scripts.entries()) yield* start(services[n % 2]!, script)
    setInterval(() => {}, 60_000)
    return yield* Effect.never
  }
  const lines = stdin()
  for (let n = 0; ; n++) {
    const line = yield* Effect.promise(() => lines.next())
    if (line.done === true) return
    yield* start(services[n % 2]!, line.value)
  }
})

void Effect.runPromise(Effect.scoped(program))

/**
 * Says whether what terminals need is loaded: before anything, after a command, and after a terminal.
 */
import * as Effect from "effect/Effect"
import { readFileSync } from "node:fs"
import * as SubprocessLocal from "../../src/SubprocessLocal.ts"

const say = Effect.sync(() => console.log(/koffi|pty\.node/.test(readFileSync("/proc/self/maps", "utf8"))))

const program = Effect.gen(function* () {
  const subprocess = yield* SubprocessLocal.make()
  yield* say
  const output = { maxBytes: 1000 }
  const command = yield* subprocess.spawn({ argv: ["true"], cwd: "/", stdin: "ignore", stdout: output, stderr: output })
  yield* command.exit
  yield* say
  const pty = yield* subprocess.openPty({ argv: ["true"], cwd: "/", rows: 40, cols: 160 })
  yield* pty.exit
  yield* say
})

void Effect.runPromise(Effect.scoped(program))

/**
 * Has nothing left to do after its command has ended, and never says so.
 */
import * as Effect from "effect/Effect"
import * as SubprocessLocal from "../../src/SubprocessLocal.ts"

const program = Effect.gen(function* () {
  const subprocess = yield* SubprocessLocal.make()
  const output = { maxBytes: 1000 }
  const command = yield* subprocess.spawn({ argv: ["true"], cwd: "/", stdin: "ignore", stdout: output, stderr: output })
  yield* command.exit
  // Not `never`, which keeps a process going.
  return yield* Effect.async(() => {})
})

void Effect.runPromise(Effect.scoped(program))

/**
 * Runs its first argument in a confined terminal, in the workspace that is the second, until somebody ends it.
 */
import { Subprocess } from "@dsh/world/Subprocess"
import { CurrentConfinement } from "@dsh/world/Confinement"
import { Effect } from "effect"
import { tmpdir } from "node:os"
import { confined } from "../support.ts"

const [script = "", workspace = tmpdir()] = process.argv.slice(2)

const program = Effect.gen(function* () {
  const subprocess = yield* Subprocess
  yield* subprocess.openPty({ argv: ["bash", "-c", script], cwd: workspace, rows: 40, cols: 160 })
  return yield* Effect.never
}).pipe(
  Effect.provideService(CurrentConfinement, {
    mode: "workspace-write",
    workspace,
    network: "on",
    temp: workspace,
    hidden: [],
    shown: []
  })
)

void Effect.runPromise(Effect.scoped(program).pipe(Effect.provide(confined)))

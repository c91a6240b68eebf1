/**
 * The user's own editor: what `VISUAL` or else `EDITOR` says, with arguments if it has some.
 */
import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import * as Failure from "./Failure.ts"
import { read } from "./Variables.ts"

/** Fails with exit code 2 when nobody says which. */
export const find: Effect.Effect<string, Failure.Failure> = Effect.gen(function* () {
  const editor = (yield* read("VISUAL")) ?? (yield* read("EDITOR"))
  return (
    editor ?? (yield* Failure.usage('say which editor to use: EDITOR=vi dsh settings edit, or use "dsh settings set"'))
  )
})

/** Ends when the editor does. It has the terminal until then. */
export const open = (editor: string, file: string): Effect.Effect<void, Failure.Failure> =>
  Effect.async<void, Failure.Failure>((resume) => {
    const failed = (how: string) =>
      resume(Failure.fromError({ code: "EDITOR", message: `the editor (${editor}) ${how}; nothing was changed` }))
    // By a shell, as git does it: it is a command line.
    const child = spawn(`${editor} "$DSH_EDITED_FILE"`, {
      shell: true,
      stdio: "inherit",
      env: { ...process.env, DSH_EDITED_FILE: file }
    })
    child.once("error", ({ message }) => failed(`cannot be started: ${message}`))
    child.once("close", (code, signal) => {
      if (code === 0) resume(Effect.void)
      else failed(`ended with ${signal ?? `exit code ${code}`}`)
    })
    return Effect.sync(() => void child.kill())
  })

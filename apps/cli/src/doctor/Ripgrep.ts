/**
 * Whether the program that the search tools use is there, and runs.
 */
import * as Ripgrep from "@dsh/files/Ripgrep"
import { Subprocess } from "@dsh/world/Subprocess"
import type { SubprocessError } from "@dsh/world/Subprocess"
import * as SubprocessLocal from "@dsh/world/SubprocessLocal"
import * as Effect from "effect/Effect"
import type { Check } from "./Finding.ts"
import * as Finding from "./Finding.ts"

const output = { maxBytes: 4096 }

const version = (program: string): Effect.Effect<Finding.Finding, SubprocessError, Subprocess> =>
  Effect.scoped(
    Effect.gen(function* () {
      const subprocess = yield* Subprocess
      const process = yield* subprocess.spawn({
        argv: [program, "--no-config", "--version"],
        cwd: "/",
        stdin: "ignore",
        stdout: output,
        stderr: output
      })
      const { exitCode, signal } = yield* process.exit
      const { bytes } = yield* process.collected.stdout.readFrom(0)
      const [first = ""] = Buffer.from(bytes).toString("utf8").split("\n")
      return exitCode === 0 && first.startsWith("ripgrep ")
        ? Finding.ok(`${first.trim()} in ${program}`)
        : Finding.fail(
            `${program} does not run as ripgrep (it ended with ${signal ?? `exit code ${exitCode}`})`,
            "install dsh with its optional dependencies again, or ripgrep so that rg is in PATH"
          )
    })
  )

/** @param load Where the packaged one is looked for; as for the tools, if left out. */
export const find = (load?: Parameters<typeof Ripgrep.locate>[1]): Effect.Effect<Finding.Finding> =>
  Ripgrep.locate(undefined, load).pipe(
    Effect.flatMap(version),
    Effect.catchAll((error) => Effect.succeed(Finding.because("fail", error))),
    Effect.provide(SubprocessLocal.layer())
  )

export const check: Check = () => find()

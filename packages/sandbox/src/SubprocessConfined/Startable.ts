/**
 * What cannot be started, found out beforehand: whatever confines a program would start itself, fail to start the other, and take the
 * blame. Where it cannot be found out, that is how it is.
 */
import type { Fs, FsStat } from "@dsh/world/Fs"
import { SubprocessError } from "@dsh/world/Subprocess"
import type { SpawnSpec, Subprocess } from "@dsh/world/Subprocess"
import * as Effect from "effect/Effect"

interface World {
  readonly fs: Fs["Type"]
  readonly subprocess: Subprocess["Type"]
}

/** Fails as `spawn` does when the program or its folder is not there. */
export const check = (
  { argv: [program = ""], cwd, env = {} }: Pick<SpawnSpec, "argv" | "cwd" | "env">,
  { fs, subprocess }: World
): Effect.Effect<void, SubprocessError> =>
  Effect.gen(function* () {
    const folder = yield* look(fs, cwd)
    if (folder === "absent") {
      return yield* fail("SUBPROCESS_CWD_NOT_FOUND", `the working directory ${cwd} does not exist`)
    }
    if (folder !== "unknown" && folder.type !== "directory") {
      return yield* fail("SUBPROCESS_CWD_NOT_FOUND", `the working directory ${cwd} is not a directory`)
    }
    if (!program.includes("/")) return yield* Effect.asVoid(subprocess.resolveExecutable(program, { env }))
    if (!program.startsWith("/")) return
    const file = yield* look(fs, program)
    if (file === "absent") return yield* fail("SUBPROCESS_NOT_FOUND", `${program} was not found; install it`)
    if (file !== "unknown" && (file.type !== "file" || (file.mode & 0o111) === 0)) {
      return yield* fail("SUBPROCESS_PERMISSION_DENIED", `not allowed to run ${program}: it is no program`)
    }
  })

type Look = FsStat | "absent" | "unknown"

const look = (fs: Fs["Type"], path: string): Effect.Effect<Look> =>
  Effect.match(Effect.flatMap(fs.resolve(path, { cwd: "/" }), fs.stat), {
    onSuccess: (stat): Look => stat ?? "absent",
    onFailure: ({ code }): Look => (code === "FS_NOT_DIRECTORY" ? "absent" : "unknown")
  })

const fail = (code: SubprocessError["code"], message: string) => new SubprocessError({ code, message })

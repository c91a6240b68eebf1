/**
 * A world of our own: programs run by way of another program, such as `docker exec`, and files are wherever the `Fs` beside it has them.
 */
import { Subprocess, SubprocessError } from "@dsh/world/Subprocess"
import type { SpawnSpec } from "@dsh/world/Subprocess"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** What comes before a program and its arguments, so that it starts in `cwd`: `["docker", "exec", "-i", "-w", cwd, "box"]`. */
export type Wrapper = (cwd: string) => ReadonlyArray<string>

const make = (inner: Subprocess["Type"], wrapper: Wrapper): Subprocess["Type"] => {
  // The wrapper starts here, in a folder that is there; what it wraps gets its folder and its variables over there.
  const wrapped = ({ argv, cwd, env = {} }: Pick<SpawnSpec, "argv" | "cwd" | "env">) => {
    const set = Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`]))
    return { argv: [...wrapper(cwd), "env", ...set, ...argv], cwd: "/", env: {} }
  }
  const spawn: Subprocess["Type"]["spawn"] = (spec) => inner.spawn({ ...spec, ...wrapped(spec) })
  return Subprocess.of({
    spawn,
    openPty: (spec) => inner.openPty({ ...spec, ...wrapped(spec) }),
    // Whether there is such a program is for the other side to say.
    resolveExecutable: (command) =>
      Effect.gen(function* () {
        const output = { maxBytes: 4096 }
        const argv = ["sh", "-c", 'command -v -- "$1"', "sh", command]
        const asked = yield* spawn({ argv, cwd: "/", stdin: "ignore", stdout: output, stderr: output })
        const { exitCode } = yield* asked.exit
        const { bytes } = yield* asked.collected.stdout.readFrom(0)
        if (exitCode === 0) return Buffer.from(bytes).toString().trim()
        return yield* new SubprocessError({ code: "SUBPROCESS_NOT_FOUND", message: `${command} is not there` })
      }).pipe(Effect.scoped)
  })
}

/** Over the `Subprocess` that runs the wrapper. */
export const layer = (wrapper: Wrapper): Layer.Layer<Subprocess, never, Subprocess> =>
  Layer.effect(
    Subprocess,
    Effect.map(Subprocess, (inner) => make(inner, wrapper))
  )

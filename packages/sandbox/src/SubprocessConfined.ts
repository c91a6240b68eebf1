/**
 * `Subprocess` whose programs are confined as the caller is. Over any other `Subprocess`, so whoever starts programs through the seam
 * is confined without knowing: shells, terminals, search, language servers.
 *
 * Where nobody said how the caller is confined, the standing confinement holds: forgetting to say so opens nothing.
 */
import { CurrentConfinement } from "@dsh/world/Confinement"
import type { Confinement } from "@dsh/world/Confinement"
import { Fs } from "@dsh/world/Fs"
import { Subprocess, SubprocessError } from "@dsh/world/Subprocess"
import type { CollectedOutput, OutputMode, PtySpec, SpawnSpec } from "@dsh/world/Subprocess"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { posix } from "node:path"
import { Sandbox } from "./Sandbox.ts"
import type { SandboxError } from "./Sandbox.ts"
import { SandboxPolicy } from "./SandboxPolicy.ts"
import * as Startable from "./SubprocessConfined/Startable.ts"

/**
 * `standing`: for callers that are not part of a tool call. `Fs`: the files as who is confined sees them, to tell what cannot be
 * started from a sandbox that fails.
 */
export const make = (
  standing: Effect.Effect<Confinement, SandboxError>
): Effect.Effect<Subprocess["Type"], never, Subprocess | Sandbox | Fs> =>
  Effect.gen(function* () {
    const inner = yield* Subprocess
    const sandbox = yield* Sandbox
    const fs = yield* Fs
    /** What to start instead of it; nothing else where nothing is confined. */
    const confine = Effect.fnUntraced(function* (spec: SpawnSpec | PtySpec) {
      const confinement = (yield* CurrentConfinement) ?? (yield* Effect.mapError(standing, unconfined))
      if (confinement.mode === "danger-full-access") return undefined
      const { argv, cwd, env, temp } = yield* Effect.mapError(sandbox.confine(spec, confinement), unconfined)
      yield* Startable.check(spec, { fs, subprocess: inner })
      return { command: { argv, cwd, env: { ...env, ...spec.env } }, from: confinement.temp, to: temp }
    })
    return Subprocess.of({
      ...inner,
      spawn: (spec) =>
        Effect.gen(function* () {
          const held = yield* confine(spec)
          if (held === undefined) return yield* inner.spawn(spec)
          const { command, from, to } = held
          const process = yield* inner.spawn({
            ...spec,
            ...command,
            stdout: keptIn(from, spec.stdout),
            stderr: keptIn(from, spec.stderr)
          })
          const { stderr, stdout } = process.collected
          return { ...process, collected: { stdout: seen(stdout, from, to), stderr: seen(stderr, from, to) } }
        }),
      openPty: (spec) =>
        Effect.flatMap(confine(spec), (held) => inner.openPty(held === undefined ? spec : { ...spec, ...held.command }))
    })
  })

/** The inner `Subprocess` is the one it is given; what it gives is confined. The `Fs` is one that confines. */
export const layer: Layer.Layer<Subprocess, never, Subprocess | Sandbox | SandboxPolicy | Fs> = Layer.effect(
  Subprocess,
  Effect.flatMap(SandboxPolicy, ({ standing }) => make(standing))
)

const unconfined = ({ cause, code, message }: SandboxError): SubprocessError =>
  new SubprocessError({ code, message, cause })

/** Long output goes where the caller's tools and commands find it again. */
const keptIn = (folder: string, mode: OutputMode): OutputMode =>
  mode === "stream" || mode.spill === undefined ? mode : { ...mode, spill: { folder, ...mode.spill } }

/** Names the file of long output as those who are confined do. */
const seen = ({ readFrom }: CollectedOutput, from: string, to: string): CollectedOutput => ({
  readFrom: (offset) =>
    Effect.map(readFrom(offset), (read) =>
      read.spillPath?.startsWith(`${from}/`) === true
        ? { ...read, spillPath: posix.join(to, posix.relative(from, read.spillPath)) }
        : read
    )
})

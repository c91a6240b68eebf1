/**
 * `Subprocess` whose programs are confined as the caller is. Over any other `Subprocess`, so whoever starts programs through the seam
 * is confined without knowing: shells, terminals, search, language servers.
 *
 * Where nobody said how the caller is confined, the standing confinement holds: forgetting to say so opens nothing.
 */
import { CurrentConfinement } from "@dsh/world/Confinement"
import type { Confinement } from "@dsh/world/Confinement"
import { Subprocess, SubprocessError } from "@dsh/world/Subprocess"
import type { PtySpec, SpawnSpec } from "@dsh/world/Subprocess"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Sandbox } from "./Sandbox.ts"
import type { SandboxError } from "./Sandbox.ts"
import { SandboxPolicy } from "./SandboxPolicy.ts"

/** `standing`: for callers that are not part of a tool call. */
export const make = (
  standing: Effect.Effect<Confinement, SandboxError>
): Effect.Effect<Subprocess["Type"], never, Subprocess | Sandbox> =>
  Effect.gen(function* () {
    const inner = yield* Subprocess
    const sandbox = yield* Sandbox
    /** What to start instead of it. */
    const confine = <Spec extends SpawnSpec | PtySpec>(spec: Spec): Effect.Effect<Spec, SubprocessError> =>
      Effect.gen(function* () {
        const confinement = (yield* CurrentConfinement) ?? (yield* Effect.mapError(standing, unconfined))
        if (confinement.mode === "danger-full-access") return spec
        const { argv, cwd, env } = yield* Effect.mapError(sandbox.confine(spec, confinement), unconfined)
        return { ...spec, argv, cwd, env: { ...env, ...spec.env } }
      })
    return Subprocess.of({
      ...inner,
      spawn: (spec) => Effect.flatMap(confine(spec), inner.spawn),
      openPty: (spec) => Effect.flatMap(confine(spec), inner.openPty)
    })
  })

/** The inner `Subprocess` is the one it is given; what it gives is confined. */
export const layer: Layer.Layer<Subprocess, never, Subprocess | Sandbox | SandboxPolicy> = Layer.effect(
  Subprocess,
  Effect.flatMap(SandboxPolicy, ({ standing }) => make(standing))
)

const unconfined = ({ cause, code, message }: SandboxError): SubprocessError =>
  new SubprocessError({ code, message, cause })

/**
 * `Fs` that keeps to the confinement of its caller, over any other `Fs`. What counts is where a path really leads: the real path of the
 * deepest ancestor that exists, looked up again at the moment of the change.
 *
 * `/tmp` is the folder that confined commands have there, so files can be handed from one to the other.
 */
import { CurrentConfinement, isHidden, isWithin, isWritable } from "@dsh/world/Confinement"
import type { Confinement } from "@dsh/world/Confinement"
import { Fs, FsError } from "@dsh/world/Fs"
import type { FsTarget } from "@dsh/world/Fs"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { posix } from "node:path"
import type { SandboxError } from "./Sandbox.ts"
import { SandboxPolicy } from "./SandboxPolicy.ts"

/** `standing`: for callers that are not part of a tool call. */
export const make = (standing: Effect.Effect<Confinement, SandboxError>): Effect.Effect<Fs["Type"], never, Fs> =>
  Effect.map(Fs, (inner) => {
    const confinement = Effect.flatMap(CurrentConfinement, (current) =>
      current === undefined ? Effect.mapError(standing, unconfined) : Effect.succeed(current)
    )

    const visible = (target: FsTarget): Effect.Effect<void, FsError> =>
      Effect.flatMap(confinement, (held) =>
        held.mode !== "danger-full-access" && isHidden(held, target.targetKey)
          ? Effect.fail(denied(target, "holds what tools may not see"))
          : Effect.void
      )

    const writable = (target: FsTarget): Effect.Effect<void, FsError> =>
      Effect.gen(function* () {
        const held = yield* confinement
        if (held.mode === "danger-full-access") return
        // A link may have been put in the way since.
        const now = yield* inner.resolve(target.targetKey, { cwd: "/" })
        if (now.targetKey === target.targetKey && isWritable(held, now.targetKey)) return
        return yield* denied(target, reason(held, now.targetKey))
      })

    return Fs.of({
      resolve: (path, { cwd }) =>
        Effect.gen(function* () {
          const held = yield* confinement
          const outside = held.mode === "danger-full-access" ? undefined : temporary(held, posix.resolve(cwd, path))
          if (outside === undefined) return yield* inner.resolve(path, { cwd })
          const { targetKey } = yield* inner.resolve(outside, { cwd: "/" })
          return { targetKey, displayPath: posix.resolve(cwd, path) }
        }),
      stat: (target) => Effect.zipRight(visible(target), inner.stat(target)),
      readBytes: (target, options) => Effect.zipRight(visible(target), inner.readBytes(target, options)),
      streamBytes: (target) => Stream.unwrap(Effect.as(visible(target), inner.streamBytes(target))),
      listDir: (target) => Effect.zipRight(visible(target), inner.listDir(target)),
      write: (target, bytes, options) => Effect.zipRight(writable(target), inner.write(target, bytes, options)),
      modify: (target, change, options) => Effect.zipRight(writable(target), inner.modify(target, change, options))
    })
  })

/** The inner `Fs` is the one it is given; what it gives is confined. */
export const layer: Layer.Layer<Fs, never, Fs | SandboxPolicy> = Layer.effect(
  Fs,
  Effect.flatMap(SandboxPolicy, ({ standing }) => make(standing))
)

/** The real place of a path under `/tmp`; a workspace that is there is itself. */
const temporary = ({ shown, temp, workspace }: Confinement, path: string): string | undefined => {
  if (!isWithin(path, "/tmp")) return undefined
  if ([workspace, temp, ...shown].some((place) => isWithin(path, place))) return undefined
  return posix.join(temp, posix.relative("/tmp", path))
}

const unconfined = ({ cause, message }: SandboxError): FsError =>
  new FsError({ code: "FS_SANDBOX_DENIED", message, cause })

const denied = ({ displayPath }: FsTarget, why: string): FsError =>
  new FsError({ code: "FS_SANDBOX_DENIED", message: `${displayPath} ${why}` })

const reason = (held: Confinement, path: string): string => {
  if (held.mode === "read-only") return "cannot be changed: nothing but /tmp can in mode read-only"
  if (isWithin(path, held.workspace)) return "cannot be changed: programs outside of the sandbox act on it"
  return `cannot be changed: it leads outside of the workspace ${held.workspace}, and the mode is workspace-write`
}

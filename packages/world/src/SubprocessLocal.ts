/**
 * `Subprocess` on this machine, over `node:child_process`.
 *
 * Why not `@effect/platform/Command`: its finalizer waits for a stubborn child without limit, and it leaves background children of a
 * finished shell alive. Here every child leads a process group, a call is over when its own process is, and ending a tree never
 * makes its owner wait for the grace period.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { AmbientEnv } from "./AmbientEnv.ts"
import { ChangeWitness } from "./ChangeWitness.ts"
import * as ChildEnv from "./ChildEnv.ts"
import { Subprocess, SubprocessError } from "./Subprocess.ts"
import * as Executable from "./SubprocessLocal/Executable.ts"
import * as Launch from "./SubprocessLocal/Launch.ts"
import * as LiveTrees from "./SubprocessLocal/LiveTrees.ts"
import * as LocalProcess from "./SubprocessLocal/LocalProcess.ts"
import { NamedPipes } from "./SubprocessLocal/NamedPipes.ts"
import { PrivateFolder } from "./SubprocessLocal/PrivateFolder.ts"
import * as Refusal from "./SubprocessLocal/Refusal.ts"
import * as Watcher from "./SubprocessLocal/Watcher.ts"

export interface Options {
  /** Milliseconds from SIGTERM to SIGKILL. Default 3000. */
  readonly graceMs?: number
  /** Where the folder for spilled output is made; it goes with the service. Default: the system's temporary folder. */
  readonly spillParent?: string
}

export const make = (options: Options = {}): Effect.Effect<Subprocess["Type"], never, Scope.Scope> =>
  Effect.gen(function* () {
    const ambient = yield* AmbientEnv
    let scrubbed: Record<string, string> | undefined
    const inherited = () => (scrubbed ??= ChildEnv.scrub(ambient))
    const folder = yield* Effect.acquireRelease(
      Effect.sync(() => new PrivateFolder(options.spillParent)),
      (folder) => Effect.sync(() => folder.remove())
    )
    const resources = { folder, pipes: new NamedPipes(folder), watcher: yield* Watcher.shared }
    // Outlives the trees: their watchers report the end that closing the service brings about.
    const watchers = yield* Effect.acquireRelease(Scope.make(), (scope) => Scope.close(scope, Exit.void))
    const trees = yield* LiveTrees.make

    const service = { watchers, trees }
    const graceMs = options.graceMs ?? 3000

    return Subprocess.of({
      spawn: Effect.fn("Subprocess.spawn")(function* (spec) {
        if (trees.isClosed()) return yield* new SubprocessError(serviceClosed)
        const argv = yield* Refusal.validate(spec)
        const env = ChildEnv.merge(inherited(), spec.env)
        const started = yield* announced(spec.stdin === "pipe" ? "interactive" : "busy")
        const process = yield* Effect.acquireRelease(
          Launch.launch(spec, argv, env, resources).pipe(
            Effect.flatMap((launched) =>
              LocalProcess.make(launched, {
                ...service,
                graceMs: spec.graceMs ?? graceMs,
                withStdin: spec.stdin === "pipe"
              })
            )
          ),
          (process) => process.release
        )
        yield* started(process.exit)
        return process
      }),
      openPty: Effect.fn("Subprocess.openPty")(function* (spec) {
        if (trees.isClosed()) return yield* new SubprocessError(serviceClosed)
        // Loaded with the first one: most programs never open a terminal.
        const Pty = yield* Effect.promise(() => import("./SubprocessLocal/Pty.ts"))
        const env = ChildEnv.merge(inherited(), spec.env)
        const started = yield* announced("interactive")
        const pty = yield* Effect.acquireRelease(
          Pty.open(spec, env, { ...service, graceMs, watcher: resources.watcher }),
          (pty) => pty.release
        )
        yield* started(pty.exit)
        return pty
      }),
      resolveExecutable: (command, { env } = {}) => Executable.resolve(command, ChildEnv.merge(inherited(), env))
    })
  })

export const layer = (options?: Options): Layer.Layer<Subprocess> => Layer.scoped(Subprocess, make(options))

const unseen = () => Effect.void

const announced = (kind: "interactive" | "busy") =>
  Effect.flatMap(ChangeWitness, (witness) => (witness === undefined ? Effect.succeed(unseen) : witness.program(kind)))

const serviceClosed = {
  code: "SUBPROCESS_CLOSED",
  message: "the subprocess service has been shut down; nothing can be started any more"
} as const

/**
 * Starting one child: the validated spec becomes a running process whose pipes are being read and whose end is being watched.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as ChildProcess from "node:child_process"
import { closeSync } from "node:fs"
import type { Readable, Writable } from "node:stream"
import type { OutputMode, SpawnSpec, SubprocessError } from "../Subprocess.ts"
import type { NamedPipes } from "./NamedPipes.ts"
import * as OutputCollector from "./OutputCollector.ts"
import type { PrivateFolder } from "./PrivateFolder.ts"
import { ProcessTree } from "./ProcessTree.ts"
import * as Refusal from "./Refusal.ts"
import type { Watcher } from "./Watcher.ts"

export interface Output {
  readonly readable: Readable
  /** Undefined for a raw stream. */
  readonly collector: OutputCollector.OutputCollector | undefined
}

export interface ExitStatus {
  readonly exitCode: number | null
  readonly signal: string | null
}

export interface Launched {
  readonly tree: ProcessTree
  readonly stdin: Writable | null
  readonly stdout: Output
  readonly stderr: Output
  readonly exited: Effect.Effect<ExitStatus>
  /** Settles when every collected pipe has ended. */
  readonly drained: Effect.Effect<void>
}

/** What all processes of a service share. */
export interface Resources {
  /** For spilled output. */
  readonly folder: PrivateFolder
  readonly pipes: NamedPipes
  readonly watcher: Watcher
}

export const launch = Effect.fnUntraced(function* (
  spec: SpawnSpec,
  [program, ...args]: readonly [string, ...Array<string>],
  env: Record<string, string>,
  { folder, pipes, watcher }: Resources
): Effect.fn.Return<Launched, SubprocessError> {
  yield* watcher.ready
  const exited = yield* Deferred.make<ExitStatus>()
  const drained = yield* Deferred.make<void>()
  const outPipe = yield* pipes.take
  const errPipe = yield* pipes.take

  return yield* Effect.async<Launched, SubprocessError>((resume) => {
    const refuse = (cause: unknown) => {
      outPipe?.readable.destroy()
      errPipe?.readable.destroy()
      resume(Effect.fail(Refusal.spawnError(program, spec.cwd, cause)))
    }
    const spawn = () => {
      try {
        return ChildProcess.spawn(program, args, {
          cwd: spec.cwd,
          env: { ...env, ...watcher.mark },
          stdio: [
            spec.stdin === "ignore" ? "ignore" : "pipe",
            outPipe?.writeEnd ?? "pipe",
            errPipe?.writeEnd ?? "pipe"
          ],
          // A session of its own: one signal reaches every descendant, and /dev/tty does not exist for any of them.
          detached: true
        })
      } finally {
        // The child has its own by now, and while we hold one the pipe would never end.
        if (outPipe !== undefined) closeSync(outPipe.writeEnd)
        if (errPipe !== undefined) closeSync(errPipe.writeEnd)
      }
    }

    let child: ChildProcess.ChildProcess
    try {
      child = spawn()
    } catch (cause) {
      return refuse(cause)
    }
    let started = false
    child.on("error", (cause) => {
      if (!started) refuse(cause)
    })
    const out = outPipe?.readable ?? child.stdout
    const err = errPipe?.readable ?? child.stderr
    if (child.pid === undefined || out === null || err === null) return

    // All listeners are in place in the tick of the spawn: no byte and no exit can come before somebody listens.
    const tree = new ProcessTree(child.pid, watcher.watch(child.pid))
    const stdout = listen(`stdout-${child.pid}`, out, spec.stdout, folder)
    const stderr = listen(`stderr-${child.pid}`, err, spec.stderr, folder)
    whenClosed([stdout, stderr], () => Deferred.unsafeDone(drained, Effect.void))
    child.once("exit", (exitCode, signal) => {
      tree.leaderExited()
      Deferred.unsafeDone(exited, Effect.succeed({ exitCode, signal }))
    })
    // A child that ends without reading its input is no failure of ours.
    child.stdin?.on("error", () => {})
    if (typeof spec.stdin === "object") child.stdin?.end(spec.stdin.data)

    child.once("spawn", () => {
      started = true
      resume(
        Effect.succeed({
          tree,
          stdin: child.stdin,
          stdout,
          stderr,
          exited: Deferred.await(exited),
          drained: Deferred.await(drained)
        })
      )
    })
  })
})

const listen = (name: string, readable: Readable, mode: OutputMode, folder: PrivateFolder): Output => {
  // A pipe that breaks has ended; whoever reads it hears of it there.
  readable.on("error", () => {})
  if (mode === "stream") return { readable, collector: undefined }
  const collector = OutputCollector.make(name, mode, folder)
  readable.on("data", (bytes: Buffer) => collector.push(bytes))
  readable.once("close", () => collector.close())
  return { readable, collector }
}

const whenClosed = (outputs: ReadonlyArray<Output>, done: () => void): void => {
  const collected = outputs.filter(({ collector }) => collector !== undefined)
  let open = collected.length
  if (open === 0) done()
  for (const { readable } of collected) {
    readable.once("close", () => {
      if (--open === 0) done()
    })
  }
}

/**
 * The handle of a launched process: when it counts as ended, and how it is ended.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Writable } from "node:stream"
import { SubprocessError } from "../Subprocess.ts"
import type { CollectedOutput, ProcessExit, ProcessHandle, ProcessStdin } from "../Subprocess.ts"
import * as Ending from "./Ending.ts"
import type { Launched, Output } from "./Launch.ts"
import * as RawOutput from "./RawOutput.ts"

// What the process wrote is in the pipe when it exits and is read at once; only a stray holder makes us wait this long.
const drainMs = 250

export interface Options extends Ending.Service {
  readonly graceMs: number
  readonly withStdin: boolean
}

export interface LocalProcess extends ProcessHandle {
  /** Ends what is left of the tree; prompt. */
  readonly release: Effect.Effect<void>
}

export const make = Effect.fnUntraced(function* (launched: Launched, options: Options): Effect.fn.Return<LocalProcess> {
  const { tree } = launched
  const outputs = [launched.stdout, launched.stderr]
  const exit = yield* Deferred.make<ProcessExit>()
  const { release, terminate } = yield* Ending.make(options, tree, options.graceMs)

  let end: ProcessExit = { exitCode: null, signal: null, pipeHeld: true }
  const settle = Effect.gen(function* () {
    end = { ...(yield* launched.exited), pipeHeld: true }
    if (!tree.isAlive()) options.trees.remove(tree)
    end = { ...end, pipeHeld: !(yield* drained(launched)) }
  }).pipe(
    Effect.interruptible,
    // When the service goes, those who wait for the process still hear what is known.
    Effect.ensuring(
      Effect.suspend(() => {
        for (const output of outputs) if (output.collector !== undefined) output.readable.destroy()
        return Deferred.succeed(exit, end)
      })
    )
  )
  yield* Effect.forkIn(settle, options.watchers)

  return {
    pid: tree.leader,
    exit: Deferred.await(exit),
    stdin: stdin(options.withStdin ? launched.stdin : null),
    stdout: rawOf(launched.stdout),
    stderr: rawOf(launched.stderr),
    collected: { stdout: collectedOf(launched.stdout), stderr: collectedOf(launched.stderr) },
    terminate,
    release: Effect.suspend(() => {
      launched.stdin?.destroy()
      for (const output of outputs) if (output.collector === undefined) output.readable.destroy()
      return release
    })
  }
})

/** False when somebody else keeps a collected pipe open. */
const drained = (launched: Launched): Effect.Effect<boolean> =>
  launched.drained.pipe(
    Effect.as(true),
    Effect.timeoutTo({ duration: drainMs, onSuccess: (done) => done, onTimeout: () => false }),
    Ending.inRealTime,
    // When the event loop was blocked the timer is up before the pipes were looked at: let them be.
    Effect.tap((done) => (done ? Effect.void : pollOnce)),
    Effect.map((done) => done || (ended(launched.stdout) && ended(launched.stderr)))
  )

const pollOnce: Effect.Effect<void> = Effect.async((resume) => {
  const immediate = setImmediate(() => resume(Effect.void))
  return Effect.sync(() => clearImmediate(immediate))
})

const ended = (output: Output): boolean => output.collector === undefined || output.readable.readableEnded

const rawOf = (output: Output): ProcessHandle["stdout"] =>
  output.collector === undefined ? RawOutput.stream(output.readable) : Stream.empty

const collectedOf = (output: Output): CollectedOutput => ({
  readFrom: (offset) =>
    Effect.sync(
      () => output.collector?.read(offset) ?? { bytes: new Uint8Array(0), offset: 0, nextOffset: 0, lossy: false }
    )
})

const stdin = (pipe: Writable | null): ProcessStdin => ({
  write: (bytes) =>
    Effect.async((resume) => {
      if (pipe === null || !pipe.writable) return resume(Effect.fail(stdinClosed()))
      pipe.write(bytes, (cause) => resume(cause ? Effect.fail(stdinClosed(cause)) : Effect.void))
    }),
  end: Effect.sync(() => void pipe?.end())
})

const stdinClosed = (cause?: Error): SubprocessError =>
  new SubprocessError({
    code: "SUBPROCESS_STDIN_CLOSED",
    message: "the process does not take input any more",
    ...(cause !== undefined && { cause })
  })

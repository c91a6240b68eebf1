/**
 * Opening a terminal and starting a program on it.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import { statSync } from "node:fs"
import { constants } from "node:os"
import { SubprocessError } from "../Subprocess.ts"
import type { ProcessExit, PtyHandle, PtySpec } from "../Subprocess.ts"
import * as Ending from "./Ending.ts"
import * as Executable from "./Executable.ts"
import * as InputWait from "./Pty/InputWait.ts"
import * as Keyboard from "./Pty/Keyboard.ts"
import { native } from "./Pty/Native.ts"
import * as Screen from "./Pty/Screen.ts"
import * as Refusal from "./Refusal.ts"
import { SessionTree } from "./SessionTree.ts"
import * as Signal from "./Signal.ts"
import type { Watcher } from "./Watcher.ts"

export interface Options extends Ending.Service {
  readonly graceMs: number
  readonly watcher: Watcher
}

export interface LocalPty extends PtyHandle {
  /** Ends what is left of the session; prompt. */
  readonly release: Effect.Effect<void>
}

type Exit = Pick<ProcessExit, "exitCode" | "signal">

export const open = Effect.fnUntraced(function* (
  spec: PtySpec,
  env: Record<string, string>,
  options: Options
): Effect.fn.Return<LocalPty, SubprocessError> {
  const [name, ...args] = yield* Refusal.validatePty(spec)
  // The terminal is there before the program is: what is wrong with that would be known to nobody but its screen.
  const program = yield* Executable.resolve(name, env)
  yield* directory(spec.cwd)
  const { close, foreground, open } = yield* native
  yield* options.watcher.ready
  const exit = yield* Deferred.make<Exit>()

  const state = { closed: false, released: false }

  // In one tick: no byte and no end can come before somebody listens.
  const { input, keyboard, output, pty, screen, tree } = yield* Effect.try({
    try: () => {
      const { input, output, pty } = open([program, ...args], spec.cwd, { ...env, ...options.watcher.mark }, spec)
      const tree = new SessionTree(pty.pid, options.watcher.watch(pty.pid))
      const screen = new Screen.Screen({ pause: () => output.pause(), resume: () => output.resume() })
      const keyboard = Keyboard.make(input)
      output.on("data", (bytes: Buffer) => screen.push(bytes))
      // On Linux a terminal whose other end is closed gives an error.
      output.on("error", () => {})
      output.once("close", () => {
        keyboard.close()
        if (!state.released) for (const bytes of Screen.rest(input)) screen.push(bytes)
        screen.end()
        state.closed = true
        close(input)
      })
      pty.onExit((end) => {
        keyboard.close()
        tree.leaderExited()
        Deferred.unsafeDone(exit, Effect.succeed(statusOf(end)))
      })
      return { input, keyboard, output, pty, screen, tree }
    },
    catch: (cause) => Refusal.spawnError(program, spec.cwd, cause)
  })
  const ending = yield* Ending.make(options, tree, spec.graceMs ?? options.graceMs)

  const groupNow = Effect.map(Deferred.isDone(exit), (over) => (over || state.closed ? 0 : foreground(input)))
  return {
    pid: pty.pid,
    output: screen.stream,
    exit: Deferred.await(exit),
    write: keyboard.write,
    foreground: Effect.map(groupNow, (group) =>
      group > 0 ? { group, waiting: InputWait.of(group, pty.pid) } : undefined
    ),
    signal: (signal) =>
      Effect.filterOrFail(
        groupNow,
        (group) => group > 0 && Signal.send(-group, signal) === "sent",
        () => Keyboard.closed()
      ),
    terminate: ending.terminate,
    release: Effect.suspend(() => {
      keyboard.close()
      state.released = true
      // The terminal is gone with our last descriptor of it.
      output.destroy()
      return ending.release
    })
  }
})

const directory = (cwd: string): Effect.Effect<void, SubprocessError> =>
  Effect.try({
    try: () => {
      if (!statSync(cwd).isDirectory()) throw Object.assign(new Error("not a directory"), { code: "ENOTDIR" })
    },
    catch: (cause) => Refusal.spawnError("the program", cwd, cause)
  })

const statusOf = ({ exitCode, signal }: { readonly exitCode: number; readonly signal?: number }): Exit => {
  if (signal === undefined || signal === 0) return { exitCode, signal: null }
  const known = Object.entries(constants.signals).find(([, number]) => number === signal)
  return { exitCode: null, signal: known?.[0] ?? `SIG${signal}` }
}

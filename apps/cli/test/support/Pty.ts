/**
 * The command in a real terminal: what is typed goes to a PTY, and what it writes to an emulator whose screen can be looked at.
 */
import { spawn } from "@lydell/node-pty"
import xterm from "@xterm/headless"
import { assert } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { readFileSync } from "node:fs"
import { bin } from "./Dsh.ts"
import type { Workspace } from "./Workspace.ts"

export interface Options {
  readonly columns?: number
  readonly rows?: number
  readonly env?: Readonly<Record<string, string>>
}

export interface Pty {
  readonly pid: number
  /** As keys. */
  readonly type: (keys: string) => void
  /** What is to be seen now, without the white space at the ends of lines. */
  readonly screen: () => string
  /** The same with what has scrolled away. */
  readonly all: () => string
  /** All that was written, as it was. */
  readonly raw: () => string
  /** Waits until the screen, or what has scrolled away with it, is as wanted. */
  readonly until: (
    wanted: RegExp | string | ((screen: string) => boolean),
    where?: "screen" | "all"
  ) => Effect.Effect<string>
  readonly resize: (columns: number, rows?: number) => void
  readonly kill: (signal: NodeJS.Signals) => void
  /** The line and the column of the cursor, from 0. */
  readonly cursor: () => readonly [row: number, column: number]
  readonly exit: Effect.Effect<{ readonly code: number; readonly signal: number | undefined }>
  /** The terminal goes away, as when its window is closed. */
  readonly hangUp: Effect.Effect<void>
}

/** How long something may take to be seen, in milliseconds: a machine under load is slow. */
const patience = 20_000

const ours = /^(DSH_|DEEPSEEK_|NO_COLOR$|FORCE_COLOR$|NODE_OPTIONS$|NODE_EXTRA_CA_CERTS$|CI$|TMUX)/

export const open = (args: ReadonlyArray<string>, workspace: Workspace, options: Options = {}) =>
  Effect.acquireRelease(
    Effect.sync((): Pty & { readonly end: () => void } => {
      const { columns = 80, rows = 24 } = options
      const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !ours.test(name)))
      const env = { ...inherited, TERM: "xterm-256color", ...workspace.env, ...options.env }
      const pty = spawn(process.execPath, [bin, ...args], { cols: columns, rows, cwd: workspace.project, env })
      const emulator = new xterm.Terminal({ cols: columns, rows, scrollback: 5000, allowProposedApi: true })
      let raw = ""
      let ended: { readonly code: number; readonly signal: number | undefined } | undefined
      const listeners = new Set<() => void>()
      const tell = (): void => {
        for (const listener of listeners) listener()
      }
      emulator.onData((answer) => pty.write(answer))
      pty.onData((text) => {
        raw += text
        emulator.write(text, tell)
      })
      pty.onExit(({ exitCode, signal }) => {
        ended = { code: exitCode, signal }
        emulator.write("", tell)
      })
      const lines = (from: number): string => {
        const { active } = emulator.buffer
        const out: Array<string> = []
        for (let i = from; i < active.length; i++) out.push(active.getLine(i)?.translateToString(true) ?? "")
        return out.join("\n").trimEnd()
      }
      const screen = () => lines(emulator.buffer.active.baseY)
      const all = () => lines(0)

      const when = <A>(look: () => A | undefined, problem: () => string) =>
        Effect.async<A>((resume) => {
          const done = (effect: Effect.Effect<A>): void => {
            clearTimeout(timer)
            listeners.delete(check)
            resume(effect)
          }
          const check = (): void => {
            const found = look()
            if (found !== undefined) done(Effect.succeed(found))
          }
          const timer = setTimeout(() => done(Effect.die(new Error(problem()))), patience)
          listeners.add(check)
          check()
          return Effect.sync(() => {
            clearTimeout(timer)
            listeners.delete(check)
          })
        })

      return {
        pid: pty.pid,
        type: (keys) => pty.write(keys),
        screen,
        all,
        raw: () => raw,
        until: (wanted, where = "screen") => {
          const isSeen =
            typeof wanted === "function"
              ? wanted
              : (seen: string) => (typeof wanted === "string" ? seen.includes(wanted) : wanted.test(seen))
          const look = where === "screen" ? screen : all
          return when(
            () => {
              const seen = look()
              return isSeen(seen) ? seen : undefined
            },
            () => `never seen: ${String(wanted)}${ended === undefined ? "" : ` (it ended: ${ended.code})`}\n${look()}`
          )
        },
        resize: (cols, lineCount = rows) => {
          emulator.resize(cols, lineCount)
          pty.resize(cols, lineCount)
        },
        kill: (signal) => void process.kill(pty.pid, signal),
        cursor: () => [emulator.buffer.active.cursorY, emulator.buffer.active.cursorX],
        exit: when(
          () => ended,
          () => `it does not end\n${screen()}`
        ),
        hangUp: Effect.sync(() => (pty as unknown as { readonly destroy: () => void }).destroy()),
        end: () => {
          if (ended === undefined) pty.kill("SIGKILL")
          emulator.dispose()
        }
      }
    }),
    (terminal) => Effect.sync(terminal.end)
  )

/** No process of that id is left. */
export const assertGone = (pid: number): void => {
  assert.throws(() => process.kill(pid, 0), /ESRCH/)
}

const often = Schedule.spaced("20 millis").pipe(Schedule.upTo("10 seconds"))

/** Looks again until it does not throw. */
export const untilTrue = (look: () => void): Effect.Effect<void> => Effect.orDie(Effect.retry(Effect.try(look), often))

/** No process of that id is left, soon. */
export const untilGone = (pid: number): Effect.Effect<void> => untilTrue(() => assertGone(pid))

/** The process stands still until it is told to go on. */
export const untilStopped = (pid: number): Effect.Effect<void> =>
  untilTrue(() => assert.match(readFileSync(`/proc/${pid}/stat`, "utf8"), /^\d+ \(.*\) T/))

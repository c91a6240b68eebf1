/**
 * Terminals over real shells, and questions about processes.
 */
import * as Sessions from "@dsh/session/Sessions"
import type { Session } from "@dsh/session/Session"
import * as SubprocessLocal from "@dsh/world/SubprocessLocal"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import { execFileSync } from "node:child_process"
import * as TerminalBash from "../src/TerminalBash.ts"
import { Terminals } from "../src/Terminals.ts"
import * as TerminalsLocal from "../src/TerminalsLocal.ts"

const subprocess = SubprocessLocal.layer({ graceMs: 300 })

export const terminals = (options: TerminalBash.Options = {}, world = subprocess) =>
  TerminalBash.layer({ disposeGraceMs: 300, handoffGraceMs: 100, ...options }).pipe(
    Layer.provideMerge(TerminalsLocal.layer),
    Layer.provideMerge(Sessions.layer),
    Layer.provideMerge(world)
  )

export const session = Effect.flatMap(Sessions.Sessions, (sessions) => sessions.create({ cwd: "/" }))

export const opened = (owner: Session, cwd = "/") =>
  Effect.gen(function* () {
    const service = yield* Terminals
    const info = yield* service.open({ type: "shell", owner, cwd })
    return {
      ...info,
      send: (text: string, options?: Parameters<typeof service.send>[3]) => service.send(info.id, owner, text, options),
      read: (offset = 0, count = 500) => service.read(info.id, owner, offset, count),
      signal: (signal: Parameters<typeof service.signal>[2]) => service.signal(info.id, owner, signal),
      close: service.close(info.id, owner)
    }
  })

/** Looks again until `done` holds; the test's own time limit is the deadline. */
export const eventually = (done: () => boolean): Effect.Effect<void> =>
  Effect.asVoid(Effect.repeat(Effect.sync(done), { until: (held) => held, schedule: Schedule.spaced("10 millis") }))

/** The command lines that hold `mark`. */
export const running = (mark: string): ReadonlyArray<string> =>
  execFileSync("ps", ["-A", "-ww", "-o", "args="], { encoding: "utf8" })
    .split("\n")
    .filter((line) => line.includes(mark))

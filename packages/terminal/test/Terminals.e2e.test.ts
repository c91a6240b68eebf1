// In a process of its own, whose descriptors are nobody else's.
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber } from "effect"
import { readdirSync, readlinkSync } from "node:fs"
import { Terminals } from "../src/Terminals.ts"
import type { TerminalError } from "../src/Terminals.ts"
import { eventually, running, session, terminals } from "./support.ts"

const descriptors = () => readdirSync("/dev/fd").length

/** How many of them are our ends of terminals; where that cannot be seen, none. */
const masters = () =>
  readdirSync("/dev/fd").filter((fd) => {
    try {
      return readlinkSync(`/dev/fd/${fd}`).includes("ptmx")
    } catch {
      return false
    }
  }).length

describe("terminals", () => {
  it.scopedLive("leave neither processes nor descriptors behind, however they end", () =>
    Effect.gen(function* () {
      const service = yield* Terminals
      const owner = yield* session
      const mark = `619${process.pid}`
      const ways: ReadonlyArray<(id: string) => Effect.Effect<unknown, TerminalError>> = [
        (id: string) => service.close(id, owner),
        (id: string) => service.send(id, owner, "exit"),
        (id: string) => service.send(id, owner, `sleep ${mark} & sleep ${mark}`, { timeoutMs: 300, inferIdle: false }),
        (id: string) => Effect.flatMap(Effect.fork(service.send(id, owner, `sleep ${mark}`)), Fiber.interrupt)
      ]
      const round = Effect.forEach(ways, (end) =>
        Effect.flatMap(service.open({ type: "shell", owner, cwd: "/" }), ({ id }) =>
          Effect.zipRight(end(id), Effect.ignore(service.close(id, owner)))
        )
      )
      yield* round
      const before = descriptors()
      yield* Effect.replicateEffect(round, 3)
      for (let n = 0; n < 8; n++) {
        const opening = yield* Effect.fork(service.open({ type: "shell", owner, cwd: "/" }))
        yield* Effect.sleep(n * 5)
        // A quick one is open by then.
        const exit = yield* Fiber.interrupt(opening)
        if (Exit.isSuccess(exit)) yield* service.close(exit.value.id, owner)
      }
      yield* eventually(() => masters() === 0)
      // Others may have opened something meanwhile.
      assert.isBelow(descriptors(), before + 15)
      yield* eventually(() => running(mark).length === 0)
      assert.deepStrictEqual(yield* service.list(owner), [])
    }).pipe(Effect.provide(terminals()))
  )
})

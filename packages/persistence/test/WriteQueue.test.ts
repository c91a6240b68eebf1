import { assert, describe, it } from "@effect/vitest"
import * as PersistenceJsonl from "@dsh/persistence/PersistenceJsonl"
import * as WriteQueue from "@dsh/persistence/WriteBehind/WriteQueue"
import type { LogEntry } from "@dsh/protocol/ChunkRun"
import { SessionId } from "@dsh/protocol/Ids"
import { Deferred, Effect, Exit, Fiber, Scope } from "effect"
import * as Disk from "./support/Disk.ts"
import { RuntimeOps } from "./support/RuntimeOps.ts"

const entry = (seq: number): LogEntry => ({ type: "step/start", seq, time: 1, data: { turn: 1, step: seq } })

const silent = { window: 200, onFailure: () => Effect.void }

describe("the price of a checkpoint", () => {
  const id = SessionId("s")

  it.scoped("is one write, no fiber, and few operations of the runtime", () =>
    Effect.gen(function* () {
      const { root } = yield* Disk.Disk
      const persistence = yield* PersistenceJsonl.make({ root })
      const ops = new RuntimeOps()
      yield* ops.count(
        Effect.scoped(
          Effect.gen(function* () {
            yield* persistence.create({ version: 1, id, createdAt: 1, cwd: "/" })
            const queue = yield* WriteQueue.make({ ...silent, write: (batch) => persistence.append(id, batch) })
            for (let seq = 0; seq < 10; seq++) {
              queue.push(entry(seq), false)
              yield* queue.flush
            }
            const { log } = yield* Disk.Disk
            log.length = 0
            ops.reset()
            queue.push(entry(10), false)
            yield* queue.flush
            assert.deepStrictEqual([log.length, ops.fibers], [1, 0])
            // More than half of them belong to the file of the platform.
            assert.isBelow(ops.ops, 75)
            ops.reset()
            yield* queue.flush
            assert.deepStrictEqual([ops.ops, ops.fibers], [2, 0])
          })
        )
      )
      assert.strictEqual((yield* persistence.load(id)).length, 11)
    }).pipe(Effect.provide(Disk.layer))
  )
})

describe("closing", () => {
  const open = Effect.gen(function* () {
    const scope = yield* Scope.make()
    const gate = yield* Deferred.make<void>()
    const written: Array<number> = []
    const failures: Array<unknown> = []
    const queue = yield* WriteQueue.make<never>({
      window: 200,
      write: (batch) => Effect.andThen(Deferred.await(gate), () => void written.push(batch.length)),
      onFailure: (cause) => Effect.sync(() => void failures.push(cause))
    }).pipe(Scope.extend(scope))
    return { scope, gate, written, failures, queue }
  })

  it.effect("waits for a write that is under way, and does not take it for failed", () =>
    Effect.gen(function* () {
      const { failures, gate, queue, scope, written } = yield* open
      queue.push(entry(0), true)
      yield* Effect.yieldNow()
      const closing = yield* Effect.fork(Scope.close(scope, Exit.void))
      yield* Effect.yieldNow()
      assert.strictEqual((yield* Fiber.poll(closing))._tag, "None")
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(closing)
      assert.deepStrictEqual([written, failures, queue.size()], [[1], [], 0])
    })
  )

  it.effect("lets nobody wait for what will not be written any more", () =>
    Effect.gen(function* () {
      const { gate, queue, scope, written } = yield* open
      queue.push(entry(0), true)
      yield* Effect.yieldNow()
      queue.push(entry(1), false)
      const waiting = yield* Effect.fork(queue.flush)
      yield* Effect.yieldNow()
      const closing = yield* Effect.fork(Scope.close(scope, Exit.void))
      yield* Effect.yieldNow()
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(closing)
      assert.isTrue(Exit.isInterrupted(yield* Fiber.await(waiting)))
      assert.isTrue(Exit.isInterrupted(yield* Effect.exit(queue.flush)))
      assert.deepStrictEqual([written, queue.size()], [[1], 1])
    })
  )
})

// What a fork takes over from its source and what it does not.
import { SessionId } from "@dsh/protocol/Ids"
import type { StreamChunk } from "@dsh/protocol/StreamChunk"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import * as Sessions from "../src/Sessions.ts"

const id = SessionId("source")
const sessions = Sessions.Sessions

const delta = (text: string): StreamChunk => ({ type: "text-delta", index: 0, text })

/** A closed turn with four deltas (events 0 to 5), one log-only event, and an open turn. */
const source = Effect.gen(function* () {
  const session = yield* (yield* sessions).create({ id, cwd: "/w", origin: "subagent", agentPreset: "minimal" })
  yield* session.append("turn/start", { turn: 1 })
  yield* session.appendChunks(1, 1, [delta("a"), delta("b"), delta("c"), delta("d")])
  yield* session.append("turn/end", { turn: 1, reason: { kind: "completed" } })
  yield* session.append("agent/inbox/spliced", { target: "next-turn", start: 0, inserted: [] })
  yield* session.append("turn/start", { turn: 2 })
  return session
})

const run = <E>(test: Effect.Effect<void, E, Sessions.Sessions | Sessions.SessionRead>) =>
  Effect.provide(test, Sessions.layer)

describe("a fork", () => {
  it.scoped(
    "has the history, a parent and the folder; is of the same preset; it has neither the origin nor the inbox",
    () =>
      run(
        Effect.scoped(
          Effect.gen(function* () {
            const parent = yield* source
            const child = yield* (yield* sessions).fork(id, { at: 6, id: SessionId("child") })
            assert.deepStrictEqual({ ...child.header, createdAt: 0 }, {
              version: 1,
              id: SessionId("child"),
              createdAt: 0,
              cwd: "/w",
              parentSession: id,
              seedLength: 7,
              agentPreset: "minimal"
            } as never)
            assert.deepStrictEqual([...child.range(0, 7)], [...parent.range(0, 7)])
            assert.strictEqual(child.at(7)?.type, "session/end-seed")
            assert.deepStrictEqual([child.length, child.firstLiveSeq], [8, 7])
            yield* child.append("turn/start", { turn: 2 })
            assert.strictEqual(parent.length, 8)
          })
        )
      )
  )

  it.scoped("begins where no turn is open", () =>
    run(
      Effect.scoped(
        Effect.gen(function* () {
          yield* source
          const fork = (at?: number) =>
            Effect.flatMap(sessions, (store) => Effect.either(store.fork(id, at === undefined ? {} : { at })))
          for (const [at, code, hint] of [
            [undefined, "OPEN_TURN", "turn 2 is open; the last event before it is 6"],
            [2, "OPEN_TURN", "turn 1 is open"],
            [0, "OPEN_TURN", "turn 1 is open"],
            [8, "INVALID_BOUNDARY", "from 0 to 7"],
            [-1, "INVALID_BOUNDARY", "from 0 to 7"],
            [1.5, "INVALID_BOUNDARY", "from 0 to 7"]
          ] as const) {
            const outcome = yield* fork(at)
            assert.isTrue(outcome._tag === "Left" && outcome.left.code === code, `${at}`)
            if (outcome._tag === "Left") assert.include(outcome.left.message, hint)
          }
          assert.strictEqual((yield* fork(5))._tag, "Right")
        })
      )
    )
  )

  it.scoped("of an empty session is empty, of a taken id is refused, of nothing is not found", () =>
    run(
      Effect.scoped(
        Effect.gen(function* () {
          const store = yield* sessions
          yield* store.create({ id })
          const child = yield* store.fork(id)
          assert.deepStrictEqual([child.header.parentSession, child.header.seedLength], [id, 0])
          assert.strictEqual((yield* Effect.flip(store.fork(id, { id, at: 99 }))).code, "SESSION_ALREADY_EXISTS")
          assert.strictEqual((yield* Effect.flip(store.fork(SessionId("none")))).code, "SESSION_NOT_FOUND")
        })
      )
    )
  )

  it.scoped("reads a session that is not live from whoever keeps it, and cuts a packed run where it has to", () =>
    run(
      Effect.scoped(
        Effect.gen(function* () {
          const store = yield* sessions
          const header = { version: 1, id, createdAt: 0, cwd: "/kept" } as const
          const texts = ["a", "b", "c"]
          const entries = [{ kind: "text-delta", turn: 1, step: 1, index: 0, seq: 0, times: [1, 2, 3], texts }] as const
          yield* (yield* Sessions.SessionRead).use("shelf", (asked) =>
            Effect.succeed(
              asked === id
                ? Option.some({ header, entries: entries.map((run) => ({ ...run, times: [...run.times] })) })
                : Option.none()
            )
          )
          const child = yield* store.fork(id, { at: 1 })
          assert.strictEqual(child.header.cwd, "/kept")
          assert.deepStrictEqual(
            [...child.range(0, 2)].map(({ time }) => time),
            [1, 2]
          )
          assert.strictEqual(child.at(2)?.type, "session/end-seed")
        })
      )
    )
  )
})

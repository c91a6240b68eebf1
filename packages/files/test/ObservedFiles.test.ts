import { CallId, MessageId, SessionId } from "@dsh/protocol/Ids"
import * as Message from "@dsh/protocol/Message"
import type { SessionEvent } from "@dsh/protocol/SessionEvent"
import * as SessionHeader from "@dsh/protocol/SessionHeader"
import * as Session from "@dsh/session/Session"
import type { ToolOutcome } from "@dsh/tools/ToolHooks"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { codeOf, edit, folder, read, tools, write } from "./support.ts"

const sessionOf = (cwd: string, seed: Iterable<SessionEvent> = []) =>
  Session.make({
    header: Either.getOrThrow(SessionHeader.make({ id: SessionId("s1"), createdAt: 0, cwd })),
    isKnownType: () => true,
    seed
  })

/** Logs an outcome the way the loop does. */
const log = (session: Session.Session, outcome: ToolOutcome) =>
  session.append("tool/result", {
    turn: 1,
    step: 1,
    message: Message.toolResult(MessageId("m1"), CallId("c1"), outcome.content, outcome.isError),
    ...(outcome.meta !== undefined && { meta: outcome.meta })
  })

describe("ObservedFiles", () => {
  it.scopedLive("keeps sessions apart", () =>
    Effect.gen(function* () {
      const { dir, put } = yield* folder
      const [one, other] = [yield* sessionOf(dir), yield* sessionOf(dir)]
      put("f", "a")
      yield* read("f", {}, one)
      assert.strictEqual(codeOf(yield* edit("f", "a", "b", {}, other)), "FS_NOT_OBSERVED")
      assert.isFalse((yield* edit("f", "a", "b", {}, one)).isError)
    }).pipe(Effect.provide(tools))
  )

  it.scopedLive("a resumed session knows what its log says it has seen, and no more", () =>
    Effect.gen(function* () {
      const { dir, put, text } = yield* folder
      put("read", "a")
      put("unlogged", "a")
      put("changed", "a")
      const live = yield* sessionOf(dir)
      yield* Effect.gen(function* () {
        yield* log(live, yield* read("read", {}, live))
        yield* log(live, yield* write("written", "a", live))
        yield* log(live, yield* read("changed", {}, live))
        yield* read("unlogged", {}, live)
      }).pipe(Effect.provide(tools))
      put("changed", "b")

      const resumed = yield* sessionOf(dir, live.range(0))
      yield* Effect.gen(function* () {
        assert.isFalse((yield* edit("read", "a", "A", {}, resumed)).isError)
        assert.isFalse((yield* edit("written", "a", "A", {}, resumed)).isError)
        assert.strictEqual(codeOf(yield* edit("unlogged", "a", "A", {}, resumed)), "FS_NOT_OBSERVED")
        assert.strictEqual(codeOf(yield* edit("changed", "a", "A", {}, resumed)), "FS_STALE_VERSION")
      }).pipe(Effect.provide(tools))
      assert.strictEqual(text("read") + text("written") + text("changed"), "AAb")
    })
  )
})

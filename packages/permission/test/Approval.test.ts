// Asking a person, and what becomes of the question.
import * as Sessions from "@dsh/session/Sessions"
import type { Session } from "@dsh/session/Session"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer } from "effect"
import * as SystemPrompt from "@dsh/prompt/SystemPrompt"
import * as Approval from "../src/Approval.ts"
import * as ApprovalContext from "../src/ApprovalContext.ts"
import { ofType } from "./support.ts"

const world = (options?: Approval.Options) => Layer.provideMerge(Approval.layer(options), Sessions.layer)

const session = Effect.flatMap(Sessions.Sessions, (sessions) => sessions.create())

const inTurn = Effect.tap(session, (session) => session.append("turn/start", { turn: 1 }))

const ask = (session: Session) =>
  Effect.flatMap(Approval.Approval, (approval) => approval.request({ session, toolName: "bash", reason: "why" }))

const answering = (answer: Effect.Effect<unknown>, order = 0) =>
  Effect.flatMap(Approval.AnswerApproval, (point) =>
    // What comes from outside may be anything.
    point.use(`answer ${order}`, () => answer as Effect.Effect<Approval.Outcome>, { order })
  )

/** Every question has one answer, under its id. */
const pairs = (session: Session) => {
  const asked = ofType(session, "approval/asked").map(({ data }) => data.id)
  const decided = ofType(session, "approval/decided").map(({ data }) => data)
  assert.deepStrictEqual(
    decided.map(({ id }) => id),
    asked
  )
  return decided.map(({ outcome }) => outcome)
}

describe("an approval", () => {
  it.scoped("outside a turn is refused, and leaves nothing in the log", () =>
    Effect.gen(function* () {
      const idle = yield* session
      const before = idle.length
      const error = yield* Effect.flip(ask(idle))
      assert.strictEqual(error.code, "APPROVAL_OUTSIDE_TURN")
      yield* idle.append("turn/start", { turn: 1 })
      yield* idle.append("turn/end", { turn: 1, reason: { kind: "completed" } })
      assert.strictEqual((yield* Effect.flip(ask(idle))).code, "APPROVAL_OUTSIDE_TURN")
      assert.strictEqual(idle.length, before + 2)
    }).pipe(Effect.provide(world()))
  )

  it.scoped("is unavailable when nobody answers", () =>
    Effect.gen(function* () {
      const open = yield* inTurn
      assert.strictEqual(yield* ask(open), "unavailable")
      assert.deepStrictEqual(pairs(open), ["unavailable"])
      const [asked] = ofType(open, "approval/asked")
      assert.deepInclude(asked?.data, { toolName: "bash", reason: "why" })
    }).pipe(Effect.provide(world()))
  )

  for (const outcome of ["allowed-once", "allowed-session", "allowed-always", "rejected"] as const) {
    it.scoped(`can be answered with ${outcome}`, () =>
      Effect.gen(function* () {
        const open = yield* inTurn
        yield* answering(Effect.succeed(outcome))
        assert.strictEqual(yield* ask(open), outcome)
        assert.deepStrictEqual(pairs(open), [outcome])
      }).pipe(Effect.provide(world()))
    )
  }

  it.scoped("is unavailable when the answer is none, fails or dies", () =>
    Effect.gen(function* () {
      const open = yield* inTurn
      for (const answer of [
        Effect.succeed("yes"),
        Effect.fail("broken"),
        Effect.die("broken"),
        Effect.succeed(undefined)
      ]) {
        yield* Effect.scoped(
          Effect.gen(function* () {
            yield* answering(answer as Effect.Effect<unknown>)
            assert.strictEqual(yield* ask(open), "unavailable")
          })
        )
      }
      assert.lengthOf(pairs(open), 4)
    }).pipe(Effect.provide(world()))
  )

  it.scoped("is rejected without asking anybody where the policy is never, whoever is first in line", () =>
    Effect.gen(function* () {
      const open = yield* inTurn
      const approval = yield* Approval.Approval
      let asked = 0
      yield* answering(
        Effect.sync(() => {
          asked++
          return "allowed-once"
        }),
        -1000
      )
      yield* approval.setPolicy(open, "never")
      assert.strictEqual(yield* ask(open), "rejected")
      assert.strictEqual(asked, 0)
      yield* approval.setPolicy(open, "ask", "delegation")
      assert.strictEqual(yield* ask(open), "allowed-once")
      yield* approval.setPolicy(open, "ask")
      assert.deepStrictEqual(
        ofType(open, "approval/policy").map(({ data }) => data),
        [{ policy: "never" }, { policy: "ask", source: "delegation" }]
      )
      assert.deepStrictEqual(pairs(open), ["rejected", "allowed-once"])
    }).pipe(Effect.provide(world()))
  )

  it.scoped("goes by the configured policy while the log says nothing", () =>
    Effect.gen(function* () {
      const open = yield* inTurn
      yield* answering(Effect.succeed("allowed-once"))
      assert.strictEqual(yield* ask(open), "rejected")
    }).pipe(Effect.provide(world({ policy: "never" })))
  )

  for (const [how, wrap] of [
    ["that listens", (wait: Effect.Effect<unknown>) => wait],
    ["that does not", Effect.uninterruptible]
  ] as const) {
    it.scoped(`is cancelled with its caller, and an answerer ${how} is not waited for`, () =>
      Effect.gen(function* () {
        const open = yield* inTurn
        const asked = yield* Deferred.make<void>()
        const late = yield* Deferred.make<Approval.Outcome>()
        yield* answering(wrap(Effect.zipRight(Deferred.succeed(asked, undefined), Deferred.await(late))))
        const fiber = yield* Effect.fork(ask(open))
        yield* Deferred.await(asked)
        assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(fiber)))
        assert.deepStrictEqual(pairs(open), ["cancelled"])
        yield* Deferred.succeed(late, "allowed-always")
        yield* Effect.yieldNow()
        assert.deepStrictEqual(pairs(open), ["cancelled"])
      }).pipe(Effect.provide(world()))
    )
  }

  it.scoped("policy is told to the model, and told anew when it changes", () =>
    Effect.gen(function* () {
      const open = yield* session
      const [context] = (yield* SystemPrompt.SystemPrompt).contexts()
      const text = Effect.suspend(() =>
        typeof context?.text === "function"
          ? context.text({ session: open, provider: "p", model: "m" })
          : Effect.succeed("")
      )
      assert.strictEqual(context?.order, 115)
      const before = yield* text
      assert.include(before, "put to the user first")
      yield* (yield* Approval.Approval).setPolicy(open, "never")
      assert.include(yield* text, "nobody is asked")
      assert.notStrictEqual(yield* text, before)
    }).pipe(Effect.provide(ApprovalContext.layer.pipe(Layer.provideMerge(Layer.merge(world(), SystemPrompt.layer)))))
  )
})

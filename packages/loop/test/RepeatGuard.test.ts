// An agent that does the same over and over.
import { Agents } from "@dsh/agent/Agents"
import * as RepeatGuard from "@dsh/agent/RepeatGuard"
import * as LlmScripted from "@dsh/llm/LlmScripted"
import { SessionId } from "@dsh/protocol/Ids"
import type { SessionEvent } from "@dsh/protocol/SessionEvent"
import type { SessionHeader } from "@dsh/protocol/SessionHeader"
import type { Session } from "@dsh/session/Session"
import { SessionRestore } from "@dsh/session/Sessions"
import * as Tool from "@dsh/tools/Tool"
import { ToolError } from "@dsh/tools/ToolError"
import * as ToolHooks from "@dsh/tools/ToolHooks"
import * as Tools from "@dsh/tools/Tools"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option, Schema } from "effect"
import { ask, events, make, ofType, told, world } from "./support.ts"

const { Reply } = LlmScripted

const echo = (text: string) => ({ name: "echo", arguments: { text } })
const poll = { name: "poll", arguments: { command: "sleep 5; status" } }

/** A command whose output changes with every call, or never. */
const polling = (changes: boolean) => {
  let n = 0
  return Tools.layerTool(
    Tool.make({
      name: "poll",
      description: "Polls.",
      parameters: Schema.Struct({ command: Schema.String }),
      output: Schema.String,
      execute: () => Effect.succeed(changes ? `at ${++n}` : "pending"),
      render: (_, value) => value
    })
  )
}

const each = (...calls: ReadonlyArray<LlmScripted.Reply.ScriptedCall>) => calls.map((call) => Reply.calls([call]))
const times = <A>(n: number, items: ReadonlyArray<A>): ReadonlyArray<A> => Array.from({ length: n }, () => items).flat()

const inWorld = (
  script: ReadonlyArray<LlmScripted.Reply.Reply>,
  options?: RepeatGuard.Options,
  extra: Layer.Layer<never, never, Tools.Tools> = Layer.empty
) => world([...script, Reply.text("ok")], Layer.merge(RepeatGuard.layer(options), Layer.orDie(extra)))

const results = (session: Session) => ofType(session, "tool/result").length

/** After how many results each reminder came. */
const reminded = (session: Session) => {
  let done = 0
  return events(session).flatMap((event) => {
    if (event.type === "tool/result") done++
    return event.type === "user/message" &&
      event.data.source.kind === "plugin" &&
      event.data.source.plugin === "repeat-guard"
      ? [done]
      : []
  })
}

describe("the repeat guard", () => {
  it.scoped("reminds at the third, fifth and eighth same call, and ends the turn at the twelfth, by name", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      const { reason } = yield* ask(agent, "go")
      assert.deepStrictEqual(reason, { kind: "aborted", reason: { kind: "repetition", tools: ["echo"], times: 12 } })
      assert.strictEqual(results(agent.session), 12)
      assert.deepStrictEqual(reminded(agent.session), [3, 5, 8])
      const [, first = "", second = ""] = told(agent.session)
      assert.match(first, /^You have made the same call of echo 3 times in a row/)
      assert.match(second, /5 times in a row now, with the same results:\n- echo {"text":"x"}\n.*after 12 times/)
    }).pipe(Effect.provide(inWorld(times(20, each(echo("x"))))))
  )

  it.scoped("knows the same arguments in another order, and other ones for what they are", () => {
    const raw = (args: string) => Reply.calls([{ name: "echo", arguments: args }])
    return Effect.gen(function* () {
      const agent = yield* make()
      yield* ask(agent, "go")
      assert.deepStrictEqual(reminded(agent.session), [5])
    }).pipe(
      Effect.provide(
        inWorld([
          raw('{"text":"a"}'),
          raw('{"text":"b"}'),
          raw('{"text":"x","more":{"a":1,"b":2}}'),
          raw('{ "more": {"b":2,"a":1}, "text":"x" }'),
          raw('{"text":"x","more":{"a":1,"b":2}}')
        ])
      )
    )
  })

  for (const period of [2, 3, 4]) {
    it.scoped(`sees a circle of ${period} calls, and several calls in a step`, () => {
      const circle = ["a", "b", "c", "d"].slice(0, period).map(echo)
      return Effect.gen(function* () {
        const agent = yield* make()
        const one = yield* ask(agent, "one by one")
        assert.deepInclude(one.reason, { kind: "aborted", reason: { kind: "repetition", tools: ["echo"], times: 4 } })
        assert.deepStrictEqual([reminded(agent.session), results(agent.session)], [[3 * period], 4 * period])
        yield* agent.whenIdle
        const all = yield* ask(agent, "all at once")
        assert.strictEqual(all.reason.kind, "aborted")
        assert.strictEqual(results(agent.session), 8 * period)
      }).pipe(
        Effect.provide(
          inWorld([...times(4, each(...circle)), ...times(4, [Reply.calls(circle)])], { reminders: [3], limit: 4 })
        )
      )
    })
  }

  it.scoped("lets an agent wait for something that changes, for as long as it changes", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      assert.strictEqual((yield* ask(agent, "go")).reason.kind, "completed")
      assert.deepStrictEqual([reminded(agent.session), results(agent.session)], [[], 30])
    }).pipe(Effect.provide(inWorld(times(30, each(poll)), {}, Layer.orDie(polling(true)))))
  )

  it.scoped("lets it wait longer for something that may change yet, and not for ever", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      const { reason } = yield* ask(agent, "go")
      assert.deepStrictEqual(reason, { kind: "aborted", reason: { kind: "repetition", tools: ["poll"], times: 60 } })
      assert.deepStrictEqual(reminded(agent.session), [3, 5, 8])
    }).pipe(Effect.provide(inWorld(times(61, each(poll)), {}, Layer.orDie(polling(false)))))
  )

  it.scoped("counts calls that are refused or fail, too", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      yield* ask(agent, "go")
      assert.deepStrictEqual(reminded(agent.session), [3, 6])
    }).pipe(
      Effect.provide(
        world(
          [...times(3, each(echo("x"))), ...times(3, each({ name: "broken", arguments: {} })), Reply.text("ok")],
          Layer.merge(
            RepeatGuard.layer(),
            ToolHooks.PreExecute.hook("no", (execution, next) =>
              execution.name === "echo" ? new ToolError({ code: "NO", message: "no" }) : next(execution)
            )
          )
        )
      )
    )
  )

  it.scoped("begins anew when a person says something", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      yield* ask(agent, "go")
      yield* agent.whenIdle
      assert.strictEqual((yield* ask(agent, "again")).reason.kind, "completed")
      assert.deepStrictEqual(reminded(agent.session), [])
    }).pipe(
      Effect.provide(
        inWorld([...times(2, each(echo("x"))), Reply.text("done"), ...times(2, each(echo("x")))], { limit: 3 })
      )
    )
  )

  it.scoped("watches the tools it is told to", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      assert.strictEqual((yield* ask(agent, "go")).reason.kind, "completed")
      assert.deepStrictEqual(reminded(agent.session), [])
    }).pipe(Effect.provide(inWorld(times(13, each(echo("x"))), { include: ["e*", "poll"], exclude: ["*ho"] })))
  )

  it.scoped("goes on counting in a session that is resumed, without saying again what was said", () => {
    const stored = new Map<string, { readonly header: SessionHeader; readonly entries: ReadonlyArray<SessionEvent> }>()
    const shelf = SessionRestore.hook("shelf", ({ id }) => Effect.succeed(Option.fromNullable(stored.get(id))))
    const id = SessionId("s")
    return Effect.gen(function* () {
      yield* Effect.scoped(
        Effect.gen(function* () {
          const agent = yield* make({ id })
          yield* ask(agent, "go")
          yield* agent.whenIdle
          const all = events(agent.session)
          assert.deepStrictEqual(reminded(agent.session), [3])
          stored.set(id, { header: agent.session.header, entries: all })
        })
      )
      const agent = yield* (yield* Agents).resume({ id })
      // Not a person: the count goes on.
      const message = yield* agent.send(
        {
          id: "m" as never,
          role: "user",
          content: [{ type: "text", text: "go on" }],
          source: { kind: "plugin", plugin: "x" }
        },
        "next-turn",
        true
      )
      const { reason } = yield* agent.awaitTurn(message)
      assert.deepInclude(reason, { kind: "aborted", reason: { kind: "repetition", tools: ["echo"], times: 6 } })
      assert.deepStrictEqual(reminded(agent.session), [3, 5])
    }).pipe(
      Effect.provide(
        world(
          [...times(4, each(echo("x"))), Reply.text("done"), ...times(9, each(echo("x")))],
          Layer.merge(RepeatGuard.layer({ limit: 6 }), shelf)
        )
      )
    )
  })

  it.scoped("counts with whole numbers from 2", () =>
    Effect.gen(function* () {
      for (const options of [
        { reminders: [] },
        { reminders: [1] },
        { reminders: [3, 3] },
        { limit: 1.5 },
        { pollingLimit: 0 }
      ]) {
        const error = yield* Effect.flip(make({ setup: RepeatGuard.layer(options) }))
        assert.strictEqual(error.code, "INVALID_OPTIONS")
      }
    }).pipe(Effect.provide(world([])))
  )
})

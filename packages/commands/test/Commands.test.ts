// The registry of commands: what a line names, what the log says of it, and who has which.
import { Agents } from "@dsh/agent/Agents"
import * as LlmScripted from "@dsh/llm/LlmScripted"
import type { AttachmentRef } from "@dsh/protocol/Block"
import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Effect, Either, Exit, Fiber, Layer, Option } from "effect"
import * as Commands from "../src/Commands.ts"
import * as Line from "../src/Line.ts"
import { make, ofType, world } from "./support.ts"

const source = "test"

const run = (agent: Effect.Effect.Success<typeof make>, line: string, attachments: ReadonlyArray<AttachmentRef> = []) =>
  Effect.flatMap(Commands.Commands, (commands) => commands.run(agent, line, { source, attachments }))

const command = (fields: Partial<Commands.Command>): Commands.Command => ({
  name: "echo",
  description: "Says it again.",
  handler: ({ rawInput }) => Effect.succeed({ kind: "success", text: rawInput }),
  ...fields
})

describe("the line", () => {
  it("names a command only where it begins with one", () => {
    assert.deepStrictEqual(Line.parse("/permission"), { name: "permission", rawInput: "" })
    assert.deepStrictEqual(Line.parse("/goal  ship it\nsoon "), { name: "goal", rawInput: "ship it\nsoon " })
    for (const line of ["permission", " /permission", "/", "/Permission", "/usr/bin", "/a.b", "//a", "/1", "/é x"]) {
      assert.isUndefined(Line.parse(line), line)
    }
  })
})

describe("Commands", () => {
  it.scoped("runs what a line names and logs it, and the model hears nothing of it", () =>
    Effect.gen(function* () {
      const agent = yield* make
      const commands = yield* Commands.Commands
      yield* commands.register(command({}))
      assert.deepStrictEqual(yield* run(agent, "/echo two words"), Option.some({ kind: "success", text: "two words" }))
      assert.isTrue(Option.isNone(yield* run(agent, "/unknown")))
      assert.isTrue(Option.isNone(yield* run(agent, "echo")))
      const [given] = ofType(agent.session, "command/run")
      const { commandId } = given!
      assert.deepStrictEqual(ofType(agent.session, "command/run"), [
        { commandId, name: "echo", args: "two words", source }
      ])
      assert.deepStrictEqual(ofType(agent.session, "command/done"), [{ commandId, kind: "success", text: "two words" }])
      assert.lengthOf(agent.session.conversation.messages, 0)
    }).pipe(Effect.provide(world()))
  )

  it.scoped("does not log what is nobody's business", () =>
    Effect.gen(function* () {
      const agent = yield* make
      const handler = () => Effect.succeed({ kind: "success", sourceEventSeq: 3 } as const)
      yield* (yield* Commands.Commands).register(command({ recordInput: false, handler }))
      yield* run(agent, "/echo secret")
      assert.notInclude(JSON.stringify(Array.from(agent.session.range(0))), "secret")
      assert.strictEqual(ofType(agent.session, "command/done")[0]?.sourceEventSeq, 3)
    }).pipe(Effect.provide(world()))
  )

  it.scoped("logs a handler that fails, dies or is cancelled, and fails with it", () =>
    Effect.gen(function* () {
      const agent = yield* make
      const commands = yield* Commands.Commands
      const started = yield* Deferred.make<void>()
      yield* commands.register(
        command({
          name: "fails",
          handler: () => new Commands.CommandError({ code: "COMMAND_FAILED", message: "no paper" })
        })
      )
      yield* commands.register(command({ name: "dies", handler: () => Effect.dieMessage("no ink") }))
      yield* commands.register(
        command({ name: "hangs", handler: () => Effect.zipRight(Deferred.succeed(started, undefined), Effect.never) })
      )
      const failed = yield* Effect.either(run(agent, "/fails"))
      assert.isTrue(Either.isLeft(failed) && failed.left._tag === "CommandError")
      if (Either.isLeft(failed))
        assert.deepInclude(failed.left, { code: "COMMAND_FAILED", message: "/fails failed: no paper" })
      assert.isTrue(Exit.isFailure(yield* Effect.exit(run(agent, "/dies"))))
      const fiber = yield* Effect.fork(run(agent, "/hangs"))
      yield* Deferred.await(started)
      assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(fiber)))
      const texts = ofType(agent.session, "command/done").map(({ kind, text }) => `${kind}: ${text}`)
      assert.deepStrictEqual(texts, ["error: no paper", "error: no ink", "error: it was cancelled"])
    }).pipe(Effect.provide(world()))
  )

  it.scoped("gives images only to those who take them", () =>
    Effect.gen(function* () {
      const agent = yield* make
      const commands = yield* Commands.Commands
      const image: AttachmentRef = { id: "a", mediaType: "image/png", bytes: 3 }
      const handler: Commands.Command["handler"] = ({ attachments }) =>
        Effect.succeed({ kind: "success", text: `${attachments.length}` })
      yield* commands.register(command({ handler }))
      yield* commands.register(command({ name: "look", input: { hint: "", images: true }, handler }))
      assert.deepStrictEqual(
        yield* run(agent, "/echo", [image]),
        Option.some({ kind: "error", text: "/echo takes no images" })
      )
      assert.deepStrictEqual(yield* run(agent, "/look", [image]), Option.some({ kind: "success", text: "1" }))
    }).pipe(Effect.provide(world()))
  )

  it.scoped("refuses names and descriptions that help nobody, and a name that is taken", () =>
    Effect.gen(function* () {
      const commands = yield* Commands.Commands
      const code = (fields: Partial<Commands.Command>) =>
        Effect.map(Effect.flip(commands.register(command(fields))), (error) => error.code)
      assert.strictEqual(yield* code({ name: "Echo" }), "INVALID_NAME")
      assert.strictEqual(yield* code({ description: " " }), "INVALID_DESCRIPTION")
      assert.strictEqual(yield* code({ name: "help" }), "DUPLICATE_NAME")
    }).pipe(Effect.provide(world()))
  )

  it.scoped("are an agent's own where its realm registers them, and gone with the Scope that did", () =>
    Effect.gen(function* () {
      const agents = yield* Agents
      const mine = yield* agents.create({
        provider: LlmScripted.provider,
        model: LlmScripted.model,
        setup: Layer.orDie(Commands.layerCommand(command({ name: "mine" })))
      })
      const other = yield* make
      const names = (agent: typeof mine) => (Commands.of(agent)?.list() ?? []).map(({ name }) => name)
      assert.deepStrictEqual(names(mine), ["help", "mine", "model"])
      assert.deepStrictEqual(names(other), ["help", "model"])
      const commands = yield* Commands.Commands
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* commands.register(command({ name: "passing" }))
          assert.include(names(mine), "passing")
        })
      )
      assert.notInclude(names(mine), "passing")
      assert.isUndefined(Commands.of({ ...mine, realm: Context.empty() }))
    }).pipe(Effect.provide(world()))
  )
})

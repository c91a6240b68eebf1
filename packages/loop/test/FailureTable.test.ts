// What is left of a turn when its input, its request or its model fails.
import * as AgentHooks from "@dsh/agent/AgentHooks"
import * as Llm from "@dsh/llm/Llm"
import { LlmError } from "@dsh/llm/LlmError"
import * as LlmScripted from "@dsh/llm/LlmScripted"
import { textOf } from "@dsh/protocol/Block"
import { neutral } from "@dsh/protocol/NeutralRequest"
import * as SystemPrompt from "@dsh/prompt/SystemPrompt"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { answer, check, entered, hookFailed, inStep, inTurn, notStored, opened, sent } from "./faults.ts"
import type { Row } from "./faults.ts"
import { ask, make, once, refuse, world } from "./support.ts"

const { Reply } = LlmScripted
const server = new LlmError({ code: "SERVER", message: "down for now", status: 503 })
const half = [{ type: "text-delta", index: 0, text: "half" } as const]

/** An adapter that cannot say at first how it would be called. */
const adapter = () => {
  const first = once(Effect.fail(new LlmError({ code: "INVALID_CREDENTIAL", message: "no key" })))
  const ok = Stream.make(...half, { type: "finish", reason: { kind: "stop" } } as const)
  return Llm.layerAdapter(
    Effect.succeed({
      providers: [{ id: "keyless", name: "Keyless" }],
      formats: [neutral],
      models: () => Effect.succeed([]),
      prepare: (config) =>
        first(
          Effect.succeed({
            config,
            wire: { format: neutral.format },
            model: { provider: "keyless", id: config.model, name: "Keyless" },
            stream: () => ok
          })
        )
    })
  )
}

const inStream = (first: Effect.Effect<Stream.Stream<never, LlmError>, LlmError>) => () => {
  const failing = once(first)
  return Llm.LlmStream.hook("broken", (request, next) => failing(next(request)))
}

const rows: ReadonlyArray<Row> = [
  {
    fault: "turn/start is refused",
    refused: "turn/start",
    log: ["queue next-turn"],
    heard: ["1.0 INVARIANT"],
    history: [],
    pending: ["go"]
  },
  {
    fault: "the prompt cannot be assembled",
    broken: () => {
      const failing = once(Effect.fail(new SystemPrompt.PromptError({ code: "SECTION_FAILED", message: "not now" })))
      return SystemPrompt.layerSection({ name: "broken", order: 0, text: () => failing(Effect.succeed("fine")) })
    },
    log: [...opened, ...inTurn],
    heard: ["1.0 SECTION_FAILED"],
    history: [],
    pending: ["go"]
  },
  {
    fault: "a pre-step hook fails",
    broken: () => {
      const failing = once(hookFailed)
      return AgentHooks.PreStep.hook("broken", (input, next) => failing(next(input)))
    },
    log: [...opened, ...inTurn],
    heard: ["1.0 HOOK_FAILED"],
    history: [],
    pending: ["go"]
  },
  {
    fault: "a pre-step hook dies",
    broken: () => {
      const failing = once(Effect.die(new Error("worse")))
      return AgentHooks.PreStep.hook("broken", (input, next) => failing(next(input)))
    },
    log: [...opened, ...inTurn],
    heard: ["1.0 UNKNOWN"],
    history: [],
    pending: ["go"]
  },
  {
    fault: "step/start is refused",
    refused: "step/start",
    log: [...opened, ...inTurn],
    heard: ["1.0 INVARIANT"],
    history: [],
    pending: ["go"]
  },
  {
    fault: "one of two messages is refused",
    note: "note",
    refused: (event) => event.type === "user/message" && textOf(event.data.content) === "go",
    log: ["queue next-step", ...opened, "step 1", "user note", ...inStep],
    heard: ["1.1 INVARIANT"],
    history: ["note"],
    pending: ["go"]
  },
  {
    fault: "a request hook fails",
    broken: () => {
      const failing = once(hookFailed)
      return AgentHooks.AgentRequest.hook("broken", (input, next) => failing(next(input)))
    },
    log: [...entered, ...inStep],
    heard: ["1.1 HOOK_FAILED"]
  },
  {
    fault: "the adapter cannot prepare the call",
    broken: adapter,
    provider: "keyless",
    log: [...entered, ...inStep],
    heard: ["1.1 INVALID_CREDENTIAL"],
    offered: ["keyless INVALID_CREDENTIAL"]
  },
  {
    fault: "request/header is refused",
    refused: "request/header",
    log: [...entered, ...inStep],
    heard: ["1.1 INVARIANT"]
  },
  {
    fault: "request/context is refused",
    refused: "request/context",
    log: [...entered, "header initial", ...inStep],
    heard: ["1.1 INVARIANT"]
  },
  {
    fault: "request/sent is refused",
    refused: "request/sent",
    log: [...entered, "header initial", "context", ...inStep],
    heard: ["1.1 INVARIANT"]
  },
  {
    fault: "the checkpoint before the request fails",
    broken: inStream(Effect.fail(new LlmError(notStored))),
    log: [...sent, ...inStep],
    heard: ["1.1 CHECKPOINT_FAILED"],
    offered: ["scripted CHECKPOINT_FAILED"]
  },
  {
    fault: "a stream middleware dies",
    broken: inStream(Effect.die(new Error("worse"))),
    log: [...sent, ...inStep],
    heard: ["1.1 UNKNOWN"]
  },
  {
    fault: "the stream dies on its way",
    broken: inStream(
      Effect.succeed(Stream.concat(Stream.fromIterable(half), Stream.die("gone")) as Stream.Stream<never>)
    ),
    log: [...sent, "chunk text-delta", ...inStep],
    heard: ["1.1 UNKNOWN"]
  },
  {
    fault: "a chunk is refused",
    refused: "assistant/chunk",
    replies: answer,
    log: [...sent, ...inStep],
    heard: ["1.1 INVARIANT"]
  },
  {
    fault: "the model fails, and nobody retries",
    replies: [Reply.fail(server, half)],
    log: [...sent, "chunk text-delta", "chunk finish", ...inStep],
    heard: ["1.1 SERVER"],
    offered: ["scripted SERVER"]
  },
  {
    fault: "the recovery hook fails",
    broken: () => AgentHooks.RequestError.hook("broken", () => hookFailed, { order: 1 }),
    replies: [Reply.fail(server)],
    log: [...sent, "chunk finish", ...inStep],
    heard: ["1.1 HOOK_FAILED"],
    offered: ["scripted SERVER"]
  },
  {
    fault: "assistant/message is refused",
    refused: "assistant/message",
    replies: answer,
    log: [...sent, "chunk text-delta", "chunk finish", ...inStep],
    heard: ["1.1 INVARIANT"]
  }
]

describe("what is left of a turn when", () => {
  for (const row of rows) it.scoped(row.fault, () => check(row))

  it.scoped("the message itself is refused: it was never accepted, and nothing runs", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      yield* refuse(agent.session, ({ type }) => type === "agent/inbox/spliced")
      assert.strictEqual((yield* Effect.flip(agent.followup("go"))).code, "INVARIANT")
      assert.strictEqual(agent.status(), "idle")
      assert.strictEqual(agent.session.length, 0)
      assert.strictEqual((yield* ask(agent, "next")).reason.kind, "completed")
    }).pipe(Effect.provide(world(answer)))
  )
})

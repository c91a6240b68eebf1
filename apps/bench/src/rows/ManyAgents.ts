/**
 * A thousand agents in one process: what an idle one holds, and whether many together are as fast as one alone.
 */
import { Agents } from "@dsh/agent/Agents"
import * as ChunkStream from "@dsh/llm/ChunkStream"
import * as Llm from "@dsh/llm/Llm"
import { neutral } from "@dsh/protocol/NeutralRequest"
import type { StreamChunk } from "@dsh/protocol/StreamChunk"
import { CallId } from "@dsh/protocol/Ids"
import * as AgentLoop from "@dsh/loop/AgentLoop"
import * as Definitions from "@dsh/loop/Definitions"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { Row } from "../Row.ts"

const agentCount = 1000
const steps = 10
const heapLimit = 1
const rateLimit = 0.8

const finish = (kind: "stop" | "tool-calls"): StreamChunk => ({ type: "finish", reason: { kind } })

/** One network read, as the adapters make it. */
const answer = (chunks: ReadonlyArray<StreamChunk>) =>
  ChunkStream.fromSource(
    Effect.sync(() => {
      let read: ReadonlyArray<StreamChunk> | undefined = chunks
      return {
        pull: Effect.suspend(() => {
          const next = read
          read = undefined
          return next === undefined ? Effect.fail(Option.none()) : Effect.succeed(Chunk.unsafeFromArray(next))
        }),
        close: Effect.void
      }
    })
  )

/** Asks for a tool that nobody has until the last step, then says so. */
const model = Llm.layerAdapter(
  Effect.succeed({
    providers: [{ id: "bench", name: "Bench" }],
    formats: [neutral],
    models: () => Effect.succeed([]),
    prepare: (config) =>
      Effect.succeed({
        config,
        wire: { format: neutral.format },
        model: { provider: "bench", id: config.model, name: "Bench" },
        stream: ({ messages }) => {
          const step = messages.filter(({ role }) => role === "assistant").length
          const said: StreamChunk =
            step + 1 < steps
              ? { type: "tool-call-delta", index: 0, id: CallId(`call_${step}`), name: "nothing", argumentsDelta: "{}" }
              : { type: "text-delta", index: 0, text: "done" }
          return answer([said, finish(step + 1 < steps ? "tool-calls" : "stop")])
        }
      })
  })
)

const world = AgentLoop.layer.pipe(Layer.provideMerge(model), Layer.provideMerge(Definitions.layer))

const heap = Effect.sync(() => {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed / 1024 ** 2
})

/** Steps per second of `count` agents at work at the same time. */
const rate = (count: number) =>
  Effect.gen(function* () {
    const agents = yield* Agents
    const all = yield* Effect.replicateEffect(agents.create({ provider: "bench", model: "m" }), count)
    const startedAt = performance.now()
    yield* Effect.forEach(all, (agent) => Effect.flatMap(agent.followup("go"), agent.awaitTurn), {
      concurrency: "unbounded",
      discard: true
    })
    return (count * steps) / ((performance.now() - startedAt) / 1000)
  }).pipe(Effect.scoped)

const idle: Row = {
  what: "1 000 agents in one process, heap per idle agent",
  target: `≤ ${heapLimit} MiB`,
  measure: Effect.gen(function* () {
    const agents = yield* Agents
    const before = yield* heap
    yield* Effect.replicateEffect(agents.create({ provider: "bench", model: "m" }), agentCount)
    const each = ((yield* heap) - before) / agentCount
    return { floor: "", measured: `${(each * 1024).toFixed(1)} KiB`, meetsTarget: each <= heapLimit }
  }).pipe(Effect.scoped, Effect.provide(world), Effect.orDie)
}

const together: Row = {
  what: "1 000 agents at once, 10 steps each, steps per second",
  target: `≥ ${rateLimit} × one agent after another`,
  measure: Effect.gen(function* () {
    yield* rate(100)
    const alone = yield* Effect.map(
      Effect.replicateEffect(rate(1), 300),
      (rates) => rates.toSorted((a, b) => b - a)[150]!
    )
    const many = yield* rate(agentCount)
    return {
      floor: `${alone.toFixed(0)}/s`,
      measured: `${many.toFixed(0)}/s`,
      ratio: many / alone,
      meetsTarget: many >= rateLimit * alone
    }
  }).pipe(Effect.provide(world), Effect.orDie)
}

export const manyAgents: ReadonlyArray<Row> = [idle, together]

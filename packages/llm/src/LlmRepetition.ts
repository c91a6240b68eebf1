/**
 * Ends an answer that only repeats itself: a model that got caught in its own words says the same to the end of its budget.
 *
 * Thoughts are watched, and text, unless somebody may have asked for just such a text; never the arguments of tools, which may well be a
 * file of equal lines. The request fails with `REPETITION_LOOP` and is made once more, for the next answer seldom takes the same way;
 * after that the turn ends.
 */
import { RequestError } from "@dsh/agent/AgentHooks"
import type { Session } from "@dsh/session/Session"
import type { StreamChunk } from "@dsh/protocol/StreamChunk"
import type * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ChunkStream from "./ChunkStream.ts"
import { LlmStream } from "./Llm.ts"
import { LlmError } from "./LlmError.ts"
import { Periods } from "./LlmRepetition/Periods.ts"

const code = "REPETITION_LOOP"

const failures = {
  "text-delta": new LlmError({ code, message: "the answer repeats itself over and over; ask in another way" }),
  "reasoning-delta": new LlmError({
    code,
    message: "the thoughts of the model repeat themselves over and over; ask in another way, or for less reasoning"
  })
}

type Watched = keyof typeof failures

/** Looks at the arrays of one answer, in order. */
const watch = (watched: ReadonlyArray<Watched>) => (): ((chunks: Chunk.Chunk<StreamChunk>) => LlmError | undefined) => {
  let periods = new Periods()
  let index = -1
  let type: Watched = "text-delta"
  return (chunks) => {
    for (const chunk of chunks) {
      if (chunk.type === "text-delta" || chunk.type === "reasoning-delta") {
        if (chunk.index !== index || chunk.type !== type) {
          if (periods.look()) return failures[type]
          periods = new Periods()
          index = chunk.index
          type = chunk.type
        }
        if (watched.includes(type) && periods.push(chunk.text)) return failures[type]
      } else if (chunk.type === "finish" && periods.look()) {
        return failures[type]
      }
    }
    return undefined
  }
}

const watching = (watched: ReadonlyArray<Watched>) =>
  LlmStream.hook("llm-repetition", (request, next) =>
    Effect.map(next(request), (stream) => ChunkStream.watched(stream, watch(watched)))
  )

/** How many requests of the open step have failed with this. */
const failed = (session: Session): number => {
  let count = 0
  for (let seq = session.length - 1; seq >= 0; seq--) {
    const event = session.at(seq)
    if (event === undefined || event.type === "step/start") break
    if (event.type !== "assistant/chunk") continue
    const { chunk } = event.data
    if (chunk.type === "finish" && chunk.reason.kind === "error" && chunk.reason.failure.code === code) count++
  }
  return count
}

const retrying = RequestError.hook(
  "llm-repetition",
  (input, next) =>
    Effect.suspend(() => {
      const { agent, failure } = input
      if (failure.code !== code) return next(input)
      return Effect.succeed(failed(agent.session) < 2 ? { kind: "retry" } : { kind: "fail", failure })
    }),
  // Before policies that try again whatever it is.
  { order: -600 }
)

type Guard = Layer.Layer<never, never, LlmStream | RequestError>

/** Thoughts and text. */
export const layer: Guard = Layer.merge(watching(["reasoning-delta", "text-delta"]), retrying)

/** Thoughts only, for whoever may ask for a text that repeats itself. */
export const layerThoughts: Guard = Layer.merge(watching(["reasoning-delta"]), retrying)

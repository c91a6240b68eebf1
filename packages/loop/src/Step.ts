/**
 * One step: a model request, attempted until it succeeds or is given up, and the tool calls it asks for.
 */
import { RequestError } from "@dsh/agent/AgentHooks"
import type { AgentHooks } from "@dsh/agent/AgentHooks"
import { fresh } from "@dsh/kernel/Ids"
import * as ChunkStream from "@dsh/llm/ChunkStream"
import * as Llm from "@dsh/llm/Llm"
import { LlmError } from "@dsh/llm/LlmError"
import type { ContentBlock, ToolCallBlock } from "@dsh/protocol/Block"
import * as BlockAssembler from "@dsh/protocol/BlockAssembler"
import { CallId, MessageId } from "@dsh/protocol/Ids"
import type { AssistantMessage } from "@dsh/protocol/Message"
import type { SeqRange } from "@dsh/protocol/SessionEvent"
import type { LlmFailure, StreamChunk } from "@dsh/protocol/StreamChunk"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type { AgentState } from "./AgentState.ts"
import { RequestFailed } from "./Failure.ts"
import type { PromptServices, StepPrompt } from "./StepPrompt.ts"
import * as StepRequest from "./StepRequest.ts"
import * as ToolScheduler from "./ToolScheduler.ts"

export type StepServices = AgentHooks | Llm.Llm | Llm.LlmStream | PromptServices | ToolScheduler.SchedulerServices

/** `continue`: results have to go back to the model. */
export type StepResult = "completed" | "max-tokens" | "continue"

/**
 * Runs the inside of an open step. Not to be interrupted, but where it restores: once an answer with tool calls is in the log, they are
 * answered, too.
 */
export const run = Effect.fnUntraced(function* (
  state: AgentState,
  at: ToolScheduler.At,
  prompt: StepPrompt,
  restore: ToolScheduler.Restore
) {
  const reply = yield* restore(attempts(state, at, prompt))
  yield* reply.log
  if (reply.finish.kind === "max-tokens") return "max-tokens" as const
  const calls = reply.blocks.filter((block): block is ToolCallBlock => block.type === "tool-call")
  if (calls.length === 0) return "completed" as const
  const concluded = yield* ToolScheduler.run(state, at, calls, restore)
  return concluded ? ("completed" as const) : ("continue" as const)
})

/** Requests until one succeeds. Every failure, wherever it was raised, is offered to the one recovery hook. */
const attempts = Effect.fnUntraced(function* (state: AgentState, at: ToolScheduler.At, prompt: StepPrompt) {
  const recovery = yield* RequestError
  for (let attempt = 1; ; attempt++) {
    const outcome = yield* Effect.either(once(state, { ...at, attempt }, prompt))
    if (Either.isRight(outcome)) return outcome.right
    const error = outcome.left
    if (!(error instanceof LlmError)) return yield* Effect.fail(error)
    const decision = yield* recovery.run(
      { agent: state.agent, ...at, attempt, provider: state.provider, failure: error.failure },
      ({ failure }) => Effect.succeed({ kind: "fail", failure })
    )
    if (decision.kind === "fail") return yield* new RequestFailed({ failure: decision.failure })
  }
})

/** One attempt: send, log and fold the chunks; what is left is to log the message. Fails with `LlmError` when the model did. */
const once = Effect.fnUntraced(function* (state: AgentState, at: StepRequest.AttemptAt, prompt: StepPrompt) {
  const { session } = state
  const { call, request } = yield* StepRequest.make(state, at, prompt)
  const assembler = BlockAssembler.make()
  const logged = new Cited()

  const take = (chunk: Chunk.Chunk<StreamChunk>) =>
    Effect.suspend(() => {
      const chunks = Chunk.toReadonlyArray(chunk)
      for (const one of chunks) assembler.push(one)
      // Before the append: who hears of it may cancel, and then nothing comes after it.
      logged.add(session.length, chunks.length)
      return session.appendChunks(at.turn, at.step, chunks)
    })

  const log = (blocks: ReadonlyArray<ContentBlock>, extra: { readonly interrupted?: true }, replayState?: object) =>
    Effect.gen(function* () {
      const { model, provider } = request.header.config
      const message: AssistantMessage = {
        id: MessageId(yield* fresh),
        role: "assistant",
        content: blocks,
        source: { kind: "model", provider, model, ...replayState }
      }
      const usage = assembler.usage()
      yield* session.append(
        "assistant/message",
        { turn: at.turn, step: at.step, message, ...(usage !== undefined && { usage }), ...extra },
        { sourceEventSeqs: logged.ranges }
      )
    })

  const chunks = yield* Llm.stream(call, request)
  const stream = ChunkStream.forEachArray(chunks, take).pipe(
    // The log keeps raw chunks, so the failure of a stream has to be one of them.
    Effect.catchTag("LlmError", (error) => take(Chunk.of(Llm.failed(error))))
  )
  yield* Effect.onInterrupt(stream, () => {
    const kept = assembler.interrupted()
    return kept.length === 0 ? Effect.void : Effect.ignoreLogged(log(kept, { interrupted: true }))
  })

  const assembled = assembler.assemble()
  if (Either.isLeft(assembled)) return yield* failed({ code: assembled.left.code, message: assembled.left.message })
  const { blocks, finish, replayState } = assembled.right
  if (finish.kind === "error" || finish.kind === "aborted") return yield* failed(finish.failure)
  const unique = blocks.map((block, index) =>
    block.type === "tool-call" ? withUniqueId(state, at, block, index) : block
  )
  return { blocks: unique, finish, log: log(unique, {}, replayState === undefined ? {} : { replayState }) }
})

const failed = (failure: LlmFailure) => Effect.fail(new LlmError(failure))

/** Providers count their calls from zero again; results are matched by id for as long as the session lives. */
const withUniqueId = (
  state: AgentState,
  at: StepRequest.AttemptAt,
  call: ToolCallBlock,
  index: number
): ToolCallBlock => {
  let id: string = call.id
  for (let n = 0; id === "" || state.callIds.has(id); n++) {
    id = `call-${at.turn}-${at.step}-${index}${n === 0 ? "" : `-${n}`}`
  }
  state.callIds.add(id)
  return id === call.id ? call : { ...call, id: CallId(id) }
}

/** The seqs of logged chunks as ranges; what observers append in between makes the gaps. */
class Cited {
  readonly ranges: Array<SeqRange> = []

  add(first: number, count: number): void {
    if (count === 0) return
    const end = first + count - 1
    const last = this.ranges[this.ranges.length - 1]
    if (last === undefined || (typeof last === "number" ? last : last[1]) !== first - 1) {
      this.ranges.push(count === 1 ? first : [first, end])
    } else {
      this.ranges[this.ranges.length - 1] = [typeof last === "number" ? last : last[0], end]
    }
  }
}

/**
 * The other face of a run: `RunEvents` on stdout instead of an answer. What people are told on stderr stays, but for what the model thinks.
 */
import type { Agent } from "@dsh/agent/Agent"
import { textOf } from "@dsh/protocol/Block"
import type { ContentBlock } from "@dsh/protocol/Block"
import { isRun } from "@dsh/protocol/ChunkRun"
import type { LogEntry } from "@dsh/protocol/ChunkRun"
import type { PriceTable as Prices } from "@dsh/protocol/Prices"
import type { SessionEvent } from "@dsh/protocol/SessionEvent"
import * as UsageTally from "@dsh/protocol/UsageTally"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { writeSync } from "node:fs"
import * as Bill from "./Bill.ts"
import * as Denials from "./Denials.ts"
import { Ended } from "./Ended.ts"
import * as ExitCode from "./ExitCode.ts"
import { Failure } from "./Failure.ts"
import { Output } from "./Output.ts"
import * as PriceTable from "./PriceTable.ts"
import type { Line } from "./RunEvents.ts"
import type { Worked } from "./Work.ts"

type Result = Extract<Line, { readonly type: "result" }>

type Observe = (agent: Agent) => (entry: LogEntry) => void

/** Does `run` under an output of its own, and ends with the result, whatever comes of it. */
export const recorded = (
  run: (observe: Observe) => Effect.Effect<Worked, Failure, Output>
): Effect.Effect<Worked, Failure, Output> =>
  Effect.gen(function* () {
    const output = yield* Output
    const ended = yield* Ended
    const clock = yield* Effect.clock
    const recorder = new Recorder(output, () => clock.unsafeCurrentTimeMillis())
    ended.lastWords = (code) => recorder.now(code)
    return yield* Effect.flatMap(PriceTable.load, (prices) => {
      recorder.prices = prices
      return run((agent) => recorder.observe(agent))
    }).pipe(
      Effect.provideService(Output, recorder.output),
      Effect.onExit((exit) =>
        Effect.suspend(() => {
          ended.lastWords = undefined
          return Effect.ignore(output.print(JSON.stringify(recorder.result(exit, ended.code))))
        })
      )
    )
  })

class Recorder {
  readonly output: Output["Type"]
  prices: Prices = new Map()
  readonly #to: Output["Type"]
  readonly #time: () => number
  /** What there was to say before there was a session. */
  #early: Array<Line> | undefined = []
  #sessionId: string | null = null
  #answer = ""
  #bill = Bill.none
  readonly #counter: UsageTally.Counter
  readonly #names = new Map<string, string>()
  readonly #denied = new Set<string>()

  constructor(to: Output["Type"], time: () => number) {
    this.#to = to
    this.#time = time
    this.#counter = new UsageTally.Counter((request) => {
      this.#bill = Bill.add(this.#bill, Bill.of(this.prices, request))
    })
    this.output = Output.of({
      ...to,
      // The answer is part of the result, and thoughts have lines of their own.
      print: () => Effect.void,
      reasoning: () => {},
      notice: (message) => {
        to.notice(message)
        this.#say({ type: "notice", time: this.#time(), message })
      }
    })
  }

  observe(agent: Agent): (entry: LogEntry) => void {
    const { firstLiveSeq, header, id } = agent.session
    this.#sessionId = id
    const cwd = header.cwd ?? null
    this.#begin({ type: "start", version: 1, time: this.#time(), sessionId: id, cwd, resumed: firstLiveSeq > 0 })
    let time = 0
    const denials = Denials.observer(({ callId = null, ...problem }) => {
      if (callId !== null) this.#denied.add(callId)
      this.#say({ type: "denied", time, callId, ...problem })
    })
    return (entry) => {
      if (isRun(entry)) return
      ;({ time } = entry)
      this.#take(entry)
      denials(entry)
    }
  }

  result(exit: Exit.Exit<Worked, unknown>, signalled: ExitCode.ExitCode | undefined): Result {
    if (Exit.isSuccess(exit)) {
      const { exitCode, output, problem, unfinishedJobs } = exit.value
      const status = exitCode === ExitCode.completed ? "completed" : exitCode === ExitCode.budget ? "budget" : "failed"
      return {
        ...this.#end(status, exitCode, unfinishedJobs),
        ...(output !== undefined && { output: output.value }),
        ...(problem !== undefined && { error: { code: problem.code, message: problem.message } })
      }
    }
    const failure = Cause.failureOption(exit.cause)
    if (failure._tag === "Some" && failure.value instanceof Failure) {
      const { code, exitCode, message } = failure.value
      const status = exitCode === ExitCode.budget ? "budget" : "failed"
      return { ...this.#end(status, exitCode), error: { code, message } }
    }
    if (Cause.isInterruptedOnly(exit.cause)) return this.#cancelled(signalled ?? ExitCode.failed)
    return { ...this.#end("failed", ExitCode.failed), error: { code: "INTERNAL", message: Cause.pretty(exit.cause) } }
  }

  /** The result, when there is no time to wait for a stream. */
  now(code: ExitCode.ExitCode): void {
    try {
      writeSync(1, `${JSON.stringify(this.#cancelled(code))}\n`)
    } catch {
      // Whoever read it went away first.
    }
  }

  #cancelled(code: ExitCode.ExitCode): Result {
    return {
      ...this.#end("cancelled", code),
      error: { code: "CANCELLED", message: "the run was ended by a signal before it was complete" }
    }
  }

  #end(status: Result["status"], exitCode: number, unfinishedJobs: ReadonlyArray<string> = []): Result {
    this.#counter.end()
    this.#begin()
    const { cost, tally } = this.#bill
    return {
      type: "result",
      version: 1,
      time: this.#time(),
      sessionId: this.#sessionId,
      status,
      exitCode,
      answer: this.#answer,
      usage: {
        requests: tally.requests,
        unreported: tally.unreported,
        inputTokens: tally.input,
        cacheReadTokens: tally.cacheRead,
        cacheWriteTokens: tally.cacheWrite,
        outputTokens: tally.output,
        reasoningTokens: tally.reasoning
      },
      cost: { amounts: Object.fromEntries(cost.amounts), unknown: cost.unknown },
      toolCalls: { total: this.#names.size, denied: [...this.#denied].filter((id) => this.#names.has(id)).length },
      unfinishedJobs
    }
  }

  #take(entry: SessionEvent): void {
    this.#counter.take(entry)
    const { time } = entry
    switch (entry.type) {
      case "assistant/message": {
        const { interrupted = false, message, step, turn } = entry.data
        const reasoning = ofType(message.content, "reasoning")
        if (reasoning !== "") this.#say({ type: "reasoning", time, turn, step, text: reasoning })
        const text = textOf(message.content)
        if (text.trim() === "") return
        this.#answer = text
        this.#say({ type: "message", time, turn, step, text, interrupted })
        return
      }
      case "tool/call": {
        const { arguments: args, callId, name, step, turn } = entry.data
        this.#names.set(callId, name)
        this.#say({ type: "tool-call", time, turn, step, callId, name, arguments: args })
        return
      }
      case "tool/result": {
        const { error, message, step, turn } = entry.data
        const { callId } = message.source
        const [block] = message.content
        this.#say({
          type: "tool-result",
          time,
          turn,
          step,
          callId,
          name: this.#names.get(callId) ?? "",
          ok: block.isError !== true,
          text: textOf(block.content),
          code: error?.code ?? null
        })
        return
      }
      case "llm/retry": {
        const { delayMs, failure } = entry.data
        this.#say({ type: "retry", time, delayMs, error: { code: failure.code, message: failure.message } })
        return
      }
      case "turn/end":
        this.#say({ type: "turn-end", time, turn: entry.data.turn, reason: { ...entry.data.reason } })
    }
  }

  #begin(...first: ReadonlyArray<Line>): void {
    const early = this.#early ?? []
    this.#early = undefined
    for (const line of [...first, ...early]) this.#say(line)
  }

  #say(line: Line): void {
    if (this.#early === undefined) this.#to.say(JSON.stringify(line))
    else this.#early.push(line)
  }
}

const ofType = (blocks: ReadonlyArray<ContentBlock>, type: "reasoning"): string =>
  blocks.flatMap((block) => (block.type === type ? [block.text] : [])).join("")

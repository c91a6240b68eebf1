/**
 * One task, worked on by one agent until its turn ends: what the model thinks goes to stderr as it comes, the answer to stdout, and
 * the way the turn ended becomes the exit code.
 */
import type { Agent } from "@dsh/agent/Agent"
import type { Limits } from "@dsh/agent/Budgets"
import { PersistenceError } from "@dsh/persistence/PersistenceError"
import { isRun } from "@dsh/protocol/ChunkRun"
import type { LogEntry } from "@dsh/protocol/ChunkRun"
import { textOf } from "@dsh/protocol/Block"
import * as ContextSize from "@dsh/protocol/ContextSize"
import type { PriceTable } from "@dsh/protocol/Prices"
import * as UsageTally from "@dsh/protocol/UsageTally"
import type { SessionEvents } from "@dsh/protocol/SessionEvent"
import { Sessions } from "@dsh/session/Sessions"
import * as Effect from "effect/Effect"
import * as Choice from "./AgentPresets/Choice.ts"
import * as Bill from "./Bill.ts"
import * as Denials from "./Denials.ts"
import type * as ExitCode from "./ExitCode.ts"
import * as Failure from "./Failure.ts"
import { priced } from "./Limits.ts"
import { Output } from "./Output.ts"
import * as ModelSwitch from "./ModelSwitch.ts"
import * as Outcome from "./Outcome.ts"
import * as Repetition from "./Repetition.ts"
import * as UsageLine from "./UsageLine.ts"
import * as Origin from "./Work/Origin.ts"

export interface Options extends Origin.Options {
  readonly task: string
  /** Ends with a line that says what was used, and what it cost by these prices. */
  readonly usage?: PriceTable | undefined
  /** What the money in its budget is counted by. */
  readonly priced?: { readonly limits: Limits; readonly prices: PriceTable } | undefined
  /** Hears the log next to the output. */
  readonly observe?: (agent: Agent) => (entry: LogEntry) => void
}

/** The agent that did it, and the exit code of the outcome. */
interface Worked {
  readonly agent: Agent
  readonly exitCode: ExitCode.ExitCode
}

export const work = (options: Options) =>
  Effect.gen(function* () {
    const output = yield* Output
    const agent = yield* Origin.start(options)
    yield* affordable(agent, options.priced)
    Repetition.prepare()
    let used = Bill.none
    const { usage } = options
    const counter = usage && new UsageTally.Counter((request) => (used = Bill.add(used, Bill.of(usage, request))))
    let isAnswered = false
    // The last text of this run that is not empty; what was said before it is not its answer.
    let answer = ""
    yield* agent.session.observe((entry) => {
      if (!isAnswered && isAnswer(entry)) {
        isAnswered = true
        Repetition.expect()
      }
      if (!isRun(entry)) {
        counter?.take(entry)
        if (entry.type === "assistant/message") {
          output.endReasoning()
          const text = textOf(entry.data.message.content)
          if (text.trim() !== "") answer = text
        } else if (entry.type === "llm/retry") output.notice(retrying(entry.data))
        else if (entry.type === "llm/fallback") output.notice(ModelSwitch.text(entry.data))
      } else if (entry.kind === "reasoning-delta") {
        for (const text of entry.texts) output.reasoning(text)
      }
    })
    yield* agent.session.observe(Denials.observer(output.failure))
    if (options.observe !== undefined) yield* agent.session.observe(options.observe(agent))
    const reason = yield* Effect.onInterrupt(turn(agent, options.task), () =>
      Effect.gen(function* () {
        yield* agent.cancel({ kind: "user" })
        yield* agent.whenIdle
        if (answer !== "") yield* Effect.ignore(output.print(answer))
      })
    )
    yield* (yield* Sessions).flush(agent.session.id)
    yield* output.print(answer)
    if (counter !== undefined) {
      counter.end()
      const size = UsageLine.context(ContextSize.measure(agent.session.conversation))
      output.notice(`used ${[UsageLine.text(used), size].filter((part) => part !== undefined).join("; ")}`)
    }
    const problem = Outcome.problem(reason)
    if (problem !== undefined) output.failure(problem)
    return { agent, exitCode: Outcome.exitCode(reason) } satisfies Worked
  }).pipe(
    Effect.mapError((error) => {
      if (error instanceof Failure.Failure) return error
      if (error._tag === "AgentError" && error.code === "PRESET_UNAVAILABLE") {
        return Choice.unavailable(error.message, options.from._tag === "New" ? options.preset : undefined)
      }
      // What is wrong with a stored session is told in the words of who stores it.
      const stored = error._tag === "SessionError" && error.cause instanceof PersistenceError ? error.cause : error
      return Failure.fromError(stored)
    })
  )

const retrying = ({ delayMs, failure, maxRetries, retry }: SessionEvents["llm/retry"]): string => {
  const which = maxRetries === undefined ? `retry ${retry}` : `retry ${retry} of ${maxRetries}`
  return `${which} in ${(delayMs / 1000).toFixed(1)} s: ${failure.code}: ${failure.message}`
}

const isAnswer = (entry: LogEntry): boolean =>
  isRun(entry) || entry.type === "assistant/chunk" || entry.type === "assistant/message"

const turn = (agent: Agent, task: string) =>
  Effect.gen(function* () {
    const { reason } = yield* Effect.flatMap(agent.followup(task), agent.awaitTurn)
    yield* agent.whenIdle
    return reason
  })

/** A new agent has not said which model it uses before its first request; what was asked for was looked at before it was made. */
const affordable = (agent: Agent, budget: Options["priced"]) => {
  const known = agent.session.conversation.header?.config
  if (budget === undefined || known === undefined) return Effect.void
  return priced(budget.limits, budget.prices, { ...known, model: agent.options.model ?? known.model })
}

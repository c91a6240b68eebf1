/**
 * One task, worked on by one agent until its turn ends: what the model thinks goes to stderr as it comes, the answer to stdout, and
 * the way the turn ended becomes the exit code.
 */
import { settled } from "@dsh/agent/Settled"
import type { Agent, Input } from "@dsh/agent/Agent"
import type { Limits } from "@dsh/agent/Budgets"
import { fresh } from "@dsh/kernel/Ids"
import { isRun } from "@dsh/protocol/ChunkRun"
import type { LogEntry } from "@dsh/protocol/ChunkRun"
import * as ContextSize from "@dsh/protocol/ContextSize"
import { MessageId } from "@dsh/protocol/Ids"
import { fromPlugin } from "@dsh/protocol/Message"
import type { PriceTable } from "@dsh/protocol/Prices"
import type { TurnEndReason } from "@dsh/protocol/SessionEvent"
import * as UsageTally from "@dsh/protocol/UsageTally"
import { Sessions } from "@dsh/session/Sessions"
import type { Fits, Form } from "@dsh/structured-output/Form"
import * as Effect from "effect/Effect"
import * as Bill from "./Bill.ts"
import * as Denials from "./Denials.ts"
import * as ExitCode from "./ExitCode.ts"
import { priced } from "./Limits.ts"
import { Output } from "./Output.ts"
import * as Outcome from "./Outcome.ts"
import * as UsageLine from "./UsageLine.ts"
import * as Background from "./Work/Background.ts"
import { failure } from "./Work/Failed.ts"
import * as Origin from "./Work/Origin.ts"
import { Progress } from "./Work/Progress.ts"

export interface Options extends Origin.Options {
  readonly task: string
  /** What the answer has to be, and how often it is asked for again. */
  readonly answer?: { readonly form: Form; readonly retries: number } | undefined
  /** Goes on until nothing is left running in the background. Default: that is ended with the progress. */
  readonly waitsForJobs?: boolean
  /** Ends with a line that says what was used, and what it cost by these prices. */
  readonly usage?: PriceTable | undefined
  /** What the money in its budget is counted by. */
  readonly priced?: { readonly limits: Limits; readonly prices: PriceTable } | undefined
  /** Hears the log next to the output. */
  readonly observe?: ((agent: Agent) => (entry: LogEntry) => void) | undefined
}

/** The agent that did it, and what came of it. */
export interface Worked {
  readonly agent: Agent
  readonly exitCode: ExitCode.ExitCode
  /** The last text of this progress. */
  readonly answer: string
  /** The answer as a value, when it had to be one and is. */
  readonly output: { readonly value: unknown } | undefined
  /** What kept it from being completed. */
  readonly problem: Outcome.Problem | undefined
  /** Ids of what was still running in the background. */
  readonly unfinishedJobs: ReadonlyArray<string>
}

export const work = (options: Options) =>
  Effect.gen(function* () {
    const output = yield* Output
    const agent = yield* Origin.start(options)
    yield* affordable(agent, options.priced)
    let used = Bill.none
    const { usage } = options
    const counter = usage && new UsageTally.Counter((request) => (used = Bill.add(used, Bill.of(usage, request))))
    const progress = new Progress(output)
    yield* agent.session.observe((entry) => {
      progress.take(entry)
      if (!isRun(entry)) counter?.take(entry)
    })
    yield* agent.session.observe(
      Denials.observer((denial) => {
        if (denial.callId !== undefined) progress.denied.add(denial.callId)
        output.failure(denial)
      })
    )
    if (options.observe !== undefined) yield* agent.session.observe(options.observe(agent))
    const ended: Ended = yield* Effect.onInterrupt(rounds(agent, options, progress), () =>
      Effect.gen(function* () {
        yield* agent.cancel({ kind: "user" })
        yield* agent.whenIdle
        if (progress.answer !== "" && options.answer === undefined) yield* Effect.ignore(output.print(progress.answer))
      })
    )
    yield* (yield* Sessions).flush(agent.session.id)
    if (options.answer === undefined) yield* output.print(progress.answer)
    else if (ended.value !== undefined) yield* output.print(ended.value.text)
    if (counter !== undefined) {
      counter.end()
      const size = UsageLine.context(ContextSize.measure(agent.session.conversation))
      output.notice(`used ${[UsageLine.text(used), size].filter((part) => part !== undefined).join("; ")}`)
    }
    const unfinished = yield* Background.unfinished(agent)
    if (unfinished.length > 0) output.notice(Background.left(unfinished))
    const problem = ended.problem ?? Outcome.problem(ended.reason) ?? progress.fruitless
    if (problem !== undefined) output.failure(problem)
    const exitCode = Outcome.exitCode(ended.reason)
    return {
      agent,
      exitCode: problem !== undefined && exitCode === ExitCode.completed ? ExitCode.failed : exitCode,
      answer: progress.answer,
      output: ended.value,
      problem,
      unfinishedJobs: unfinished.map(({ id }) => id)
    } satisfies Worked
  }).pipe(Effect.mapError(failure(options)))

// -----------------------------------------------------------------------------
// what it does
// -----------------------------------------------------------------------------

interface Ended {
  readonly reason: TurnEndReason
  readonly value: Fits | undefined
  readonly problem: Outcome.Problem | undefined
}

/** The task, then whatever is left to do until the answer can be taken. */
const rounds = (agent: Agent, { answer: wanted, task, waitsForJobs = false }: Options, progress: Progress) =>
  Effect.gen(function* () {
    const output = yield* Output
    const round = (input: Input) =>
      Effect.gen(function* () {
        const outcome = yield* Effect.flatMap(agent.followup(input), (id) => settled(agent, id))
        const reason = progress.last(outcome)
        if (!waitsForJobs || reason.kind !== "completed") return reason
        return yield* Background.settle(agent, () => progress.last(outcome))
      })
    if (wanted === undefined)
      return { reason: yield* round(task), value: undefined, problem: undefined } satisfies Ended
    const { form, retries } = wanted
    let reason = yield* round([task, form.instruction].map((text) => ({ type: "text" as const, text })))
    for (let retry = 1; reason.kind === "completed"; retry++) {
      const verdict = form.judge(progress.answer)
      if (verdict.fits) return { reason, value: verdict, problem: undefined } satisfies Ended
      const { complaint, message } = verdict
      if (retry > retries) {
        return { reason, value: undefined, problem: { code: "OUTPUT_MISMATCH", message } } satisfies Ended
      }
      output.notice(`${message}; asked again, ${retry} of ${retries}`)
      const source = { plugin: "output-schema", form: "notice", summary: "the answer does not fit" } as const
      reason = yield* round(fromPlugin(MessageId(yield* fresh), complaint, source))
    }
    return { reason, value: undefined, problem: undefined } satisfies Ended
  })

/** A new agent has not said which model it uses before its first request; what was asked for was looked at before it was made. */
const affordable = (agent: Agent, budget: Options["priced"]) => {
  const known = agent.session.conversation.header?.config
  if (budget === undefined || known === undefined) return Effect.void
  return priced(budget.limits, budget.prices, { ...known, model: agent.options.model ?? known.model })
}

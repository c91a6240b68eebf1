/**
 * One task, worked on by one agent until its turn ends: what the model thinks goes to stderr as it comes, the answer to stdout, and
 * the way the turn ended becomes the exit code.
 */
import type { Agent } from "@dsh/agent/Agent"
import type { AgentError } from "@dsh/agent/AgentError"
import { Agents } from "@dsh/agent/Agents"
import * as LlmDeepSeek from "@dsh/llm/LlmDeepSeek"
import { PersistenceError } from "@dsh/persistence/PersistenceError"
import { SessionPersistence } from "@dsh/persistence/SessionPersistence"
import { PermissionPresets } from "@dsh/permission/PermissionPresets"
import type { PresetError } from "@dsh/permission/PermissionPresets"
import { isRun } from "@dsh/protocol/ChunkRun"
import type { LogEntry } from "@dsh/protocol/ChunkRun"
import { SessionId } from "@dsh/protocol/Ids"
import { textOf } from "@dsh/protocol/Block"
import type { SessionHeader } from "@dsh/protocol/SessionHeader"
import * as ContextSize from "@dsh/protocol/ContextSize"
import type { PriceTable } from "@dsh/protocol/Prices"
import * as UsageTally from "@dsh/protocol/UsageTally"
import type { SessionEvents, TurnEndReason } from "@dsh/protocol/SessionEvent"
import type { Session } from "@dsh/session/Session"
import type { SessionError } from "@dsh/session/SessionError"
import { Sessions } from "@dsh/session/Sessions"
import { Fs } from "@dsh/world/Fs"
import type { FsError } from "@dsh/world/Fs"
import * as Effect from "effect/Effect"
import * as Choice from "./AgentPresets/Choice.ts"
import * as Bill from "./Bill.ts"
import * as Denials from "./Denials.ts"
import * as ExitCode from "./ExitCode.ts"
import * as Failure from "./Failure.ts"
import { Output } from "./Output.ts"
import type { From } from "./Request.ts"
import * as Preset from "./Permissions/Preset.ts"
import * as ModelSwitch from "./ModelSwitch.ts"
import * as Repetition from "./Repetition.ts"
import { shipped } from "./RunSettings.ts"
import type { DefaultModel } from "./RunSettings.ts"
import * as UsageLine from "./UsageLine.ts"

export interface Options {
  readonly task: string
  readonly model: string | undefined
  /** What a new agent uses when the command line names no model. */
  readonly defaultModel?: DefaultModel
  readonly from: From
  /** What kind of agent it is. Left out: the standing one. A session that goes on stays what it is. */
  readonly preset?: Choice.Choice | undefined
  /** Absolute. A session that goes on keeps its own. */
  readonly cwd: string
  /** What tools may do. Left out: what the session's log says, or what new sessions may. */
  readonly permission?: Preset.Preset | undefined
  /** Ends with a line that says what was used, and what it cost by these prices. */
  readonly usage?: PriceTable | undefined
  /** Hears the log next to the output. */
  readonly observe?: (agent: Agent) => (entry: LogEntry) => void
}

/** The session it worked in, and the exit code of the outcome. */
interface Worked {
  readonly agent: Agent
  readonly exitCode: ExitCode.ExitCode
}

export const work = (options: Options) =>
  Effect.gen(function* () {
    const output = yield* Output
    const agent = yield* begin(options)
    Repetition.prepare()
    let used = Bill.none
    const { usage } = options
    const counter = usage && new UsageTally.Counter((request) => (used = Bill.add(used, Bill.of(usage, request))))
    let isAnswered = false
    yield* agent.session.observe((entry) => {
      if (!isAnswered && isAnswer(entry)) {
        isAnswered = true
        Repetition.expect()
      }
      if (!isRun(entry)) {
        counter?.take(entry)
        if (entry.type === "assistant/message") output.endReasoning()
        else if (entry.type === "llm/retry") output.notice(retrying(entry.data))
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
        const partial = answer(agent)
        if (partial !== "") yield* Effect.ignore(output.print(partial))
      })
    )
    yield* (yield* Sessions).flush(agent.session.id)
    yield* output.print(answer(agent))
    if (counter !== undefined) {
      counter.end()
      const size = UsageLine.context(ContextSize.measure(agent.session.conversation))
      output.notice(`used ${[UsageLine.text(used), size].filter((part) => part !== undefined).join("; ")}`)
    }
    return { agent, exitCode: yield* report(reason) } satisfies Worked
  }).pipe(Effect.mapError(failure(options)))

/** Where it begins, and what it may do. */
export type Beginning = Pick<Options, "cwd" | "defaultModel" | "from" | "model" | "permission" | "preset">

/** The agent of a session that is new or goes on, for as long as the current Scope is open. */
export const begin = Effect.fnUntraced(function* (options: Beginning) {
  const agent = yield* start(options)
  if (options.from._tag !== "New") yield* inItsFolder(agent.session.header)
  yield* permitted(agent.session, options.permission)
  return agent
})

/** What is told of a failure to begin or to go on. */
export const failure =
  ({ from, preset }: Pick<Options, "from" | "preset">) =>
  (error: AgentError | SessionError | PersistenceError | PresetError | FsError | Failure.Failure): Failure.Failure => {
    if (error instanceof Failure.Failure) return error
    if (error._tag === "AgentError" && error.code === "PRESET_UNAVAILABLE") {
      return Choice.unavailable(error.message, from._tag === "New" ? preset : undefined)
    }
    // What is wrong with a stored session is told in the words of who stores it.
    const stored = error._tag === "SessionError" && error.cause instanceof PersistenceError ? error.cause : error
    return Failure.fromError(stored)
  }

const start = Effect.fnUntraced(function* ({ cwd, defaultModel = shipped, from, model, preset }: Beginning) {
  const agents = yield* Agents
  const { provider } = LlmDeepSeek
  const chosen = model === undefined ? {} : { model }
  switch (from._tag) {
    case "New":
      return yield* agents.create({
        cwd,
        ...(model === undefined ? defaultModel : { provider, model }),
        ...(preset !== undefined && { preset: preset.id })
      })
    case "Session": {
      const id = SessionId(from.id)
      if (preset?.by === "flag") yield* asItIs(id, preset)
      return yield* agents.resume({ id, provider, ...chosen })
    }
    case "Last": {
      const last = yield* lastIn(cwd)
      yield* Choice.kept(last, preset)
      return yield* agents.resume({ id: last.id, provider, ...chosen })
    }
    case "Fork": {
      const source = SessionId(from.id)
      const header = yield* asItIs(source, preset)
      // A fork that cannot work is not even made.
      if (header !== undefined) yield* inItsFolder(header)
      return yield* agents.fork({
        source,
        ...(from.at !== undefined && { at: from.at }),
        provider,
        ...chosen
      })
    }
  }
})

/** The header of a stored session, if there is one, that is of the preset asked for. */
const asItIs = (id: SessionId, preset: Choice.Choice | undefined) =>
  Effect.gen(function* () {
    const { sessions } = yield* (yield* SessionPersistence).list
    const header = sessions.find((stored) => stored.header.id === id)?.header
    if (header !== undefined) yield* Choice.kept(header, preset)
    return header
  })

/** A session goes on where it was; somewhere else its files are other files. */
const inItsFolder = ({ cwd, id }: SessionHeader) =>
  Effect.gen(function* () {
    if (cwd === undefined) return
    const fs = yield* Fs
    const found = Effect.flatMap(fs.resolve(cwd, { cwd }), fs.stat)
    // Where nobody may look its tools say so themselves.
    const isThere = yield* Effect.match(found, {
      onSuccess: (stat) => stat?.type === "directory",
      onFailure: ({ code }) => code !== "FS_NOT_DIRECTORY"
    })
    if (isThere) return
    return yield* Failure.configuration(
      "FOLDER_MISSING",
      `session ${id} works in ${cwd}, which is not there any more; put it back, or start a new session`
    )
  })

/** A session goes on with what it may do, unless this run is told otherwise. What is told to every run may only take away from it. */
const permitted = (session: Session, permission: Preset.Preset | undefined) =>
  Effect.gen(function* () {
    if (permission === undefined || permission.by === "default") return
    const presets = yield* PermissionPresets
    const current = presets.current(session)
    if (permission.by === "flag" || Preset.isNarrower(permission.standing, current)) {
      return yield* presets.set(session, permission.standing)
    }
    if (current === permission.standing) return
    const output = yield* Output
    output.notice(`session ${session.id} may do no more than before: its preset is ${current}; --permission changes it`)
  })

const lastIn = Effect.fnUntraced(function* (cwd: string) {
  const { sessions } = yield* (yield* SessionPersistence).list
  const last = sessions.find(({ header }) => header.cwd === cwd && header.origin === undefined)
  if (last !== undefined) return last.header
  return yield* Failure.fromError({
    code: "SESSION_NOT_FOUND",
    message: `there is no session of ${cwd} to go on with; leave out --continue to start one`
  })
})

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

/** The last text that is not empty. */
const answer = ({ session }: Agent): string => {
  const { messages } = session.conversation
  for (let i = messages.length - 1; i >= 0; i--) {
    const message = messages[i]!
    if (message.role !== "assistant") continue
    const text = textOf(message.content)
    if (text.trim() !== "") return text
  }
  return ""
}

const report = (reason: TurnEndReason): Effect.Effect<ExitCode.ExitCode, never, Output> =>
  Effect.map(Output, (output) => {
    if (reason.kind === "completed") return ExitCode.completed
    output.failure(explain(reason))
    return isBudget(reason) ? ExitCode.budget : ExitCode.failed
  })

const isBudget = (reason: TurnEndReason): boolean => reason.kind === "aborted" && reason.reason.kind === "budget"

const explain = (reason: Exclude<TurnEndReason, { readonly kind: "completed" }>) => {
  switch (reason.kind) {
    case "error":
      return reason.error
    case "max-tokens":
      return {
        code: "MAX_TOKENS",
        message: "the answer hit the output limit of the model and is cut; ask for less at once"
      }
    case "blocked":
      return { code: "BLOCKED", message: "a hook refused the task" }
    case "aborted":
      if (reason.reason.kind === "budget") {
        const { limit, of } = reason.reason
        return {
          code: "BUDGET",
          message: `the budget of ${limit} ${of} is spent; "dsh run --continue" goes on from here`
        }
      }
      if (reason.reason.kind === "repetition") {
        const { times, tools } = reason.reason
        return {
          code: "REPETITION",
          message: `the agent was stopped because it made the same calls (${tools.join(", ")}) ${times} times in a row and their results never changed; "dsh run --continue" goes on from here: say what to do otherwise`
        }
      }
      return { code: "ABORTED", message: "the turn was cancelled before it was complete" }
    case "interrupted":
      return { code: "INTERRUPTED", message: "the turn was interrupted before it was complete" }
  }
}

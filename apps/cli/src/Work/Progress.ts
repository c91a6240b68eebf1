/**
 * What is known of a run while it runs, from the log of its agent, and what people are told of that.
 */
import type { TurnOutcome } from "@dsh/agent/Agent"
import { textOf } from "@dsh/protocol/Block"
import { isRun } from "@dsh/protocol/ChunkRun"
import type { LogEntry } from "@dsh/protocol/ChunkRun"
import type { CallId } from "@dsh/protocol/Ids"
import type { SessionEvents, TurnEndReason } from "@dsh/protocol/SessionEvent"
import * as ModelSwitch from "../ModelSwitch.ts"
import type { Output } from "../Output.ts"
import type { Problem } from "../Outcome.ts"
import * as Repetition from "../Repetition.ts"

export class Progress {
  /** The last text of this run that is not empty. What was said before the run is not its answer. */
  answer = ""
  /** Calls that were not allowed. */
  readonly denied = new Set<CallId>()
  readonly #output: Output["Type"]
  /** Those of the model. What a program of its calls is a part of that one. */
  readonly #calls = new Set<CallId>()
  #isAnswered = false
  #ended: { readonly turn: number; readonly reason: TurnEndReason } | undefined

  constructor(output: Output["Type"]) {
    this.#output = output
  }

  take(entry: LogEntry): void {
    if (!this.#isAnswered && isAnswer(entry)) {
      this.#isAnswered = true
      Repetition.expect()
    }
    if (isRun(entry)) {
      if (entry.kind === "reasoning-delta") for (const text of entry.texts) this.#output.reasoning(text)
      return
    }
    switch (entry.type) {
      case "assistant/message": {
        this.#output.endReasoning()
        const text = textOf(entry.data.message.content)
        if (text.trim() !== "") this.answer = text
        return
      }
      case "tool/call":
        this.#calls.add(entry.data.callId)
        return
      case "turn/end":
        this.#ended = entry.data
        return
      case "llm/retry":
        return this.#output.notice(retrying(entry.data))
      case "llm/fallback":
        return this.#output.notice(ModelSwitch.text(entry.data))
    }
  }

  /** How the last turn ended: that of the message, unless something else has woken the agent since. */
  last({ reason, turn }: TurnOutcome): TurnEndReason {
    return this.#ended !== undefined && this.#ended.turn > turn ? this.#ended.reason : reason
  }

  /** Whoever may do nothing has done nothing, whatever it says. */
  get fruitless(): Problem | undefined {
    const { size } = this.#calls
    if (size === 0 || [...this.#calls].some((id) => !this.denied.has(id))) return undefined
    const what = size === 1 ? "the only tool call of the run was" : `all ${size} tool calls of the run were`
    return {
      code: "ALL_DENIED",
      message: `${what} denied; allow what it needs ("dsh permission allow RULE", --permission), or ask for something else`
    }
  }
}

const retrying = ({ delayMs, failure, maxRetries, retry }: SessionEvents["llm/retry"]): string => {
  const which = maxRetries === undefined ? `retry ${retry}` : `retry ${retry} of ${maxRetries}`
  return `${which} in ${(delayMs / 1000).toFixed(1)} s: ${failure.code}: ${failure.message}`
}

const isAnswer = (entry: LogEntry): boolean =>
  isRun(entry) || entry.type === "assistant/chunk" || entry.type === "assistant/message"

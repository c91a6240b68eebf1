/**
 * Hooks of our own around a turn: what goes in, how a tool runs, and what the model reads of it.
 */
import { PreStep } from "@dsh/agent/AgentHooks"
import { Execute, PostExecute } from "@dsh/tools/ToolHooks"
import * as Effect from "effect/Effect"
import { textOf } from "@dsh/protocol/Block"
import * as Metric from "effect/Metric"

// #region pre-step
/** A key that was pasted by mistake is not sent to a provider. It was accepted, so it is in the log: change it all the same. */
export const noKeys = PreStep.hook("no keys", (input, next) =>
  input.messages.some(({ content }) => /\bsk-[A-Za-z0-9]{20,}/.test(textOf(content)))
    ? Effect.succeed({ kind: "reject", reason: "that looks like an API key" })
    : next(input)
)
// #endregion

// #region execute
export const calls = Metric.counter("tool_calls")

/** Around every body: how often, and how it ended. */
export const counting = Execute.hook("counting", (call, next) =>
  Effect.tap(next(call), ({ isError }) =>
    Metric.increment(calls).pipe(Effect.tagMetrics({ tool: call.name, ended: isError ? "badly" : "well" }))
  )
)
// #endregion

// #region post-execute
/** A hint beside a failure: the model reads it, so it is logged with the result. */
export const hint = PostExecute.hook("hint", (judged, next) =>
  Effect.map(next(judged), (judgement) =>
    judged.execution.name === "bash" && /\bpnpm: (?:command )?not found/.test(textOf(judged.outcome.content))
      ? { kind: "accept", content: [...judged.outcome.content, { type: "text", text: "Use `npx -y pnpm` here." }] }
      : judgement
  )
)
// #endregion

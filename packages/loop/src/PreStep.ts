/**
 * What happens before a step opens: input is claimed, the prompt is assembled, and the pre-step hooks decide what enters. Nothing of
 * it is in the log yet; when it fails, the claimed input is still pending.
 */
import { PreStep } from "@dsh/agent/AgentHooks"
import type { StepDecision } from "@dsh/agent/AgentHooks"
import { fresh } from "@dsh/kernel/Ids"
import * as Assembly from "@dsh/prompt/Assembly"
import { MessageId } from "@dsh/protocol/Ids"
import type { UserMessage } from "@dsh/protocol/Message"
import type { InboxTarget } from "@dsh/protocol/SessionEvent"
import * as Effect from "effect/Effect"
import * as AgentInbox from "./AgentInbox.ts"
import type { AgentState } from "./AgentState.ts"
import * as StepPrompt from "./StepPrompt.ts"
import * as StepRequest from "./StepRequest.ts"
import type { At } from "./ToolScheduler.ts"

export type Entry =
  | {
      readonly kind: "enter"
      readonly claimed: ReadonlyArray<UserMessage>
      readonly messages: ReadonlyArray<UserMessage>
      /** Input of its own, not counting the runtime context. */
      readonly hasInput: boolean
      readonly prompt: StepPrompt.StepPrompt
    }
  | { readonly kind: "reject"; readonly claimed: ReadonlyArray<UserMessage> }

/** `owed`: results wait for a request. */
export const run = Effect.fnUntraced(function* (state: AgentState, at: At, target: InboxTarget, owed: boolean) {
  const { agent, session } = state
  const claimed = yield* AgentInbox.claim(state, target, at.turn)
  StepRequest.takeSelection(state)
  const { contexts, prompt } = yield* StepPrompt.assemble(state, yield* StepRequest.seedConfig(state))
  const update = Assembly.contextUpdate(session, contexts, MessageId(yield* fresh))
  const point = yield* PreStep
  const decision = yield* point.run(
    {
      agent,
      ...at,
      messages: update === undefined ? claimed : [...claimed, update],
      due: owed || claimed.length > 0
    },
    ({ messages }) => Effect.succeed<StepDecision>({ kind: "enter", messages })
  )
  if (decision.kind === "reject") return { kind: "reject", claimed } satisfies Entry
  return {
    kind: "enter",
    claimed,
    messages: decision.messages,
    hasInput: decision.messages.some(({ id }) => id !== update?.id),
    prompt
  } satisfies Entry
})

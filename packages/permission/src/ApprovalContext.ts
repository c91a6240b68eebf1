/**
 * Tells the model whether anybody is asked, and tells it again when that changes.
 */
import * as SystemPrompts from "@dsh/prompt/SystemPrompt"
import { SystemPrompt } from "@dsh/prompt/SystemPrompt"
import type { PromptError } from "@dsh/prompt/SystemPrompt"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Approval } from "./Approval.ts"
import type { Policy } from "./Approval.ts"

const texts: Readonly<Record<Policy, string>> = {
  ask: "Approvals: some tool calls are put to the user first. Call the tool; never ask for permission in your answer. What the user rejects stays rejected: do something else.",
  never:
    "Approvals: nobody is asked. A call that would need an approval fails at once; do the task in another way, or say why it cannot be done."
}

/** Where somebody is there to answer. */
export const layer: Layer.Layer<never, PromptError, SystemPrompt | Approval> = Layer.scopedDiscard(
  Effect.gen(function* () {
    const approval = yield* Approval
    yield* (yield* SystemPrompt).context({
      name: "approval",
      order: 115,
      text: ({ session }) => Effect.sync(() => texts[approval.policy(session)])
    })
  })
)

/** Where nobody is: whatever the policy of a session, nobody is asked. */
export const layerUnattended: Layer.Layer<never, PromptError, SystemPrompt> = SystemPrompts.layerContext({
  name: "approval",
  order: 115,
  text: texts.never
})

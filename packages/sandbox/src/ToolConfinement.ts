/**
 * Makes the policy of a session the confinement of each of its tool calls, so that tools need not know; and tells the model of it.
 */
import { SystemPrompt } from "@dsh/prompt/SystemPrompt"
import type { PromptError } from "@dsh/prompt/SystemPrompt"
import { ToolError } from "@dsh/tools/ToolError"
import { Execute } from "@dsh/tools/ToolHooks"
import { CurrentConfinement } from "@dsh/world/Confinement"
import type { SandboxMode as Mode } from "@dsh/world/Confinement"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as SandboxMode from "./SandboxMode.ts"
import { SandboxPolicy } from "./SandboxPolicy.ts"

/** Every tool call is confined as its session is. What is registered inside of this may widen it for one call. */
const confining = Execute.hook(
  "sandbox",
  (execution, next) =>
    Effect.gen(function* () {
      const policy = yield* SandboxPolicy
      const { session } = execution
      const confinement = yield* Effect.mapError(
        session === undefined ? policy.standing : policy.of(session),
        ({ cause, code, message }) => new ToolError({ code, message, cause })
      )
      return yield* Effect.provideService(next(execution), CurrentConfinement, confinement)
    }),
  { order: -10_000 }
)

const told: Readonly<Record<Mode, (workspace: string) => string>> = {
  "read-only": () =>
    "Sandbox: read-only. Files can be read and commands run, but only /tmp can be changed. Try what the task needs all the same.",
  "workspace-write": (workspace) =>
    `Sandbox: workspace-write. Files below ${workspace} and in /tmp can be changed, nothing else. /tmp is this session's own.`,
  "danger-full-access": () => "Sandbox: none. Commands and tools can change whatever the user can."
}

/** Tells the model which mode holds, and again when that changes. */
const telling: Layer.Layer<never, PromptError, SystemPrompt | SandboxPolicy> = Layer.scopedDiscard(
  Effect.gen(function* () {
    const policy = yield* SandboxPolicy
    const prompt = yield* SystemPrompt
    yield* prompt.context({
      name: "sandbox",
      order: 110,
      text: ({ session }) =>
        Effect.sync(() => told[policy.mode(session)](session.header.cwd ?? "the folder of the process"))
    })
  })
)

export const layer = Layer.mergeAll(SandboxMode.events, confining, telling)

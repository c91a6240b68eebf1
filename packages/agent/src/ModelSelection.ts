/**
 * Which model an agent is to go on with, and a way to change that while it runs.
 *
 * A choice is taken up where the prompt of a step is assembled, so it holds from the next step on, and prompt and request name the same
 * model. It is applied once: from then on the log carries it, over a resume and into forks, and whoever reroutes requests later, such
 * as a fallback, is not overruled at every step.
 */
import * as Chunk from "effect/Chunk"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as PubSub from "effect/PubSub"
import * as Stream from "effect/Stream"
import type { Agent } from "./Agent.ts"

export interface Selection {
  readonly provider: string
  readonly model: string
  /** Default: that of the model. An effort that was chosen for another model is not kept. */
  readonly reasoningEffort?: string
}

export class ModelSelection extends Context.Tag("@dsh/agent/ModelSelection")<
  ModelSelection,
  {
    /** What was chosen last; nothing while the agent goes by its options, its log or the default model. */
    readonly get: (agent: Agent) => Selection | undefined
    /** Chooses a model. Whether somebody serves it shows with the next request, which fails as any other does. */
    readonly set: (agent: Agent, selection: Selection) => Effect.Effect<void>
    /** What is chosen now, if anything is, and every choice from then on. */
    readonly changes: (agent: Agent) => Stream.Stream<Selection>
  }
>() {}

export const make: Effect.Effect<ModelSelection["Type"]> = Effect.gen(function* () {
  const chosen = new WeakMap<Agent, Selection>()
  const told = yield* PubSub.unbounded<Agent>()
  return ModelSelection.of({
    get: (agent) => chosen.get(agent),
    set: (agent, selection) =>
      Effect.suspend(() => {
        // A copy: choosing the same again is a choice, too.
        chosen.set(agent, { ...selection })
        return PubSub.publish(told, agent)
      }),
    changes: (agent) =>
      Stream.unwrapScoped(
        Effect.map(PubSub.subscribe(told), (heard) =>
          Stream.fromQueue(heard).pipe(
            Stream.filter((one) => one === agent),
            Stream.prepend(Chunk.of(agent)),
            Stream.filterMap(() => Option.fromNullable(chosen.get(agent))),
            // Each says what is chosen now, so two in a row may say the same.
            Stream.changes
          )
        )
      )
  })
})

export const layer: Layer.Layer<ModelSelection> = Layer.effect(ModelSelection, make)

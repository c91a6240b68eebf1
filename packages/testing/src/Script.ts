/**
 * Which reply answers which request.
 *
 * A script is stateless data; `start` gives a run of it, whose `next` is called once per request. What is drawn at random is drawn
 * from a seed, so that a failing run can be repeated.
 */
import * as Random from "effect/Random"
import * as Effect from "effect/Effect"
import * as ChatRequest from "./ChatRequest.ts"
import * as Reply from "./Reply.ts"

/** A reply, or a function of the request that gives one. */
export type Step = Reply.Reply | ((request: ChatRequest.ChatRequest) => Reply.Reply)

export type Script = Sequence | Weighted | Conversation | Respond

/** One step per request, in order of arrival. */
export interface Sequence {
  readonly _tag: "Sequence"
  readonly steps: ReadonlyArray<Step>
  /** After the last step: answer 500 and say so, repeat the last step, or begin again. Default `fail`. */
  readonly exhausted?: "fail" | "last" | "cycle"
}

/** Each request draws a step; equal seeds draw equal sequences. */
export interface Weighted {
  readonly _tag: "Weighted"
  readonly seed: number
  readonly choices: ReadonlyArray<{ readonly weight: number; readonly step: Step }>
}

/**
 * The step is chosen by how many answers the conversation already holds, so any number of conversations can run at once against one
 * server. Beyond the last step the last one repeats.
 */
export interface Conversation {
  readonly _tag: "Conversation"
  readonly steps: ReadonlyArray<Step>
}

export interface Respond {
  readonly _tag: "Respond"
  readonly respond: (request: ChatRequest.ChatRequest) => Reply.Reply
}

export const sequence = (steps: ReadonlyArray<Step>, exhausted: Sequence["exhausted"] = "fail"): Sequence => ({
  _tag: "Sequence",
  steps,
  exhausted
})

/** Behaviours by name with their weights: `weighted(7, { success: 8, rate_limit: 1 })`. */
export const weighted = (seed: number, weights: { readonly [K in Reply.BehaviourName]?: number }): Weighted => ({
  _tag: "Weighted",
  seed,
  choices: Reply.behaviourNames.flatMap((name) => {
    const weight = weights[name] ?? 0
    return weight > 0 ? [{ weight, step: Reply.behaviour(name) }] : []
  })
})

export const conversation = (steps: ReadonlyArray<Step>): Conversation => ({ _tag: "Conversation", steps })

export const respond = (f: (request: ChatRequest.ChatRequest) => Reply.Reply): Respond => ({
  _tag: "Respond",
  respond: f
})

/** A run of a script. */
export interface Run {
  readonly next: (request: ChatRequest.ChatRequest) => Effect.Effect<Reply.Reply>
}

export const start = (script: Script): Run => {
  switch (script._tag) {
    case "Respond":
      return { next: (request) => Effect.sync(() => script.respond(request)) }
    case "Conversation":
      return {
        next: (request) => {
          const at = Math.min(ChatRequest.answers(request), script.steps.length - 1)
          return take(script.steps[at], request)
        }
      }
    case "Sequence": {
      let cursor = 0
      return { next: (request) => take(pick(script, cursor++), request) }
    }
    case "Weighted": {
      const random = Random.make(script.seed)
      const total = script.choices.reduce((sum, { weight }) => sum + weight, 0)
      return {
        next: (request) => Effect.flatMap(random.next, (roll) => take(draw(script.choices, roll * total), request))
      }
    }
  }
}

const pick = ({ exhausted, steps }: Sequence, cursor: number): Step | undefined => {
  if (cursor < steps.length || exhausted === "fail" || exhausted === undefined) return steps[cursor]
  return exhausted === "last" ? steps.at(-1) : steps[cursor % steps.length]
}

const draw = (choices: Weighted["choices"], roll: number): Step | undefined => {
  let rest = roll
  for (const { step, weight } of choices) {
    rest -= weight
    if (rest < 0) return step
  }
  return choices.at(-1)?.step
}

const take = (step: Step | undefined, request: ChatRequest.ChatRequest): Effect.Effect<Reply.Reply> =>
  Effect.sync(() => {
    if (step === undefined) {
      return Reply.error(500, {
        message: `the script of the mock model has no step for request ${request.index}`,
        type: "mock_script_exhausted",
        code: "mock_script_exhausted"
      })
    }
    return typeof step === "function" ? step(request) : step
  })

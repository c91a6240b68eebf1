/**
 * Plays a plan on a response. Effects per write, and a write is a block of events unless the plan is paced.
 */
import * as Effect from "effect/Effect"
import type { ServerResponse } from "node:http"
import type { Plan, Respond } from "./Plan.ts"

/** Ends when the response is complete; a plan that holds the connection open ends only by interruption. */
export const transmit = (plan: Plan, response: ServerResponse): Effect.Effect<void> =>
  plan._tag === "Reset" ? reset(response) : respond(plan, response)

const respond = Effect.fnUntraced(function* (plan: Respond, response: ServerResponse) {
  if (plan.headDelayMs > 0) yield* Effect.sleep(plan.headDelayMs)
  response.writeHead(plan.status, plan.headers)
  response.flushHeaders()
  if (plan.delayMs > 0) yield* Effect.sleep(plan.delayMs)
  for (const bytes of plan.writes) {
    yield* write(response, bytes)
    if (plan.paceMs === 0) yield* turn
    else if (plan.paceMs !== undefined) yield* Effect.sleep(plan.paceMs)
  }
  switch (plan.ending) {
    case "end":
      return yield* end(response)
    case "hold":
      return yield* Effect.never
    case "reset":
      // What was written must have left before the reset overtakes it.
      yield* turn
      return yield* reset(response)
  }
})

/** Waits while the client is slower than we are. */
const write = (response: ServerResponse, bytes: string | Uint8Array): Effect.Effect<void> =>
  Effect.async<void>((resume) => {
    if (response.write(bytes)) return resume(Effect.void)
    const drained = () => resume(Effect.void)
    response.once("drain", drained)
    return Effect.sync(() => response.off("drain", drained))
  })

const end = (response: ServerResponse): Effect.Effect<void> =>
  Effect.async<void>((resume) => {
    response.end(() => resume(Effect.void))
  })

/** One turn of the event loop, so that a client in this process reads what was written before more follows. */
const turn: Effect.Effect<void> = Effect.async<void>((resume) => {
  const handle = setImmediate(() => resume(Effect.void))
  return Effect.sync(() => clearImmediate(handle))
})

const reset = (response: ServerResponse): Effect.Effect<void> =>
  Effect.sync(() => {
    response.socket?.resetAndDestroy()
  })

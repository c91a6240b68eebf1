/**
 * A fiber as the promise that libraries wait for.
 */
import * as Cause from "effect/Cause"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"

export const settled = <A, E>(fiber: Fiber.RuntimeFiber<A, E>): Promise<A> =>
  new Promise((resolve, reject) => {
    fiber.addObserver((exit) => {
      if (Exit.isSuccess(exit)) resolve(exit.value)
      else reject(Cause.squash(exit.cause))
    })
  })

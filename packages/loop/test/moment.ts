// A race, tried out moment by moment: a fiber yields at the one that is chosen, and somebody else does something there.
import { Effect, FiberRef, Scheduler } from "effect"

/** The moment before the operation number `at`, counted from 1, of whatever runs with `yields`; `happens` is called there. */
export const moment = (at: number, happens: () => void) => {
  const { scheduleTask } = Scheduler.defaultScheduler
  let operations = 0
  let counting = true
  const scheduler = Scheduler.make(scheduleTask.bind(Scheduler.defaultScheduler), (fiber) => {
    // Some operations keep their fiber from yielding.
    if (!counting || fiber.getFiberRef(FiberRef.currentMaxOpsBeforeYield) === Number.POSITIVE_INFINITY) return false
    if (++operations !== at) return false
    happens()
    return 0
  })
  return {
    yields: Effect.withScheduler(scheduler),
    /** Operations count from here on, or no longer. */
    count: (on: boolean) => {
      counting = on
    },
    /** Whether there was such a moment. */
    came: () => operations >= at
  }
}

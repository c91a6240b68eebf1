/**
 * A send that goes on in the background, as work of a job: over when the terminal is ready again, interrupted when the job is ended.
 */
import type { Work } from "@dsh/shell/Jobs"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type { Sent, TerminalError } from "../Terminals.ts"

export const begin = (
  send: Effect.Effect<Sent, TerminalError>,
  render: (sent: Sent) => string
): Effect.Effect<Work, TerminalError, Scope.Scope> =>
  Effect.gen(function* () {
    const sending = yield* Effect.forkScoped(send)
    // What is refused at once is no job.
    yield* Effect.yieldNow()
    const refused = yield* Fiber.poll(sending)
    if (Option.isSome(refused) && Exit.isFailure(refused.value)) return yield* Effect.failCause(refused.value.cause)
    let unread: string | undefined
    return {
      done: Effect.match(Fiber.join(sending), {
        onSuccess: (sent) => {
          unread = render(sent)
          return { status: "completed" as const, detail: sent.wait }
        },
        onFailure: ({ message }) => ({ status: "failed" as const, detail: message })
      }),
      output: Effect.sync(() => {
        const text = unread ?? ""
        unread = undefined
        return text
      })
    }
  })

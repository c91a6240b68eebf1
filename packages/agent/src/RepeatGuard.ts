/**
 * Notices an agent that makes the same tool calls over and over: it is reminded, more plainly each time, and in the end its turn is
 * ended, with the repetition as its cause.
 *
 * What counts as a repetition is said in `Repeats`. Calls that wait before they look (`sleep 5; status`) may find things unchanged for
 * a good while, so they have a limit of their own. A human message begins the count anew. It is taken from the log, so a session that is
 * resumed goes on counting, and a reminder that it holds is not given again.
 */
import * as Ids from "@dsh/kernel/Ids"
import * as Text from "@dsh/kernel/Text"
import { sizeOf, isRun } from "@dsh/protocol/ChunkRun"
import { MessageId } from "@dsh/protocol/Ids"
import * as Message from "@dsh/protocol/Message"
import type { Session } from "@dsh/session/Session"
import { SessionCreated } from "@dsh/session/Sessions"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { AgentError } from "./AgentError.ts"
import { PreStep } from "./AgentHooks.ts"
import { Repeats } from "./RepeatGuard/Repeats.ts"
import type { Repetition } from "./RepeatGuard/Repeats.ts"

declare module "@dsh/protocol/SessionEvent" {
  interface CancelCauses {
    /** The same calls were made over and over. */
    readonly repetition: { readonly tools: ReadonlyArray<string>; readonly times: number }
  }
}

export interface Options {
  /** How often before a reminder is given. Default 3, 5, 8. */
  readonly reminders?: ReadonlyArray<number>
  /** How often before the turn is ended. Default 12. */
  readonly limit?: number
  /** The same, for calls that wait before they look. Default 60. */
  readonly pollingLimit?: number
  /** Of arguments, in a reminder, in characters. Default 500. */
  readonly argumentsPreviewChars?: number
  /** Names of tools that are watched, `*` standing for anything. Default: all. */
  readonly include?: ReadonlyArray<string>
  /** Names of tools that are not. */
  readonly exclude?: ReadonlyArray<string>
}

const plugin = "repeat-guard"

/** Fails with `INVALID_OPTIONS` for counts that make no sense. */
export const layer = (options: Options = {}): Layer.Layer<never, AgentError, PreStep | SessionCreated> => {
  const { argumentsPreviewChars = 500, limit = 12, pollingLimit = 60, reminders = [3, 5, 8] } = options
  const wrong = mistake(reminders, limit, pollingLimit)
  if (wrong !== undefined) return Layer.fail(new AgentError({ code: "INVALID_OPTIONS", message: wrong }))
  return Layer.suspend(() => {
    const follow = following(watched(options))

    // Reading along is cheaper than reading it all again, for most of a log are chunks of answers.
    const reading = SessionCreated.hook("repeat guard", (session) => {
      const followed = follow(session)
      return session.observe((entry) => {
        if (entry.seq !== followed.next) return
        followed.next += sizeOf(entry)
        if (!isRun(entry)) followed.repeats.apply(entry)
      })
    })

    const guarding = PreStep.hook(
      "repeat guard",
      (input, next) =>
        Effect.gen(function* () {
          const { agent, messages } = input
          // Somebody has just stepped in.
          if (messages.some(({ source }) => source.kind === "user")) return yield* next(input)
          const { repeats } = caughtUp(follow(agent.session), agent.session)
          const repetition = repeats.current()
          const { calls, times } = repetition
          const most = calls.some(({ isPolling }) => isPolling) ? pollingLimit : limit
          if (times >= most) {
            const tools = [...new Set(calls.map(({ name }) => name))]
            // The cancel interrupts this very turn.
            return yield* Effect.zipRight(agent.cancel({ kind: "repetition", tools, times }), Effect.never)
          }
          const due = reminders.filter((at) => at <= times && at > repeats.reminded)
          if (due.length === 0) return yield* next(input)
          const isFirst = Math.max(...due) === Math.min(...reminders)
          const text = isFirst ? mild(repetition) : plain(repetition, most, argumentsPreviewChars)
          const reminder = Message.fromPlugin(MessageId(yield* Ids.fresh), text, {
            plugin,
            form: "notice",
            summary: `the same call ${times} times`
          })
          const decision = yield* next(input)
          return decision.kind === "reject" ? decision : { ...decision, messages: [...decision.messages, reminder] }
        }),
      // After a budget that is spent, before anything that takes time.
      { order: -900 }
    )

    return Layer.merge(reading, guarding)
  })
}

const mistake = (reminders: ReadonlyArray<number>, limit: number, pollingLimit: number): string | undefined => {
  const isCount = (n: number) => Number.isSafeInteger(n) && n >= 2
  if (reminders.length === 0 || !reminders.every(isCount) || new Set(reminders).size < reminders.length) {
    return `reminders are given at [${reminders.join(", ")}]; use different whole numbers from 2`
  }
  return isCount(limit) && isCount(pollingLimit)
    ? undefined
    : `the limits of repetition are ${limit} and ${pollingLimit}; use whole numbers from 2`
}

// -----------------------------------------------------------------------------
// following a log
// -----------------------------------------------------------------------------

interface Followed {
  readonly repeats: Repeats
  /** The seq of the first event that has not been taken in. */
  next: number
}

const following = (isWatched: (name: string) => boolean) => {
  const known = new WeakMap<Session, Followed>()
  return (session: Session): Followed => {
    let followed = known.get(session)
    if (followed === undefined) known.set(session, (followed = { repeats: new Repeats(plugin, isWatched), next: 0 }))
    return followed
  }
}

const caughtUp = (followed: Followed, session: Session): Followed => {
  for (const event of session.range(followed.next)) followed.repeats.apply(event)
  followed.next = session.length
  return followed
}

const watched = ({ exclude = [], include = ["*"] }: Options): ((name: string) => boolean) => {
  const [wanted, unwanted] = [include, exclude].map((names) => names.map(wildcard))
  return (name) => wanted!.some((it) => it.test(name)) && !unwanted!.some((it) => it.test(name))
}

const wildcard = (pattern: string): RegExp =>
  new RegExp(
    `^${pattern
      .split("*")
      .map((part) => part.replaceAll(/[^\w]/g, "\\$&"))
      .join(".*")}$`
  )

// -----------------------------------------------------------------------------
// words
// -----------------------------------------------------------------------------

const mild = ({ calls, times }: Repetition): string =>
  calls.length === 1
    ? `You have made the same call of ${calls[0]!.name} ${times} times in a row, and its result was the same each time. Go by that result, or try something else.`
    : `You have made the same ${calls.length} calls (${calls.map(({ name }) => name).join(", ")}) ${times} times in a row, and their results were the same each time. Go by those results, or try something else.`

const plain = ({ calls, times }: Repetition, limit: number, previewChars: number): string =>
  [
    `You are going in circles. This was done ${times} times in a row now, with the same results:`,
    ...calls.map(({ args, name }) => `- ${name} ${Text.ellipsis(args, previewChars)}`),
    `Doing it again changes nothing; after ${limit} times your turn is ended. Try another way, or say what keeps you from going on.`
  ].join("\n")

/**
 * Tells the model what time it is, in messages: before a step, when enough time has passed since it was told last.
 *
 * The last telling is found in the conversation, so a resumed session is told how long it slept, and one that was compacted is told anew.
 */
import { AgentError } from "@dsh/agent/AgentError"
import { PreStep } from "@dsh/agent/AgentHooks"
import * as Ids from "@dsh/kernel/Ids"
import { MessageId } from "@dsh/protocol/Ids"
import * as Message from "@dsh/protocol/Message"
import type { Session } from "@dsh/session/Session"
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"

export interface Options {
  /** An IANA name such as `Europe/Berlin`. Default: the zone of the process. */
  readonly timeZone?: string
  /** How old the last telling may be, in milliseconds. Default 0: it is told before each step. */
  readonly refreshIntervalMs?: number
}

const plugin = "time"

/** Fails with `INVALID_OPTIONS` for a zone or an interval that does not exist. */
export const layer = (options: Options = {}): Layer.Layer<never, AgentError, PreStep> => {
  const { refreshIntervalMs = 0, timeZone } = options
  const zone = timeZone === undefined ? Option.some(DateTime.zoneMakeLocal()) : DateTime.zoneMakeNamed(timeZone)
  if (Option.isNone(zone)) {
    return invalid(`the time zone "${timeZone}" is not known; use a name of the IANA database such as Europe/Berlin`)
  }
  if (!(refreshIntervalMs >= 0)) {
    return invalid(`the time is refreshed every ${refreshIntervalMs} ms; use a number from 0`)
  }

  return PreStep.hook("time", (input, next) =>
    Effect.gen(function* () {
      const decision = yield* next(input)
      if (decision.kind === "reject" || !input.due) return decision
      const now = yield* Clock.currentTimeMillis
      const last = lastTold(input.agent.session)
      if (last !== undefined && now - last < refreshIntervalMs) return decision
      const text = wording(DateTime.unsafeMakeZoned(now, { timeZone: zone.value }), last)
      const summary = text.slice(0, text.indexOf("["))
      const message = Message.fromPlugin(MessageId(yield* Ids.fresh), text, { plugin, form: "notice", summary })
      return { ...decision, messages: [...decision.messages, message] }
    })
  )
}

const invalid = (message: string) => Layer.fail(new AgentError({ code: "INVALID_OPTIONS", message }))

const weekday = (now: DateTime.Zoned): string => DateTime.format(now, { locale: "en", weekday: "long" })

/** In seconds: nobody plans by less. */
const wording = (now: DateTime.Zoned, last: number | undefined): string => {
  const told = `It is ${weekday(now)}, ${DateTime.formatIsoZoned(now).replace(/\.\d+/, "")}.`
  if (last === undefined) return told
  const passed = Duration.seconds(Math.round((DateTime.toEpochMillis(now) - last) / 1000))
  return `${told} The time before that was told ${Duration.format(passed)} ago.`
}

/** When the model was told last, in milliseconds since the epoch; the newest message is near the end. */
const lastTold = ({ conversation: { nodes } }: Session): number | undefined => {
  const node = nodes.findLast(
    ({ data, type }) =>
      type === "user/message" && "source" in data && data.source.kind === "plugin" && data.source.plugin === plugin
  )
  return node?.time
}

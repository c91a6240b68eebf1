/**
 * How users want to be told, if at all:
 *
 *   notifications: { bell: true, command: [notify-send, dsh], after: 30 }
 */
import type { Section } from "@dsh/settings/Settings"
import * as Schema from "effect/Schema"

const exact = { exact: true } as const

const Notifications = Schema.Struct({
  /** Rings the terminal. */
  bell: Schema.optionalWith(Schema.Boolean, exact),
  /** A program and its arguments. */
  command: Schema.optionalWith(Schema.NonEmptyArray(Schema.NonEmptyString), exact),
  /** What took less is not told, in seconds. Default 0. */
  after: Schema.optionalWith(Schema.NonNegative, exact)
})

export type NotificationSettings = typeof Notifications.Type

export const section: Section<NotificationSettings, typeof Notifications.Encoded> = {
  name: "notifications",
  schema: Notifications
}

/**
 * How users want to be told, read from their settings.
 */
import * as NotificationSettings from "@dsh/notifications/NotificationSettings"
import * as NotificationsLocal from "@dsh/notifications/NotificationsLocal"
import * as SettingsFile from "@dsh/settings/SettingsFile"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"

/** Nothing where they do not. */
export const read = (folder: string, ring: () => void) =>
  Effect.gen(function* () {
    const settings = yield* SettingsFile.make({ folder })
    const wanted = yield* settings.get(NotificationSettings.section)
    return Option.isNone(wanted) ? undefined : NotificationsLocal.make({ ...wanted.value, ring }).tell
  }).pipe(Effect.provide(NodeFileSystem.layer))

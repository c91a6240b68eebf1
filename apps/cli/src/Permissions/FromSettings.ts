/**
 * The part of finding a preset that is only loaded where there may be settings.
 */
import * as PermissionSettings from "@dsh/permission/PermissionSettings"
import * as SettingsFile from "@dsh/settings/SettingsFile"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"

export const read = (folder: string) =>
  Effect.flatMap(SettingsFile.make({ folder }), (settings) => settings.get(PermissionSettings.section)).pipe(
    Effect.map(Option.flatMapNullable(({ preset }) => preset)),
    Effect.provide(NodeFileSystem.layer)
  )

/**
 * From a request to the command that answers it. Each command is its own chunk of the bundle, loaded when chosen.
 */
import * as Effect from "effect/Effect"
import type { ExitCode } from "./ExitCode.ts"
import type { Failure } from "./Failure.ts"
import type { Output } from "./Output.ts"
import type { Request } from "./Request.ts"

/** Ends with the exit code of the process. */
export type Command = Effect.Effect<ExitCode, Failure, Output>

export const run = (request: Request): Command => {
  switch (request._tag) {
    case "Run":
      return Effect.flatMap(
        Effect.promise(() => import("./commands/Run.ts")),
        (command) => command.run(request)
      )
    case "Chat":
      return Effect.flatMap(
        Effect.promise(() => import("./commands/Chat.ts")),
        (command) => command.run(request)
      )
    case "Batch":
      return Effect.flatMap(
        Effect.promise(() => import("./commands/Batch.ts")),
        (command) => command.run(request)
      )
    case "Demo":
      return Effect.flatMap(
        Effect.promise(() => import("./commands/Demo.ts")),
        (command) => command.run
      )
    case "Config":
      return Effect.flatMap(
        Effect.promise(() => import("./commands/Config.ts")),
        (command) => command.run(request)
      )
    case "Doctor":
      return Effect.flatMap(
        Effect.promise(() => import("./commands/Doctor.ts")),
        (command) => command.run(request)
      )
    case "Dump":
      return Effect.flatMap(
        Effect.promise(() => import("./commands/DumpConfig.ts")),
        (command) => command.run(request.launch, request.own)
      )
    case "Plugin":
      return Effect.flatMap(
        Effect.promise(() => import("./commands/Plugin.ts")),
        (command) => command.run(request)
      )
    case "PermissionAdd":
      return Effect.flatMap(
        Effect.promise(() => import("./commands/PermissionAdd.ts")),
        (command) => command.run(request)
      )
    case "PermissionList":
      return Effect.flatMap(
        Effect.promise(() => import("./commands/PermissionList.ts")),
        (command) => command.run(request)
      )
    case "PermissionRevoke":
      return Effect.flatMap(
        Effect.promise(() => import("./commands/PermissionRevoke.ts")),
        (command) => command.run(request)
      )
    case "PresetCopy":
      return Effect.flatMap(
        Effect.promise(() => import("./commands/PresetCopy.ts")),
        (command) => command.run(request.from, request.to)
      )
    case "PresetList":
      return Effect.flatMap(
        Effect.promise(() => import("./commands/PresetList.ts")),
        (command) => command.run(request.json)
      )
    case "PresetRemove":
      return Effect.flatMap(
        Effect.promise(() => import("./commands/PresetRemove.ts")),
        (command) => command.run(request.id, request.yes)
      )
    case "PresetShow":
      return Effect.flatMap(
        Effect.promise(() => import("./commands/PresetShow.ts")),
        (command) => command.run(request.id, request.json)
      )
    case "PresetValidate":
      return Effect.flatMap(
        Effect.promise(() => import("./commands/PresetValidate.ts")),
        (command) => command.run(request.preset)
      )
    case "SessionCheck":
      return Effect.flatMap(
        Effect.promise(() => import("./commands/SessionCheck.ts")),
        (command) => command.run(request.id, request.json)
      )
    case "SessionDelete":
      return Effect.flatMap(
        Effect.promise(() => import("./commands/SessionDelete.ts")),
        (command) => command.run(request.id, request.yes)
      )
    case "SessionDiff":
      return Effect.flatMap(
        Effect.promise(() => import("./commands/SessionDiff.ts")),
        (command) => command.run(request)
      )
    case "SessionExport":
      return Effect.flatMap(
        Effect.promise(() => import("./commands/SessionExport.ts")),
        (command) => command.run(request.id)
      )
    case "SessionFork":
      return Effect.flatMap(
        Effect.promise(() => import("./commands/SessionFork.ts")),
        (command) => command.run(request)
      )
    case "SessionList":
      return Effect.flatMap(
        Effect.promise(() => import("./commands/SessionList.ts")),
        (command) => command.run(request.json)
      )
    case "SessionRepair":
      return Effect.flatMap(
        Effect.promise(() => import("./commands/SessionRepair.ts")),
        (command) => command.run(request.id)
      )
    case "SessionRewind":
      return Effect.flatMap(
        Effect.promise(() => import("./commands/SessionRewind.ts")),
        (command) => command.run(request)
      )
    case "SessionSearch":
      return Effect.flatMap(
        Effect.promise(() => import("./commands/SessionSearch.ts")),
        (command) => command.run(request.text, request.json)
      )
    case "SessionShow":
      return Effect.flatMap(
        Effect.promise(() => import("./commands/SessionShow.ts")),
        (command) => command.run(request.id)
      )
    case "SessionVerify":
      return Effect.flatMap(
        Effect.promise(() => import("./commands/SessionVerify.ts")),
        (command) => command.run(request.id)
      )
    case "CredentialsList":
      return Effect.flatMap(
        Effect.promise(() => import("./commands/CredentialsList.ts")),
        (command) => command.run(request.json)
      )
    case "CredentialsSet":
      return Effect.flatMap(
        Effect.promise(() => import("./commands/CredentialsSet.ts")),
        (command) => command.run(request.name)
      )
    case "CredentialsUnset":
      return Effect.flatMap(
        Effect.promise(() => import("./commands/CredentialsUnset.ts")),
        (command) => command.run(request.name)
      )
    case "Models":
      return Effect.flatMap(
        Effect.promise(() => import("./commands/Models.ts")),
        (command) => command.run(request.json)
      )
    case "SettingsEdit":
      return Effect.flatMap(
        Effect.promise(() => import("./commands/SettingsEdit.ts")),
        (command) => command.run
      )
    case "SettingsGet":
      return Effect.flatMap(
        Effect.promise(() => import("./commands/SettingsGet.ts")),
        (command) => command.run(request)
      )
    case "SettingsSet":
      return Effect.flatMap(
        Effect.promise(() => import("./commands/SettingsSet.ts")),
        (command) => command.run(request.path, request.value)
      )
    case "SettingsUnset":
      return Effect.flatMap(
        Effect.promise(() => import("./commands/SettingsUnset.ts")),
        (command) => command.run(request.path)
      )
    case "MockLlm":
      return Effect.flatMap(
        Effect.promise(() => import("./commands/MockLlm.ts")),
        (command) => command.run(request)
      )
  }
}

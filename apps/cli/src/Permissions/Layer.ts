/**
 * Where rules are kept: in the settings under the home folder, and in each project. Loads next to nothing, for every run has it.
 */
import * as PermissionRulesFile from "@dsh/permission/PermissionRulesFile"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { homedir } from "node:os"
import * as HomeFolder from "../HomeFolder.ts"

export const layer = Layer.unwrapEffect(
  Effect.map(HomeFolder.home, (folder) => PermissionRulesFile.layer({ folder, home: homedir() }))
)

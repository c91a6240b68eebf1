/**
 * `dsh settings …`: what holds for all sessions.
 */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Option from "effect/Option"
import type { Choose } from "../Request.ts"
import { helpOf } from "./HelpPage.ts"

const path = Args.withDescription(
  Args.text({ name: "PATH" }),
  'Where it is, such as agent-default-model.model, permission.rules.deny[0] or prices."provider/model-1.5".'
)

export const make = (choose: Choose) => {
  const edit = Command.make("edit", {}, () => choose({ _tag: "SettingsEdit" })).pipe(
    Command.withDescription("Open the settings in your editor. What does not fit is not taken, and not lost either.")
  )
  const get = Command.make(
    "get",
    {
      path: Args.optional(path),
      json: Options.boolean("json").pipe(Options.withDescription("As JSON."))
    },
    ({ json, path }) => choose({ _tag: "SettingsGet", path: Option.getOrUndefined(path), json })
  ).pipe(Command.withDescription("Print what you have set, or one value of it."))
  const set = Command.make(
    "set",
    { path, value: Args.withDescription(Args.text({ name: "VALUE" }), "A text, a number, true, false, or YAML.") },
    (asked) => choose({ _tag: "SettingsSet", ...asked })
  ).pipe(Command.withDescription("Set a value."))
  const unset = Command.make("unset", { path }, (asked) => choose({ _tag: "SettingsUnset", ...asked })).pipe(
    Command.withDescription("Take back what you have set.")
  )
  const settings = Command.make("settings").pipe(
    Command.withDescription("Look at what holds for all of your sessions, and change it."),
    Command.withSubcommands([edit, get, set, unset])
  )
  const pages = {
    settings: () => helpOf(settings),
    "settings edit": () => helpOf(edit),
    "settings get": () => helpOf(get),
    "settings set": () => helpOf(set),
    "settings unset": () => helpOf(unset)
  }
  return { settings, pages }
}

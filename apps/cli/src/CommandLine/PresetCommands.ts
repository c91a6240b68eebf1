/**
 * `dsh preset …`: the kinds of agents there are.
 */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Option from "effect/Option"
import type { Choose } from "../Request.ts"
import { helpOf } from "./HelpPage.ts"

const preset = (name: string, description: string) => Args.withDescription(Args.text({ name }), description)
const id = preset("ID", "The id of a preset, as in the list.")

export const make = (choose: Choose) => {
  const list = Command.make(
    "list",
    { json: Options.boolean("json").pipe(Options.withDescription("One JSON object per line.")) },
    ({ json }) => choose({ _tag: "PresetList", json })
  ).pipe(Command.withDescription("List the presets, and say why those that cannot be used cannot."))
  const show = Command.make(
    "show",
    { id, json: Options.boolean("json").pipe(Options.withDescription("One JSON object.")) },
    (asked) => choose({ _tag: "PresetShow", ...asked })
  ).pipe(Command.withDescription("Say where a preset is and what it is made of."))
  const validate = Command.make(
    "validate",
    {
      preset: preset("ID|FOLDER", "A preset by its id, or a folder by its path. Left out: all presets.").pipe(
        Args.optional
      )
    },
    ({ preset }) => choose({ _tag: "PresetValidate", preset: Option.getOrUndefined(preset) })
  ).pipe(Command.withDescription("Check presets without starting anything; exit code 3 when one cannot be used."))
  const copy = Command.make(
    "copy",
    { from: preset("FROM", "The preset to start from."), to: preset("TO", "The id of the copy.") },
    ({ from, to }) => choose({ _tag: "PresetCopy", from, to })
  ).pipe(Command.withDescription("Copy a preset to change it."))
  const remove = Command.make(
    "remove",
    { id, yes: Options.boolean("yes").pipe(Options.withDescription("Do not ask.")) },
    ({ id, yes }) => choose({ _tag: "PresetRemove", id, yes })
  ).pipe(Command.withDescription("Remove a preset of yours; asks first."))
  const group = Command.make("preset").pipe(
    Command.withDescription("Look at the kinds of agents there are, and make your own."),
    Command.withSubcommands([copy, list, remove, show, validate])
  )
  const pages = {
    preset: () => helpOf(group),
    "preset copy": () => helpOf(copy),
    "preset list": () => helpOf(list),
    "preset remove": () => helpOf(remove),
    "preset show": () => helpOf(show),
    "preset validate": () => helpOf(validate)
  }
  return { preset: group, pages }
}

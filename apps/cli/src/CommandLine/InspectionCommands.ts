/**
 * `dsh config` and `dsh doctor`: what is in force, and whether it works.
 */
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Option from "effect/Option"
import type { Choose } from "../Request.ts"
import { helpOf } from "./HelpPage.ts"

const profile = Options.text("profile").pipe(
  Options.withPseudoName("NAME"),
  Options.withDescription("The profile to look at. Default: headless."),
  Options.optional
)

const json = (description: string) => Options.boolean("json").pipe(Options.withDescription(description))

export const make = (choose: Choose) => {
  const config = Command.make("config", { profile, json: json("One JSON object.") }, ({ json, profile }) =>
    choose({ _tag: "Config", json, profile: Option.getOrUndefined(profile) })
  ).pipe(Command.withDescription("Say what is in force here, and where it comes from. Values of keys are never shown."))
  const doctor = Command.make("doctor", { profile, json: json("One JSON object per line.") }, ({ json, profile }) =>
    choose({ _tag: "Doctor", json, profile: Option.getOrUndefined(profile) })
  ).pipe(Command.withDescription("Check what dsh needs on this machine, and say what to do about what is missing."))
  const pages = { config: () => helpOf(config), doctor: () => helpOf(doctor) }
  return { config, doctor, pages }
}

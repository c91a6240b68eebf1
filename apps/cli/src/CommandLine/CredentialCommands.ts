/**
 * `dsh credentials …`: the keys that are kept.
 */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import type { Choose } from "../Request.ts"
import { helpOf } from "./HelpPage.ts"

const name = Args.withDescription(Args.text({ name: "NAME" }), "What the key is called, such as DEEPSEEK_API_KEY.")

export const make = (choose: Choose) => {
  const list = Command.make(
    "list",
    { json: Options.boolean("json").pipe(Options.withDescription("One JSON object per line.")) },
    ({ json }) => choose({ _tag: "CredentialsList", json })
  ).pipe(
    Command.withDescription("List the keys that can be used, whether they are set, and where. Values are never shown.")
  )
  const set = Command.make("set", { name }, ({ name }) => choose({ _tag: "CredentialsSet", name })).pipe(
    Command.withDescription("Keep a key. It is asked for in a terminal, and else read from stdin.")
  )
  const unset = Command.make("unset", { name }, ({ name }) => choose({ _tag: "CredentialsUnset", name })).pipe(
    Command.withDescription("Forget a key that is kept.")
  )
  const credentials = Command.make("credentials").pipe(
    Command.withDescription("Keep the keys of providers on this machine."),
    Command.withSubcommands([list, set, unset])
  )
  const pages = {
    credentials: () => helpOf(credentials),
    "credentials list": () => helpOf(list),
    "credentials set": () => helpOf(set),
    "credentials unset": () => helpOf(unset)
  }
  return { credentials, pages }
}

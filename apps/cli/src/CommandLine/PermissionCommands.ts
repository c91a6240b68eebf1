/**
 * `dsh permission …`: the rules that tools are held to.
 */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Option from "effect/Option"
import type { Choose } from "../Request.ts"
import { helpOf } from "./HelpPage.ts"

const rule = Args.withDescription(
  Args.text({ name: "RULE" }),
  "What it speaks of, such as 'bash(git log *)', 'edit(src/**)', 'read(.env)' or the name of a tool."
)

const session = (description: string) =>
  Options.text("session").pipe(Options.withPseudoName("ID"), Options.withDescription(description), Options.optional)

export const make = (choose: Choose) => {
  const allow = Command.make("allow", { rule }, ({ rule }) =>
    choose({ _tag: "PermissionAdd", effect: "allow", rule })
  ).pipe(Command.withDescription("Allow what a rule says; with it, commands that no rule allows are asked about."))
  const deny = Command.make("deny", { rule }, ({ rule }) =>
    choose({ _tag: "PermissionAdd", effect: "deny", rule })
  ).pipe(Command.withDescription("Refuse what a rule says, whatever else allows it."))
  const list = Command.make(
    "list",
    {
      json: Options.boolean("json").pipe(Options.withDescription("One JSON object per line.")),
      session: session("Also what was allowed for the rest of this session.")
    },
    ({ json, session }) => choose({ _tag: "PermissionList", json, session: Option.getOrUndefined(session) })
  ).pipe(Command.withDescription("List the rules that are in force in this folder, and where they come from."))
  const revoke = Command.make(
    "revoke",
    { rule, session: session("Take back what was allowed for the rest of this session.") },
    ({ rule, session }) => choose({ _tag: "PermissionRevoke", rule, session: Option.getOrUndefined(session) })
  ).pipe(Command.withDescription("Take a rule of yours back, whatever it did."))
  const permission = Command.make("permission").pipe(
    Command.withDescription("Say what tools may do: rules that allow, ask and deny."),
    Command.withSubcommands([allow, deny, list, revoke])
  )
  const pages = {
    permission: () => helpOf(permission),
    "permission allow": () => helpOf(allow),
    "permission deny": () => helpOf(deny),
    "permission list": () => helpOf(list),
    "permission revoke": () => helpOf(revoke)
  }
  return { permission, pages }
}

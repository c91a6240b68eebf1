/**
 * The help of one command, as a document.
 */
import * as CliConfig from "@effect/cli/CliConfig"
import * as Command from "@effect/cli/Command"
import type * as HelpDoc from "@effect/cli/HelpDoc"
import * as Usage from "@effect/cli/Usage"

export interface HelpPage {
  /** As in `run [--model ID] <task>...`, without what comes before the command itself. */
  readonly usage: HelpDoc.HelpDoc
  readonly body: HelpDoc.HelpDoc
}

export const helpOf = <Name extends string, R, E, A>(command: Command.Command<Name, R, E, A>): HelpPage => ({
  usage: Usage.getHelp(Command.getUsage(command)),
  body: Command.getHelp(command, config)
})

export const config = CliConfig.make({ isCaseSensitive: true, showBuiltIns: false })

/**
 * `dsh session diff` and `dsh session rewind`: what turns changed, and back to before they did.
 */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Request from "../Request.ts"
import { helpOf } from "./HelpPage.ts"

const flag = (name: string, description: string) => Options.boolean(name).pipe(Options.withDescription(description))

const session = (description: string) => Args.withDescription(Args.text({ name: "ID[@TURN]" }), description)

export const make = (choose: Request.Choose) => {
  const diff = Command.make(
    "diff",
    {
      session: session("The id of a session, and the turn to look at. Without a turn: all of it."),
      json: flag("json", "One JSON object per file.")
    },
    ({ json, session }) => choose({ _tag: "SessionDiff", ...Request.boundary(session), json })
  ).pipe(
    Command.withDescription("Print what a session, or one turn of it, changed in the workspace, as git diff does.")
  )
  const rewind = Command.make(
    "rewind",
    {
      session: session(
        "The id of a session, and the turn to whose end it goes back; 0: before the first. Without one: before the last."
      ),
      files: flag("files", "The files only."),
      conversation: flag("conversation", "The conversation only."),
      dryRun: flag("dry-run", "Say what would be done, and do nothing."),
      force: flag("force", "Put files back, too, that somebody else has changed since."),
      yes: flag("yes", "Do not ask.")
    },
    ({ session, ...asked }) => choose({ _tag: "SessionRewind", ...Request.boundary(session), ...asked })
  ).pipe(
    Command.withDescription(
      "Go back to the end of an earlier turn: conversation and files, or one of the two; asks first."
    )
  )
  return {
    diff,
    rewind,
    pages: { "session diff": () => helpOf(diff), "session rewind": () => helpOf(rewind) }
  }
}

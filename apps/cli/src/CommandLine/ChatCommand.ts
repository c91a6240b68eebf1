/**
 * `dsh chat` on `@effect/cli`.
 */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Option from "effect/Option"
import * as Request from "../Request.ts"

const text = (name: string, placeholder: string, description: string) =>
  Options.text(name).pipe(
    Options.withPseudoName(placeholder),
    Options.withDescription(description),
    Options.optional,
    Options.map(Option.getOrUndefined)
  )

export const make = (choose: Request.Choose) =>
  Command.make(
    "chat",
    {
      words: Args.text({ name: "message" }).pipe(
        Args.withDescription("What to say first. Left out: you are asked."),
        Args.repeated
      ),
      model: text("model", "ID", "The model to use. Default: that of the session, else the provider's."),
      session: text("session", "ID", "Go on with this session."),
      permission: text(
        "permission",
        "PRESET",
        "How far tools may go: read-only, workspace-write or danger-full-access."
      ),
      preset: text("preset", "ID", "What kind of agent to start. Default: as the settings say, else standard."),
      profile: text("profile", "NAME", "The composition to use. Default: chat."),
      last: Options.boolean("continue").pipe(Options.withDescription("Go on with the last session of this folder."))
    },
    ({ last, session, ...asked }) =>
      choose({ _tag: "Chat", ...asked, from: Request.from({ session, fork: undefined, last }) })
  ).pipe(
    Command.withDescription(
      "Talk with an agent in the terminal: it shows what it does and asks before it goes further than it may."
    )
  )

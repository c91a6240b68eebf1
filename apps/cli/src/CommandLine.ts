/**
 * The command line on `@effect/cli`: types, help and completions.
 *
 * Its parser is handed only what `Argv` found well-formed, in canonical order, and its handlers only say what was asked
 * for: nothing runs here.
 */
import * as Args from "@effect/cli/Args"
import * as CliConfig from "@effect/cli/CliConfig"
import * as Command from "@effect/cli/Command"
import * as HelpDoc from "@effect/cli/HelpDoc"
import * as Options from "@effect/cli/Options"
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as Path from "@effect/platform/Path"
import type * as Terminal from "@effect/platform/Terminal"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Color from "./Color.ts"
import * as Failure from "./Failure.ts"
import type { Page } from "./Grammar.ts"
import { config, helpOf } from "./CommandLine/HelpPage.ts"
import type { HelpPage } from "./CommandLine/HelpPage.ts"
import * as ChatCommand from "./CommandLine/ChatCommand.ts"
import * as BatchCommand from "./CommandLine/BatchCommand.ts"
import * as CredentialCommands from "./CommandLine/CredentialCommands.ts"
import * as InspectionCommands from "./CommandLine/InspectionCommands.ts"
import * as PermissionCommands from "./CommandLine/PermissionCommands.ts"
import * as PresetCommands from "./CommandLine/PresetCommands.ts"
import * as RewindCommands from "./CommandLine/RewindCommands.ts"
import * as RunCommand from "./CommandLine/RunCommand.ts"
import * as SettingCommands from "./CommandLine/SettingCommands.ts"
import * as Request from "./Request.ts"

/** What `@effect/cli` wants from the platform. */
export type Platform = FileSystem.FileSystem | Path.Path | Terminal.Terminal

const Port = Schema.NumberFromString.pipe(Schema.int(), Schema.between(0, 65_535)).annotations({
  message: () => ({ message: "--port takes a number from 0 to 65535", override: true })
})

const sessionId = Args.withDescription(Args.text({ name: "ID" }), "The id of a session, as in its list.")

/** The commands; `choose` is told what was asked for. */
const make = (choose: Request.Choose) => {
  const run = RunCommand.make(choose)
  const chat = ChatCommand.make(choose)
  const batch = BatchCommand.make(choose)
  const demo = Command.make("demo", {}, () => choose({ _tag: "Demo" })).pipe(
    Command.withDescription("Watch an agent fix a failing test; needs no key and no network.")
  )

  const plugin = Command.make(
    "plugin",
    {
      profile: Options.text("profile").pipe(
        Options.withPseudoName("NAME"),
        Options.withDescription("The profile it is for. Default: headless."),
        Options.optional
      ),
      args: Args.text({ name: "add PACKAGE" }).pipe(
        Args.withDescription("What the package manager is told: add, remove, update, list and what they take."),
        Args.repeated
      )
    },
    ({ args, profile }) => choose({ _tag: "Plugin", args, profile: Option.getOrUndefined(profile) })
  ).pipe(Command.withDescription("Add extensions to a profile, or remove them, with the package manager there is."))

  const { pages: permissionPages, permission } = PermissionCommands.make(choose)
  const { pages: presetPages, preset } = PresetCommands.make(choose)
  const json = Options.boolean("json").pipe(Options.withDescription("One JSON object per line."))
  const check = Command.make("check", { id: sessionId, json }, (asked) =>
    choose({ _tag: "SessionCheck", ...asked })
  ).pipe(Command.withDescription("Say what is wrong with the log of a session, and what a repair would do."))
  const remove = Command.make(
    "delete",
    {
      id: sessionId,
      yes: Options.boolean("yes").pipe(Options.withDescription("Do not ask."))
    },
    (asked) => choose({ _tag: "SessionDelete", ...asked })
  ).pipe(Command.withDescription("Delete a session; asks first."))
  const exported = Command.make("export", { id: sessionId }, ({ id }) => choose({ _tag: "SessionExport", id })).pipe(
    Command.withDescription("Print the log of a session as it is stored, one JSON value per line.")
  )
  const source = Args.withDescription(
    Args.text({ name: "ID[@SEQ]" }),
    "The id of a session, and the last event to copy."
  )
  const fork = Command.make("fork", { source }, (asked) =>
    choose({ _tag: "SessionFork", ...Request.boundary(asked.source) })
  ).pipe(Command.withDescription("Make a session that begins with what another has, and print its id."))
  const repair = Command.make("repair", { id: sessionId }, ({ id }) => choose({ _tag: "SessionRepair", id })).pipe(
    Command.withDescription("Repair the log of a session; the log as it was is kept beside it.")
  )
  const list = Command.make("list", { json }, (options) => choose({ _tag: "SessionList", ...options })).pipe(
    Command.withDescription("List the sessions, last used first.")
  )
  const text = Args.withDescription(Args.text({ name: "TEXT" }), "Words as they stand there, in any case.")
  const search = Command.make("search", { text, json }, (args) => choose({ _tag: "SessionSearch", ...args })).pipe(
    Command.withDescription("Find a text in what was said and done in all sessions.")
  )
  const show = Command.make("show", { id: sessionId }, ({ id }) => choose({ _tag: "SessionShow", id })).pipe(
    Command.withDescription("Print what was said and done in a session.")
  )
  const verify = Command.make("verify", { id: sessionId }, ({ id }) => choose({ _tag: "SessionVerify", id })).pipe(
    Command.withDescription("Rebuild every request of a session from its log and compare it with what was sent.")
  )
  const { diff, pages: rewindPages, rewind } = RewindCommands.make(choose)
  const session = Command.make("session").pipe(
    Command.withDescription("Look at the sessions on this machine, and look after them."),
    Command.withSubcommands([check, remove, diff, exported, fork, list, repair, rewind, search, show, verify])
  )

  const models = Command.make("models", { json }, (options) => choose({ _tag: "Models", ...options })).pipe(
    Command.withDescription("List the models, with what is known of them, and say which is the default.")
  )
  const { config: inForce, doctor, pages: inspectionPages } = InspectionCommands.make(choose)
  const { credentials, pages: credentialPages } = CredentialCommands.make(choose)
  const { pages: settingPages, settings } = SettingCommands.make(choose)

  const mockLlm = Command.make(
    "mock-llm",
    {
      port: Options.text("port").pipe(
        Options.withPseudoName("N"),
        Options.withDescription("The port to listen on. Default 0: any free one, printed at start."),
        Options.withSchema(Port),
        Options.withDefault(0)
      ),
      scenario: Options.text("scenario").pipe(
        Options.withPseudoName("FILE"),
        Options.withDescription("What to answer, one reply per line. Default: every request succeeds."),
        Options.optional
      )
    },
    ({ port, scenario }) => choose({ _tag: "MockLlm", port, scenario: Option.getOrUndefined(scenario) })
  ).pipe(Command.withDescription("Serve the model API on loopback, with scripted answers."))

  const dsh = Command.make("dsh").pipe(
    Command.withDescription("An LLM agent harness made of Layers."),
    Command.withSubcommands([
      run,
      chat,
      batch,
      demo,
      inForce,
      credentials,
      doctor,
      models,
      permission,
      plugin,
      preset,
      session,
      settings,
      mockLlm
    ])
  )
  const pages: Record<Page, () => HelpPage> = {
    dsh: () => helpOf(dsh),
    run: () => helpOf(run),
    chat: () => helpOf(chat),
    batch: () => helpOf(batch),
    demo: () => helpOf(demo),
    ...inspectionPages,
    ...credentialPages,
    models: () => helpOf(models),
    ...permissionPages,
    plugin: () => helpOf(plugin),
    ...presetPages,
    session: () => helpOf(session),
    "session check": () => helpOf(check),
    "session delete": () => helpOf(remove),
    ...rewindPages,
    "session export": () => helpOf(exported),
    "session fork": () => helpOf(fork),
    "session list": () => helpOf(list),
    "session repair": () => helpOf(repair),
    "session search": () => helpOf(search),
    "session show": () => helpOf(show),
    "session verify": () => helpOf(verify),
    ...settingPages,
    "mock-llm": () => helpOf(mockLlm)
  }
  return { dsh, pages }
}

/** What is printed by `@effect/cli` itself is dropped: its errors come back as failures. */
const silent = Effect.map(Effect.console, (console): Console.Console => ({
  ...console,
  log: () => Effect.void,
  error: () => Effect.void
}))

const toSentence = (doc: HelpDoc.HelpDoc): string => Color.strip(HelpDoc.toAnsiText(doc)).trim().replaceAll(/\s+/g, " ")

/** @param args See `Argv.canonical`. */
export const parse = (args: ReadonlyArray<string>): Effect.Effect<Request.Request, Failure.Failure, Platform> =>
  Effect.gen(function* () {
    let chosen: Request.Request | undefined
    const { dsh } = make((request) =>
      Effect.sync(() => {
        chosen = request
      })
    )
    const app = Command.run(dsh, { name: "dsh", version: "", executable: "dsh" })
    yield* app(["node", "dsh", ...args]).pipe(
      Effect.withConsole(yield* silent),
      Effect.provideService(CliConfig.CliConfig, config),
      Effect.mapError((invalid) => Failure.usage(toSentence(invalid.error)))
    )
    // `Argv` refuses a line that names no command.
    return chosen ?? (yield* Effect.dieMessage(`no command in: ${args.join(" ")}`))
  })

export const helpPage = (page: Page): HelpPage => make(() => Effect.void).pages[page]()

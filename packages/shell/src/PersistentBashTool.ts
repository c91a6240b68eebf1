/**
 * The `bash` tool over one shell per agent that goes on from call to call: folder, variables and background commands stay.
 */
import * as Ids from "@dsh/kernel/Ids"
import type { Json, JsonObject } from "@dsh/kernel/Json"
import * as GuidedTool from "@dsh/prompt/GuidedTool"
import type { Session } from "@dsh/session/Session"
import { Terminals } from "@dsh/terminal/Terminals"
import type { TerminalError } from "@dsh/terminal/Terminals"
import * as Tool from "@dsh/tools/Tool"
import { ToolError } from "@dsh/tools/ToolError"
import { PreExecute } from "@dsh/tools/ToolHooks"
import { WorkingFolder } from "@dsh/tools/WorkingFolder"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Transcript from "./BashTool/Transcript.ts"
import * as Invocation from "./PersistentBashTool/Invocation.ts"
import * as Report from "./PersistentBashTool/Report.ts"
import * as Shells from "./PersistentBashTool/Shells.ts"

export interface Options {
  /** The type of terminal the shell runs on, a bash. Default `shell`. */
  readonly backendType?: string
  /** Milliseconds a command may take. Default 300 000. */
  readonly timeoutMs?: number
  /** Characters of output that are shown. Default 16 000. */
  readonly maxOutputChars?: number
  /** What the model is told of the tool and its surroundings. */
  readonly description?: string
}

const description = `Runs a command in a bash that goes on from call to call and returns what it printed.

- Folder, variables, functions and background commands stay until the shell is reset.
- Nobody answers: programs that ask a question are interrupted. Pass answers as flags, or pipe them in.
- The result is what the command showed, then markers in brackets. [exit code: N] is there only when it failed. After a time-out or an exit of the shell the next command gets a new one.
- Start what goes on for long in the background, with its output in a file.`

const section = {
  name: "bash",
  order: 105,
  text: "After every bash call look at the markers at the end of its result: a command failed if there is an [exit code: …], [timed out after …] or [shell exited …] line, whatever else it printed."
}

const Parameters = Schema.Struct({
  command: Schema.String.pipe(
    Schema.pattern(/\S/, { message: () => "must not be blank" }),
    Schema.pattern(/^[^\0]*$/, { message: () => "must not contain NUL" })
  ).annotations({ description: "The command, in bash. It may have several lines." })
})

const failed = (cause: TerminalError): ToolError => new ToolError({ code: cause.code, message: cause.message, cause })

const make = ({ backendType = "shell", maxOutputChars = 16_000, timeoutMs = 300_000, ...options }: Options) =>
  Effect.gen(function* () {
    const terminals = yield* Terminals
    const shells = yield* Shells.make(backendType)

    const attempt = (command: string, owner: Session, deadline: number) =>
      Effect.gen(function* () {
        const id = yield* shells.of(owner)
        const nonce = (yield* Ids.fresh).replaceAll(/\W/g, "")
        const { line, outcome } = Invocation.make(nonce, command)
        const sent = yield* terminals
          .send(id, owner, line, { inferIdle: false, timeoutMs: deadline })
          .pipe(Effect.onInterrupt(() => shells.abandon(owner)))
        const result = outcome(sent)
        if (result.done !== undefined) shells.moved(owner, result.done.cwd)
        return { sent, result }
      })

    /** Whether the shell takes commands, and where it is. */
    const isBack = (owner: Session) =>
      Effect.map(attempt(":", owner, probeMs), ({ result }) => result.done !== undefined)

    const run = (command: string, owner: Session) =>
      Effect.gen(function* () {
        const { result, sent } = yield* attempt(command, owner, timeoutMs)
        if (result.done !== undefined) return { ...result, stopped: undefined, reset: false }
        const stopped = stoppedBy(sent, timeoutMs)
        const stays =
          (stopped.kind === "interrupted" || (stopped.kind === "input" && (yield* shells.interrupt(owner)))) &&
          (yield* isBack(owner))
        if (!stays) yield* shells.reset(owner)
        return { ...result, stopped, reset: !stays }
      })

    const tool = Tool.make({
      name: "bash",
      description: options.description ?? description,
      parameters: Parameters,
      output: Schema.Struct({ text: Schema.String }),
      execute: ({ command }, { session }) =>
        session === undefined
          ? new ToolError({
              code: "OWNER_NOT_LIVE",
              message: "a shell that goes on belongs to the session of an agent"
            })
          : shells.alone(session, run(command, session)).pipe(
              Effect.mapBoth({
                onFailure: failed,
                onSuccess: (result) => ({
                  text: Report.render(result, { maxOutputChars, folder: Shells.folderOf(session) })
                })
              })
            ),
      render: (_, { text }) => text,
      present: {
        call: ({ command }) => ({ view: "terminal", title: command }),
        result: ({ isError, text }) =>
          isError ? { view: "generic" } : { view: "terminal", output: text, ...Transcript.statusOf(text) }
      }
    })

    /** A relative path in a command is one in the folder of the shell, for those who judge it as well. */
    const placing = PreExecute.hook(
      "folder of the shell",
      (execution, next) => {
        const { name, session } = execution
        const rest = next(execution)
        if (name !== tool.name || session === undefined) return rest
        const folder = shells.elsewhere(session)
        // Who has left the workspace can come back.
        const returns = isRecord(execution.arguments) && execution.arguments["command"] === wayBack(session)
        return folder === undefined || returns ? rest : Effect.provideService(rest, WorkingFolder, folder)
      },
      // Before everybody who asks for it.
      { order: -1000 }
    )
    return Layer.merge(placing, GuidedTool.layer(tool, section))
  })

const isRecord = (value: Json): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const wayBack = (session: Session): string => `cd ${Shells.folderOf(session)}`

/** A shell that was interrupted answers soon, or not at all. */
const probeMs = 2000

const stoppedBy = (
  { atPrompt, ended, wait }: Effect.Effect.Success<ReturnType<Terminals["Type"]["send"]>>,
  timeoutMs: number
): Report.Stopped => {
  if (wait === "session_exit" || ended !== undefined) {
    return { kind: "exit", exitCode: ended?.exitCode ?? null, signal: ended?.signal ?? null }
  }
  if (wait === "timeout") return { kind: "timeout", seconds: timeoutMs / 1000 }
  return { kind: atPrompt ? "interrupted" : "input" }
}

/** For agents instead of `BashTool`; it has the same name. */
export const layer = (options: Options = {}) => Layer.unwrapScoped(make(options))

/**
 * The tools over terminals: `terminal_open`, `terminal_send`, `terminal_read`, `terminal_signal`, `terminal_list`, `terminal_close`.
 */
import * as GuidedTool from "@dsh/prompt/GuidedTool"
import type { Session } from "@dsh/session/Session"
import { Jobs } from "@dsh/shell/Jobs"
import * as Tool from "@dsh/tools/Tool"
import { ToolError } from "@dsh/tools/ToolError"
import * as Tools from "@dsh/tools/Tools"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { resolve } from "node:path"
import { TerminalError, Terminals, signals } from "./Terminals.ts"
import type { Ended } from "./Terminals.ts"
import * as BackgroundSend from "./TerminalTools/BackgroundSend.ts"
import * as Wording from "./TerminalTools/Wording.ts"

export interface Options {
  /** Bytes of terminal output in a result, at least 64. Default 262 144. */
  readonly maxResultBytes?: number
}

const optional = { exact: true } as const
const NotBlank = Schema.String.pipe(Schema.pattern(/\S/, { message: () => "must not be blank" }))
const Id = NotBlank.annotations({ description: "The id that terminal_open returned, such as pty-1, or its name." })
const Count = Schema.Int.pipe(Schema.nonNegative({ message: () => "must be a whole number of lines" }))

const Over = Schema.Struct({ exitCode: Schema.NullOr(Schema.Number), signal: Schema.NullOr(Schema.String) })
const Info = Schema.Struct({
  id: Schema.String,
  type: Schema.String,
  name: Schema.optionalWith(Schema.String, optional),
  cwd: Schema.String,
  ended: Schema.optionalWith(Over, optional)
})
const Rendered = Schema.Struct({ text: Schema.String })

const failed = (cause: { readonly code: string; readonly message: string }): ToolError =>
  new ToolError({ code: cause.code, message: cause.message, cause })

/** Runs `use` for the session the call belongs to. */
const owned = <A, E extends { readonly code: string; readonly message: string }, R>(
  owner: Session | undefined,
  use: (terminals: Terminals["Type"], owner: Session) => Effect.Effect<A, E, R>
): Effect.Effect<A, ToolError, R | Terminals> =>
  Effect.flatMap(Terminals, (terminals): Effect.Effect<A, E | TerminalError, R> =>
    owner === undefined
      ? new TerminalError({ code: "OWNER_NOT_LIVE", message: "terminals belong to the session of an agent" })
      : use(terminals, owner)
  ).pipe(Effect.mapError(failed))

const open = (maxBytes: number) =>
  Tool.make({
    name: "terminal_open",
    description:
      "Opens a terminal with a program that goes on between calls: an interactive shell, in which servers, debuggers and REPLs can be started, answered and looked at. For a command that just runs and ends, use bash.",
    parameters: Schema.Struct({
      type: NotBlank.annotations({ description: "What runs on it: shell is an interactive bash." }),
      name: Schema.optionalWith(NotBlank.annotations({ description: "Another way to call it." }), optional),
      cwd: Schema.optionalWith(
        Schema.String.annotations({
          description: "Folder to start in; a relative path starts at the workspace folder."
        }),
        optional
      )
    }),
    output: Schema.extend(Info, Schema.Struct({ startup: Schema.String })),
    execute: ({ cwd, name, type }, { cwd: workspace, session }) =>
      owned(session, (terminals, owner) =>
        Effect.map(
          terminals.open({ type, owner, cwd: resolve(workspace, cwd ?? "."), ...(name !== undefined && { name }) }),
          ({ startup, ...info }) => ({ ...told(info), startup })
        )
      ),
    render: (_, info) => Wording.opened(asInfo(info), maxBytes)
  })

const send = (maxBytes: number, jobs: Jobs["Type"] | undefined) =>
  Tool.make({
    name: "terminal_send",
    description:
      "Types text into a terminal and returns what it shows until it waits for input again, or shows nothing for a while, or time is up; [wait: …] says which. The command goes on all the same: call again with an empty text and submit false to see more, or use terminal_read.",
    parameters: Schema.Struct({
      sessionId: Id,
      text: Schema.String.annotations({ description: "What to type." }),
      submit: Schema.optionalWith(Schema.Boolean.annotations({ description: "Press Enter. Default true." }), optional),
      run_in_background: Schema.optionalWith(
        Schema.Boolean.annotations({
          description: "Go on at once: the result is a job id for job_output. The job ends when the command does."
        }),
        optional
      )
    }),
    output: Rendered,
    execute: ({ run_in_background, sessionId, submit = true, text }, { session }) =>
      owned(session, (terminals, owner) =>
        Effect.gen(function* () {
          if (run_in_background !== true) {
            return { text: Wording.sent(yield* terminals.send(sessionId, owner, text, { submit }), maxBytes) }
          }
          if (jobs === undefined) {
            return yield* new ToolError({ code: "INVALID_ARGS", message: "there are no background jobs; leave it out" })
          }
          const { id } = yield* jobs.start({
            kind: "terminal",
            label: text.trim() === "" ? sessionId : text,
            session: owner,
            begin: BackgroundSend.begin(
              terminals.send(sessionId, owner, text, { submit, inferIdle: false, timeoutMs: Infinity }),
              (sent) => Wording.sent(sent, maxBytes)
            )
          })
          return { text: `started background job ${id}` }
        })
      ),
    render: (_, { text }) => text,
    present: {
      call: ({ text }) => ({ view: "terminal", title: text }),
      result: ({ isError, text }) => (isError ? { view: "generic" } : { view: "terminal", output: text })
    }
  })

const read = (maxBytes: number) =>
  Tool.make({
    name: "terminal_read",
    description: "Returns lines that a terminal has shown, the newest unless offset says otherwise. Types nothing.",
    parameters: Schema.Struct({
      sessionId: Id,
      offset: Schema.optionalWith(
        Count.annotations({ description: "How many of the newest lines to leave out. Default 0." }),
        optional
      ),
      count: Schema.optionalWith(Count.annotations({ description: "How many lines. Default 500." }), optional)
    }),
    output: Rendered,
    execute: ({ count = 500, offset = 0, sessionId }, { session }) =>
      Effect.map(
        owned(session, (terminals, owner) => terminals.read(sessionId, owner, offset, count)),
        (page) => ({ text: Wording.page(page, maxBytes) })
      ),
    render: (_, { text }) => text
  })

const signal = Tool.make({
  name: "terminal_signal",
  description: "Sends a signal to the program in front in a terminal: SIGINT is what Ctrl-C does.",
  parameters: Schema.Struct({ sessionId: Id, signal: Schema.Literal(...signals) }),
  output: Schema.Struct({ group: Schema.Number }),
  execute: ({ sessionId, signal }, { session }) =>
    Effect.map(
      owned(session, (terminals, owner) => terminals.signal(sessionId, owner, signal)),
      (group) => ({ group })
    ),
  render: ({ sessionId, signal }, { group }) => `sent ${signal} to process group ${group} of ${sessionId}`
})

const list = Tool.make({
  name: "terminal_list",
  description: "Lists the open terminals of this session.",
  parameters: Schema.Struct({}),
  output: Schema.Array(Info),
  execute: (_, { session }) =>
    Effect.map(
      owned(session, (terminals, owner) => terminals.list(owner)),
      (all) => all.map(told)
    ),
  render: (_, all) => Wording.list(all.map(asInfo))
})

const close = Tool.make({
  name: "terminal_close",
  description: "Closes a terminal and ends everything that runs on it.",
  parameters: Schema.Struct({ sessionId: Id }),
  output: Info,
  execute: ({ sessionId }, { session }) =>
    Effect.map(
      owned(session, (terminals, owner) => terminals.close(sessionId, owner)),
      told
    ),
  render: (_, info) => `closed ${Wording.name(asInfo(info))}\n[session: ${Wording.status(info.ended)}]`
})

/** JSON has no undefined. */
const told = <I extends { readonly name: string | undefined; readonly ended: Ended }>({ ended, name, ...info }: I) => ({
  ...info,
  ...(name !== undefined && { name }),
  ...(ended !== undefined && { ended })
})

const asInfo = <I extends typeof Info.Type>(info: I) => ({ ...info, name: info.name, ended: info.ended })

const section = {
  name: "terminals",
  order: 107,
  text:
    "Terminals are for programs that you have to answer or to keep running. [wait: inferred_idle] and [wait: timeout] mean that a command may still be at work. " +
    "Close terminals that are no longer needed; the sandbox mode cannot be changed while one is open."
}

/** Sends may go on in the background where there are `Jobs`. */
export const layer = ({ maxResultBytes = 262_144 }: Options = {}) => {
  const maxBytes = Math.max(64, maxResultBytes)
  return Layer.unwrapEffect(
    Effect.map(Effect.serviceOption(Jobs), (jobs) =>
      Layer.mergeAll(
        GuidedTool.layer(open(maxBytes), section),
        Tools.layerTool(send(maxBytes, Option.getOrUndefined(jobs))),
        Tools.layerTool(read(maxBytes)),
        Tools.layerTool(signal),
        Tools.layerTool(list),
        Tools.layerTool(close)
      )
    )
  )
}

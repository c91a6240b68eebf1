/**
 * The `bash` tool: a command in a fresh shell.
 */
import * as Escalation from "@dsh/sandbox/Escalation"
import * as GuidedTool from "@dsh/prompt/GuidedTool"
import type { PromptError, SystemPrompt } from "@dsh/prompt/SystemPrompt"
import * as Tool from "@dsh/tools/Tool"
import { ToolError } from "@dsh/tools/ToolError"
import type { ToolRegistrationError, Tools } from "@dsh/tools/Tools"
import { modes } from "@dsh/world/Confinement"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { isAbsolute, resolve } from "node:path"
import * as Transcript from "./BashTool/Transcript.ts"
import { AgentEnv } from "./CommandEnv.ts"
import { Jobs } from "./Jobs.ts"
import type { Work } from "./Jobs.ts"
import { Shell } from "./Shell.ts"
import type { ShellProcess, ShellRequest } from "./Shell.ts"

const optional = { exact: true } as const
const NotBlank = Schema.String.pipe(Schema.pattern(/\S/, { message: () => "must not be blank" }))
const Positive = Schema.Finite.pipe(Schema.positive({ message: () => "must be a positive number of milliseconds" }))

const Parameters = Schema.Struct({
  command: NotBlank.annotations({ description: "The command line, run by bash -c." }),
  description: NotBlank.annotations({
    description: "What the command does, in 5 to 10 words. For the person watching."
  }),
  timeoutMs: Schema.optionalWith(
    Positive.annotations({ description: "Deadline in milliseconds. Longer than the upper limit counts as the limit." }),
    optional
  ),
  workdir: Schema.optionalWith(
    Schema.String.annotations({
      description: "Folder to run in; a relative path starts at the workspace folder, ~ is not expanded."
    }),
    optional
  )
})

const Output = Schema.Struct({
  text: Schema.String,
  truncated: Schema.Boolean,
  totalBytes: Schema.Number,
  spillPath: Schema.optionalWith(Schema.String, optional),
  encoding: Schema.optionalWith(Schema.String, optional)
})

const Value = Schema.Struct({
  kind: Schema.Literal("foreground"),
  cwd: Schema.String,
  exitCode: Schema.NullOr(Schema.Number),
  signal: Schema.NullOr(Schema.String),
  timedOut: Schema.Boolean,
  timeoutMs: Schema.Number,
  stdout: Output,
  stderr: Output,
  pipeHeld: Schema.Boolean,
  sandbox: Schema.optionalWith(
    Schema.Struct({
      mode: Schema.Literal(...modes),
      enforcement: Schema.Literal("full", "partial"),
      denied: Schema.Boolean
    }),
    optional
  )
})

/** After such a command one might think to be somewhere else. */
const moves = /(?:^|[\s;&|(])(?:cd|pushd|popd)(?:$|[\s;&|)])/

const description = `Runs a command line in bash and returns what it printed.

- Every call is a fresh shell that starts in the workspace folder. cd, variables, functions and background processes end with the call: chain with && what belongs together, or pass workdir.
- There is no terminal and no input: programs that ask a question or open an editor fail. Pass answers as flags (git commit -m, --yes).
- The result is standard output, then [stderr] and standard error, then markers in brackets. [exit code: N] or [killed by signal: S] is there only when the command failed; [timed out after Nms] when it was stopped at its deadline.
- Of long output the beginning and the end are shown; the marker names a file with all of it.
- To look at files, change them or search in them, use the tools made for that.`

const section = {
  name: "bash",
  order: 105,
  text: "After every bash call look at the markers at the end of its result: a command failed if there is an [exit code: …], [killed by signal: …] or [timed out after …] line, whatever else it printed."
}

const Started = Schema.Struct({ kind: Schema.Literal("background"), jobId: Schema.String })

const background = {
  run_in_background: Schema.optionalWith(
    Schema.Boolean.annotations({
      description: "Start it and go on: the result is a job id for job_output and job_kill. It has no deadline."
    }),
    optional
  )
}

/** What compositions may add to a command in the foreground. */
interface Extras {
  /** Commands may go on in the background. */
  readonly jobs: Jobs["Type"] | undefined
  /** Calls may ask for more rights than their session has. */
  readonly escalation: boolean
}

const Everything = Schema.Struct({ ...Parameters.fields, ...background, ...Escalation.fields })

// What is left out of it is optional, so a part is one whose other fields are never there.
const parametersOf = ({ escalation, jobs }: Extras): typeof Everything =>
  Schema.Struct({
    ...Parameters.fields,
    ...(jobs !== undefined && background),
    ...(escalation && Escalation.fields)
  }) as unknown as typeof Everything

const define = (extras: Extras): Tool.Tool<Shell> => {
  const { escalation, jobs } = extras
  const hint = escalation
    ? "; if the command needs more, repeat it once with sandbox_permissions and justification"
    : ""
  return Tool.make({
    name: "bash",
    description,
    parameters: parametersOf(extras),
    output: Schema.Union(Value, Started),
    execute: ({ command, run_in_background, timeoutMs, workdir }, { cwd: workspace, session }) =>
      Effect.gen(function* () {
        const shell = yield* Shell
        const cwd = resolve(workspace, workdir ?? ".")
        const request: ShellRequest = {
          command,
          cwd,
          env: yield* AgentEnv,
          ...(timeoutMs !== undefined && { timeoutMs }),
          ...(session !== undefined && { facts: { DSH_SESSION_ID: session.id } })
        }
        if (run_in_background === true && jobs !== undefined) {
          const begin = Effect.map(shell.start(request), work)
          const { id } = yield* jobs.start({ kind: "bash", label: command, session, begin })
          return { kind: "background" as const, jobId: id }
        }
        return { kind: "foreground" as const, cwd, ...(yield* shell.run(request)) }
      }).pipe(Effect.mapError(({ code, message, ...error }) => new ToolError({ code, message, cause: error }))),
    render: ({ command, workdir }, value) => {
      if (value.kind === "background") return `started background job ${value.jobId}`
      const folder =
        workdir !== undefined ? value.cwd : moves.test(command) ? `${value.cwd}, where every call starts` : undefined
      return Transcript.render(value, { hint, ...(folder !== undefined && { folder }) })
    },
    present: {
      call: ({ command, description: title, workdir }) => ({
        view: "terminal",
        title: command,
        description: title,
        ...(workdir !== undefined && isAbsolute(workdir) && { cwd: workdir })
      }),
      result: ({ isError, text }) =>
        isError ? { view: "generic" } : { view: "terminal", output: text, ...Transcript.statusOf(text) }
    }
  })
}

const work = ({ exit, output }: ShellProcess): Work => ({
  done: Effect.map(exit, ({ exitCode, signal }) => ({
    status: exitCode === 0 ? ("completed" as const) : ("failed" as const),
    detail: signal === null ? `exit code ${exitCode}` : `killed by signal ${signal}`
  })),
  output
})

/** In the foreground alone. */
export const tool: Tool.Tool<Shell> = define({ jobs: undefined, escalation: false })

const registered = (escalation: boolean) =>
  Layer.unwrapEffect(
    Effect.map(Effect.serviceOption(Jobs), (jobs) =>
      GuidedTool.layer(define({ jobs: Option.getOrUndefined(jobs), escalation }), section)
    )
  )

type Registered = Layer.Layer<never, ToolRegistrationError | PromptError, Tools | SystemPrompt | Shell>

/** Commands may go on in the background where there are `Jobs`. */
export const layer: Registered = registered(false)

/** Calls can ask for more rights than their session has; for compositions with `SandboxEscalation` and somebody to ask. */
export const layerEscalating: Registered = registered(true)

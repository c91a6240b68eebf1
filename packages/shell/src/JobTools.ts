/**
 * The tools over background jobs: `job_output`, `job_list`, `job_kill`.
 */
import * as GuidedTool from "@dsh/prompt/GuidedTool"
import * as Tool from "@dsh/tools/Tool"
import { ToolError } from "@dsh/tools/ToolError"
import * as Tools from "@dsh/tools/Tools"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { Jobs, isOver } from "./Jobs.ts"
import type { Job, JobError } from "./Jobs.ts"

const optional = { exact: true } as const

/** In milliseconds. */
const defaultWait = 30_000
const longestWait = 600_000

const JobId = Schema.String.pipe(Schema.pattern(/\S/, { message: () => "must not be blank" })).annotations({
  description: "The id that starting the job returned, such as bash-1."
})

const statusLine = ({ detail, status }: Job): string =>
  `[status: ${status}${detail === undefined ? "" : `, ${detail}`}]`

const failed = ({ code, message }: JobError): ToolError => new ToolError({ code, message })

const output = Tool.make({
  name: "job_output",
  aliases: ["bash_output"],
  description:
    "Returns what a background job has printed since you last looked, and how it stands. With wait it returns when the job is over or the time is up; without, at once.",
  parameters: Schema.Struct({
    job_id: JobId,
    wait: Schema.optionalWith(Schema.Boolean.annotations({ description: "Wait for the end of the job." }), optional),
    timeout_ms: Schema.optionalWith(
      Schema.Finite.pipe(Schema.positive({ message: () => "must be a positive number of milliseconds" })).annotations({
        description: `How long to wait, in milliseconds. Default ${defaultWait}, at most ${longestWait}.`
      }),
      optional
    )
  }),
  output: Schema.Struct({
    text: Schema.String,
    status: Schema.String,
    detail: Schema.optionalWith(Schema.String, optional)
  }),
  parallelSafe: false,
  execute: ({ job_id, timeout_ms, wait }, { session }) =>
    Effect.gen(function* () {
      const jobs = yield* Jobs
      const waitMs = wait === true ? Math.min(timeout_ms ?? defaultWait, longestWait) : 0
      const { job, text } = yield* jobs.read(job_id, session, waitMs)
      return { text, status: job.status, ...(job.detail !== undefined && { detail: job.detail }) }
    }).pipe(Effect.mapError(failed)),
  render: (_, { detail, status, text }) =>
    `${text.trim() === "" ? "(no new output)" : text.replace(/\n$/, "")}\n[status: ${status}${detail === undefined ? "" : `, ${detail}`}]`
})

const list = Tool.make({
  name: "job_list",
  description: "Lists the background jobs of this session.",
  parameters: Schema.Struct({}),
  output: Schema.Array(
    Schema.Struct({ id: Schema.String, kind: Schema.String, status: Schema.String, label: Schema.String })
  ),
  execute: (_, { session }) =>
    Effect.map(
      Effect.flatMap(Jobs, (jobs) => jobs.list(session)),
      (all) => all.map(({ id, kind, label, status }) => ({ id, kind, status, label }))
    ),
  render: (_, all) =>
    all.length === 0
      ? "(no background jobs)"
      : all.map(({ id, kind, label, status }) => `${id} [${kind}] ${status} — ${label}`).join("\n")
})

const kill = Tool.make({
  name: "job_kill",
  aliases: ["bash_kill"],
  description: "Ends a background job with everything it started.",
  parameters: Schema.Struct({
    job_id: JobId,
    reason: Schema.optionalWith(Schema.String.annotations({ description: "Why, for the person watching." }), optional)
  }),
  output: Schema.Struct({ id: Schema.String, line: Schema.String, over: Schema.Boolean }),
  execute: ({ job_id, reason }, { session }) =>
    Effect.map(
      Effect.mapError(
        Effect.flatMap(Jobs, (jobs) => jobs.kill(job_id, session, reason)),
        failed
      ),
      (job) => ({ id: job.id, line: statusLine(job), over: isOver(job.status) })
    ),
  render: (_, { id, line, over }) => `${id} ${over ? "was over already" : "is being ended"}\n${line}`
})

const section = {
  name: "jobs",
  order: 106,
  text:
    "Commands that go on for long, such as servers and watchers, belong into the background (run_in_background). Remember their job ids; " +
    "you are told when one ends, so do not ask again and again. Collect what you need before your final answer, and kill what is no longer needed."
}

export const layer = Layer.mergeAll(GuidedTool.layer(output, section), Tools.layerTool(list), Tools.layerTool(kill))

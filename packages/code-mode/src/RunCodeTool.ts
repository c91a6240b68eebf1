/**
 * The `run_code` tool: a program that calls the other tools. Only what it prints and returns comes back to the model.
 */
import { fresh } from "@dsh/kernel/Ids"
import type { Json } from "@dsh/kernel/Json"
import { text } from "@dsh/protocol/Block"
import { MessageId } from "@dsh/protocol/Ids"
import * as Message from "@dsh/protocol/Message"
import * as Tool from "@dsh/tools/Tool"
import { ToolError } from "@dsh/tools/ToolError"
import type { PipelineServices } from "@dsh/tools/ToolPipeline"
import { Tools } from "@dsh/tools/Tools"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { CodeRuntime } from "./CodeRuntime.ts"
import type { CodeFailureKind, CodeResult } from "./CodeRuntime.ts"
import { render } from "./RunCodeTool/Rendering.ts"
import * as SubCalls from "./RunCodeTool/SubCalls.ts"

export const name = "run_code"

const said = (description: string) =>
  Schema.String.pipe(Schema.pattern(/\S/, { message: () => "must not be blank" })).annotations({ description })

const Parameters = Schema.Struct({
  code: said("The body of an async function in TypeScript: await and return at its top level are fine."),
  description: said("What the program does, in 5 to 10 words, for the person who watches.")
})

const Value = Schema.Struct({
  logs: Schema.Array(Schema.String),
  result: Schema.optionalWith(Schema.Unknown, { exact: true })
})

/** The program came to its own end: what it left running may end as well. Otherwise it was ended, and so is what it started. */
const isOwnEnd: Record<CodeFailureKind, boolean> = {
  exception: true,
  "invalid-output": true,
  timeout: false,
  abort: false,
  "worker-exit": false,
  "output-limit": false
}

export const make = (maxParallelSubCalls: number): Tool.Tool<CodeRuntime | PipelineServices> =>
  Tool.make({
    name: "run_code",
    description:
      "Runs a TypeScript program that calls tools: tools.NAME(args) returns a promise of the tool's value; the declarations are in the system prompt. You see only what the program returns and what it prints with console.log, so filter and sum up in the program. It has no file system, network, imports or timers of its own, and each run begins anew.",
    parameters: Parameters,
    output: Value,
    execute: ({ code }, context) =>
      Effect.scoped(
        Effect.gen(function* () {
          const tools = yield* Tools
          const runtime = yield* CodeRuntime
          const calls = yield* SubCalls.make(context, maxParallelSubCalls)
          const names = tools.list().flatMap((tool) => (tool.name === name ? [] : [tool.name]))
          const functions = new Map(names.map((called) => [called, (args: Json) => calls.call(called, args)] as const))
          const result = yield* runtime.run({
            program: code,
            bindings: [{ global: "tools", functions, errorClass: "ToolCallError", errorMember: "toolName" }]
          })
          const isLeftRunning = result.error === undefined || isOwnEnd[result.error.kind]
          yield* Effect.mapError(
            calls.close(isLeftRunning ? "drain" : "cancel"),
            (cause) =>
              new ToolError({ code: "CODE_RUN_FAILED", message: `a call could not be logged: ${cause.message}`, cause })
          )
          yield* attachImages(calls, context)
          if (result.error !== undefined) return yield* failed(result)
          return { logs: result.logs, ...(result.value !== undefined && { result: result.value }) }
        })
      ),
    // What a program returned is JSON.
    render: (_, { logs, result }) => render(logs, result as Json | undefined),
    present: {
      call: ({ description }) => ({ view: "generic", title: description, kind: "execute" }),
      result: () => ({ view: "generic" })
    }
  })

/** Results of tools may be pictures; a program has no way to show them. */
const attachImages = (calls: SubCalls.SubCalls, { deferContext }: Tool.ToolContext) =>
  Effect.suspend(() => {
    const images = calls.images()
    if (images.length === 0) return Effect.void
    return Effect.flatMap(fresh, (id) =>
      deferContext(
        Message.fromPlugin(MessageId(id), [text("Images that tools gave to the program:"), ...images], {
          plugin: "@dsh/code-mode"
        })
      )
    )
  })

const failed = ({ error, logs }: CodeResult) => {
  const printed = logs.length === 0 ? "" : `\n\nIt had printed:\n${logs.join("\n")}`
  return new ToolError({
    code: "CODE_RUN_FAILED",
    message: `the program failed (${error?.kind}): ${error?.message}${printed}`
  })
}

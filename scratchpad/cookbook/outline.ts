/**
 * A tool of our own: the headings of a Markdown file, so that the model reads the part it needs and not all of it.
 */
import * as Tool from "@dsh/tools/Tool"
import { ToolError } from "@dsh/tools/ToolError"
import * as Tools from "@dsh/tools/Tools"
import { Fs } from "@dsh/world/Fs"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

const outline = Tool.make({
  name: "outline",
  description: "Lists the headings of a Markdown file with their line numbers. Read the part you need with offset.",
  parameters: Schema.Struct({
    file_path: Schema.String.annotations({
      description: "Path of the file; a relative one starts at the workspace folder."
    }),
    depth: Schema.optional(
      Schema.Int.pipe(Schema.between(1, 6, { message: () => "must be between 1 and 6" })).annotations({
        description: "Levels of headings to list, 1 to 6. Default 6."
      })
    )
  }),
  output: Schema.Array(Schema.Struct({ line: Schema.Int, text: Schema.String })),
  parallelSafe: true,
  timeout: "10 seconds",
  execute: ({ depth = 6, file_path }, { cwd }) =>
    Effect.gen(function* () {
      const fs = yield* Fs
      const { bytes } = yield* fs.readBytes(yield* fs.resolve(file_path, { cwd }), { maxBytes: 10_000_000 })
      const lines = Buffer.from(bytes).toString().split("\n")
      return lines
        .map((text, i) => ({ line: i + 1, text }))
        .filter(({ text }) => (/^(#{1,6}) /.exec(text)?.[1] ?? "#".repeat(7)).length <= depth)
    }).pipe(Effect.mapError(({ code, message }) => new ToolError({ code, message }))),
  render: (_, headings) => headings.map(({ line, text }) => `${line}: ${text}`).join("\n") || "(no headings)",
  present: { call: ({ file_path }) => ({ view: "generic", title: `Outline of ${file_path}`, kind: "read" }) }
})

/** Needs `Tools` to register in, and `Fs`, because the body does. */
export const layer = Tools.layerTool(outline)

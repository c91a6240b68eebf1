/**
 * The tool over it. It depends on the definition, never on a provider.
 */
import * as Tool from "@dsh/tools/Tool"
import { ToolError } from "@dsh/tools/ToolError"
import * as Tools from "@dsh/tools/Tools"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Glossary } from "./Glossary.ts"

const glossary = Tool.make({
  name: "glossary",
  description: "Says what a word means in this project.",
  parameters: Schema.Struct({ word: Schema.String.annotations({ description: "One word, in any case." }) }),
  output: Schema.String,
  parallelSafe: true,
  execute: ({ word }) =>
    Effect.flatMap(Glossary, ({ meaning }) => meaning(word)).pipe(
      Effect.mapError(({ code, message }) => new ToolError({ code, message }))
    ),
  render: (_, meaning) => meaning
})

export const layer = Tools.layerTool(glossary)

/**
 * Tells the model what an `@path` in a message is, if it has a tool to read one.
 */
import { AssemblePrompt } from "@dsh/prompt/Assembly"
import * as SystemPrompt from "@dsh/prompt/SystemPrompt"
import * as Layer from "effect/Layer"

const name = "file-references"

const meaning =
  'A path behind an @ in a message of the user (@src/main.ts, @"a name with spaces") names a file or folder of the workspace. ' +
  "Its content is not in the message: read it when you need it."

const onlyForReaders = AssemblePrompt.hook("file references", ({ assembly, context }, next) => {
  if (assembly.tools.some((tool) => tool.name === "read")) return next({ assembly, context })
  const sections = assembly.sections.filter((section) => section.name !== name)
  return next({ assembly: { ...assembly, sections }, context })
})

export const layer = Layer.merge(SystemPrompt.layerSection({ name, order: 119, text: meaning }), onlyForReaders)

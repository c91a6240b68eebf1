/**
 * Images: kept beside the sessions, shown to models that can see them.
 */
import { AgentRequest, RequestError } from "@dsh/agent/AgentHooks"
import { Attachments } from "@dsh/attachments/Attachments"
import * as AttachmentsLocal from "@dsh/attachments/AttachmentsLocal"
import * as RequestImages from "@dsh/attachments/RequestImages"
import { ObservedFiles } from "@dsh/files/ObservedFiles"
import * as ReadImageTool from "@dsh/files/ReadImageTool"
import * as Plugin from "@dsh/kernel/Plugin"
import { SystemPrompt } from "@dsh/prompt/SystemPrompt"
import { EventTypes } from "@dsh/session/EventTypes"
import { Tools } from "@dsh/tools/Tools"
import { Fs } from "@dsh/world/Fs"
import * as Schema from "effect/Schema"

const exact = { exact: true } as const
const Count = Schema.Int.pipe(Schema.positive())

const store = Plugin.make({
  name: "@dsh/attachments/AttachmentsLocal",
  description: "Keeps images in a folder, decoded and shrunk by a process of their own.",
  config: Schema.Struct({
    root: Schema.NonEmptyString.annotations({ description: "The folder, absolute. It is made when it is needed." }),
    concurrency: Schema.optionalWith(Schema.Int.pipe(Schema.between(1, 8)), exact).annotations({
      description: "How many images are decoded at once. Default 2."
    })
  }),
  provides: [Attachments],
  layer: AttachmentsLocal.layer
})

const requests = Plugin.make({
  name: "@dsh/attachments/RequestImages",
  description: "Keeps the images of a request within bounds.",
  config: Schema.Struct({
    maxBytes: Schema.optionalWith(Count, exact).annotations({
      description: "Of all images of a request, in bytes as they are kept. Default 16 MiB."
    }),
    maxImages: Schema.optionalWith(Count, exact).annotations({ description: "Default 20." })
  }),
  requires: [AgentRequest, RequestError, EventTypes],
  layer: (options) => RequestImages.layer(options)
})

const tool = Plugin.make({
  name: "@dsh/files/ReadImageTool",
  description: "The tool `read_image`.",
  requires: [Tools, SystemPrompt, Fs, ObservedFiles, Attachments],
  layer: () => ReadImageTool.layer
})

export const plugins = [store, requests, tool]

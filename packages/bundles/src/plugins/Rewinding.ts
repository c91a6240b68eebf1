/**
 * What a rewind needs to know: which files were changed, and what was there before. Loaded with every run, so it holds no more than that.
 */
import { TurnStopping } from "@dsh/agent/AgentHooks"
import * as Plugin from "@dsh/kernel/Plugin"
import * as FileRecording from "@dsh/rewind/FileRecording"
import { EventTypes } from "@dsh/session/EventTypes"
import { Sessions } from "@dsh/session/Sessions"
import { Execute } from "@dsh/tools/ToolHooks"
import { Tools } from "@dsh/tools/Tools"
import * as Schema from "effect/Schema"

const limit = (description: string) =>
  Schema.optionalWith(Schema.Int.pipe(Schema.positive()), { exact: true }).annotations({ description })

const recording = Plugin.make({
  name: "@dsh/rewind/FileRecording",
  description:
    "Records which files tools and commands change, and keeps what was there, so that a session can be rewound.",
  config: Schema.Struct({
    root: Schema.NonEmptyString.annotations({ description: "The folder, absolute. It is made with the first change." }),
    maxFileBytes: limit("Of one file; larger ones are not kept. Default 8 MiB."),
    maxBytes: limit("Of all sessions together; those not used for longest go first. Default 2 GiB."),
    maxEntries: limit("Files and folders of a workspace; commands in a larger one are not watched. Default 20 000."),
    maxFirstBytes: limit("How much of a workspace is kept before its first command. Default 256 MiB.")
  }),
  requires: [EventTypes, Sessions, Execute, TurnStopping, Tools],
  layer: FileRecording.layer
})

export const plugins = [recording]

/**
 * What is kept: the log of each session, and results that are too long for a conversation.
 */
import * as Plugin from "@dsh/kernel/Plugin"
import { LlmStream } from "@dsh/llm/Llm"
import * as Checkpoints from "@dsh/persistence/Checkpoints"
import * as PersistenceJsonl from "@dsh/persistence/PersistenceJsonl"
import { SessionPersistence } from "@dsh/persistence/SessionPersistence"
import * as WriteBehind from "@dsh/persistence/WriteBehind"
import {
  SessionCreated,
  SessionDisposed,
  SessionFlush,
  SessionRead,
  SessionRestore,
  Sessions
} from "@dsh/session/Sessions"
import * as SpillFs from "@dsh/spill/SpillFs"
import * as SpillPolicy from "@dsh/spill/SpillPolicy"
import { SpillStore } from "@dsh/spill/SpillStore"
import { Execute, PostExecute } from "@dsh/tools/ToolHooks"
import { Fs } from "@dsh/world/Fs"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Schema from "effect/Schema"

const Count = Schema.Int.pipe(Schema.positive())

const persistence = Plugin.make({
  name: "@dsh/persistence/PersistenceJsonl",
  description: "Session logs as plain text, one JSON value per line.",
  config: Schema.Struct({ root: Schema.NonEmptyString.annotations({ description: "The folder, absolute." }) }),
  provides: [SessionPersistence],
  requires: [FileSystem.FileSystem, Path.Path],
  layer: PersistenceJsonl.layer
})

const writeBehind = Plugin.make({
  name: "@dsh/persistence/WriteBehind",
  description: "Writes what is logged while the agent goes on.",
  requires: [Sessions, SessionCreated, SessionDisposed, SessionFlush, SessionRead, SessionRestore, SessionPersistence],
  layer: () => WriteBehind.layer
})

const checkpoints = Plugin.make({
  name: "@dsh/persistence/Checkpoints",
  description: "Hands the log to the operating system before a request is sent and before a tool runs.",
  requires: [Sessions, LlmStream, Execute],
  layer: () => Checkpoints.layer
})

const spillStore = Plugin.make({
  name: "@dsh/spill/SpillFs",
  description: "Keeps what is too long for the conversation among the files of the world.",
  provides: [SpillStore],
  requires: [Fs],
  layer: () => SpillFs.layer()
})

const spill = Plugin.make({
  name: "@dsh/spill/SpillPolicy",
  description: "Puts long results into files.",
  config: Schema.Struct({
    maxInlineBytes: Schema.optionalWith(Count, { default: () => 50_000 }).annotations({
      description: "Longer results are put into a file, in bytes of UTF-8."
    })
  }),
  requires: [Execute, PostExecute],
  uses: [SpillStore],
  layer: SpillPolicy.layer
})

export const plugins = [persistence, writeBehind, checkpoints, spillStore, spill]

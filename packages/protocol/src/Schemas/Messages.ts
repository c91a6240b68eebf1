/**
 * Schemas of messages and their sources.
 */
import * as Schema from "effect/Schema"
import * as Ids from "../Ids.ts"
import * as Message from "../Message.ts"
import { ContentBlock, ToolResultBlock } from "./Blocks.ts"
import { ReplayEnvelope } from "./Chunks.ts"
import { CallId, extension, JsonValue, maybe, MessageId, Name } from "./Values.ts"

export const UserSource: Schema.Schema<Message.SourceOf<"user">> = Schema.Struct({ kind: Schema.Literal("user") })

export const PluginSource: Schema.Schema<Message.SourceOf<"plugin">> = Schema.Struct({
  kind: Schema.Literal("plugin"),
  plugin: Schema.String,
  form: maybe(Schema.Literal("instructions", "catalog", "snapshot", "notice", "relay", "recall")),
  summary: maybe(Schema.String),
  sections: maybe(Schema.Array(Schema.Struct({ name: Schema.String, text: Schema.String })))
})

export const ModelSource: Schema.Schema<Message.SourceOf<"model">> = Schema.Struct({
  kind: Schema.Literal("model"),
  provider: Name,
  model: Name,
  replayState: maybe(ReplayEnvelope)
})

export const ToolSource: Schema.Schema<Message.SourceOf<"tool">> = Schema.Struct({
  kind: Schema.Literal("tool"),
  callId: CallId
})

type Core = Message.SourceOf<"user" | "plugin" | "model" | "tool">

/** A source of an extension: only its `kind` is known here. */
export const ExtensionSource: Schema.Schema<Exclude<Message.MessageSource, Core>> = extension("kind", [
  "user",
  "plugin",
  "model",
  "tool"
])

export const UserMessage: Schema.Schema<Message.UserMessage> = Schema.Struct({
  id: MessageId,
  role: Schema.Literal("user"),
  content: Schema.Array(ContentBlock),
  source: Schema.Union(UserSource, PluginSource, ExtensionSource)
}).annotations({ identifier: "UserMessage" })

export const AssistantMessage: Schema.Schema<Message.AssistantMessage> = Schema.Struct({
  id: MessageId,
  role: Schema.Literal("assistant"),
  content: Schema.Array(ContentBlock),
  source: ModelSource
}).annotations({ identifier: "AssistantMessage" })

export const ToolResultMessage: Schema.Schema<Message.ToolResultMessage> = Schema.Struct({
  id: MessageId,
  role: Schema.Literal("user"),
  content: Schema.Tuple(ToolResultBlock),
  source: ToolSource
})
  .pipe(
    Schema.filter(
      ({ content, source }) =>
        content[0].toolCallId === source.callId || "source.callId is not the toolCallId of the block"
    )
  )
  .annotations({
    identifier: "ToolResultMessage",
    // Two ids drawn on their own would hardly ever pass the filter.
    arbitrary: () => (fc) =>
      fc
        .tuple(fc.string({ minLength: 1 }), fc.string({ minLength: 1 }), fc.string(), fc.boolean())
        .map(([id, callId, text, isError]) =>
          Message.toolResult(Ids.MessageId(id), Ids.CallId(callId), [{ type: "text", text }], isError)
        )
  })

export const ToolErrorInfo: Schema.Schema<Message.ToolErrorInfo> = Schema.Struct({
  name: Schema.String,
  code: Schema.String
})

export const ToolMeta: Schema.Schema<Message.ToolMeta> = JsonValue

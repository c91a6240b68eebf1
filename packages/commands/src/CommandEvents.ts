/**
 * What the log says of the commands of people. The model sees none of it.
 */
import * as EventTypes from "@dsh/session/EventTypes"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"

declare module "@dsh/protocol/SessionEvent" {
  interface SessionEvents {
    /** Somebody gave a command. */
    readonly "command/run": {
      readonly commandId: string
      readonly name: string
      /** What stood behind the name; absent when there was nothing, or when it is nobody's business. */
      readonly args?: string
      /** The front-end it was given in. */
      readonly source: string
    }
    /** What came of it. Every command has exactly one, unless the process ended first. */
    readonly "command/done": {
      readonly commandId: string
      readonly kind: "success" | "error"
      readonly text?: string
      /** The event that says it better. */
      readonly sourceEventSeq?: number
    }
  }
}

const optional = Schema.optional(Schema.String)

export const layer = Layer.merge(
  EventTypes.layerType("command/run", {
    schema: () =>
      Schema.Struct({ commandId: Schema.String, name: Schema.String, args: optional, source: Schema.String }),
    ignorable: true
  }),
  EventTypes.layerType("command/done", {
    schema: () =>
      Schema.Struct({
        commandId: Schema.String,
        kind: Schema.Literal("success", "error"),
        text: optional,
        sourceEventSeq: Schema.optional(Schema.NonNegativeInt)
      }),
    ignorable: true
  })
)

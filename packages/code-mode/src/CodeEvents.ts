/**
 * What the log says of the calls that a program makes. For people: the model is told by the result of the program alone.
 */
import type { Json } from "@dsh/kernel/Json"
import type { ContentBlock } from "@dsh/protocol/Block"
import type { CallId } from "@dsh/protocol/Ids"
import * as EventTypes from "@dsh/session/EventTypes"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"

interface SubCall {
  /** The call of the model. */
  readonly rootCallId: CallId
  /** The call of the program. */
  readonly parentCallId: CallId
  /** `<parentCallId>:code:<n>`, counted from 1 in the order in which the program made them. */
  readonly subCallId: CallId
  readonly name: string
}

declare module "@dsh/protocol/SessionEvent" {
  interface SessionEvents {
    /** Its policy is asked next. */
    readonly "tool/code-dispatch-start": SubCall & { readonly arguments: Json }
    /** What it came to; long texts are shortened. */
    readonly "tool/code-dispatch": SubCall & {
      readonly isError: boolean
      readonly content: ReadonlyArray<ContentBlock>
    }
  }
}

const subCall = {
  rootCallId: Schema.String,
  parentCallId: Schema.String,
  subCallId: Schema.String,
  name: Schema.String
}

/** Without them a session is read as one whose programs made no calls. */
export const layer = Layer.merge(
  EventTypes.layerType("tool/code-dispatch-start", {
    schema: () => Schema.Struct({ ...subCall, arguments: Schema.Unknown }),
    ignorable: true
  }),
  EventTypes.layerType("tool/code-dispatch", {
    schema: () => Schema.Struct({ ...subCall, isError: Schema.Boolean, content: Schema.Array(Schema.Unknown) }),
    ignorable: true
  })
)

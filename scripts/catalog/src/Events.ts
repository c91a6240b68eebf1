/**
 * The events that a session log may hold: what each says, what is in it, and who may do without it.
 */
import * as RequestImages from "@dsh/attachments/RequestImages"
import * as CodeEvents from "@dsh/code-mode/CodeEvents"
import * as CommandEvents from "@dsh/commands/CommandEvents"
import * as LlmFallback from "@dsh/llm/LlmFallback"
import * as LlmOutputLimit from "@dsh/llm/LlmOutputLimit"
import * as LlmRetry from "@dsh/llm/LlmRetry"
import * as Approval from "@dsh/permission/Approval"
import * as PermissionEvents from "@dsh/permission/PermissionEvents"
import * as PermissionPresets from "@dsh/permission/PermissionPresets"
import * as Schemas from "@dsh/protocol/Schemas"
import { surfaceTypes } from "@dsh/protocol/SessionEvent"
import * as FileChange from "@dsh/rewind/FileChange"
import { EventTypes } from "@dsh/session/EventTypes"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type * as AST from "effect/SchemaAST"
import { anchor, code, page, table } from "./Markdown.ts"
import * as SchemaTable from "./SchemaTable.ts"
import * as TypeText from "./SchemaTable/TypeText.ts"
import { assertSame } from "./Sources.ts"
import type { EventSource, Sources } from "./Sources.ts"
import * as World from "./World.ts"

/** Every feature with events of its own. */
const features = Layer.mergeAll(
  LlmRetry.layer,
  LlmFallback.layer({ chain: [] }),
  LlmOutputLimit.layer,
  RequestImages.layer(),
  CodeEvents.layer,
  CommandEvents.layer,
  PermissionEvents.layer,
  FileChange.events,
  Layer.provideMerge(PermissionPresets.layer(), Approval.layer())
)

interface Kept {
  readonly schema: Schema.Schema.AnyNoContext
  readonly mayBeSkipped: boolean
}

const core = Object.entries(Schemas.eventData).map(([type, schema]): readonly [string, Kept] => [
  type,
  { schema, mayBeSkipped: false }
])

const registered = Effect.map(EventTypes, (types) =>
  types
    .entries()
    .map(([type, { ignorable, schema }]): readonly [string, Kept] => [
      type,
      { schema: schema(), mayBeSkipped: ignorable }
    ])
).pipe(Effect.provide(Layer.provideMerge(features, World.layer)))

/** What a model reads: the messages, and what a header says before them. */
const seen: ReadonlySet<string> = new Set([...surfaceTypes, "request/header"])

/** Ids and JSON need no explanation, and whole events and the header have a section of their own. */
const unnamed: ReadonlySet<string> = new Set([
  "CallId",
  "MessageId",
  "SessionId",
  "JsonValue",
  "JsonObject",
  "ToolMeta",
  "CoreEvent",
  "ExtensionEvent",
  "SessionHeader"
])

/** The parts of events that have a name, by what they are made of. */
const names: ReadonlyMap<AST.AST, string> = new Map(
  Object.entries(Schemas).flatMap(([name, part]): ReadonlyArray<readonly [AST.AST, string]> =>
    Schema.isSchema(part) && !unnamed.has(name) ? [[part.ast, name]] : []
  )
)

/** `docs/catalog/events.md`. */
export const generate = ({ envelope, events }: Sources): Effect.Effect<string, unknown> =>
  Effect.map(registered, (extensions) => {
    const kept = new Map([...core, ...extensions])
    const types = events.map(({ type }) => type)
    assertSame("events", types, [...kept.keys()], "scripts/catalog/src/Events.ts")
    const all = events.map((event) => ({ ...event, ...kept.get(event.type)! }))
    return page(
      "# The events of a session log",
      "What may stand in a [session log](../session-log.md). The model sees the messages and what the header of a request says, and nothing " +
        "else. Where a reader may skip a type it does not know, the event says so itself (`ignorable`).",
      table(
        ["event", "owner", "may be skipped", "the model sees it"],
        all.map(({ mayBeSkipped, module, type }) => [
          `[${type}](#${anchor(type)})`,
          code(module),
          mayBeSkipped ? "yes" : "no",
          seen.has(type) ? "yes" : "no"
        ])
      ),
      "## The first line",
      bodyOf(Schemas.SessionHeader),
      "## Every other line",
      bodyOf(Schemas.ExtensionEvent, envelope),
      ...all.flatMap(section),
      ...[...names].flatMap(([ast, name]) => [`## ${TypeText.heading(name)}`, bodyOf(Schema.make(ast))])
    )
  })

const section = ({ doc, fields, schema, type }: EventSource & Kept): ReadonlyArray<string> => {
  const name = names.get(schema.ast)
  const body =
    name === undefined
      ? bodyOf(schema, fields)
      : `The data is ${/^[aeiou]/i.test(name) ? "an" : "a"} ${TypeText.link(name)}.`
  return [`## ${type}`, doc, body]
}

const bodyOf = ({ ast }: Schema.Schema.All, docs: EventSource["fields"] = {}): string => {
  if (ast._tag === "Union") return ast.types.map((type) => `- ${TypeText.of(type, names)}`).join("\n")
  if (TypeText.structOf(ast) === undefined) return TypeText.anonymous(ast, names)
  return SchemaTable.render(SchemaTable.fields(Schema.make(ast), { names, docs })) || "An object without members."
}

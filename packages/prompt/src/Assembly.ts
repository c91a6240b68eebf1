/**
 * One prompt, assembled: sections resolved in order, variables filled in strictly, tool schemas in a fixed order, and the runtime
 * context compared with what the model was told last.
 */
import * as Hook from "@dsh/kernel/Hook"
import type { MessageId } from "@dsh/protocol/Ids"
import * as Message from "@dsh/protocol/Message"
import type { UserMessage } from "@dsh/protocol/Message"
import type { ToolSchema } from "@dsh/protocol/Request"
import type { Session } from "@dsh/session/Session"
import { Tools } from "@dsh/tools/Tools"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { PromptError, SystemPrompt } from "./SystemPrompt.ts"
import type { PromptContext, RuntimeContext, Section, Text } from "./SystemPrompt.ts"

export interface NamedText {
  readonly name: string
  readonly text: string
}

export interface Assembly {
  readonly sections: ReadonlyArray<NamedText>
  readonly contexts: ReadonlyArray<NamedText>
  readonly variables: ReadonlyMap<string, string>
  readonly tools: ReadonlyArray<ToolSchema>
}

/** The last word on a prompt. What the outermost hook returns is used. */
export class AssemblePrompt extends Hook.Waterfall<
  AssemblePrompt,
  { readonly context: PromptContext; readonly assembly: Assembly },
  Assembly,
  PromptError
>()("system-prompt/assemble") {}

/** Collects and resolves every contribution of the current realm. */
export const assemble = Effect.fnUntraced(function* (
  context: PromptContext
): Effect.fn.Return<Assembly, PromptError, SystemPrompt | AssemblePrompt | Tools> {
  const prompt = yield* SystemPrompt
  const tools = yield* Tools
  const hooks = yield* AssemblePrompt

  const variables = new Map<string, string>()
  for (const [name, value] of prompt.variables()) {
    const text = value(context)
    if (text !== undefined) variables.set(name, text)
  }
  const assembly: Assembly = {
    sections: yield* resolveAll(yield* chosen(prompt.sections()), context),
    contexts: yield* resolveAll(prompt.contexts(), context),
    variables,
    tools: tools.schemas()
  }
  return yield* hooks.run({ context, assembly }, (input) => Effect.succeed(input.assembly))
})

const chosen = (sections: ReadonlyArray<Section>): Effect.Effect<ReadonlyArray<Section>, PromptError> => {
  const complete = sections.filter((section) => section.complete === true)
  if (complete.length === 0) return Effect.succeed(sections)
  if (complete.length === 1) return Effect.succeed(complete)
  return Effect.fail(
    new PromptError({
      code: "TWO_COMPLETE_SECTIONS",
      message: `the sections ${complete.map(({ name }) => name).join(" and ")} both claim to be the whole prompt; keep one`
    })
  )
}

const resolveAll = (
  items: ReadonlyArray<Section | RuntimeContext>,
  context: PromptContext
): Effect.Effect<ReadonlyArray<NamedText>, PromptError> => {
  // Most of it is the same text at every step.
  const fixed = items.flatMap(({ name, text }) => (typeof text === "string" ? [{ name, text }] : []))
  if (fixed.length === items.length) return Effect.succeed(fixed)
  return Effect.forEach(items, ({ name, text }) =>
    Effect.map(resolve(text, context), (resolved) => ({ name, text: resolved }))
  )
}

const resolve = (text: Text, context: PromptContext): Effect.Effect<string, PromptError> =>
  typeof text === "string" ? Effect.succeed(text) : text(context)

// -----------------------------------------------------------------------------
// system text
// -----------------------------------------------------------------------------

/** The system text: empty sections dropped, the rest joined by a blank line. Empty when there is none. */
export const render = (assembly: Assembly): Either.Either<string, PromptError> =>
  Either.map(Either.all(assembly.sections.map((section) => fill(section, assembly.variables))), (texts) =>
    texts.filter((text) => text !== "").join("\n\n")
  )

const reference = /\{\{([\s\S]*?)\}\}/g

/** Replaces `{{name}}`. Substituted text is not scanned again; an opener without a closer is literal. */
const fill = (
  { name, text }: NamedText,
  variables: ReadonlyMap<string, string>
): Either.Either<string, PromptError> => {
  if (!text.includes("{{")) return Either.right(text)
  let unknown: string | undefined
  const filled = text.replace(reference, (_, variable: string) => {
    const value = variables.get(variable)
    if (value === undefined) unknown ??= variable
    return value ?? ""
  })
  if (unknown === undefined) return Either.right(filled)
  const known = [...variables.keys()].join(", ")
  return Either.left(
    new PromptError({
      code: "UNKNOWN_VARIABLE",
      message: `the prompt section "${name}" refers to {{${unknown}}}; known variables: ${known === "" ? "none" : known}`
    })
  )
}

// -----------------------------------------------------------------------------
// runtime context
// -----------------------------------------------------------------------------

const source = "@dsh/prompt"
const heading = "Current context. It replaces every earlier one."
const nothing = "The context given earlier no longer applies."

/** The message that brings the model up to date, when what it was told last differs from the contexts as they are now. */
export const contextUpdate = (
  session: Session,
  contexts: ReadonlyArray<NamedText>,
  id: MessageId
): UserMessage | undefined => {
  const sections = contexts.filter(({ text }) => text !== "")
  const before = lastTold(session)
  if (sections.length === 0) {
    if (before === undefined || before.length === 0) return undefined
    return Message.fromPlugin(id, nothing, { plugin: source, form: "snapshot", sections: [] })
  }
  if (before !== undefined && sameTexts(before, sections)) return undefined
  const text = [heading, ...sections.map((section) => section.text)].join("\n\n")
  return Message.fromPlugin(id, text, { plugin: source, form: "snapshot", sections })
}

interface Told {
  generation: number
  scanned: number
  sections: ReadonlyArray<NamedText> | undefined
}

// Every step asks; only what was appended since the last question is looked at.
const told = new WeakMap<Session, Told>()

/** The sections of the last snapshot that the model can still see. */
const lastTold = (session: Session): ReadonlyArray<NamedText> | undefined => {
  const { generation, nodes } = session.conversation
  let known = told.get(session)
  if (known === undefined || known.generation !== generation) {
    known = { generation, scanned: 0, sections: undefined }
    told.set(session, known)
  }
  for (; known.scanned < nodes.length; known.scanned++) {
    const node = nodes[known.scanned]!
    if (node.type !== "user/message") continue
    const from = node.data.source
    if (from.kind === "plugin" && from.plugin === source && from.form === "snapshot") known.sections = from.sections
  }
  return known.sections
}

const sameTexts = (a: ReadonlyArray<NamedText>, b: ReadonlyArray<NamedText>): boolean =>
  a.length === b.length && a.every(({ name, text }, i) => name === b[i]?.name && text === b[i]?.text)

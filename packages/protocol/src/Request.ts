/**
 * What a model request is made of apart from its messages, and how a wire format writes one.
 *
 * The one law: a request is a pure function of the session log. Everything that influences its bytes is in the `EpochHeader`, which
 * is logged before the request is sent, or in the messages, which are logged as events.
 */
import type { Json, JsonObject } from "@dsh/kernel/Json"
import * as JsonValue from "@dsh/kernel/Json"
import type { Message } from "./Message.ts"

export interface LlmCallConfig {
  /** Route id of the adapter registration, such as `deepseek-official`. */
  readonly provider: string
  readonly model: string
  readonly reasoningEffort?: string
  readonly temperature?: number
  /** Output ceiling in tokens. */
  readonly maxTokens?: number
  readonly stop?: ReadonlyArray<string>
}

export interface ToolSchema {
  readonly name: string
  readonly description: string
  /** JSON Schema of the arguments object. */
  readonly parameters: JsonObject
}

/** The adapter's choice of format and whatever else of its configuration influences the bytes. */
export interface WireProfile {
  readonly format: string
  readonly options?: JsonObject
}

export interface EpochHeader {
  readonly config: LlmCallConfig
  /** Fields of `config` that the adapter filled in rather than a caller. */
  readonly adapterDefaults?: { readonly reasoningEffort?: true; readonly maxTokens?: true }
  readonly wire: WireProfile
  /** Absent when empty. */
  readonly system?: string
  /** Absent when empty. */
  readonly tools?: ReadonlyArray<ToolSchema>
}

export interface RequestContext {
  readonly provider: string
  readonly model: string
  /** In tokens. */
  readonly contextWindow?: number
}

/**
 * How one wire format writes a request: pure, synchronous, append-only. `messages` comes last, so that a longer history only ever
 * adds bytes before the suffix.
 */
export interface RequestFormat {
  readonly format: string
  /** Whether the rendered bytes are what goes over the wire, or a neutral form handed to a library that hides its body. */
  readonly of: "wire" | "neutral"
  readonly open: (header: EpochHeader) => RequestWriter
}

/** Writes the requests of one header. Fragments are JSON texts; the caller joins them with commas. */
export interface RequestWriter {
  /** Everything up to and including the bracket that opens the message list: `{"model":…,"messages":[`. */
  readonly prefix: string
  /** Fragments that come before the first message, such as the system message. */
  readonly initial: ReadonlyArray<string>
  /** The fragments of the next message; none when it leaves no trace. Called once per message, in order. */
  readonly message: (message: Message) => ReadonlyArray<string>
  /**
   * Closes the list and the request: `]}`. Before that, with the comma it takes, may stand a fragment of the messages so far that waits
   * for the message after them: it is either part of them or comes right before that one.
   */
  readonly suffix: string
}

/** Whether the model is shown images; where it is not, words stand in their place. */
export const showsImages = ({ wire }: EpochHeader): boolean => wire.options?.["images"] === "send"

/** Equality of headers, as far as the model can tell. */
export const sameHeader = (a: EpochHeader, b: EpochHeader): boolean =>
  a === b ||
  (a.system === b.system &&
    sameTools(a.tools, b.tools) &&
    same(a.config, b.config) &&
    same(a.adapterDefaults, b.adapterDefaults) &&
    same(a.wire, b.wire))

const same = (a: object | undefined, b: object | undefined): boolean =>
  a === b || JsonValue.equals(a as Json | undefined, b as Json | undefined)

/** In order and by text: a reordered property changes the bytes, and with them the provider's prefix cache. */
export const sameTools = (a: EpochHeader["tools"], b: EpochHeader["tools"]): boolean =>
  a === b || (a !== undefined && b !== undefined && textOf(a) === textOf(b))

const texts = new WeakMap<object, string>()

/** A header is compared at every step and its tools hardly ever change, so their text is kept. */
const textOf = (tools: ReadonlyArray<ToolSchema>): string => {
  let text = texts.get(tools)
  if (text === undefined) texts.set(tools, (text = JSON.stringify(tools)))
  return text
}

/** A header without fields that say nothing. */
export const canonical = (header: EpochHeader): EpochHeader => {
  const { adapterDefaults, config, system, tools, wire } = header
  return {
    config,
    ...(adapterDefaults !== undefined && Object.keys(adapterDefaults).length > 0 && { adapterDefaults }),
    wire,
    ...(system !== undefined && system !== "" && { system }),
    ...(tools !== undefined && tools.length > 0 && { tools })
  }
}

/**
 * From plain JSON to a script: one schema per form of reply, chosen by the key that only this form has, so that an error speaks of
 * the form that was meant.
 */
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import { isRecord } from "../ChatRequest.ts"
import * as Reply from "../Reply.ts"
import type { Scenario } from "../Scenario.ts"
import * as Script from "../Script.ts"
import { show } from "./Document.ts"
import type { Document, Fault, Path } from "./Document.ts"

const optional = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { exact: true })
const Count = Schema.NonNegativeInt
const Text = Schema.Union(Schema.String, Schema.Array(Schema.String))
const Headers = Schema.Record({ key: Schema.String, value: Schema.String })
const BehaviourName = Schema.Literal(...Reply.behaviourNames)

const times = { times: optional(Schema.Int.pipe(Schema.between(1, 1_000_000))) }
const delivery = {
  ...times,
  delayMs: optional(Count),
  paceMs: optional(Count),
  keepAlives: optional(Count),
  ending: optional(Schema.Literal("end", "hold", "reset")),
  headers: optional(Headers)
}

const Usage = Schema.Struct({
  prompt_tokens: optional(Count),
  completion_tokens: optional(Count),
  total_tokens: optional(Count),
  prompt_cache_hit_tokens: optional(Count),
  prompt_cache_miss_tokens: optional(Count),
  prompt_tokens_details: optional(Schema.Struct({ cached_tokens: optional(Count) })),
  completion_tokens_details: optional(Schema.Struct({ reasoning_tokens: optional(Count) }))
})

const ToolCall = Schema.Struct({
  id: optional(Schema.String),
  name: Schema.String,
  arguments: Schema.Union(Schema.String, Schema.Object),
  fragments: optional(Schema.Union(Schema.Positive, Schema.Array(Schema.String)))
})

const Message = Schema.Struct({
  ...delivery,
  text: optional(Text),
  reasoning: optional(Text),
  toolCalls: optional(Schema.Array(ToolCall)),
  usage: optional(Schema.NullOr(Usage)),
  usageOn: optional(Schema.Literal("trailing", "finish", "every")),
  finish: optional(Schema.NullOr(Schema.String)),
  done: optional(Schema.Boolean)
})

const Frames = Schema.Struct({
  ...delivery,
  frames: Schema.Array(Schema.Unknown),
  done: optional(Schema.Boolean)
})

const Sse = Schema.Struct({
  ...delivery,
  sse: Schema.String,
  cuts: optional(Schema.Union(Schema.Literal("every-byte"), Schema.Array(Count)))
})

const Http = Schema.Struct({
  ...times,
  status: Schema.Int.pipe(Schema.between(200, 599)),
  headers: optional(Headers),
  body: optional(Schema.Unknown),
  delayMs: optional(Count)
})

const Behaviour = Schema.Struct({ ...delivery, behaviour: BehaviourName })

const Settings = Schema.Struct({
  strict: optional(Schema.Boolean),
  apiKey: optional(Schema.String),
  models: optional(Schema.Array(Schema.String)),
  by: optional(Schema.Literal("request", "conversation")),
  exhausted: optional(Schema.Literal("fail", "last", "cycle")),
  replies: optional(Schema.Array(Schema.Unknown)),
  seed: optional(Schema.Int),
  weights: optional(
    Schema.partialWith(Schema.Record({ key: BehaviourName, value: Schema.NonNegative }), { exact: true })
  )
})

/** The scenario a document holds, or the first thing that is wrong with it. */
export const decode = (document: Document): Either.Either<Scenario, Fault> =>
  Array.isArray(document.value)
    ? Either.map(replies(document, document.value, []), (steps) => ({ script: Script.sequence(steps) }))
    : Either.flatMap(as(Settings, document, document.value, []), (settings) => fromSettings(document, settings))

const fromSettings = (document: Document, settings: typeof Settings.Type): Either.Either<Scenario, Fault> => {
  const { by, exhausted, replies: entries, seed = 0, weights, ...server } = settings
  if (entries !== undefined && weights !== undefined) {
    return fault(document, ["weights"], 'a scenario has either "replies" or "weights"')
  }
  if (weights !== undefined) {
    const script = Script.weighted(seed, weights)
    return script.choices.length > 0
      ? Either.right({ ...server, script })
      : fault(document, ["weights"], "at least one weight must be greater than 0")
  }
  if (entries === undefined) return fault(document, [], 'a scenario needs "replies" or "weights"')
  return Either.map(replies(document, entries, ["replies"]), (steps) => ({
    ...server,
    script: by === "conversation" ? Script.conversation(steps) : Script.sequence(steps, exhausted)
  }))
}

const replies = (
  document: Document,
  entries: ReadonlyArray<unknown>,
  at: Path
): Either.Either<ReadonlyArray<Reply.Reply>, Fault> => {
  const steps: Array<Reply.Reply> = []
  for (const [i, entry] of entries.entries()) {
    const step = reply(document, entry, [...at, i])
    if (Either.isLeft(step)) return Either.left(step.left)
    for (let n = step.right.times; n > 0; n--) steps.push(step.right.reply)
  }
  return steps.length > 0 ? Either.right(steps) : fault(document, at, "a scenario needs at least one reply")
}

type Step = { readonly times: number; readonly reply: Reply.Reply }

const reply = (document: Document, entry: unknown, at: Path): Either.Either<Step, Fault> => {
  const decoded = <A extends { readonly times?: number }, I>(
    schema: Schema.Schema<A, I>,
    make: (fields: Omit<A, "times">) => Reply.Reply
  ): Either.Either<Step, Fault> =>
    Either.map(as(schema, document, entry, at), ({ times: n = 1, ...fields }) => ({ times: n, reply: make(fields) }))

  if (typeof entry === "string") {
    return Either.map(as(BehaviourName, document, entry, at), (name) => ({ times: 1, reply: Reply.behaviour(name) }))
  }
  if (!isRecord(entry)) return fault(document, at, "a reply must be the name of a behaviour or an object")
  if ("behaviour" in entry) return decoded(Behaviour, ({ behaviour, ...rest }) => Reply.behaviour(behaviour, rest))
  if ("frames" in entry) return decoded(Frames, ({ frames, ...rest }) => Reply.frames(frames, rest))
  if ("sse" in entry) return decoded(Sse, ({ sse, ...rest }) => Reply.sse(sse, rest))
  if ("status" in entry) return decoded(Http, ({ status, ...rest }) => Reply.http(status, rest))
  return decoded(Message, (fields) => Reply.message(fields))
}

const as = <A, I>(schema: Schema.Schema<A, I>, document: Document, value: unknown, at: Path): Either.Either<A, Fault> =>
  Either.mapLeft(Schema.decodeUnknownEither(schema, { onExcessProperty: "error" })(value), (error) => {
    const [issue] = ParseResult.ArrayFormatter.formatErrorSync(error)
    const path = [...at, ...(issue?.path ?? []).filter((key) => typeof key !== "symbol")]
    return { line: document.lineOf(path), path: show(path), reason: issue?.message ?? error.message }
  })

const fault = (document: Document, at: Path, reason: string): Either.Either<never, Fault> =>
  Either.left({ line: document.lineOf(at), path: show(at), reason })

/**
 * Keeps what images make of requests within bounds, so that no image ends a session.
 *
 * Before a request whose images are too many or too large, the oldest are left out, down to half of what is allowed: each time the
 * request changes from there on, and the provider has to read it anew, so it is to happen seldom. And when a provider refuses a request
 * because of an image, those it has not accepted yet are left out, all of them if there are none, and the request is made once more.
 */
import { AgentError } from "@dsh/agent/AgentError"
import { AgentRequest, RequestError } from "@dsh/agent/AgentHooks"
import * as Text from "@dsh/kernel/Text"
import type { LlmFailure } from "@dsh/protocol/StreamChunk"
import * as EventTypes from "@dsh/session/EventTypes"
import type { Session } from "@dsh/session/Session"
import type { SessionError } from "@dsh/session/SessionError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Removal from "./RequestImages/Removal.ts"

declare module "@dsh/protocol/SessionEvent" {
  interface SessionEvents {
    /** A provider refused a request because of these images; it is made once more without them. */
    readonly "images/refused": {
      readonly turn: number
      readonly step: number
      readonly images: ReadonlyArray<string>
      readonly reason: string
    }
  }
}

export interface Options {
  /** Of all images of a request, in bytes as they are kept; sent they are a third more. Default 16 MiB. */
  readonly maxBytes?: number
  /** Default 20. */
  readonly maxImages?: number
}

// -----------------------------------------------------------------------------
// the budget
// -----------------------------------------------------------------------------

const budget = ({ maxBytes = 16 * 1024 * 1024, maxImages = 20 }: Options) =>
  AgentRequest.hook("image-budget", (input, next) =>
    Effect.zipRight(
      Effect.mapError(keepWithin(input.agent.session, maxBytes, maxImages), (cause) => notLogged("budget", cause)),
      next(input)
    )
  )

const keepWithin = Effect.fnUntraced(function* (session: Session, maxBytes: number, maxImages: number) {
  const shown = Removal.shownIn(session)
  let bytes = 0
  let count = 0
  for (const { images } of shown) {
    count += images.length
    bytes += bytesOf(images)
  }
  if (bytes <= maxBytes && count <= maxImages) return
  for (const [i, each] of shown.entries()) {
    const isLast = i === shown.length - 1
    // The newest is what the request is about.
    const isEnough = isLast
      ? bytes <= maxBytes && count <= maxImages
      : bytes <= maxBytes / 2 && count <= Math.ceil(maxImages / 2)
    if (isEnough) return
    bytes -= bytesOf(each.images)
    count -= each.images.length
    const why = isLast ? "it is more than a request may hold" : "there are newer ones; look at it again if it is needed"
    yield* Removal.replace(session, each, (image) => `[image ${Removal.describe(image)} left out: ${why}]`)
  }
})

const bytesOf = (images: Removal.Shown["images"]): number =>
  images.reduce((sum, { attachment }) => sum + attachment.bytes, 0)

// -----------------------------------------------------------------------------
// refusals
// -----------------------------------------------------------------------------

const refusedSchema = () =>
  Schema.Struct({
    turn: Schema.Number,
    step: Schema.Number,
    images: Schema.Array(Schema.String),
    reason: Schema.String
  })

const refusal = RequestError.hook(
  "image-refusal",
  (failed, next) =>
    Effect.gen(function* () {
      const { agent, failure, step, turn } = failed
      const { session } = agent
      if (!isAboutImages(failure) || hasRefused(session, turn, step)) return yield* next(failed)
      const refused = suspects(session)
      if (refused.length === 0) return yield* next(failed)
      yield* Effect.mapError(leaveOut(session, { turn, step }, refused, failure), (cause) =>
        notLogged("refusal", cause)
      )
      return { kind: "retry" } as const
    }),
  // Before whoever would only send the same again.
  { order: -100 }
)

const codes = new Set(["INVALID_REQUEST", "HTTP_413", "HTTP_415", "HTTP_422"])

const isAboutImages = ({ code, message, status }: LlmFailure): boolean =>
  codes.has(code) && (status === 413 || /\b(images?|image_url|vision|multi-?modal|media[ _]type)\b/i.test(message))

/** Once in a step: what was no help will be none. */
const hasRefused = (session: Session, turn: number, step: number): boolean => {
  for (let seq = session.length - 1; seq >= 0; seq--) {
    const event = session.at(seq)
    if (event === undefined || event.type === "step/start") return false
    if (event.type === "images/refused" && event.data.turn === turn && event.data.step === step) return true
  }
  return false
}

/** Images since the last answer, for whatever came before it was accepted; if there are none, all. */
const suspects = (session: Session): ReadonlyArray<Removal.Shown> => {
  const shown = Removal.shownIn(session)
  const answered = session.conversation.nodes.findLast(({ type }) => type === "assistant/message")
  const answeredFrom = answered === undefined ? -1 : answered.seq
  const recent = shown.filter(({ node }) => node.seq > answeredFrom)
  return recent.length > 0 ? recent : shown
}

const leaveOut = Effect.fnUntraced(function* (
  session: Session,
  at: { readonly turn: number; readonly step: number },
  refused: ReadonlyArray<Removal.Shown>,
  { message }: LlmFailure
) {
  const reason = Text.ellipsis(message, 300)
  const images = refused.flatMap((each) => each.images.map(Removal.describe))
  yield* session.append("images/refused", { ...at, images, reason })
  for (const each of refused) {
    yield* Removal.replace(
      session,
      each,
      (image) => `[image ${Removal.describe(image)} left out: the provider refused it: ${reason}]`
    )
  }
  yield* Effect.logWarning(
    `the provider refused the request because of an image; it goes on without ${images.join(", ")}`
  )
})

const notLogged = (what: string, cause: SessionError) =>
  new AgentError({ code: "HOOK_FAILED", message: `the image ${what} could not be logged: ${cause.message}`, cause })

/** Both, for every agent. */
export const layer = (options: Options = {}) =>
  Layer.mergeAll(
    EventTypes.layerType("images/refused", { schema: refusedSchema, ignorable: true }),
    budget(options),
    refusal
  )

/**
 * Keeps results that are too long out of the conversation: the model reads their beginning and their end, and where all of it is.
 *
 * Left alone are the tool that fetches parts of such texts, calls made by other calls, results that are not just text, and values that
 * a hook put in the place of a result. Where a text cannot be saved it stays as it is: too much is better than lost.
 */
import * as Text from "@dsh/kernel/Text"
import { text } from "@dsh/protocol/Block"
import type { ContentBlock } from "@dsh/protocol/Block"
import type { Session } from "@dsh/session/Session"
import { Execute, PostExecute } from "@dsh/tools/ToolHooks"
import type { Judgement, ToolExecution } from "@dsh/tools/ToolHooks"
import { CurrentConfinement } from "@dsh/world/Confinement"
import type { Confinement } from "@dsh/world/Confinement"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { SpillError, SpillStore } from "./SpillStore.ts"
import type { Spilled } from "./SpillStore.ts"

export interface Options {
  /** Longer results are spilled; what is left of them is as long at most. Bytes of UTF-8. */
  readonly maxInlineBytes: number
}

/** The reader of spilled texts: what it shows was asked for. */
const reader = "read"

// Around all others but the sandbox, so that the session's own confinement is seen, not one that is wider for a single call.
const withinSandbox = { order: -9_999 }
// Around all others: what they make of a result counts.
const outermost = { order: -10_000 }

export const layer = ({ maxInlineBytes }: Options): Layer.Layer<never, never, Execute | PostExecute> =>
  Layer.suspend(() => {
    const confinements = new WeakMap<Session, Confinement>()

    const noting = Execute.hook(
      "spill",
      (execution, next) =>
        Effect.flatMap(CurrentConfinement, (held) => {
          if (held !== undefined && execution.session !== undefined) confinements.set(execution.session, held)
          return next(execution)
        }),
      withinSandbox
    )

    const spilling = PostExecute.hook(
      "spill",
      (input, next) =>
        Effect.flatMap(next(input), (judgement): Effect.Effect<Judgement> => {
          const { execution, outcome } = input
          const { session } = execution
          const kept = Effect.succeed(judgement)
          if (judgement.kind === "block" || judgement.value !== undefined) return kept
          if (execution.name === reader || execution.parent !== undefined || session === undefined) return kept
          const whole = textOf(judgement.content ?? outcome.content)
          if (whole === undefined || Text.byteLength(whole) <= maxInlineBytes) return kept
          return shorten(execution, session, whole, maxInlineBytes).pipe(
            Effect.provideService(CurrentConfinement, confinements.get(session)),
            Effect.map((short): Judgement => ({ ...judgement, content: [text(short)] })),
            Effect.catchAll(({ message }) =>
              Effect.as(
                Effect.logWarning(`a long result of ${execution.name} stays in the conversation: ${message}`),
                judgement
              )
            )
          )
        }),
      outermost
    )

    return Layer.merge(noting, spilling)
  })

/** Undefined when it is not all text. */
const textOf = (content: ReadonlyArray<ContentBlock>): string | undefined => {
  const texts = content.flatMap((block) => (block.type === "text" ? [block.text] : []))
  return texts.length === content.length ? texts.join("\n") : undefined
}

const shorten = Effect.fnUntraced(function* (
  { callId, name }: ToolExecution,
  session: Session,
  whole: string,
  maxBytes: number
) {
  const store = yield* Effect.serviceOption(SpillStore)
  if (Option.isNone(store)) return yield* failed("nothing keeps long texts here")
  const spilled = yield* store.value.saveText({
    owner: { sessionId: session.id },
    source: { toolName: name, callId, label: "result" },
    suggestedName: `${name}.txt`,
    content: whole
  })
  // As long as it can get.
  const room = maxBytes - Text.byteLength(notice(spilled.bytes, spilled))
  if (room < 0) return yield* failed(`${maxBytes} bytes are less than it takes to say where it is`)
  const { head, omittedBytes, tail } = Text.retainBytes(whole, Math.ceil(room / 2), Math.floor(room / 2))
  return head + notice(omittedBytes, spilled) + tail
})

const notice = (omitted: number, { bytes, hint, locator }: Spilled): string =>
  `\n\n[${omitted} of ${bytes} bytes are left out here; all of it is in ${locator}: ${hint}]\n\n`

const failed = (message: string): SpillError => new SpillError({ code: "SPILL_FAILED", message })

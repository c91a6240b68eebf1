/**
 * Nothing happens that the log does not know: before a request goes to a model and before the body of a tool runs, what was logged is
 * stored. When it cannot be, the request is not sent and the tool does not run.
 */
import { LlmStream } from "@dsh/llm/Llm"
import { LlmError } from "@dsh/llm/LlmError"
import { Sessions } from "@dsh/session/Sessions"
import type { SessionError } from "@dsh/session/SessionError"
import { ToolError } from "@dsh/tools/ToolError"
import { Execute } from "@dsh/tools/ToolHooks"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** Around every other handler: whatever they do, they do with a stored log. */
const outermost = { order: -1000 }

/** Both checkpoints. */
export const layer: Layer.Layer<never, never, Sessions | LlmStream | Execute> = Layer.scopedDiscard(
  Effect.gen(function* () {
    const sessions = yield* Sessions

    const beforeRequest = yield* LlmStream
    yield* beforeRequest.use(
      "checkpoint",
      (request, next) => {
        const { sessionId } = request
        if (sessionId === undefined) return next(request)
        const flushed = Effect.mapError(
          sessions.flush(sessionId),
          (cause) => new LlmError(failed(cause, "no request was sent"))
        )
        return Effect.zipRight(flushed, next(request))
      },
      outermost
    )

    // A call made by another call is covered by the checkpoint of the outermost one.
    const beforeTool = yield* Execute
    yield* beforeTool.use(
      "checkpoint",
      (execution, next) => {
        const { parent, session } = execution
        if (session === undefined || parent !== undefined) return next(execution)
        const flushed = Effect.mapError(
          sessions.flush(session.id),
          (cause) => new ToolError(failed(cause, "the tool did not run"))
        )
        return Effect.zipRight(flushed, next(execution))
      },
      outermost
    )
  })
)

const failed = (cause: SessionError, consequence: string) => ({
  code: "CHECKPOINT_FAILED",
  message: `${cause.message}; ${consequence}`,
  cause
})

/**
 * What both web tools are like.
 */
import { ToolError } from "@dsh/tools/ToolError"
import { CurrentConfinement } from "@dsh/world/Confinement"
import * as Effect from "effect/Effect"
import type { WebError } from "./WebError.ts"

/** The network of a session is off for all of its tools, also for those that run outside of its sandbox. */
export const connected: Effect.Effect<void, ToolError> = Effect.flatMap(CurrentConfinement, (held) =>
  held?.network === "off"
    ? new ToolError({
        code: "WEB_BLOCKED_URL",
        message: "the network is turned off for this session; do the task without the web"
      })
    : Effect.void
)

export const toolError = ({ cause, code, message }: WebError): ToolError => new ToolError({ code, message, cause })

/**
 * A session to assemble prompts for, and the services that assemble them.
 */
import type { Session } from "@dsh/session/Session"
import * as Sessions from "@dsh/session/Sessions"
import * as Tools from "@dsh/tools/Tools"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Assembly from "../src/Assembly.ts"
import * as SystemPrompt from "../src/SystemPrompt.ts"

export type PromptServices = SystemPrompt.SystemPrompt | Assembly.AssemblePrompt | Tools.Tools | Sessions.Sessions

export const base: Layer.Layer<PromptServices> = Layer.mergeAll(
  SystemPrompt.layer,
  Assembly.AssemblePrompt.layer,
  Tools.layer,
  Sessions.layer
)

export const newSession: Effect.Effect<Session, never, Sessions.Sessions | Scope.Scope> = Effect.orDie(
  Effect.flatMap(Sessions.Sessions, (sessions) => sessions.create())
)

export const contextOf = (session: Session): SystemPrompt.PromptContext => ({ session, provider: "p", model: "m" })

/** The assembly for a session of its own. */
export const assembled = Effect.flatMap(newSession, (session) => Assembly.assemble(contextOf(session)))

/** The system text of the current realm. */
export const rendered = Effect.flatMap(assembled, Assembly.render)

/** The system text of one section under these variables, or what is wrong with it. */
export const filled = (text: string, variables: ReadonlyArray<readonly [string, string]> = []) =>
  Either.mapLeft(
    Assembly.render({ sections: [{ name: "s", text }], contexts: [], variables: new Map(variables), tools: [] }),
    ({ code, message }) => `${code}: ${message}`
  )

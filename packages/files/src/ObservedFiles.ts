/**
 * Which content of a file a session has seen. A file may be changed only by who knows what is in it, so `edit` and `write` ask here
 * first.
 *
 * The tools log what was observed with their results. That makes the log the source of truth: a resumed or forked session knows what
 * its history knows.
 */
import type { Json, JsonObject } from "@dsh/kernel/Json"
import type { Session } from "@dsh/session/Session"
import type { ContentVersion } from "@dsh/world/ContentVersion"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { member } from "./Meta.ts"

/** The content that was there, or that nothing was. */
export type Observation = { readonly version: ContentVersion } | "absent"

export class ObservedFiles extends Context.Tag("@dsh/files/ObservedFiles")<
  ObservedFiles,
  {
    /** The latest observation of a file, named by its `targetKey`; undefined if the session never looked. */
    readonly lookup: (session: Session | undefined, targetKey: string) => Effect.Effect<Observation | undefined>
    readonly record: (session: Session | undefined, targetKey: string, observation: Observation) => Effect.Effect<void>
  }
>() {}

/** A file and the content of it that a call has seen. */
export interface Sighting {
  readonly key: string
  readonly version: ContentVersion
}

/** What a tool logs with its result, among other things. */
export const meta = ({ key, version }: Sighting): JsonObject => ({ observed: { key, version } })

/** Per session, begun from its log. Calls outside a session share one memory. */
export const layer: Layer.Layer<ObservedFiles> = Layer.sync(ObservedFiles, () => {
  const sessions = new WeakMap<Session, Map<string, Observation>>()
  const outside = new Map<string, Observation>()

  const memoryOf = (session: Session | undefined): Map<string, Observation> => {
    if (session === undefined) return outside
    const known = sessions.get(session)
    if (known !== undefined) return known
    const memory = fold(session)
    sessions.set(session, memory)
    return memory
  }

  return {
    lookup: (session, targetKey) => Effect.sync(() => memoryOf(session).get(targetKey)),
    record: (session, targetKey, observation) => Effect.sync(() => void memoryOf(session).set(targetKey, observation))
  }
})

const fold = (session: Session): Map<string, Observation> => {
  const memory = new Map<string, Observation>()
  for (const event of session.range(0)) {
    if (event.type !== "tool/result") continue
    const seen = observedIn(event.data.meta)
    if (seen !== undefined) memory.set(seen.key, { version: seen.version })
  }
  return memory
}

const observedIn = (logged: Json | undefined): Sighting | undefined => {
  const observed = member(logged, "observed")
  const key = member(observed, "key")
  const version = member(observed, "version")
  return typeof key === "string" && typeof version === "string" ? { key, version } : undefined
}

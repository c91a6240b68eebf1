/**
 * The sessions of the agents that an agent called, and that those called: its tree.
 */
import type { SessionPersistence } from "@dsh/persistence/SessionPersistence"
import type { PersistenceError } from "@dsh/persistence/PersistenceError"
import type { SessionId } from "@dsh/protocol/Ids"
import * as Effect from "effect/Effect"

/** Ids below `root`, in the order of the listing. */
export const of = (
  persistence: SessionPersistence["Type"],
  root: SessionId
): Effect.Effect<ReadonlyArray<SessionId>, PersistenceError> =>
  Effect.map(persistence.list, ({ sessions }) => {
    const children = new Map<SessionId | undefined, Array<SessionId>>()
    for (const { header } of sessions) {
      if (header.origin !== "subagent") continue
      const siblings = children.get(header.parentSession) ?? []
      children.set(header.parentSession, siblings)
      siblings.push(header.id)
    }
    const found = new Set<SessionId>()
    const visit = (id: SessionId): void => {
      for (const child of children.get(id) ?? []) {
        if (found.has(child)) continue
        found.add(child)
        visit(child)
      }
    }
    visit(root)
    return [...found]
  })

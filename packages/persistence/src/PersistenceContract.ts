/**
 * What every `SessionPersistence` must do, as programs that any test runner can run:
 *
 *   for (const { name, run } of PersistenceContract.cases) {
 *     it.scoped(name, () => Effect.flatMap(storage, run))
 *   }
 *
 * A backend is finished when all of them succeed.
 *
 * The suite was seen to fail, with JSONL and with SQLite, for each of these, broken on purpose and one at a time: a batch is stored
 * without its last entry; a batch that leaves a gap is accepted; an interrupted turn is not closed; two processes may write to one
 * session; a repair leaves the old records where they are; a deleted session is still there. And in the coordinator, which both share: a
 * batch is kept as the objects it came as; an id that is stored is given away again; what was loaded grows with the log. What is synced
 * when cannot be seen from here: that is for the backend's own tests.
 */
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { appending } from "./PersistenceContract/Appending.ts"
import { creating } from "./PersistenceContract/Creating.ts"
import type { ContractViolation } from "./PersistenceContract/Expect.ts"
import { reading } from "./PersistenceContract/Reading.ts"
import { repairing } from "./PersistenceContract/Repairing.ts"
import { resuming } from "./PersistenceContract/Resuming.ts"
import type { PersistenceError } from "./PersistenceError.ts"
import type { SessionPersistence } from "./SessionPersistence.ts"

export { ContractViolation } from "./PersistenceContract/Expect.ts"

/** A storage of its own, empty at first. Every `open` is another process, so to speak, over the same storage. */
export interface Storage {
  readonly open: Effect.Effect<SessionPersistence["Type"], PersistenceError, Scope.Scope>
}

export interface ContractCase {
  /** The rule, as a sentence. */
  readonly name: string
  readonly run: (storage: Storage) => Effect.Effect<void, ContractViolation | PersistenceError, Scope.Scope>
}

export const cases: ReadonlyArray<ContractCase> = [...creating, ...appending, ...reading, ...resuming, ...repairing]

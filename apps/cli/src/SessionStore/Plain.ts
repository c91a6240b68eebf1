/**
 * Sessions as plain text in `$DSH_HOME/sessions`.
 */
import * as PersistenceJsonl from "@dsh/persistence/PersistenceJsonl"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as HomeFolder from "../HomeFolder.ts"

export const layer = Layer.unwrapEffect(Effect.map(HomeFolder.sessions, (root) => PersistenceJsonl.layer({ root })))

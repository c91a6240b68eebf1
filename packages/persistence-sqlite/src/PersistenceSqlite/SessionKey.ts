/**
 * The id of a session as it is stored. Text in SQLite is UTF-8 and ends, for some tools, at the first NUL; an id may be any string.
 */
import type { SessionId } from "@dsh/protocol/Ids"

/** The id itself, but for what text cannot hold, and the sign that marks it. Two ids never share a key. */
export const of = (id: SessionId): string =>
  id.replace(/[~\0\p{Surrogate}]/gu, (unit) => `~${unit.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`)

/**
 * What the file of a spilled text is called: by its content, so that a result that comes again is the same result to whoever compares,
 * and is kept once.
 */
import { createHash } from "node:crypto"

export const of = (suggested: string, bytes: Uint8Array): string => `${digest(bytes)}-${encoded(suggested)}`

/** A folder for each session. */
export const folderOf = (sessionId: string): string => `session-${digest(sessionId)}`

/** One that every shell and every tool takes as it is. */
const encoded = (name: string): string => name.replaceAll(/[^\w.-]+/g, "_").slice(-64) || "text"

const digest = (content: string | Uint8Array): string => createHash("sha256").update(content).digest("hex").slice(0, 12)

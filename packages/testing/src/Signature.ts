/**
 * The seal that the mock provider puts on a thought, and recognises when the thought comes back.
 */
import { createHash } from "node:crypto"

/** A thought whose text was changed does not match its signature any more. */
export const signatureOf = (thought: string): string =>
  `sig-${createHash("sha256").update(thought).digest("hex").slice(0, 32)}`

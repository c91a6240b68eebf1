/**
 * The version of a file is a hash of its content: touching a file changes nothing, changing it does, whatever the clock says.
 */
import { createHash } from "node:crypto"

export type ContentVersion = string

/** Enough that two contents of one file never meet by accident, short enough for the log. */
const length = 32

/** Takes the content in pieces. */
export interface Hasher {
  readonly update: (bytes: Uint8Array) => void
  readonly digest: () => ContentVersion
}

export const hasher = (): Hasher => {
  const hash = createHash("sha256")
  return {
    update: (bytes) => void hash.update(bytes),
    digest: () => hash.digest("hex").slice(0, length)
  }
}

export const of = (bytes: Uint8Array): ContentVersion =>
  createHash("sha256").update(bytes).digest("hex").slice(0, length)

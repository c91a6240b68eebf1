/**
 * The digest of requests: SHA-256, running.
 */
import type { Hasher } from "@dsh/protocol/RequestBody"
import { createHash } from "node:crypto"

/** A fresh SHA-256. */
export const newHash = (): Hasher => createHash("sha256")

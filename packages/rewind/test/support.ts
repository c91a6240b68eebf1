/**
 * A folder that goes with the Scope.
 */
import { Effect } from "effect"
import { mkdtempSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

export const folder = Effect.acquireRelease(
  Effect.sync(() => realpathSync(mkdtempSync(join(tmpdir(), "dsh-rewind-")))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

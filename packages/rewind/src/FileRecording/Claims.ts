/**
 * Which session of this process left a file as it is, so that what one of them logged is not found by another that works beside it.
 */
import type { FileState } from "../FileChange.ts"
import * as FileStates from "../FileStates.ts"

export interface Claims {
  readonly claim: (path: string, state: FileState, session: string) => void
  /** Whether another session left it so. */
  readonly isOthers: (path: string, state: FileState, session: string) => boolean
}

/** More are not needed: claims matter for as long as a command runs. */
const most = 10_000

export const make = (): Claims => {
  const claims = new Map<string, { readonly state: FileState; readonly session: string }>()
  return {
    claim: (path, state, session) => {
      claims.delete(path)
      claims.set(path, { state, session })
      if (claims.size > most) for (const oldest of [...claims.keys()].slice(0, most / 2)) claims.delete(oldest)
    },
    isOthers: (path, state, session) => {
      const claim = claims.get(path)
      return claim !== undefined && claim.session !== session && FileStates.equal(claim.state, state)
    }
  }
}

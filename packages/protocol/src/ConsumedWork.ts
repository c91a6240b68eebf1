/**
 * What became of the input of a session: how the last turn that used any of it ended, and whether any was dropped since then without
 * having been used. For whoever gave an agent work and reads its log for the result.
 */
import type { SessionEvent, SessionEvents } from "./SessionEvent.ts"

export interface ConsumedWork {
  /**
   * The end of the last closed turn that used input: a message entered it, or a hook refused what there was and the turn did not
   * complete. A turn that left its input pending has used nothing, however it ended.
   */
  readonly end: SessionEvents["turn/end"] | undefined
  /** Behind that end, pending input was withdrawn or refused, and nothing was put in its place. */
  readonly droppedUnrun: boolean
  /** What the open turn has done so far. */
  readonly open: { readonly entered: boolean; readonly refused: boolean }
}

const untouched = { entered: false, refused: false }

export const empty: ConsumedWork = { end: undefined, droppedUnrun: false, open: untouched }

/** The fold after one more event of the log; the same object when that changes nothing. */
export const apply = (work: ConsumedWork, event: SessionEvent): ConsumedWork => {
  const { open } = work
  switch (event.type) {
    case "turn/start":
      return open === untouched ? work : { ...work, open: untouched }
    case "user/message":
      // One that replaces others says again what was said, as a summary does.
      return event.surfaceOp !== "append" || open.entered ? work : { ...work, open: { ...open, entered: true } }
    case "agent/inbox/spliced": {
      const { inserted, outcome, removedCount = 0 } = event.data
      if (outcome === undefined || removedCount === 0 || inserted.length > 0) return work
      const refused = open.refused || outcome === "dropped"
      return { ...work, droppedUnrun: true, open: { ...open, refused } }
    }
    case "turn/end": {
      const used = open.entered || (open.refused && event.data.reason.kind !== "completed")
      return used ? { end: event.data, droppedUnrun: false, open: untouched } : { ...work, open: untouched }
    }
    default:
      return work
  }
}

/** The fold of a log, or of the part of it that is asked about. */
export const fold = (events: Iterable<SessionEvent>): ConsumedWork => {
  let work = empty
  for (const event of events) work = apply(work, event)
  return work
}

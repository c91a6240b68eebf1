/**
 * What a model was told of instruction files, and which files it touched: folded from the conversation it can see.
 */
import type { Json, JsonObject } from "@dsh/kernel/Json"
import type { SessionEvent } from "@dsh/protocol/SessionEvent"
import type { Session } from "@dsh/session/Session"
import type { ContentVersion } from "@dsh/world/ContentVersion"

export interface Told {
  /** Of the conversation; whatever was folded from an older one is void. */
  readonly generation: number
  /** The version last told of each file that is still thought to be there, by path. */
  readonly files: ReadonlyMap<string, ContentVersion>
  /** Canonical paths of files. */
  readonly touched: ReadonlySet<string>
  /** What was touched since this was asked last. */
  readonly takeTouched: () => ReadonlyArray<string>
}

class Fold implements Told {
  readonly generation: number
  readonly files = new Map<string, ContentVersion>()
  readonly touched = new Set<string>()
  #scanned = 0
  #fresh: Array<string> = []

  constructor(generation: number) {
    this.generation = generation
  }

  catchUp({ conversation: { nodes } }: Session): this {
    for (; this.#scanned < nodes.length; this.#scanned++) this.#take(nodes[this.#scanned]!)
    return this
  }

  readonly takeTouched = (): ReadonlyArray<string> => {
    const fresh = this.#fresh
    this.#fresh = []
    return fresh
  }

  #take(event: SessionEvent): void {
    if (event.type === "tool/result") {
      const file = observed(event.data.meta)
      if (file === undefined) return
      this.touched.add(file)
      this.#fresh.push(file)
    } else if (event.type === "user/message" && event.data.source.kind === "agent-instructions") {
      for (const { path, version } of event.data.source.files) {
        if (version === undefined) this.files.delete(path)
        else this.files.set(path, version)
      }
    }
  }
}

const folds = new WeakMap<Session, Fold>()

export const toldOf = (session: Session): Told => {
  const { generation } = session.conversation
  let fold = folds.get(session)
  if (fold === undefined || fold.generation !== generation) folds.set(session, (fold = new Fold(generation)))
  return fold.catchUp(session)
}

/** What the file tools log of the file they saw. It may come from an older version or have been edited. */
const observed = (meta: Json | undefined): string | undefined => {
  const seen = isObject(meta) ? meta["observed"] : undefined
  const key = isObject(seen) ? seen["key"] : undefined
  return typeof key === "string" ? key : undefined
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/**
 * What a person may mean by the beginning of a path: completion of `@path` while a message is typed.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"

export interface Candidate {
  /** Starts at the workspace folder, with `/` between its parts and, for a folder, at its end. */
  readonly path: string
  readonly type: "file" | "directory"
}

export class FileReferences extends Context.Tag("@dsh/context/FileReferences")<
  FileReferences,
  {
    /**
     * The best candidates first. A query with a slash looks into that folder, any other is looked for in all paths; an empty one gives
     * what is on top. Places that cannot be looked into hold nothing.
     */
    readonly complete: (query: string, workspace: string) => Effect.Effect<ReadonlyArray<Candidate>>
  }
>() {}

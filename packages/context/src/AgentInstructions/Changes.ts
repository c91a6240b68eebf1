/**
 * What is new in instruction files, compared with what was told of them.
 */
import type { ContentVersion } from "@dsh/world/ContentVersion"
import type { Found } from "./Reading.ts"

export interface Quoted {
  readonly path: string
  readonly text: string
  /** It said something else when it was told before. */
  readonly isChanged: boolean
}

export interface Changes {
  /** From the general to the specific. */
  readonly quoted: ReadonlyArray<Quoted>
  readonly gone: ReadonlyArray<{ readonly path: string; readonly twin: string | undefined }>
  /** Both, as they are logged. */
  readonly files: ReadonlyArray<{ readonly path: string; readonly version?: ContentVersion }>
}

export const changesIn = (told: ReadonlyMap<string, ContentVersion>, found: ReadonlyArray<Found>): Changes => {
  const quoted: Array<Quoted> = []
  const gone: Array<Changes["gone"][number]> = []
  const files: Array<Changes["files"][number]> = []
  for (const { content, path, twin } of found) {
    const before = told.get(path)
    if (content === undefined) {
      if (before === undefined) continue
      gone.push({ path, twin })
      files.push({ path })
    } else if (content.version !== before) {
      quoted.push({ path, text: content.text, isChanged: before !== undefined })
      files.push({ path, version: content.version })
    }
  }
  return { quoted, gone, files }
}

/**
 * A page as Markdown: headings with #, fenced code, "-" bullets, tables; scripts and styles are gone.
 *
 * The library reads a page in one pass. Those that build a tree of it first take minutes for pages made to that end (100 KB of table
 * cells), in which the whole process stands still.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { depthOf } from "./Depth.ts"

/** Deeper pages are none that somebody wrote. */
const maxDepth = 512

// Loaded with the first page.
const library = Effect.tryPromise(() => import("@mdream/js"))

/** Nothing when the page cannot be converted; it is then shown as it is. */
export const of = (html: string, url: string): Effect.Effect<Option.Option<string>> =>
  depthOf(html) > maxDepth
    ? Effect.succeedNone
    : Effect.flatMap(library, ({ htmlToMarkdown }) =>
        Effect.try(() => htmlToMarkdown(html, { origin: new URL(url).origin }).trim())
      ).pipe(
        Effect.tapError((error) => Effect.logDebug("a page could not be converted to Markdown", error)),
        Effect.option
      )

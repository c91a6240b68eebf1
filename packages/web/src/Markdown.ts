/**
 * Pages as Markdown: headings with #, fenced code, "-" bullets, tables, links in full; scripts and styles are gone.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"

export class Markdown extends Context.Tag("@dsh/web/Markdown")<
  Markdown,
  {
    /**
     * Nothing when a page cannot be converted, or not in time; it is then shown as it is.
     *
     * @param url Where the page is, for its links.
     */
    readonly convert: (html: string, url: string) => Effect.Effect<Option.Option<string>>
  }
>() {}

/**
 * What is generated. A new page is a line in `generate`: from what the sources say, or from the program itself, whose tools are booted
 * and whose schemas are asked.
 */
import * as Effect from "effect/Effect"
import * as Config from "./Config.ts"
import * as Events from "./Events.ts"
import * as Packages from "./Packages.ts"
import * as Services from "./Services.ts"
import type { Sources } from "./Sources.ts"
import * as Tools from "./Tools.ts"

export { splice } from "./Fences.ts"
export { stale } from "./Stale.ts"

/** What is not a page. */
export const toolCards = "packages/bundles/src/ToolCards.ts"

/** The pages by their path in the repository. */
export const generate = (sources: Sources): Promise<Readonly<Record<string, string>>> =>
  Effect.runPromise(
    Effect.all({
      "docs/catalog/services.md": Effect.sync(() => Services.generate(sources)),
      "docs/catalog/tools.md": Tools.generate(sources),
      [toolCards]: Tools.generateCards,
      "docs/catalog/events.md": Events.generate(sources),
      "docs/catalog/config.md": Config.generate,
      "docs/catalog/packages.md": Effect.sync(() => Packages.generate(sources))
    })
  )

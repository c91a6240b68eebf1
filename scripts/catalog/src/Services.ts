/**
 * The services there are and the extension points: who provides them, and who needs them.
 */
import { code, page, table } from "./Markdown.ts"
import type { LayerSource, ServiceSource, Sources } from "./Sources.ts"

/** Everything the loop is defined over: it would stand in every second row. */
const definitions = "@dsh/loop/Definitions"

const modes: Readonly<Record<string, string>> = {
  emit: "observers: each is told, what fails is logged",
  waterfall: "middleware: each may change what goes on, stop it, or change what comes back",
  serial: "one after the other; the first failure ends it",
  bail: "asked one after the other, the first answer counts",
  parallel: "all at once, all awaited"
}

/** `docs/catalog/services.md`. */
export const generate = ({ services }: Sources): string => {
  const ofKind = (...kinds: ReadonlyArray<ServiceSource["kind"]>) => services.filter(({ kind }) => kinds.includes(kind))
  const points = ofKind("emit", "waterfall", "serial", "bail", "parallel")
  return page(
    "# Services and extension points",
    "Every part that can be replaced, and every place where something can be hooked in. [How it fits together](../architecture.md), " +
      "[which feature is which mechanism](../mechanisms.md).",
    `What is marked with * is in \`Definitions.layer\` (\`${definitions}\`), where a composition begins.`,
    "## Services",
    "A `Context.Tag`. A Layer that provides it is a provider; one that needs it does not compile without.",
    table(
      ["service", "key", "what it is", "provided by", "needed by"],
      ofKind("service").map((service) => [
        named(service),
        code(service.key),
        service.doc,
        providers(service),
        modulesOf(service.neededBy, service.module)
      ])
    ),
    "## References",
    "A `Context.Reference`: a value with a default, which a composition, a test or a single call may replace.",
    table(
      ["reference", "key", "what it is"],
      ofKind("reference").map((service) => [named(service), code(service.key), service.doc])
    ),
    "## Extension points",
    "`X.hook(name, handler, { order })` is a Layer: the handler is there for as long as the Layer lives.",
    Object.entries(modes)
      .map(([mode, what]) => `- ${mode}: ${what}`)
      .join("\n"),
    table(
      ["extension point", "key", "mode", "what it is", "needed by"],
      points.map((service) => [
        named(service),
        code(service.key),
        service.kind,
        service.doc,
        modulesOf(service.neededBy, service.module)
      ])
    )
  )
}

const named = ({ module, name, providedBy }: ServiceSource): string =>
  `${code(name)}${providedBy.some((layer) => layer.module === definitions) ? "\\*" : ""} of ${code(module)}`

const lastOf = (module: string): string => module.split("/").at(-1)!

const providers = ({ providedBy }: ServiceSource): string =>
  providedBy
    .filter(({ module }) => module !== definitions)
    .map(({ module, name }) => code(`${lastOf(module)}.${name}`))
    .join(", ")

const modulesOf = (layers: ReadonlyArray<LayerSource>, own: string): string =>
  Array.from(new Set(layers.map(({ module }) => module)))
    .filter((module) => module !== own)
    .map((module) => code(lastOf(module)))
    .join(", ")

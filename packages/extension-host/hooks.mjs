// The hooks that Node resolves and loads modules of extensions by.
import { readFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"

const entry = "dsh-extension:"
const stands = "dsh-shared:"
const families = /^(?:effect|@effect\/platform|@dsh\/[^/]+)(?:\/|$)/

/** Names of exports, by module. */
let names = {}

export const initialize = (data) => {
  names = data.names
}

export const resolve = async (specifier, context, next) => {
  if (specifier.startsWith(entry)) {
    const [name, folder] = JSON.parse(decodeURIComponent(specifier.slice(entry.length)))
    const found = await next(name, { ...context, parentURL: `${folder}/package.json` })
    if (found.format !== "commonjs") return found
    throw new Error(
      `${fileURLToPath(found.url)} is CommonJS; extensions are ES modules: add "type": "module" to its package.json`
    )
  }
  if (Object.hasOwn(names, specifier)) return { url: stands + specifier, format: "module", shortCircuit: true }
  if (families.test(specifier) && context.parentURL !== undefined) {
    throw new Error(
      `${specifier} is nothing that extensions can import; the modules there are, are listed in docs/extensions.md`
    )
  }
  return next(specifier, context)
}

/** A module with the exports of one that is already loaded. */
const standIn = (name) => {
  const exported = names[name]
  return [
    `const shared = globalThis[Symbol.for("@dsh/extension-host/shared")][${JSON.stringify(name)}]`,
    ...exported.map((each, i) => (each === "default" ? "" : `const $${i} = shared[${JSON.stringify(each)}]`)),
    `export { ${exported.flatMap((each, i) => (each === "default" ? [] : [`$${i} as ${each}`])).join(", ")} }`
  ].join("\n")
}

export const load = async (url, context, next) => {
  if (url.startsWith(stands)) return { format: "module", source: standIn(url.slice(stands.length)), shortCircuit: true }
  if (!/\.m?ts$/.test(url)) return next(url, context)
  const { transformSync } = (await import("@swc/wasm-typescript")).default
  const filename = fileURLToPath(url)
  try {
    const { code } = transformSync(await readFile(filename, "utf8"), { mode: "strip-only", module: true, filename })
    return { format: "module", source: code, shortCircuit: true }
  } catch (error) {
    throw new Error(
      `${filename} is no TypeScript whose types can be left out: ${error.message ?? error.code ?? error}`,
      {
        cause: error
      }
    )
  }
}

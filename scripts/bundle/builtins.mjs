// A rolldown plugin: Node's own modules are loaded when they are used, not when the module that imports them is.
import { isBuiltin } from "node:module"

/** What takes a while to load and what many a run never needs. */
const lazyBuiltins = new Set([
  "node:child_process",
  "node:crypto",
  "node:fs/promises",
  "node:https",
  "node:module",
  "node:os",
  "node:worker_threads"
])

/** Node loads `node:fs/promises` when this property is looked at. */
const promises = "export const promises = /* @__PURE__ */ new Proxy({}, { get: (_, key) => builtin().promises[key] })"

/**
 * Node's own modules, as the bundle sees them: those of `lazyBuiltins` are loaded when one of their functions is called,
 * and no property is touched that nothing uses (for `import *`, CommonJS output would copy all of them).
 */
export const builtins = {
  name: "builtins",
  resolveId: (id, _, { kind }) =>
    kind === "import-statement" && id.startsWith("node:") && isBuiltin(id)
      ? { id: `\0${id}`, moduleSideEffects: false }
      : undefined,
  load: async (id) => {
    if (!id.startsWith("\0node:")) return undefined
    const name = id.slice(1)
    const isLazy = lazyBuiltins.has(name)
    const exported = Object.entries(await import(name)).map(([key, value]) => {
      if (key === "default") return "export default /* @__PURE__ */ builtin()"
      if (name === "node:fs" && key === "promises") return promises
      if (!isLazy || typeof value !== "function") return `export const ${key} = /* @__PURE__ */ builtin().${key}`
      return `export function ${key}(...args) {
        return new.target ? Reflect.construct(builtin().${key}, args) : builtin().${key}(...args)
      }`
    })
    return [`const builtin = () => process.getBuiltinModule("${name}")`, ...exported].join("\n")
  }
}

// Bundles one TypeScript entry into CommonJS chunks that carry the hash of their content in their name.
//
// `<out>/main` names the entry chunk and every file of ours that went into the build; its time is that of the start
// of the build, so "did a source change since?" is one comparison per file. It is replaced last and in one step, and
// chunks are never overwritten: a build takes nothing away from a process that is running.
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs"
import { isBuiltin } from "node:module"
import { join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { rolldown } from "rolldown"

const root = fileURLToPath(new URL("..", import.meta.url))
const day = 86_400_000

/** No module of ours does anything by being imported, and reading a property never does: what is unused goes. */
const treeshake = {
  propertyReadSideEffects: false,
  moduleSideEffects: [{ test: /[\\/](packages|apps)[\\/][^\\/]+[\\/]src[\\/]/, sideEffects: false }]
}

/**
 * What `dsh run` loads is one chunk: shared chunks would cost a file, a script and a property definition for each name
 * that crosses their border.
 */
const codeSplitting = { groups: [{ name: "ShortLane", test: /[\\/]apps[\\/]cli[\\/]src[\\/]ShortLane\.ts$/ }] }

/** What takes a while to load and what many a run never needs. */
const lazyBuiltins = new Set([
  "node:child_process",
  "node:crypto",
  "node:fs/promises",
  "node:https",
  "node:os",
  "node:worker_threads"
])

/**
 * Node's own modules, as the bundle sees them: those of `lazyBuiltins` are loaded when one of their functions is called,
 * and no property is touched that nothing uses (for `import *`, CommonJS output would copy all of them).
 */
const builtins = {
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
      if (!isLazy || typeof value !== "function") return `export const ${key} = /* @__PURE__ */ builtin().${key}`
      return `export function ${key}(...args) {
        return new.target ? Reflect.construct(builtin().${key}, args) : builtin().${key}(...args)
      }`
    })
    return [`const builtin = () => process.getBuiltinModule("${name}")`, ...exported].join("\n")
  }
}

const put = (path, content) => {
  const partial = `${path}.${process.pid}`
  writeFileSync(partial, content)
  renameSync(partial, path)
}

/** Two copies of `effect` break its tags and caches in ways that only show much later: refuse to build. */
const assertOneEffect = (modules) => {
  const copies = new Set(modules.map((id) => /^(.*[\\/]node_modules[\\/]effect)[\\/]/.exec(id)?.[1]).filter(Boolean))
  if (copies.size > 1) throw new Error(`two copies of effect would be bundled:\n  ${[...copies].join("\n  ")}`)
}

/** Chunks of earlier builds (and the code caches beside them) stay for a day, for processes that still load them. */
const sweep = (out, keep) => {
  for (const name of readdirSync(out)) {
    const chunk = /^.+?\.cjs(?=\.|$)/.exec(name)?.[0]
    if (chunk === undefined || keep.has(chunk)) continue
    const path = join(out, name)
    if (Date.now() - statSync(path).mtimeMs > day) rmSync(path)
  }
}

/** See bundle.d.mts. */
export const bundle = async ({ input, out, external = [] }) => {
  const started = new Date()
  const build = await rolldown({ input, platform: "node", external, treeshake, plugins: [builtins] })
  const { output } = await build.generate({
    format: "cjs",
    codeSplitting,
    charset: "ascii", // a chunk with one other character would cost twice the memory and time to read
    minify: { compress: true, mangle: false, codegen: true },
    entryFileNames: "[name]-[hash].cjs",
    chunkFileNames: "[name]-[hash].cjs"
  })
  await build.close()

  const modules = output.flatMap((chunk) => chunk.moduleIds)
  assertOneEffect(modules)
  const ours = modules.filter((id) => id.startsWith(root) && !id.includes("node_modules"))
  const inputs = ["pnpm-lock.yaml", "scripts/bundle.mjs", "scripts/build.mjs", ...ours.map((id) => relative(root, id))]

  mkdirSync(out, { recursive: true })
  for (const { fileName, code } of output) {
    const path = join(out, fileName)
    if (!existsSync(path)) put(path, code)
  }
  const entry = output.find((chunk) => chunk.isEntry).fileName
  put(join(out, "main"), [entry, ...inputs].join("\n"))
  utimesSync(join(out, "main"), started, started)
  sweep(out, new Set(output.map((chunk) => chunk.fileName)))
  return join(out, entry)
}

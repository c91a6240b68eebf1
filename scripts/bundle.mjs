// Bundles one TypeScript entry into CommonJS chunks that carry the hash of their content in their name.
//
// `<out>/main` names the entry chunk and every file of ours that went into the build: those of the entry and of what it
// loads alone, an empty line, all others. Its time is that of the start of the build, so "did a source change since?" is
// one comparison per file. It is replaced last and in one step, and
// chunks are never overwritten: a build takes nothing away from a process that is running.
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs"
import { basename, dirname, join, relative, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { rolldown } from "rolldown"
import { builtins } from "./bundle/builtins.mjs"
import { effect } from "./bundle/effect.mjs"
import { sharing } from "./bundle/sharing.mjs"

const root = fileURLToPath(new URL("..", import.meta.url))
const day = 86_400_000

/** No module of ours does anything by being imported, and reading a property never does: what is unused goes. */
const treeshake = {
  propertyReadSideEffects: false,
  moduleSideEffects: [{ test: /[\\/](packages|apps)[\\/][^\\/]+[\\/]src[\\/]/, sideEffects: false }]
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

/** Where `module` is imported, the finished `chunk` is loaded instead. */
const standIn = (module, chunk) => ({
  name: "stand-in",
  resolveId: (id, importer) =>
    importer !== undefined && resolve(dirname(importer), id) === module
      ? { id: `./${chunk}`, external: true }
      : undefined
})

/**
 * What is no part of a bundle, for it comes with a binary, or few runs need it. The command finds it as a package of its own.
 */
const packages = new Map([
  ["better-sqlite3", "@dsh/sqlite-driver"],
  ["@dsh/bash-grammar", "@dsh/bash-grammar"],
  ["@dsh/extension-host", "@dsh/extension-host"],
  ["@dsh/image-codec", "@dsh/image-codec"],
  ["@dsh/presets", "@dsh/presets"],
  ["@dsh/quickjs-thread", "@dsh/quickjs-thread"],
  ["@lydell/node-pty", "@lydell/node-pty"],
  ["@vscode/ripgrep", "@vscode/ripgrep"],
  ["iconv-lite", "iconv-lite"],
  ["koffi", "koffi"],
  ["minimatch", "minimatch"]
])

const apart = {
  name: "apart",
  resolveId: (id) => (packages.has(id) ? { id: packages.get(id), external: true } : undefined)
}

/** What rolldown itself puts into a bundle. */
const runtime = "\0rolldown/runtime.js"

/** One chunk of everything the entry imports, and more only for what it imports when it is needed. */
const oneForAll = (input) => {
  let imported
  const reach = (context) => {
    const found = new Set()
    for (const todo = [input]; todo.length > 0;) {
      const id = todo.pop()
      if (found.has(id)) continue
      found.add(id)
      todo.push(...(context.getModuleInfo(id)?.importedIds ?? []))
    }
    return found
  }
  return {
    includeDependenciesRecursively: false,
    groups: [
      {
        debugName: "alone",
        name: (id, context) => (id === runtime || (imported ??= reach(context)).has(id) ? basename(input, ".ts") : null)
      }
    ]
  }
}

const chunksOf = async ({ input, external, wrapped, plugins = [], codeSplitting = true }) => {
  const build = await rolldown({
    input,
    platform: "node",
    external,
    treeshake,
    preserveEntrySignatures: "allow-extension",
    onLog: (level, log, handle) => {
      // A bundle without it would be taken for a good one until somebody meets the gap.
      if (log.code === "UNRESOLVED_IMPORT") throw new Error(log.message)
      // What is loaded when it is needed in one bundle is there from the start in the other.
      if (log.code !== "INEFFECTIVE_DYNAMIC_IMPORT") handle(level, log)
    },
    plugins: [...plugins, apart, builtins, effect]
  })
  const { output } = await build.generate({
    format: "cjs",
    codeSplitting,
    dynamicImportInCjs: false,
    topLevelVar: true, // every access to a top-level `const` from a function would check that it has been initialised
    charset: "ascii", // a chunk with one other character would cost twice the memory and time to read
    minify: { compress: true, mangle: { toplevel: false }, codegen: true }, // stack traces keep the names of modules' functions
    entryFileNames: "[name]-[hash].cjs",
    chunkFileNames: "[name]-[hash].cjs",
    ...(wrapped && wrapper)
  })
  await build.close()
  return output
}

const chunkOf = (chunks, name) => chunks.find(({ fileName }) => fileName === name)

const entryOf = (chunks) => chunks.find((chunk) => chunk.isEntry).fileName

const scripts = ["bundle.mjs", "bundle/builtins.mjs", "bundle/effect.mjs", "bundle/sharing.mjs", "build.mjs"]

/** As Node wraps a module: who loads the chunk has nothing to put around it, which would copy all of it. */
const wrapper = { postBanner: "(function (exports, require, module, __filename, __dirname) {", postFooter: "})" }

/** See bundle.d.mts. */
export const bundle = async ({ input, out, external = [], alone, shared: holder, wrapped = false }) => {
  const started = new Date()
  const own =
    alone === undefined ? [] : await chunksOf({ input: alone, external, wrapped, codeSplitting: oneForAll(alone) })
  const plugins = [
    ...(alone === undefined ? [] : [standIn(alone, entryOf(own))]),
    ...(holder === undefined ? [] : [sharing(holder)])
  ]
  const shared = await chunksOf({ input, external, wrapped, plugins })
  const output = [...shared, ...own]

  assertOneEffect(output.flatMap((chunk) => chunk.moduleIds))
  const entry = entryOf(shared)
  const oursIn = (chunks) =>
    chunks
      .flatMap((chunk) => chunk.moduleIds)
      .filter((id) => id.startsWith(root) && !id.includes("node_modules"))
      .map((id) => relative(root, id))
  const always = new Set([entry])
  for (const name of always) for (const next of chunkOf(shared, name)?.imports ?? []) always.add(next)
  const first = new Set([
    "pnpm-lock.yaml",
    ...scripts.map((script) => `scripts/${script}`),
    ...oursIn(shared.filter(({ fileName }) => always.has(fileName))),
    ...oursIn(own)
  ])
  const rest = new Set(oursIn(shared).filter((id) => !first.has(id)))

  mkdirSync(out, { recursive: true })
  for (const { fileName, code } of output) {
    const path = join(out, fileName)
    if (!existsSync(path)) put(path, code)
  }
  put(join(out, "main"), [entry, ...first, ...(own.length === 0 ? [] : [""]), ...rest].join("\n"))
  utimesSync(join(out, "main"), started, started)
  sweep(out, new Set(output.map((chunk) => chunk.fileName)))
  return join(out, entry)
}

// Loads the bundle's chunks through V8's code cache, which halves start-up: a chunk's compiled code, including what
// was compiled lazily while it ran, is kept beside it. A cache that is missing, damaged or made by another V8 only
// costs time, never correctness, because chunks are named by the hash of their content.
"use strict"
const fs = require("node:fs")
const path = require("node:path")
const vm = require("node:vm")

const dist = path.join(__dirname, "..", "dist")

/** Commands run different functions of shared chunks, so each command has its own cache. */
const command = () => {
  const args = process.argv.slice(2)
  if (args.includes("--help") || args.includes("-h")) return "help"
  const name = args[0] === "--profile" ? args[1] : args[0]
  return /^[a-z][a-z-]{0,30}$/.test(name) ? name : "other"
}
const suffix = `.${process.version}-${process.arch}-${command()}.cache`

const modules = new Map()
const uncached = []

const readIfPresent = (file) => {
  try {
    return fs.readFileSync(file)
  } catch {
    return undefined
  }
}

const load = (name) => {
  const known = modules.get(name)
  if (known !== undefined) return known.exports
  const module = { exports: {} }
  modules.set(name, module)
  const filename = path.join(dist, name)
  const cachedData = readIfPresent(filename + suffix)
  const script = new vm.Script(
    `(function (exports, require, module, __filename, __dirname) { ${fs.readFileSync(filename, "utf8")}\n})`,
    { filename, cachedData, importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER }
  )
  if (script.cachedDataRejected !== false) uncached.push([filename + suffix, script])
  script.runInThisContext()(module.exports, requireFrom, module, filename, dist)
  return module.exports
}

const requireFrom = (id) => (id.startsWith("./") ? load(id.slice(2)) : require(id))

/** Only a run that succeeded has compiled the functions that the next one needs. */
const saveCaches = (code) => {
  if (code !== 0) return
  for (const [file, script] of uncached) {
    try {
      const partial = `${file}.${process.pid}`
      fs.writeFileSync(partial, script.createCachedData())
      fs.renameSync(partial, file)
    } catch {
      return // a read-only installation: start-up stays slower, nothing else changes
    }
  }
}

/**
 * Every copy of `effect` fetches one global store when it loads, whatever its version. The first is ours; a second
 * copy, brought by an extension, would see its own tags and caches and fail in ways nobody understands.
 */
const refuseSecondEffect = () => {
  const store = new Map()
  let ours
  Object.defineProperty(globalThis, "effect/GlobalValue", {
    get: () => {
      const caller = /\(?((?:file:\/\/)?\/[^()]*?|[A-Za-z]:[^()]*?):\d+:\d+\)?$/.exec(
        new Error().stack.split("\n")[2]
      )?.[1]
      ours ??= caller
      if (caller === ours) return store
      throw new Error(
        `DUPLICATE_EFFECT: two copies of effect were loaded, ${ours} and ${caller}; remove the second one`
      )
    },
    set: () => {}
  })
}

exports.boot = (mainChunk) => {
  refuseSecondEffect()
  process.once("exit", saveCaches)
  load(mainChunk)
}

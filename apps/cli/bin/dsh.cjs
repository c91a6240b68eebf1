#!/usr/bin/env node
// The `dsh` command. CommonJS, because the ESM loader alone would cost a third of the start-up time, and one file, because
// each further one would cost a hundredth.
//
// It loads the bundle's chunks through V8's code cache, which halves start-up: a chunk's compiled code, including what was
// compiled lazily while it ran, is kept beside it. A cache that is missing, damaged or made by another V8 only costs time,
// never correctness, because chunks are named by the hash of their content.
"use strict"
const fs = require("node:fs")
const path = require("node:path")
const vm = require("node:vm")

const root = path.join(__dirname, "..", "..", "..")

// -----------------------------------------------------------------------------
// which chunk to start
// -----------------------------------------------------------------------------

/** Commands that compose, and may meet extensions. */
const composing = /^(?:run|chat|batch|preset|models|doctor|config|--profile(?:=.*)?)$/

/** Whether the profile of this run has extensions: something is installed in its folder. */
const hasExtensions = () => {
  const [first = "chat", ...rest] = process.argv.slice(2)
  if (!composing.test(first)) return false
  // These take it as an option; elsewhere it comes first.
  const args = /^(?:chat|doctor|config)$/.test(first) ? rest : [first, ...rest].slice(0, 2)
  const at = args.findIndex((arg) => /^--profile(?:=|$)/.test(arg))
  const profile =
    (at === -1 ? undefined : (/=(.*)/s.exec(args[at])?.[1] ?? args[at + 1])) || (first === "chat" ? "chat" : "headless")
  const home = process.env.DSH_HOME?.trim() || path.join(process.env.HOME || require("node:os").homedir(), ".dsh")
  try {
    const manifest = JSON.parse(fs.readFileSync(path.join(home, "profiles", profile, "package.json"), "utf8"))
    return Object.keys(manifest.dependencies ?? {}).length > 0
  } catch {
    return false // what is wrong with it is told by who reads it
  }
}

const isOpen = hasExtensions()
const dist = path.join(__dirname, "..", "dist", isOpen ? "open" : "")

/** What of a run there is before its first request runs once. Who goes on with a session has a log to read, which may be long. */
const isNewRun =
  /^(?:run|demo|--profile(?:=.*)?)$/.test(process.argv[2] ?? "") &&
  !process.argv.some((arg) => /^--(?:session|continue|fork)(?:=|$)/.test(arg))

/** The entry chunk of the latest build, and its inputs relative to the checkout: see scripts/bundle.mjs. */
const readMain = () => {
  try {
    const [chunk, ...inputs] = fs.readFileSync(path.join(dist, "main"), "utf8").split("\n")
    // What is not alone may meet all of them.
    const end = isNewRun && !process.env.DSH_SESSION_STORE ? inputs.indexOf("") : -1
    return { chunk, inputs: end === -1 ? inputs.filter((input) => input !== "") : inputs.slice(0, end) }
  } catch {
    return undefined
  }
}

const isFresh = (build) => {
  if (build === undefined) return false
  const built = fs.statSync(path.join(dist, "main")).mtimeMs
  // Hundreds of files, in code that is cold: half of the time would go into `path.join`.
  const unchanged = (file) => {
    const stat = fs.statSync(root + path.sep + file, { throwIfNoEntry: false })
    return stat !== undefined && stat.mtimeMs <= built
  }
  return build.inputs.every(unchanged)
}

const rebuild = (builder) => {
  const { spawnSync } = require("node:child_process")
  const { status } = spawnSync(process.execPath, [builder, isOpen ? "--open" : "--closed"], {
    cwd: root,
    stdio: ["ignore", 2, 2]
  })
  if (status === 0) return readMain()
  process.stderr.write('dsh: BUILD: the command could not be built; run "npx -y pnpm@12.4.2 install" and try again\n')
  process.exit(3)
}

/**
 * In a git checkout the bundle is built on demand: when there is none, or when one of the files it was made of changed
 * since. An installed package has no build script beside it and skips the check.
 */
const mainChunk = () => {
  const build = readMain()
  const builder = path.join(root, "scripts", "build.mjs")
  return (fs.existsSync(builder) && !isFresh(build) ? rebuild(builder) : build).chunk
}

// -----------------------------------------------------------------------------
// loading chunks
// -----------------------------------------------------------------------------

/** Commands run different functions of shared chunks, so each command has its own cache. */
const command = () => {
  const args = process.argv.slice(2)
  if (args.includes("--help") || args.includes("-h")) return "help"
  const name = args[0] === "--profile" ? args[1] : args[0]
  return /^[a-z][a-z-]{0,30}$/.test(name) ? name : "other"
}
const suffix = `.${process.version}-${process.arch}-${command()}${isNewRun ? "-new" : ""}.cache`

const modules = new Map()
const uncached = []

let buffer = Buffer.allocUnsafeSlow(4_194_304)

/**
 * What is in a file, for as long as no other is read: all are read into the same memory, for memory that is touched for the first time
 * is what a start spends most of its time on.
 */
const read = (file, optional = false) => {
  let fd
  try {
    fd = fs.openSync(file)
  } catch (error) {
    if (optional) return undefined
    throw error
  }
  try {
    const { size } = fs.fstatSync(fd)
    if (size > buffer.length) buffer = Buffer.allocUnsafeSlow(size)
    let length = 0
    for (let got = 1; got > 0 && length < size; length += got) got = fs.readSync(fd, buffer, length, size - length)
    return buffer.subarray(0, length)
  } finally {
    fs.closeSync(fd)
  }
}

const load = (name) => {
  const known = modules.get(name)
  if (known !== undefined) return known.exports
  const module = { exports: {} }
  modules.set(name, module)
  const filename = path.join(dist, name)
  // A chunk is ASCII: nothing has to be decoded.
  const source = read(filename).latin1Slice()
  const options = {
    filename,
    cachedData: read(filename + suffix, true),
    importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER
  }
  const script = asAtStart(() => new vm.Script(source, options))
  if (script.cachedDataRejected !== false) uncached.push([filename + suffix, script])
  script.runInThisContext()(module.exports, requireFrom, module, filename, dist)
  return module.exports
}

const requireFrom = (id) => (id.startsWith("./") ? load(id.slice(2)) : require(id))

// -----------------------------------------------------------------------------
// V8
// -----------------------------------------------------------------------------

/**
 * How V8 runs a process that starts. Almost everything it allocates stays, and memory that is touched for the first time
 * costs more than another scavenge of what is in the cache: a young generation that does not grow saves a tenth of the
 * time to the first request. To collect type feedback of what runs once, and to compile it for speed, takes longer than it
 * saves: another tenth.
 */
const starting = [
  "--semi-space-growth-factor=1",
  "--lazy-feedback-allocation",
  ...(isNewRun
    ? ["--no-sparkplug", "--no-opt", "--interrupt-budget-factor-for-feedback-allocation=32"]
    : ["--interrupt-budget-factor-for-feedback-allocation=8"])
].join(" ")

/**
 * An agent runs the same code once per step, and leaves little behind: from its first answer on code is compiled for speed
 * as soon as that pays, with feedback from the first time on.
 */
const answered = [
  "--sparkplug",
  "--opt",
  "--no-lazy-feedback-allocation",
  "--interrupt-budget-factor-for-feedback-allocation=2"
].join(" ")

let flags = ""

const enter = (phase) => {
  flags = phase
  require("node:v8").setFlagsFromString(phase)
}

/** The flags of the process are part of a cache's key: chunks that are loaded later have theirs from a start, too. */
const asAtStart = (act) => {
  const before = flags
  if (before === starting) return act()
  enter(starting)
  const result = act()
  enter(before)
  return result
}

/** Commands that ask a model. */
const asking = /^(?:run|chat|batch|demo|--profile(?:=.*)?)$/

/** To be called before a flag is set: Node has its own modules compiled, for the flags it starts with and for no others. */
const loadBuiltins = () => {
  // Whoever is the first to ask for a file without waiting waits for the threads that do it.
  fs.access(root, () => {})
  for (const name of ["http", "crypto", "tty", "os"]) require(`node:${name}`)
  return globalThis.crypto
}

const taken = []

/**
 * What was compiled so far. A run takes it when its first request is answered: with all that the answer made it do,
 * every later start would read more than it needs.
 */
const takeCaches = () => {
  if (uncached.length === 0) return
  asAtStart(() => {
    for (const [file, script] of uncached.splice(0)) taken.push([file, script.createCachedData()])
  })
}

/** Only a run that succeeded has compiled the functions that the next one needs. */
const saveCaches = (code) => {
  if (code !== 0) return
  takeCaches()
  for (const [file, data] of taken) {
    try {
      const partial = `${file}.${process.pid}`
      fs.writeFileSync(partial, data)
      fs.renameSync(partial, file)
    } catch {
      return // a read-only installation: start-up stays slower, nothing else changes
    }
  }
}

/**
 * Every copy of `effect` fetches one global store when it loads, whatever its version, and reads it twice to do so. The
 * first is ours; a second copy, brought by an extension, would see its own tags and caches and fail in ways nobody
 * understands. Who reads is only looked up once there is something to say: to write out a stack takes half a millisecond.
 */
const refuseSecondEffect = () => {
  const store = new Map()
  const reads = []
  const reader = (read) =>
    /\(?((?:file:\/\/)?\/[^()]*?|[A-Za-z]:[^()]*?):\d+:\d+\)?$/.exec(read.stack.split("\n")[2])?.[1]
  Object.defineProperty(globalThis, "effect/GlobalValue", {
    get: () => {
      reads.push(new Error())
      if (reads.length <= 2) return store
      const [ours, other] = [reader(reads[0]), reader(reads[2])]
      throw new Error(`DUPLICATE_EFFECT: two copies of effect were loaded, ${ours} and ${other}; remove the second one`)
    },
    set: () => {}
  })
}

// -----------------------------------------------------------------------------
// the command
// -----------------------------------------------------------------------------

const [first] = process.argv.slice(2)

if (first === "--version" || first === "-V") {
  process.stdout.on("error", () => {})
  process.stdout.write(`dsh ${require("../package.json").version} (the Effect edition of DeepSeek Harness)\n`)
} else {
  if (asking.test(first ?? "chat")) loadBuiltins()
  enter(starting)
  const chunk = mainChunk()
  refuseSecondEffect()
  process.once("dsh:answered", () => {
    takeCaches()
    enter(answered)
  })
  process.once("exit", saveCaches)
  load(chunk)
}

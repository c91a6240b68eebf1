// One program, run to its end; see index.d.cts. Whoever started the thread ends it when the program takes too long: nothing in here has
// to be able to stop it. What the program does to the engine ends with the thread.
"use strict"
const { parentPort, workerData: job } = require("node:worker_threads")
const engine = require("@jitl/quickjs-ng-wasmfile-release-sync")
const { newQuickJSWASMModuleFromVariant, newVariant } = require("quickjs-emscripten-core")
const prelude = require("./prelude.cjs")
const { filename, strip } = require("./strip.cjs")

/** A line takes this much besides its text, on its way out. */
const perLine = 64

/** Of WebAssembly memory, in bytes, and how many of them the engine begins with. */
const page = 65_536
const smallest = 256

let ended = false
let given = 0
let calls = 0
/** Of calls that wait for an answer: the length of their arguments. */
const pending = new Map()
let pendingBytes = 0

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has a port, not a window
const post = (...frame) => parentPort.postMessage(frame)

const failed = (kind, message) => {
  if (ended) return
  ended = true
  post("failed", kind, message)
}

/** Counts what is given out; false when it is too much, which ends the run. */
const fits = (bytes) => {
  given += bytes
  if (given <= job.maxOutputBytes) return true
  failed("output-limit", `it gave out more than ${job.maxOutputBytes} bytes`)
  return false
}

const log = (text) => {
  if (!ended && fits(Buffer.byteLength(text) + perLine)) post("log", text)
}

const call = (global, name, args) => {
  if (pending.size >= job.maxPendingCalls) return `more than ${job.maxPendingCalls} calls at once; await some first`
  if (pendingBytes + args.length > job.maxPendingBytes) return "the arguments of the calls in flight are too long"
  const id = ++calls
  pending.set(id, args.length)
  pendingBytes += args.length
  post("call", id, global, name, args)
  return id
}

const done = (value) => {
  if (ended || (value !== null && !fits(Buffer.byteLength(value)))) return
  ended = true
  post("done", value)
}

const messageOf = (error) => (error instanceof Error && error.message !== "" ? error.message : "it threw")

/** What the engine itself breaks at, and the program cannot catch. */
const broken = (error) =>
  failed(
    "exception",
    error instanceof RangeError ? "RangeError: the stack overflowed" : `the engine: ${messageOf(error)}`
  )

const start = async () => {
  let source
  try {
    source = strip(job.code)
  } catch (error) {
    return failed("exception", messageOf(error))
  }
  // What the engine counts itself are only the single requests; this is the wall.
  const maximum = Math.max(smallest, Math.floor(job.maxMemoryBytes / page))
  const wasmMemory = new WebAssembly.Memory({ initial: smallest, maximum })
  const quickjs = await newQuickJSWASMModuleFromVariant(newVariant(engine.default, { wasmMemory }))
  const runtime = quickjs.newRuntime()
  runtime.setMemoryLimit(job.maxMemoryBytes)
  runtime.setMaxStackSize(job.maxStackBytes)
  const vm = runtime.newContext()

  const text = (handle) => String(vm.typeof(handle) === "string" ? vm.getString(handle) : "")
  const host = vm.newObject()
  const give = (name, body) => vm.setProp(host, name, vm.newFunction(name, body))
  vm.setProp(host, "filename", vm.newString(filename))
  give("log", (line) => log(text(line)))
  give("done", (value) => done(vm.typeof(value) === "string" ? text(value) : null))
  give("failed", (kind, message) =>
    failed(text(kind) === "invalid-output" ? "invalid-output" : "exception", text(message))
  )
  give("call", (global, name, args) => {
    const id = call(text(global), text(name), text(args))
    return typeof id === "number" ? vm.newNumber(id) : vm.newString(id)
  })

  const messageIn = (error) => {
    try {
      const { message, name } = vm.dump(error)
      return `${name}: ${message}`
    } catch {
      return "InternalError: out of memory"
    }
  }

  /** Runs whatever can run. When nobody is left who could make the program go on, it has come to its end. */
  const pump = () => {
    while (!ended && runtime.hasPendingJob()) {
      const ran = runtime.executePendingJobs()
      // A program catches what it throws itself; what comes up to here is that nothing more fits into its memory.
      if (ran.error !== undefined) failed("exception", messageIn(ran.error))
      ran.dispose()
    }
    if (pending.size === 0)
      failed("exception", "it waits for something that never comes: a promise that nothing settles")
  }

  const namespaces = vm.unwrapResult(vm.evalCode(`(${JSON.stringify(job.namespaces)})`))
  const makeWorld = vm.unwrapResult(vm.evalCode(`(${prelude})`, "prelude.js"))
  const world = vm.unwrapResult(vm.callFunction(makeWorld, vm.undefined, host, namespaces))
  const [settle, run] = [vm.getProp(world, "settle"), vm.getProp(world, "run")]

  parentPort.on("message", ([id, isOk, answer]) => {
    if (ended || !pending.has(id)) return
    pendingBytes -= pending.get(id)
    pending.delete(id)
    try {
      const [number, message] = [vm.newNumber(id), vm.newString(answer)]
      vm.callFunction(settle, vm.undefined, number, isOk ? vm.true : vm.false, message).dispose()
      number.dispose()
      message.dispose()
      pump()
    } catch (error) {
      broken(error)
    }
  })

  const compiled = vm.evalCode(source, filename)
  if (compiled.error !== undefined) {
    return failed("exception", messageIn(compiled.error))
  }
  vm.unwrapResult(vm.callFunction(run, vm.undefined, compiled.value)).dispose()
  pump()
}

// Once the loop of the thread runs: how busy it is can be told only from then on.
setImmediate(() => void start().catch(broken))

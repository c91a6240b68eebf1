// Programs that mean harm. Each is stopped or comes to nothing, and neither the process around it nor its files notice.
import type { Json } from "@dsh/kernel/Json"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { existsSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { BindingError, CodeRuntime } from "../src/CodeRuntime.ts"
import type { CodeFailureKind, CodeResult } from "../src/CodeRuntime.ts"
import * as CodeRuntimeQuickJs from "../src/CodeRuntimeQuickJs.ts"
import { threads } from "./support.ts"

const mark = join(tmpdir(), `dsh-code-mode-escaped-${process.pid}`)

/** What a row comes to: a failure of that kind, or that value. */
type Outcome = { readonly fails: CodeFailureKind } | { readonly value: Json | undefined }
type Row = readonly [name: string, program: string, outcome: Outcome]

const stops = (...rows: ReadonlyArray<readonly [string, string]>): ReadonlyArray<Row> =>
  rows.map(([name, program]) => [name, program, { fails: "timeout" }])
const throws = (...rows: ReadonlyArray<readonly [string, string]>): ReadonlyArray<Row> =>
  rows.map(([name, program]) => [name, program, { fails: "exception" }])

/** Tries each way to get hold of the process, and to leave a file behind then. One program for all, for none gets anywhere. */
const escapes = (...ways: ReadonlyArray<string>): ReadonlyArray<Row> => {
  const attempts = ways.map(
    (way) => `try {
      const found = ${way}
      const proc = found && (found.process || (found.env && found))
      if (proc) { proc.getBuiltinModule("node:fs").writeFileSync(${JSON.stringify(mark)}, "x"); escaped.push(${JSON.stringify(way)}) }
    } catch {} tried++`
  )
  const program = `const escaped = []; let tried = 0; ${attempts.join("\n")}; return { escaped, tried }`
  return [["ways out", program, { value: { escaped: [], tried: ways.length } }]]
}

const endless = stops(
  ["a loop", "while (true) {}"],
  ["a for loop that prints nothing", "for (;;);"],
  ["a chain of promises", "const next = () => void Promise.resolve().then(next); next(); await new Promise(() => {})"],
  ["an async loop", "while (true) await null"],
  ["a generator", "function* all() { while (true) yield 1 } for (const _ of all());"],
  ["an async generator", "async function* all() { while (true) yield 1 } for await (const _ of all());"],
  ["a getter of the result", "return { get x() { while (true); } }"],
  ["a toJSON of something printed", "console.log({ toJSON() { while (true); } })"],
  ["a toString of something printed", "console.log({ toString() { while (true); }, toJSON() { throw 1 } })"],
  ["a getter of an argument", "await tools.echo({ get x() { while (true); } })"],
  ["a proxy as a result", "return new Proxy({}, { ownKeys() { while (true); } })"],
  ["a thenable as a result", "return { then() { while (true); } }"],
  ["a getter of what is thrown", "throw Object.defineProperty(new Error(), 'message', { get() { while (true); } })"],
  ["a regular expression", "return /(a+)+$/.test('a'.repeat(60) + 'b')"],
  [
    "a built-in that takes for ever",
    "return new Array(2 ** 31).join('').length + [].concat(...[new Array(2 ** 31)]).indexOf(1)"
  ],
  ["sorting with a comparison that never ends", "[2, 1].sort(() => { while (true); })"],
  ["a finally block", "try { while (true); } finally { while (true); }"],
  ["a loop after all calls are out", "tools.echo({}); while (true) {}"],
  ["types that no compiler gets through", "<a>(".repeat(60)]
)

const memory = throws(
  ["promises of promises", "const next = () => Promise.resolve().then(next); await next()"],
  ["strings", "let s = 'x'; while (true) s += s"],
  ["arrays", "const a = []; while (true) a.push(new Array(10000).fill(a))"],
  ["array buffers", "const a = []; while (true) a.push(new ArrayBuffer(1e6))"],
  ["one large buffer", "return new ArrayBuffer(2 ** 31).byteLength"],
  ["maps", "const m = new Map(); for (let i = 0; ; i++) m.set(i, 'x'.repeat(1000) + i)"],
  ["big integers", "let n = 2n; while (true) n = n * n"],
  ["recursion", "const f = () => 1 + f(); return f()"],
  ["recursion through a replacement", "const f = () => 'a'.replace('a', f); return f()"],
  ["deep JSON", "return JSON.parse('['.repeat(1e6))"],
  ["a deep program", "(".repeat(20000)]
)

const values: ReadonlyArray<Row> = [
  ["a cycle", "const a = {}; a.a = a; return a", { fails: "invalid-output" }],
  ["a big integer", "return 1n", { fails: "invalid-output" }],
  ["a function", "return () => 1", { fails: "invalid-output" }],
  ["a symbol", "return Symbol('x')", { fails: "invalid-output" }],
  ["not a number", "return [NaN]", { fails: "invalid-output" }],
  ["a map", "return new Map([[1, 2]])", { fails: "invalid-output" }],
  ["a hole", "return [1, , 2]", { fails: "invalid-output" }],
  ["nested too deep", "let a = []; for (let i = 0; i < 600; i++) a = [a]; return a", { fails: "invalid-output" }],
  [
    "a revoked proxy",
    "const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return proxy",
    { fails: "exception" }
  ],
  ["an optional member", "return { a: undefined, b: 1 }", { value: { b: 1 } }],
  ["a lone surrogate", "console.log('\\uD800'); return 1", { value: 1 }],
  ["an own __proto__", `return Object.keys(JSON.parse('{"__proto__":{"polluted":1}}'))`, { value: ["__proto__"] }],
  ["a promise that nothing settles", "await new Promise(() => {})", { fails: "exception" }],
  ["logs without an end", "while (true) console.log('x'.repeat(100))", { fails: "output-limit" }],
  ["empty logs without an end", "while (true) console.log()", { fails: "output-limit" }],
  ["a long value", "return 'x'.repeat(1e6)", { fails: "output-limit" }],
  ["a long failure", "throw new Error('x'.repeat(1e6))", { fails: "exception" }],
  ["an enum", "enum A { X } return A.X", { fails: "exception" }],
  ["a namespace", "namespace A { export const x = 1 } return A.x", { fails: "exception" }],
  ["no program", "let = = 1", { fails: "exception" }],
  ["more than a function", "}); globalThis.x = 1; (async () => {", { value: undefined }],
  ["throwing nothing", "throw undefined", { fails: "exception" }],
  ["throwing null", "throw null", { fails: "exception" }],
  ["throwing what cannot be read", "throw new Proxy({}, { get() { throw 1 } })", { fails: "exception" }]
]

const worlds = escapes(
  "this.constructor.constructor('return process')()",
  "globalThis.constructor.constructor('return process')()",
  "(async function () {}).constructor('return process')()",
  "(function* () {}).constructor('return process')().next().value",
  "Function('return this')()",
  "(0, eval)('this')",
  "tools.echo.constructor('return process')()",
  "tools.constructor.constructor('return process')()",
  "console.log.constructor('return process')()",
  "console.log.__proto__.__proto__.constructor.constructor('return process')()",
  "(await tools.echo({})).constructor.constructor('return process')()",
  "(await tools.fail({}).catch((e) => e)).constructor.constructor('return process')()",
  "(await tools.fail({}).catch((e) => Object.getPrototypeOf(e).constructor.constructor('return this')()))",
  "new Error().stack.constructor.constructor('return process')()",
  "(() => { Error.prepareStackTrace = (_, frames) => frames; return new Error().stack[0].getThis() })()",
  "(() => { try { (function f() { f() })() } catch (e) { return e.constructor.constructor('return process')() } })()",
  "(() => { let p; new Proxy({}, { get(_, __, r) { p = r } }).x; return p.constructor.constructor('return process')() })()",
  "Reflect.construct(Function, ['return process'])()",
  "Object.getOwnPropertyNames(globalThis).map((n) => globalThis[n]).find((v) => v && v.env)",
  "[].map.call([1], Function('return this')).process",
  "(() => { class A extends Array { static get [Symbol.species]() { return function () { return this } } } return new A(1).map((x) => x).process })()",
  "require('process')",
  "module.constructor._load('process')",
  "process.binding('fs')",
  "globalThis.Module",
  "std.getenviron()",
  "os.exec(['id'])",
  "await import('node:process')",
  "await import('std')",
  "await import('os')",
  "await import('data:text/javascript,export default process')",
  "new WebAssembly.Module(new Uint8Array(8))",
  "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1e9)",
  "new Worker('x')",
  "globalThis.postMessage({ process: 1 })",
  "fetch('http://127.0.0.1:1/')",
  "setTimeout('process')",
  "Deno",
  "new Intl.DateTimeFormat().constructor.constructor('return process')()",
  "__loadScript('/etc/passwd')",
  "scriptArgs"
)

const bindings: ReadonlyArray<Row> = [
  ["poisoned Object.prototype", "Object.prototype.polluted = 1; return (await tools.echo({ a: 1 })).a", { value: 1 }],
  [
    "a toJSON on Object.prototype",
    "Object.prototype.toJSON = () => 'forged'; return await tools.echo({ a: 1 })",
    { value: { a: 1 } }
  ],
  [
    "a then on Object.prototype",
    "Object.prototype.then = function (f) { delete Object.prototype.then; f('forged') }; return 1",
    { value: 1 }
  ],
  [
    "a replaced JSON",
    "JSON.parse = JSON.stringify = () => 'forged'; return await tools.echo({ a: 1 })",
    { value: { a: 1 } }
  ],
  ["a replaced Promise", "globalThis.Promise = class {}; return await tools.echo({ a: 1 })", { value: { a: 1 } }],
  [
    "a replaced Array",
    "Array.isArray = () => true; Array.prototype.push = null; return await tools.echo([1])",
    { value: [1] }
  ],
  [
    "__proto__ as a function",
    "return typeof tools.__proto__ + (await tools['__proto__']({ x: 1 })).x",
    { value: "function1" }
  ],
  ["constructor as a function", "return typeof tools.constructor", { value: "undefined" }],
  ["a function that is not there", "return await tools.nothing({})", { fails: "exception" }],
  ["a replaced function", "'use strict'; try { tools.echo = 1 } catch { return 'frozen' }", { value: "frozen" }],
  ["a replaced tools", "try { globalThis.tools = 1 } catch { return 'fixed' }", { value: "fixed" }],
  [
    "an argument with __proto__",
    `return Object.keys(await tools.echo(JSON.parse('{"__proto__":{"polluted":1}}')))`,
    { value: ["__proto__"] }
  ],
  [
    "an argument that is no JSON",
    "return await tools.echo({ f() {} }).catch((e) => e.name)",
    { value: "ToolCallError" }
  ],
  [
    "a cyclic argument",
    "const a = []; a[0] = a; return await tools.echo(a).catch((e) => e.toolName)",
    { value: "echo" }
  ],
  ["a big integer as an argument", "return await tools.echo(1n).catch((e) => e.toolName)", { value: "echo" }],
  ["a forged ToolCallError", "throw new ToolCallError('echo', 'I was never called')", { fails: "exception" }],
  [
    "an error of a tool with a long message",
    "return (await tools.fail({}).catch((e) => e.message)).length",
    { value: 4 }
  ],
  [
    "thousands of calls that wait",
    `let refused = 0
    const all = Array.from({ length: 5000 }, () => tools.never({}).catch(() => { refused++ }))
    await null; await null; await null; await null
    return refused`,
    { value: 4980 }
  ],
  [
    "arguments that are too long together",
    "return (await tools.echo('x'.repeat(200000)).catch((e) => e.message)).slice(0, 13)",
    { value: "the arguments" }
  ],
  ["calls after the end", "tools.echo({}).then(() => tools.echo({ late: 1 })); return 1", { value: 1 }],
  ["catching everything", "try { await tools.fail({}) } catch {} return 1", { value: 1 }]
]

const limits = {
  computeMs: 15_000,
  maxWallMs: 20_000,
  maxOutputBytes: 65_536,
  maxMemoryBytes: 24 * 1_048_576,
  maxOldGenerationSizeMb: 128,
  maxPendingCalls: 20,
  maxPendingBytes: 100_000
}

const impatient = { ...limits, computeMs: 500 }

const functions = new Map<string, (args: Json) => Effect.Effect<Json, BindingError>>([
  ["echo", (args) => Effect.succeed(args)],
  ["fail", () => Effect.fail(new BindingError({ message: "nope" }))],
  ["never", () => Effect.never],
  ["__proto__", (args) => Effect.succeed(args)]
])

const run = (program: string) =>
  Effect.flatMap(CodeRuntime, (runtime) =>
    runtime.run({
      program,
      bindings: [{ global: "tools", functions, errorClass: "ToolCallError", errorMember: "toolName" }]
    })
  )

/** What a program could have changed of the world it runs in. */
const fingerprint = () =>
  [Object, Array, Function, Promise, Map, Error, String].map(({ prototype }) =>
    Reflect.ownKeys(prototype).map((key) => {
      const { get, value } = Object.getOwnPropertyDescriptor(prototype, key) ?? {}
      return [key, value, get] as const
    })
  )

/** Counts the turns of the event loop until it is asked how many there were. */
const counting = () => {
  let turns = 0
  const turning = setInterval(() => turns++, 1)
  return () => {
    clearInterval(turning)
    return turns
  }
}

const matches = ({ error, value }: CodeResult, outcome: Outcome) =>
  "fails" in outcome
    ? assert.deepStrictEqual([error?.kind, value], [outcome.fails, undefined], error?.message)
    : assert.deepStrictEqual([error, value], [undefined, outcome.value])

describe("hostile programs", () => {
  for (const row of [...endless, ...memory, ...values, ...bindings, ...worlds]) {
    const [name, program, outcome] = row
    it.effect(name, () =>
      Effect.gen(function* () {
        rmSync(mark, { force: true })
        const before = [fingerprint(), process.env["PATH"]]
        const others = threads()
        const fiber = yield* Effect.fork(run(program))
        // The process around it goes on meanwhile.
        const turns = counting()
        const result = yield* Fiber.join(fiber)
        matches(result, outcome)
        assert.isAbove(turns(), 10)
        assert.isBelow(JSON.stringify(result).length, 150_000)
        assert.deepStrictEqual([fingerprint(), process.env["PATH"]], before)
        assert.isAtMost(threads(), others)
        assert.isFalse(existsSync(mark))
      }).pipe(Effect.provide(CodeRuntimeQuickJs.layer(endless.includes(row) ? impatient : limits)))
    )
  }
})

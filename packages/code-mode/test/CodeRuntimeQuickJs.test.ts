// The runtime itself: how runs end, and what it makes of a thread that does not keep to the rules.
import type { Json } from "@dsh/kernel/Json"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Scope } from "effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { BindingError } from "../src/CodeRuntime.ts"
import type { CodeResult } from "../src/CodeRuntime.ts"
import * as CodeRuntimeQuickJs from "../src/CodeRuntimeQuickJs.ts"
import { threads } from "./support.ts"
import { defaults } from "../src/CodeRuntimeQuickJs/Limits.ts"
import { Thread } from "../src/CodeRuntimeQuickJs/Thread.ts"

type Body = (args: Json) => Effect.Effect<Json, BindingError>

const bind = (functions: Record<string, Body>) => [
  {
    global: "tools",
    functions: new Map(Object.entries(functions)),
    errorClass: "ToolCallError",
    errorMember: "toolName"
  }
]

const run = (program: string, functions: Record<string, Body> = {}, options?: CodeRuntimeQuickJs.Options) =>
  Effect.flatMap(CodeRuntimeQuickJs.make(options), (runtime) => runtime.run({ program, bindings: bind(functions) }))

describe("runs", () => {
  it.scoped("TypeScript, its types erased, and where it failed", () =>
    Effect.gen(function* () {
      const typed = yield* run(
        "interface A { n: number }\nconst a = { n: 1 } satisfies A\nconst f = <T>(x: T): T => x\nreturn f<number>(a.n!)"
      )
      assert.deepStrictEqual(typed, { value: 1, logs: [] })
      const failed = yield* run("const a: number = 1\n\nthrow new TypeError('x' + a)")
      assert.include(failed.error?.message, "TypeError: x1\n")
      assert.include(failed.error?.message, "run_code.ts:3:")
      const wrong = yield* run("const a: number = 1\nlet b: = 2")
      assert.include(wrong.error?.message, "(line 2)")
    })
  )

  it.scoped("calls that look like comparisons are calls", () =>
    Effect.gen(function* () {
      const program = "const f = (x) => x; const number = 5; return [f<number>(3), 1 < 2, (2 > (1))]"
      assert.deepStrictEqual((yield* run(program)).value, [3, true, true])
    })
  )

  it.scoped("what is printed: five levels, anything at all", () =>
    Effect.gen(function* () {
      const { logs } = yield* run(`console.log("a", 1, null, undefined, true)
        console.info({ a: [1] }, [2]); console.warn(new Set([1]), new Map([[1, 2]])); console.error(new RangeError("no"))
        console.debug(1n, Symbol("s"), () => 1); const c = {}; c.c = c; console.log(c)`)
      assert.deepStrictEqual(
        logs.map((line) => line.split("\n")[0]),
        [
          "a 1 null undefined true",
          '{"a":[1]} [2]',
          "[1] [[1,2]]",
          "RangeError: no",
          "1 Symbol(s) () => 1",
          "[object Object]"
        ]
      )
    })
  )

  it.scoped("runs know nothing of each other", () =>
    Effect.gen(function* () {
      yield* run("globalThis.left = 1; Object.prototype.left = 1")
      assert.deepStrictEqual(yield* run("return [typeof left, ({}).left === undefined]"), {
        value: ["undefined", true],
        logs: []
      })
    })
  )

  it.scoped("ended by the wall while it waits, with what it had printed", () =>
    Effect.gen(function* () {
      const result = yield* run(
        "console.log('on'); await tools.never()",
        { never: () => Effect.never },
        { maxWallMs: 2000 }
      )
      assert.deepStrictEqual(result, {
        error: { kind: "timeout", message: "it did not end within 2000 ms" },
        logs: ["on"]
      })
    })
  )

  it.scoped("an interruption returns when the thread and the calls are gone", () =>
    Effect.gen(function* () {
      const before = threads()
      const entered = yield* Deferred.make<void>()
      let isCancelled = false
      const never = () =>
        Effect.onInterrupt(Effect.zipRight(Deferred.succeed(entered, undefined), Effect.never), () =>
          Effect.sync(() => {
            isCancelled = true
          })
        )
      const fiber = yield* Effect.fork(run("tools.never(); while (true) {}", { never }))
      yield* Deferred.await(entered)
      assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(fiber)))
      assert.isTrue(isCancelled)
      assert.isAtMost(threads(), before)
    })
  )

  it.effect("closing the runtime ends what runs in it, as an abort", () =>
    Effect.gen(function* () {
      const before = threads()
      const scope = yield* Scope.make()
      const runtime = yield* Scope.extend(CodeRuntimeQuickJs.make(), scope)
      const entered = yield* Deferred.make<void>()
      const bindings = bind({ enter: () => Effect.zipRight(Deferred.succeed(entered, undefined), Effect.never) })
      const fiber = yield* Effect.fork(runtime.run({ program: "tools.enter({}); while (true) {}", bindings }))
      yield* Deferred.await(entered)
      yield* Scope.close(scope, Exit.void)
      assert.isAtMost(threads(), before)
      assert.strictEqual((yield* Fiber.join(fiber)).error?.kind, "abort")
    })
  )
})

/** A thread whose program is `source`, as if something had broken out of the engine. */
const forged = (source: string, limits = defaults) =>
  Effect.acquireUseRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "dsh-thread-"))),
    (folder) => {
      const file = join(folder, "thread.cjs")
      writeFileSync(
        file,
        `const { parentPort } = require("node:worker_threads"); const post = (m) => parentPort.postMessage(m); ${source}`
      )
      return Effect.async<{ readonly result: CodeResult; readonly calls: ReadonlyArray<string> }>((resume) => {
        const calls: Array<string> = []
        const thread: Thread = new Thread(file, { code: "", namespaces: [], ...limits }, limits, {
          call: ({ name }) => void calls.push(name),
          ended: (result) => void thread.exited.then(() => resume(Effect.succeed({ result, calls })))
        })
      })
    },
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
  )

describe("a thread that does not keep to the rules", () => {
  for (const frame of [
    "undefined",
    "null",
    "'done'",
    "{}",
    "[]",
    "['log', 1]",
    "['log', 'a', 'b']",
    "['call', 0, 'tools', 'echo', '{}']",
    "['call', 2, 'tools', 'echo', '{}']",
    "['call', 1.5, 'tools', 'echo', '{}']",
    "['call', '1', 'tools', 'echo', '{}']",
    "['call', 1, 'tools', { toString: 1 }, '{}']",
    "['call', 1, 'tools', 'echo', 'no JSON']",
    "['done']",
    "['done', 'no JSON']",
    "['done', { toString: 1 }]",
    "['failed', 'abort', 'x']",
    "['failed', 'exception', 1]",
    "Object.assign(['done', '1'], { length: 5 })",
    "new Map([['done', 1]])",
    "['__proto__']"
  ]) {
    it.effect(frame, () =>
      Effect.gen(function* () {
        const { calls, result } = yield* forged(`post(${frame}); setInterval(() => {}, 1000)`)
        assert.deepStrictEqual([result.error?.kind, result.value, calls], ["worker-exit", undefined, []])
      })
    )
  }

  it.effect("a call that comes twice", () =>
    Effect.gen(function* () {
      const { calls, result } = yield* forged(
        `post(["call", 1, "t", "a", "{}"]); post(["call", 1, "t", "b", "{}"]); setInterval(() => {}, 1000)`
      )
      assert.deepStrictEqual([result.error?.kind, calls], ["worker-exit", ["a"]])
    })
  )

  it.effect("what comes after the end is dropped", () =>
    Effect.gen(function* () {
      const { calls, result } = yield* forged(
        `post(["done", "1"]); post(["log", "x"]); post(["call", 1, "t", "a", "{}"]); post(["done", "2"])`
      )
      assert.deepStrictEqual([result, calls], [{ value: 1, logs: [] }, []])
    })
  )

  it.effect("one that says nothing and leaves, and one that dies", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* forged("process.exit(0)")).result.error?.message, "its thread ended with code 0")
      assert.include((yield* forged("throw new Error('boo')")).result.error?.message, "boo")
      const greedy = yield* forged("const a = []; while (true) a.push(new Array(1000).fill(a))", {
        ...defaults,
        maxOldGenerationSizeMb: 32
      })
      assert.strictEqual(greedy.result.error?.kind, "worker-exit")
    })
  )

  it.effect("more logs than there may be are not taken on trust", () =>
    Effect.gen(function* () {
      const { result } = yield* forged(`setInterval(() => post(["log", "x".repeat(100)]), 0)`, {
        ...defaults,
        maxOutputBytes: 1000
      })
      assert.strictEqual(result.error?.kind, "output-limit")
      assert.strictEqual(result.logs.length, 10)
    })
  )
})

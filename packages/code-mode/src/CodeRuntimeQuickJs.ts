/**
 * Runs programs in QuickJS compiled to WebAssembly, each in a thread of its own: an engine that knows nothing but the language, in a
 * thread that can be ended whatever the program does. Neither the time nor the memory it takes is that of the rest of the process.
 */
import * as Thrown from "@dsh/kernel/Thrown"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { CodeRuntime } from "./CodeRuntime.ts"
import type { CodeFailure, CodeResult, CodeRun } from "./CodeRuntime.ts"
import { defaults } from "./CodeRuntimeQuickJs/Limits.ts"
import type { Limits } from "./CodeRuntimeQuickJs/Limits.ts"
import { Thread } from "./CodeRuntimeQuickJs/Thread.ts"
import type { Call } from "./CodeRuntimeQuickJs/Thread.ts"

export type Options = Partial<Limits>

/** The engine is loaded with the first program. */
export const make = (options: Options = {}): Effect.Effect<CodeRuntime["Type"], never, Scope.Scope> =>
  Effect.gen(function* () {
    const limits = { ...defaults, ...options }
    const threads = new Set<Thread>()
    yield* Effect.addFinalizer(() =>
      Effect.promise(() => {
        for (const thread of threads) thread.stop(closed)
        return Promise.all(Array.from(threads, ({ exited }) => exited))
      })
    )

    const inThread = (program: string, run: CodeRun): Effect.Effect<CodeResult> =>
      Effect.scoped(
        Effect.gen(function* () {
          const start = yield* FiberSet.makeRuntime<never>()
          return yield* Effect.async<CodeResult>((resume) => {
            let thread: Thread
            try {
              thread = new Thread(program, { code: run.program, ...job(run, limits) }, limits, {
                call: (call) => void start(answered(thread, run, call)),
                // Not before its thread is gone: whoever has the result may rely on that nothing of it runs any more.
                ended: (result) => void thread.exited.then(() => resume(Effect.succeed(result)))
              })
            } catch (cause) {
              const message = `no thread could be started: ${Thrown.messageOf(cause) ?? "it threw"}`
              return resume(Effect.succeed({ logs: [], error: { kind: "worker-exit", message } }))
            }
            threads.add(thread)
            void thread.exited.then(() => threads.delete(thread))
            return Effect.promise(() => {
              thread.stop(closed)
              return thread.exited
            })
          })
        })
      )

    return CodeRuntime.of({
      language: "typescript",
      isolation: "QuickJS in a thread",
      run: (run) =>
        Effect.matchEffect(engine, {
          onFailure: (error) => Effect.succeed({ logs: [], error }),
          onSuccess: (program) => inThread(program, run)
        })
    })
  })

export const layer = (options?: Options): Layer.Layer<CodeRuntime> => Layer.scoped(CodeRuntime, make(options))

const closed: CodeFailure = { kind: "abort", message: "the runtime was closed while it ran" }

const engine: Effect.Effect<string, CodeFailure> = Effect.tryPromise({
  try: () => import("@dsh/quickjs-thread").then(({ program }) => program),
  catch: (): CodeFailure => ({
    kind: "worker-exit",
    message: "the engine is not installed; install the packages again"
  })
})

const job = ({ bindings }: CodeRun, limits: Limits) => ({
  namespaces: bindings.map(({ errorClass, errorMember, functions, global }) => ({
    global,
    errorClass,
    errorMember,
    names: [...functions.keys()]
  })),
  maxMemoryBytes: limits.maxMemoryBytes,
  maxStackBytes: limits.maxStackBytes,
  maxOutputBytes: limits.maxOutputBytes,
  maxPendingCalls: limits.maxPendingCalls,
  maxPendingBytes: limits.maxPendingBytes
})

const answered = (thread: Thread, { bindings }: CodeRun, { args, global, id, name }: Call): Effect.Effect<void> => {
  const body = bindings.find((known) => known.global === global)?.functions.get(name)
  if (body === undefined) return Effect.sync(() => thread.answer(id, false, `there is no ${global}.${name}`))
  return Effect.match(body(args), {
    onFailure: ({ message }) => thread.answer(id, false, message),
    onSuccess: (value) => thread.answer(id, true, JSON.stringify(value))
  })
}

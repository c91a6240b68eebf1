/**
 * Rules about the end: when a program counts as ended, and what ends with it.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import { holds, refused, same } from "../ContractViolation.ts"
import type { ContractCase } from "../SubprocessContract.ts"
import * as Bash from "./Bash.ts"

/** Ways to leave something behind that holds the output. */
const strays = [
  "sleep 60 & echo fg",
  "sleep 60 </dev/null >/dev/null & echo fg",
  "(while :; do echo x; sleep 0.05; done) & echo fg",
  "setsid sleep 5 & echo fg"
]

/** Ways to be part of a tree. Each holds descriptor 9 until it ends. */
const members = [
  ["in the background", "exec 9>p; echo held >&9; sleep 60 & wait"],
  ["in the background, the shell gone", "exec 9>p; echo held >&9; sleep 60 </dev/null >/dev/null 2>&1 &"],
  ["a grandchild", "exec 9>p; echo held >&9; (bash -c 'sleep 60; true' & wait) & wait"],
  ["in a session of its own", "exec 9>p; setsid bash -c 'sleep 60 & echo held >&9; wait' | cat; sleep 60"]
] as const

export const ending: ReadonlyArray<ContractCase> = [
  ...strays.map((script): ContractCase => ({
    name: `nobody waits for a stray that holds the output: ${script}`,
    run: (world) =>
      Effect.gen(function* () {
        const { run } = yield* Bash.open(world)
        const { exitCode, pipeHeld, stdout } = yield* run(script)
        yield* same("result", [exitCode, pipeHeld], [0, true])
        yield* holds("what it printed is there", stdout.includes("fg\n"))
      })
  })),
  ...members.map(([who, script]): ContractCase => ({
    name: `with its Scope a program ends, and whatever it started: ${who}`,
    run: (world) =>
      Effect.gen(function* () {
        const { bash } = yield* Bash.open(world)
        const { held, released } = yield* Bash.witness(world, "p")
        yield* Effect.scoped(
          Effect.gen(function* () {
            yield* bash(script, { graceMs: 200 })
            yield* same("it runs", yield* held, "held\n")
          })
        )
        yield* released
      })
  })),
  {
    name: "who is to end is asked and has time for it",
    run: (world) =>
      Effect.gen(function* () {
        const { bash } = yield* Bash.open(world)
        const polite = yield* bash(
          "trap 'sleep 0.1; echo bye >log; exit 5' TERM; echo ready; while :; do sleep 0.05; done",
          { stdout: "stream", graceMs: 60_000 }
        )
        yield* Bash.head(polite.stdout)
        yield* polite.terminate
        yield* polite.exit
        const target = yield* world.fs.resolve("log", { cwd: world.cwd })
        yield* same("its last words", Bash.textOf((yield* world.fs.readBytes(target)).bytes), "bye\n")
      })
  },
  {
    name: "who does not end when asked is killed, all of it, and ending it again comes to the same",
    run: (world) =>
      Effect.gen(function* () {
        const { bash } = yield* Bash.open(world)
        const { held, released } = yield* Bash.witness(world, "p")
        const process = yield* bash(Bash.stubborn("p"), { graceMs: 200 })
        yield* held
        yield* Effect.all([process.terminate, process.terminate], { concurrency: 2 })
        yield* released
        const exit = yield* process.exit
        yield* holds("it did not end well", exit.exitCode !== 0)
        yield* process.terminate
        yield* same("asked again", yield* process.exit, exit)
      })
  },
  {
    name: "its owner does not wait for who resists, and the service does not leave it behind",
    run: (world) =>
      Effect.gen(function* () {
        const { held, released } = yield* Bash.witness(world, "p")
        yield* Effect.scoped(
          Effect.gen(function* () {
            const { bash } = yield* Bash.open(world)
            // Longer than any test: whoever waits for the grace never comes back.
            yield* Effect.scoped(Effect.zipRight(bash(Bash.stubborn("p"), { graceMs: 600_000 }), held))
          })
        )
        yield* released
      })
  },
  {
    name: "a service that is closed kills what runs, tells who waits for it, and starts nothing any more",
    run: (world) =>
      Effect.gen(function* () {
        const { held, released } = yield* Bash.witness(world, "p")
        const scope = yield* Scope.make()
        const { bash } = yield* Scope.extend(Bash.open(world), scope)
        const process = yield* bash(Bash.stubborn("p"), { graceMs: 600_000 })
        yield* held
        const exit = yield* Effect.fork(process.exit)
        yield* Scope.close(scope, Exit.void)
        yield* released
        yield* holds("it did not end well", (yield* Fiber.join(exit)).exitCode !== 0)
        yield* refused("after that", Effect.scoped(bash("true")), "SUBPROCESS_CLOSED")
      })
  },
  {
    name: "whenever a start is interrupted, nothing of it is left",
    run: (world) =>
      Effect.gen(function* () {
        const { bash } = yield* Bash.open(world)
        const { held, released } = yield* Bash.witness(world, "p")
        // Until this one lets go, there may be others or none.
        const keeper = yield* (yield* Bash.open(world)).bash("exec 9>p; echo held >&9; read", { stdin: "pipe" })
        yield* held
        for (let attempt = 0; attempt < 24; attempt++) {
          const done = yield* Deferred.make<void>()
          const start = Effect.zipRight(bash("exec 9>p; sleep 60", { graceMs: 200 }), Deferred.await(done))
          const starting = yield* Effect.fork(Effect.scoped(start))
          for (let i = 0; i < attempt % 12; i++) yield* Effect.promise(() => new Promise(setImmediate))
          for (let i = 0; i < attempt; i += 2) yield* Effect.yieldNow()
          yield* Fiber.interrupt(starting)
        }
        yield* keeper.stdin.end
        yield* released
      })
  }
]

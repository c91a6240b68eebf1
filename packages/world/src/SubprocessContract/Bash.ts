/**
 * Commands in a world, and what became of them.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { Env } from "../AmbientEnv.ts"
import { ContractViolation, same } from "../ContractViolation.ts"
import type { CollectedOutput, ProcessExit, ProcessHandle, SpawnSpec } from "../Subprocess.ts"
import type { World } from "../SubprocessContract.ts"

export const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)
export const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)

const collect = { maxBytes: 64_000 }

export const open = (world: World, inherited?: Env) =>
  Effect.map(world.open(inherited), (subprocess) => {
    const bash = (script: string, spec: Partial<SpawnSpec> = {}) =>
      subprocess.spawn({
        argv: ["bash", "-c", script],
        cwd: world.cwd,
        stdin: "ignore",
        stdout: collect,
        stderr: collect,
        ...spec
      })
    return {
      subprocess,
      bash,
      /** To its end. */
      run: (script: string, spec?: Partial<SpawnSpec>) => Effect.scoped(Effect.flatMap(bash(script, spec), outcome))
    }
  })

/** How it ended, and what it had printed by then. */
export const outcome = (process: ProcessHandle) =>
  Effect.gen(function* () {
    const exit = yield* process.exit
    const stdout = yield* printed(process.collected.stdout)
    const stderr = yield* printed(process.collected.stderr)
    return { ...exit, stdout, stderr }
  })

export const printed = ({ readFrom }: CollectedOutput): Effect.Effect<string> =>
  Effect.map(readFrom(0), ({ bytes }) => textOf(bytes))

/** The first bytes of a stream. */
export const head = (stream: ProcessHandle["stdout"]) =>
  Effect.flatMap(
    Stream.runHead(stream),
    Option.match({
      onNone: () => new ContractViolation({ message: "expected output, found its end" }),
      onSome: (bytes) => Effect.succeed(textOf(bytes))
    })
  )

/** A signal ended it. What runs it may say so as a shell does, with an exit code. */
export const endedBy = ({ exitCode, signal }: ProcessExit, name: string, number: number): boolean =>
  signal === name || exitCode === 128 + number

/** Ignores SIGTERM, and is `held` open by it until it ends. */
export const stubborn = (held: string): string =>
  `exec 9>${held}; trap '' TERM; echo held >&9; while :; do sleep 0.05; done`

/**
 * A pipe with a name, and somebody who reads it: whoever has it open is known to run, and when the last of them is gone, the reader is
 * told. Of a service of its own, so that it outlives others.
 */
export const witness = (world: World, name: string) =>
  Effect.gen(function* () {
    const { bash, run } = yield* open(world)
    yield* same("mkfifo", (yield* run(`mkfifo ${name}`)).exitCode, 0)
    const reader = yield* bash(`cat ${name}`, { stdout: "stream" })
    return {
      /** The first that was written to it. */
      held: head(reader.stdout),
      /** Nobody has it open any more. */
      released: reader.exit
    }
  })

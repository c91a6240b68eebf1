/**
 * The environment variables of the command line, read once and checked before anything starts.
 */
import * as LlmDeepSeek from "@dsh/llm/LlmDeepSeek"
import type { Mode } from "@dsh/code-mode/ToolsMode"
import type * as Cassette from "@dsh/llm/LlmCassette"
import * as Credentials from "@dsh/settings/Credentials"
import { modes } from "@dsh/world/Confinement"
import type { SandboxMode } from "@dsh/world/Confinement"
import * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import * as Failure from "./Failure.ts"
import * as Keys from "./Keys.ts"
import { read } from "./Variables.ts"

export interface Provider {
  /** As it is when the run begins. */
  readonly apiKey: Redacted.Redacted
  /** Where it and other keys are looked up whenever they are used. Left out: it stays what it is, and others are in the environment. */
  readonly keys?: Keys.Keys
  /** Undefined: the provider's own address. */
  readonly baseUrl: string | undefined
}

const count = (name: string, isCount: (n: number) => boolean, what: string) =>
  Effect.flatMap(read(name), (value): Effect.Effect<number | undefined, Failure.Failure> => {
    if (value === undefined) return Effect.succeed(undefined)
    return /^\d{1,4}$/.test(value) && isCount(Number(value))
      ? Effect.succeed(Number(value))
      : Failure.configuration("INVALID_CONFIG", `${name} is "${value}"; it is ${what}`)
  })

/** How often a failed request is tried again; undefined: as the provider's policy has it. Fails with exit code 3. */
export const maxRetries = count("DSH_MAX_RETRIES", () => true, "a number from 0 to 9999")

/** How often the same call may be made with the same result before its turn is ended; 0: without an end. Fails with exit code 3. */
export const maxRepeats = count("DSH_MAX_REPEATS", (n) => n !== 1, "0, for no limit, or a number from 2 to 9999")

/**
 * Where answers of the model are recorded, or played back from. `DSH_SNAPSHOT` is `record`, `replay` (the default) or `refresh`, which
 * plays back, too: what is made anew then is what is compared with it. Nothing without `DSH_SNAPSHOT_FILE`. Fails with exit code 3.
 */
export const cassette: Effect.Effect<Cassette.Options | undefined, Failure.Failure> = Effect.gen(function* () {
  const mode = (yield* read("DSH_SNAPSHOT")) ?? "replay"
  const file = yield* read("DSH_SNAPSHOT_FILE")
  if (file === undefined) return undefined
  if (mode === "record") return { file, mode }
  if (mode === "replay" || mode === "refresh") return { file, mode: "replay" }
  return yield* Failure.configuration(
    "INVALID_CONFIG",
    `DSH_SNAPSHOT is "${mode}"; it is one of record, replay and refresh`
  )
})

/** What commands and tools may do to files: `DSH_PERMISSION_MODE`, and nothing where it is not set. Fails with exit code 3. */
export const sandboxMode: Effect.Effect<SandboxMode | undefined, Failure.Failure> = Effect.flatMap(
  read("DSH_PERMISSION_MODE"),
  (value) => {
    const mode = modes.find((known) => known === value)
    return value === undefined || mode !== undefined
      ? Effect.succeed(mode)
      : Failure.configuration("INVALID_CONFIG", `DSH_PERMISSION_MODE is "${value}"; it is one of ${modes.join(", ")}`)
  }
)

const toolsModes: ReadonlyArray<Mode> = ["native", "ptc", "both"]

/** How tools are presented to the model: `DSH_TOOLS_MODE`, and `native` where it is not set. Fails with exit code 3. */
export const toolsMode: Effect.Effect<Mode, Failure.Failure> = Effect.flatMap(read("DSH_TOOLS_MODE"), (value) => {
  const mode = toolsModes.find((known) => known === (value ?? "native"))
  return mode !== undefined
    ? Effect.succeed(mode)
    : Failure.configuration("INVALID_CONFIG", `DSH_TOOLS_MODE is "${value}"; it is one of ${toolsModes.join(", ")}`)
})

/** What a run needs to reach the model. Fails with exit code 3. */
export const provider: Effect.Effect<Provider, Failure.Failure> = Effect.gen(function* () {
  const keys = yield* Keys.load
  const apiKey = yield* Effect.mapError(
    Credentials.obtain(keys.credentials, LlmDeepSeek.keyName),
    ({ code, message }) => Failure.configuration(code, code === "MISSING_CREDENTIAL" ? missing : message)
  )
  return { apiKey, keys, baseUrl: yield* read("DEEPSEEK_BASE_URL") }
})

const missing =
  `${LlmDeepSeek.keyName} is not set: run it as ${LlmDeepSeek.keyName}=sk-… dsh run "your task", keep it with ` +
  `"dsh credentials set ${LlmDeepSeek.keyName}", or try "dsh demo", which needs no key`

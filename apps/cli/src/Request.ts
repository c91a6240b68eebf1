/**
 * What a command line asks for, with types. Both lanes produce it and `Dispatch` runs it.
 */
import type * as Effect from "effect/Effect"
import type { Launch, Parsed } from "./Argv.ts"
import type { Typed } from "./Limits.ts"

export interface Run {
  readonly _tag: "Run"
  /** The words of the task; none means that the task comes from stdin. */
  readonly words: ReadonlyArray<string>
  readonly model: string | undefined
  readonly from: From
  readonly limits: Typed
  /** Where to work, as typed. */
  readonly cwd: string | undefined
  /** Where the task is, as typed. */
  readonly file: string | undefined
  /** Where the JSON Schema of the answer is, as typed. */
  readonly outputSchema: string | undefined
  /** As typed; it may be no number. */
  readonly outputRetries: string | undefined
  /** As typed; there may be no such preset. */
  readonly permission: string | undefined
  /** What kind of agent, as typed; there may be no such preset. */
  readonly preset: string | undefined
  /** Left out: the profile `headless`, as it is. */
  readonly launch?: Launch
  readonly checkInvariants: boolean
  /** Say what was used, wherever stderr goes. */
  readonly usage: boolean
  /** Print what happens as JSON lines. */
  readonly json: boolean
  readonly waitBackground: boolean
}

/**
 * Where a run starts: with nothing, with the session of that id, with the last one of the folder, or with a copy of one, whole or up
 * to an event.
 */
export type From =
  | { readonly _tag: "New" }
  | { readonly _tag: "Session"; readonly id: string }
  | { readonly _tag: "Last" }
  | { readonly _tag: "Fork"; readonly id: string; readonly at: number | undefined }

export interface Origin {
  readonly session: string | undefined
  readonly fork: string | undefined
  readonly last: boolean
}

/** At most one of the three is given. */
export const from = ({ fork, last, session }: Origin): From => {
  if (session !== undefined) return { _tag: "Session", id: session }
  return fork === undefined ? { _tag: last ? "Last" : "New" } : { _tag: "Fork", ...boundary(fork) }
}

/** `ID` or `ID@N`. */
export const boundary = (text: string): { readonly id: string; readonly at: number | undefined } => {
  const [, id = text, seq] = /^(.+)@(\d+)$/.exec(text) ?? []
  return { id, at: seq === undefined ? undefined : Number(seq) }
}

export interface Chat extends Pick<Run, "words" | "model" | "from" | "permission" | "preset"> {
  readonly _tag: "Chat"
  /** Left out: the profile `chat`. */
  readonly profile: string | undefined
}

export interface Batch {
  readonly _tag: "Batch"
  /** The file of tasks; `-` is stdin. */
  readonly file: string
  /** These are as typed. */
  readonly concurrency: string | undefined
  readonly retry: string | undefined
  readonly timeout: string | undefined
  readonly maxCost: string | undefined
  readonly isolate: string | undefined
  readonly model: string | undefined
  readonly permission: string | undefined
  readonly preset: string | undefined
  /** Where results go. Left out: stdout. */
  readonly out: string | undefined
  /** Go on from what `out` and its journal have. */
  readonly resume: boolean
}

export interface MockLlm {
  readonly _tag: "MockLlm"
  /** 0 takes any free port. */
  readonly port: number
  /** Path of a scenario file. Without one, every request succeeds. */
  readonly scenario: string | undefined
}

export interface SessionRewind {
  readonly _tag: "SessionRewind"
  /** As typed; it may name nothing. */
  readonly id: string
  /** The turn; undefined: the one before the last. */
  readonly at: number | undefined
  /** Neither of the two means both. */
  readonly files: boolean
  readonly conversation: boolean
  readonly dryRun: boolean
  readonly force: boolean
  readonly yes: boolean
}

export type Request =
  | Run
  | Chat
  | Batch
  | { readonly _tag: "Demo" }
  | { readonly _tag: "Config"; readonly profile: string | undefined; readonly json: boolean }
  | { readonly _tag: "Doctor"; readonly profile: string | undefined; readonly json: boolean }
  | { readonly _tag: "Dump"; readonly launch: Launch; readonly own: boolean }
  | { readonly _tag: "Plugin"; readonly profile: string | undefined; readonly args: ReadonlyArray<string> }
  | { readonly _tag: "PermissionAdd"; readonly effect: "allow" | "deny"; readonly rule: string }
  | { readonly _tag: "PermissionList"; readonly json: boolean; readonly session: string | undefined }
  | { readonly _tag: "PermissionRevoke"; readonly rule: string; readonly session: string | undefined }
  | { readonly _tag: "PresetCopy"; readonly from: string; readonly to: string }
  | { readonly _tag: "PresetList"; readonly json: boolean }
  | { readonly _tag: "PresetRemove"; readonly id: string; readonly yes: boolean }
  | { readonly _tag: "PresetShow"; readonly id: string; readonly json: boolean }
  | { readonly _tag: "PresetValidate"; readonly preset: string | undefined }
  | { readonly _tag: "SessionCheck"; readonly id: string; readonly json: boolean }
  | { readonly _tag: "SessionDelete"; readonly id: string; readonly yes: boolean }
  | { readonly _tag: "SessionDiff"; readonly id: string; readonly at: number | undefined; readonly json: boolean }
  | { readonly _tag: "SessionExport"; readonly id: string }
  | { readonly _tag: "SessionFork"; readonly id: string; readonly at: number | undefined }
  | { readonly _tag: "SessionList"; readonly json: boolean }
  | { readonly _tag: "SessionRepair"; readonly id: string }
  | SessionRewind
  | { readonly _tag: "SessionSearch"; readonly text: string; readonly json: boolean }
  | { readonly _tag: "SessionShow"; readonly id: string }
  | { readonly _tag: "SessionVerify"; readonly id: string }
  | { readonly _tag: "CredentialsList"; readonly json: boolean }
  | { readonly _tag: "CredentialsSet"; readonly name: string }
  | { readonly _tag: "CredentialsUnset"; readonly name: string }
  | { readonly _tag: "Models"; readonly json: boolean }
  | { readonly _tag: "SettingsEdit" }
  | { readonly _tag: "SettingsGet"; readonly path: string | undefined; readonly json: boolean }
  | { readonly _tag: "SettingsSet"; readonly path: string; readonly value: string }
  | { readonly _tag: "SettingsUnset"; readonly path: string }
  | MockLlm

/** Is told what was asked for. */
export type Choose = (request: Request) => Effect.Effect<void>

/** Where it is launched from is none of the words that a command understands. */
export const launched = (request: Request, launch: Launch | undefined): Request =>
  request._tag === "Run" && launch !== undefined ? { ...request, launch } : request

/** The short lane: `dsh run` is understood without loading `@effect/cli`, which would double its start-up time. */
export const fastLane = (parsed: Parsed): Run | undefined =>
  parsed._tag === "Invocation" && parsed.command === "run"
    ? {
        _tag: "Run",
        words: parsed.words,
        model: parsed.options["--model"],
        from: from({
          session: parsed.options["--session"],
          fork: parsed.options["--fork"],
          last: parsed.flags.includes("--continue")
        }),
        limits: {
          maxSteps: parsed.options["--max-steps"],
          maxTokens: parsed.options["--max-tokens"],
          maxCost: parsed.options["--max-cost"],
          timeout: parsed.options["--timeout"]
        },
        cwd: parsed.options["--cwd"],
        file: parsed.options["--file"],
        outputSchema: parsed.options["--output-schema"],
        outputRetries: parsed.options["--output-retries"],
        permission: parsed.options["--permission"],
        preset: parsed.options["--preset"],
        ...(parsed.launch !== undefined && { launch: parsed.launch }),
        checkInvariants: parsed.flags.includes("--check-invariants"),
        usage: parsed.flags.includes("--usage"),
        json: parsed.flags.includes("--json"),
        waitBackground: parsed.flags.includes("--wait-background")
      }
    : undefined

/**
 * Terminals with an interactive shell on a PTY of the execution world: where that confines its programs, these are confined.
 */
import * as Ids from "@dsh/kernel/Ids"
import * as CommandEnv from "@dsh/shell/CommandEnv"
import { Subprocess } from "@dsh/world/Subprocess"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Display } from "./TerminalBash/Display.ts"
import * as Prompt from "./TerminalBash/Prompt.ts"
import * as ShellTerminal from "./TerminalBash/ShellTerminal.ts"
import { Terminals } from "./Terminals.ts"
import type { Backend, TerminalError } from "./Terminals.ts"

export interface Options {
  /** Default `shell`. */
  readonly backendType?: string
  /** A bash, by name or absolute path. Default `bash`. */
  readonly shellPath?: string
  /** Default `--noprofile --norc -i`. */
  readonly shellArgs?: ReadonlyArray<string>
  /** Default 40. */
  readonly rows?: number
  /** Default 160. */
  readonly cols?: number
  /** Default 10 000. */
  readonly scrollbackLines?: number
  /** Default 4 MiB. */
  readonly scrollbackMaxBytes?: number
  /** Of one read or send. Default 256 KiB. */
  readonly maxReadBytes?: number
  /** Milliseconds. Default 50. */
  readonly pollIntervalMs?: number
  /** Milliseconds after typing from which programs are looked at. Default 150. */
  readonly exactProbeAfterMs?: number
  /** Milliseconds a program has to wait for input to count as waiting. Default 500. */
  readonly handoffGraceMs?: number
  /** Milliseconds without output that count as waiting. Default 3000. */
  readonly idleSilenceMs?: number
  /** Milliseconds. Default 30 000. */
  readonly timeoutMs?: number
  /** Milliseconds from SIGTERM to SIGKILL. Default 3000. */
  readonly disposeGraceMs?: number
}

const make = (options: Options): Effect.Effect<Backend, never, Subprocess> =>
  Effect.map(Subprocess, (subprocess) => {
    const { cols = 160, disposeGraceMs = 3000, rows = 40, shellArgs = ["--noprofile", "--norc", "-i"] } = options
    const times = {
      pollIntervalMs: options.pollIntervalMs ?? 50,
      exactProbeAfterMs: options.exactProbeAfterMs ?? 150,
      handoffGraceMs: options.handoffGraceMs ?? 500,
      idleSilenceMs: options.idleSilenceMs ?? 3000,
      timeoutMs: options.timeoutMs ?? 30_000
    }
    const maxReadBytes = options.maxReadBytes ?? 256 * 1024
    const limits = {
      maxReadBytes,
      scrollbackLines: options.scrollbackLines ?? 10_000,
      scrollbackMaxBytes: options.scrollbackMaxBytes ?? 4 * 1024 * 1024
    }

    const open: Backend["open"] = ({ cwd, id, owner }) =>
      Effect.gen(function* () {
        const prompt = Prompt.make((yield* Ids.fresh).replaceAll(/\W/g, ""))
        const display = new Display(limits, prompt.mark, prompt.text)
        const facts = { DSH_SESSION_ID: owner.id, DSH_PTY_SESSION_ID: id }
        const pty = yield* subprocess.openPty({
          argv: [options.shellPath ?? "bash", ...shellArgs],
          cwd,
          env: CommandEnv.of({ env: { ...(yield* CommandEnv.AgentEnv), ...prompt.env }, facts }),
          rows,
          cols,
          graceMs: disposeGraceMs
        })
        return yield* ShellTerminal.make(pty, display, times, maxReadBytes)
      }).pipe(Effect.catchTag("SubprocessError", ShellTerminal.failed))

    return { type: options.backendType ?? "shell", description: "an interactive bash", open }
  })

/** Registers the backend with `Terminals`. */
export const layer = (options: Options = {}): Layer.Layer<never, TerminalError, Terminals | Subprocess> =>
  Layer.scopedDiscard(Effect.flatMap(make(options), (backend) => Effect.flatMap(Terminals, (t) => t.register(backend))))

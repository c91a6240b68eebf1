/**
 * One thread with one program in it. It ends once, for one reason, and whatever comes out of it later is dropped.
 *
 * Its deadlines are those of the machine, whatever clock the rest of the program goes by: the thread computes in real time.
 */
import type { Json } from "@dsh/kernel/Json"
import * as Text from "@dsh/kernel/Text"
import type { Frame, Job } from "@dsh/quickjs-thread"
import { Worker } from "node:worker_threads"
import type { CodeFailure, CodeResult } from "../CodeRuntime.ts"
import { decode } from "./Frames.ts"
import type { Limits } from "./Limits.ts"

export interface Call {
  readonly id: number
  readonly global: string
  readonly name: string
  readonly args: Json
}

interface Listener {
  readonly call: (call: Call) => void
  readonly ended: (result: CodeResult) => void
}

/** How often it is looked at how long a thread has computed. */
const pollMs = 25
/** Of a failure's message. A program can make it as long as it likes. */
const longestMessage = 16_384
/** Of the engine's own stack, which calls of the program are nested in. */
const stackSizeMb = 16

export class Thread {
  private readonly worker: Worker
  private readonly limits: Limits
  private readonly listener: Listener
  private readonly logs: Array<string> = []
  private readonly wall: NodeJS.Timeout
  private readonly poll: NodeJS.Timeout
  private given = 0
  private lastCall = 0
  private isEnded = false
  readonly exited: Promise<void>

  constructor(program: string, job: Job, limits: Limits, listener: Listener) {
    this.limits = limits
    this.listener = listener
    this.worker = new Worker(program, {
      workerData: job,
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: limits.maxOldGenerationSizeMb, stackSizeMb },
      // What it writes, if anything, is no output of ours.
      stdout: true,
      stderr: true
    })
    this.exited = new Promise((resolve) => this.worker.once("exit", () => resolve()))
    this.worker.on("message", (message: unknown) => this.receive(decode(message)))
    this.worker.on("error", (error) => this.stop({ kind: "worker-exit", message: died(error) }))
    this.worker.once("exit", (code) =>
      this.stop({ kind: "worker-exit", message: `its thread ended with code ${code}` })
    )
    this.wall = setTimeout(
      () => this.stop({ kind: "timeout", message: `it did not end within ${limits.maxWallMs} ms` }),
      limits.maxWallMs
    )
    this.poll = setInterval(() => this.look(), pollMs)
  }

  /** Ends it. Only the first reason counts. */
  stop(error: CodeFailure): void {
    this.end({ error })
  }

  answer(id: number, isOk: boolean, text: string): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has a port, not a window
    if (!this.isEnded) this.worker.postMessage([id, isOk, text])
  }

  private end(result: Omit<CodeResult, "logs">): void {
    if (this.isEnded) return
    this.isEnded = true
    clearTimeout(this.wall)
    clearInterval(this.poll)
    void this.worker.terminate()
    this.listener.ended({ ...result, logs: this.logs })
  }

  private look(): void {
    const { computeMs } = this.limits
    if (this.worker.performance.eventLoopUtilization().active < computeMs) return
    this.stop({ kind: "timeout", message: `it computed for more than ${computeMs} ms` })
  }

  private receive(frame: Frame | undefined): void {
    if (this.isEnded) return
    if (frame === undefined) return this.stop(brokeProtocol)
    switch (frame[0]) {
      case "log":
        if (this.fits(frame[1])) this.logs.push(Text.wellFormed(frame[1]))
        return
      case "call":
        return this.called(frame)
      case "done":
        return this.done(frame[1])
      case "failed":
        return this.stop({ kind: frame[1], message: Text.wellFormed(Text.ellipsis(frame[2], longestMessage)) })
    }
  }

  private called([, id, global, name, encoded]: Extract<Frame, readonly ["call", ...Array<unknown>]>): void {
    const args = parse(encoded)
    if (args === undefined || id !== this.lastCall + 1) return this.stop(brokeProtocol)
    this.lastCall = id
    this.listener.call({ id, global, name, args })
  }

  private done(encoded: string | null): void {
    if (encoded === null) return this.end({})
    if (!this.fits(encoded)) return
    const value = parse(encoded)
    if (value === undefined) this.stop(brokeProtocol)
    else this.end({ value })
  }

  private fits(text: string): boolean {
    this.given += Text.byteLength(text)
    const { maxOutputBytes } = this.limits
    if (this.given <= maxOutputBytes) return true
    this.stop({ kind: "output-limit", message: `it gave out more than ${maxOutputBytes} bytes` })
    return false
  }
}

const brokeProtocol: CodeFailure = { kind: "worker-exit", message: "its thread said something that makes no sense" }

const parse = (encoded: string): Json | undefined => {
  try {
    return JSON.parse(encoded)
  } catch {
    return undefined
  }
}

const died = (error: unknown): string =>
  error instanceof Error ? `its thread died: ${Text.ellipsis(error.message, longestMessage)}` : "its thread died"

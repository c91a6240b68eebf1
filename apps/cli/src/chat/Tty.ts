/**
 * The terminal of the process, taken over while a Scope is open and always given back: at the end, after a failure, while the process is
 * stopped, and at the last moment when it ends without any of that.
 */
import { setKittyProtocolActive, StdinBuffer } from "@earendil-works/pi-tui"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { writeSync } from "node:fs"
import type { ReadStream, WriteStream } from "node:tty"
import type { Size } from "./Screen.ts"

export interface Tty {
  readonly write: (text: string) => void
  readonly size: () => Size
  /** Stops the process as Ctrl+Z does elsewhere. */
  readonly suspend: () => void
}

/** Plain code: they run where the terminal calls. */
export interface Events {
  /** One key, or one paste between its brackets. */
  readonly key: (data: string) => void
  /** Another size, or back after a stop. What is on the screen is nobody's any more. */
  readonly changed: () => void
  /** The terminal is not there any more. */
  readonly gone: () => void
  /** What puts the cursor below everything. */
  readonly leave: () => string
}

export interface Streams {
  readonly stdin: ReadStream
  readonly stdout: WriteStream
}

const pasteOn = "\u001b[?2004h"
const pasteOff = "\u001b[?2004l"
const askForKitty = "\u001b[?u"
/** Keys that other terminals cannot tell apart are told apart. Neither releases nor repeats are wanted. */
const kittyOn = "\u001b[>1u"
const kittyOff = "\u001b[<u"
// oxlint-disable-next-line no-control-regex
const kittyAnswer = /^\u001b\[\?\d+u$/

/** How long the rest of a sequence may take, in milliseconds, before an escape is a key of its own: networks cut where they like. */
const patience = 50

class Held {
  readonly #streams: Streams
  readonly #events: Events
  readonly #keys = new StdinBuffer({ timeout: patience })
  #isRaw = false
  #hasKitty = false

  constructor(streams: Streams, events: Events) {
    this.#streams = streams
    this.#events = events
    this.#keys.on("data", (data) => {
      if (!this.#hasKitty && kittyAnswer.test(data)) {
        this.#hasKitty = true
        setKittyProtocolActive(true)
        this.write(kittyOn)
      } else events.key(data)
    })
    this.#keys.on("paste", (text) => events.key(`\u001b[200~${text}\u001b[201~`))
  }

  readonly write = (text: string): void => {
    this.#streams.stdout.write(text)
  }

  readonly #data = (data: Buffer | string): void => this.#keys.process(data)
  readonly #gone = (): void => this.#events.gone()
  readonly #changed = (): void => this.#events.changed()

  readonly suspend = (): void => {
    this.#giveBack(this.write)
    process.kill(process.pid, "SIGSTOP")
  }

  /** The shell has changed how the terminal reads, and Node thinks that it has not. */
  readonly #continued = (): void => {
    if (this.#isRaw) this.#giveBack(this.write)
    this.#take()
    this.#events.changed()
  }

  readonly #atExit = (): void => {
    this.#giveBack((text) => writeSync(1, text))
  }

  #take(): void {
    this.#streams.stdin.setRawMode(true)
    this.#isRaw = true
    this.write(pasteOn + askForKitty)
  }

  #giveBack(write: (text: string) => void): void {
    if (!this.#isRaw) return
    this.#isRaw = false
    const kitty = this.#hasKitty ? kittyOff : ""
    this.#hasKitty = false
    setKittyProtocolActive(false)
    try {
      write(this.#events.leave() + pasteOff + kitty)
      this.#streams.stdin.setRawMode(false)
    } catch {
      // There is nothing left to give back.
    }
  }

  open(): void {
    const { stdin, stdout } = this.#streams
    // Also after the end: what is still being written may find nobody.
    stdout.on("error", this.#gone)
    stdin.on("error", this.#gone)
    stdin.on("end", this.#gone)
    stdin.on("data", this.#data)
    stdout.on("resize", this.#changed)
    // Also when the size is what it was again: the terminal has moved what it shows.
    process.on("SIGWINCH", this.#changed)
    process.on("SIGTSTP", this.suspend)
    process.on("SIGCONT", this.#continued)
    process.on("exit", this.#atExit)
    this.#take()
    stdin.resume()
  }

  close(): void {
    const { stdin, stdout } = this.#streams
    this.#giveBack(this.write)
    stdin.off("data", this.#data)
    stdin.off("end", this.#gone)
    stdout.off("resize", this.#changed)
    process.off("SIGWINCH", this.#changed)
    process.off("SIGTSTP", this.suspend)
    process.off("SIGCONT", this.#continued)
    process.off("exit", this.#atExit)
    this.#keys.destroy()
    stdin.pause()
  }
}

/** Takes the terminal until the current Scope closes. */
export const open = (events: Events, streams: Streams = process): Effect.Effect<Tty, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => {
        const held = new Held(streams, events)
        held.open()
        return held
      }),
      (held) => Effect.sync(() => held.close())
    ),
    ({ suspend, write }) => ({
      write,
      suspend,
      size: () => ({ columns: streams.stdout.columns || 80, rows: streams.stdout.rows || 24 })
    })
  )
